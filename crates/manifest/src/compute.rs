//! `kind: tier` and `kind: limit`.

use model::{LaunchKind, Limit, LimitName, ResourceLimits, Tier, TierName};

use crate::{
    Code,
    fields::{Fields, Shape},
    node::Node,
    report::Report,
    value::{What, boolean, count, number, size, text, word},
};

pub(crate) const TIER: Shape = Shape {
    title: "a tier",
    keys: &["kind", "name", "description", "launch", "cpu", "memory", "capacity", "spot", "pids"],
    synonyms: &[
        ("concurrency", "capacity"),
        ("cores", "cpu"),
        ("cpus", "cpu"),
        ("mem", "memory"),
        ("processes", "pids"),
        ("ram", "memory"),
    ],
};

pub(crate) const LIMIT: Shape = Shape {
    title: "a limit",
    keys: &["kind", "name", "description", "limit"],
    synonyms: &[("capacity", "limit"), ("max", "limit")],
};

const LAUNCHES: &[(&str, LaunchKind)] =
    &[("process", LaunchKind::Process), ("fargate", LaunchKind::Fargate), ("lambda", LaunchKind::Lambda)];

/// More cores than any machine has: more is a typing mistake.
const MOST_CORES: f64 = 1024.0;

/// The tier that `fields` describe, where nothing in them is wrong.
pub(crate) fn tier(fields: &Fields<'_, '_>, name: Option<TierName>, report: &mut Report<'_>) -> Option<Tier> {
    let before = report.problems.len();
    let tier = Tier {
        description: description(fields, report),
        launch: fields
            .optional("launch", report, |node, what, report| word(node, what, LAUNCHES, report))
            .unwrap_or(LaunchKind::Process),
        resources: ResourceLimits {
            cpu_millis: fields.optional("cpu", report, cores),
            memory: fields.optional("memory", report, size),
            processes: fields.optional("pids", report, count),
        },
        capacity: fields.optional("capacity", report, count).unwrap_or(Tier::DEFAULT_CAPACITY),
        spot: fields.optional("spot", report, boolean).unwrap_or(false),
        name: name?,
    };
    if let (true, LaunchKind::Process, Some(node)) = (tier.spot, tier.launch, fields.get("spot")) {
        let hint = Some("interruptible compute is for `launch: fargate`".to_owned());
        report.warn(node.mark, Code::NoEffect, "`spot` means nothing for processes", hint);
    }
    (report.problems.len() == before).then_some(tier)
}

/// The limit that `fields` describe, where nothing in them is wrong.
pub(crate) fn limit(fields: &Fields<'_, '_>, name: Option<LimitName>, report: &mut Report<'_>) -> Option<Limit> {
    let before = report.problems.len();
    let description = description(fields, report);
    let limit = fields.required("limit", report, count);
    let limit = Limit { name: name?, description, limit: limit? };
    (report.problems.len() == before).then_some(limit)
}

fn description(fields: &Fields<'_, '_>, report: &mut Report<'_>) -> Option<String> {
    fields.optional("description", report, |node, what, report| text(node, what, report).map(str::to_owned))
}

/// Cores, which are counted in thousandths.
fn cores(node: &Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<u32> {
    let cores = number(node, what, report)?;
    if !(0.001..=MOST_CORES).contains(&cores) {
        report.add(node.mark, Code::OutOfRange, format!("{what} must be from 0.001 to {MOST_CORES}, and this is {cores}"));
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 1,024,000 by the check above")]
    Some((cores * 1000.0).round() as u32)
}
