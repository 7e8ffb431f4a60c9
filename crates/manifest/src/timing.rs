//! `retry`, `timeout` and `schedule`.

use model::{ReasonName, RetryPolicy, Timeouts};
use serde_json::Value;

use crate::{
    Code,
    fields::{Fields, Shape},
    node::{Content, Meaning, Node, Scalar, short},
    report::{Report, did_you_mean},
    value::{What, json, list, positive_span, scalar, span, span_range, whole, wrong_type},
};

pub(crate) const RETRY: Shape = Shape {
    title: "`retry`",
    keys: &["attempts", "backoff", "factor", "on"],
    synonyms: &[("count", "attempts"), ("delay", "backoff"), ("max_attempts", "attempts"), ("multiplier", "factor")],
};

pub(crate) const TIMEOUT: Shape = Shape {
    title: "`timeout`",
    keys: &["waiting", "starting", "running", "stopping"],
    synonyms: &[("grace", "stopping"), ("queue", "waiting"), ("run", "running"), ("start", "starting"), ("stop", "stopping")],
};

pub(crate) const SCHEDULE: Shape = Shape {
    title: "`schedule`",
    keys: &["cron", "every", "at", "timezone", "overlap", "catch_up"],
    synonyms: &[("catchup", "catch_up"), ("tz", "timezone")],
};

/// When a failed attempt is tried again.
pub(crate) fn retry(node: &Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<RetryPolicy> {
    if matches!(scalar(node).map(Scalar::meaning), Some(Meaning::Integer(_))) {
        wrong_type(node, what, "a mapping", Some("write { attempts: … }".to_owned()), report);
        return None;
    }
    let fields = Fields::of(node, what, &RETRY, report)?;
    let default = RetryPolicy::default();
    let attempts = fields.optional("attempts", report, |node, what, report| whole(node, what, 1, 100, report));
    let mut policy = RetryPolicy {
        attempts: attempts.unwrap_or(default.attempts),
        backoff: fields.optional("backoff", report, span_range).unwrap_or(default.backoff),
        factor: fields
            .optional("factor", report, |node, what, report| whole(node, what, 1, 100, report))
            .unwrap_or(default.factor),
        ..default
    };
    fields.optional("on", report, |node, what, report| on(node, what, &mut policy, report));
    if fields.get("attempts").is_none() && fields.misspelt("attempts").is_none() {
        let hint = Some("add `attempts`, the number of attempts in all".to_owned());
        report.warn(node.mark, Code::NoEffect, "`retry` without `attempts` retries nothing", hint);
    }
    Some(policy)
}

/// Exit codes and names of reasons.
fn on(node: &Node<'_>, what: What<'static>, policy: &mut RetryPolicy, report: &mut Report<'_>) -> Option<()> {
    list(node, what, report, |node, what, report| {
        let word = scalar(node).filter(|scalar| scalar.meaning() == Meaning::Text).map(|scalar| scalar.text.as_ref());
        let new = match word {
            Some(word) => {
                let reason = reason(node, word, report)?;
                let new = !policy.reasons.contains(&reason);
                policy.reasons.push(reason);
                new
            }
            None if matches!(scalar(node).map(Scalar::meaning), Some(Meaning::Integer(_))) => {
                let code = whole(node, what, 1, 255, report)?;
                let new = !policy.codes.contains(&code);
                policy.codes.push(code);
                new
            }
            None => {
                wrong_type(node, what, "an exit code or the name of a reason", None, report);
                return None;
            }
        };
        if !new {
            let again = scalar(node).map(|scalar| short(&scalar.text)).unwrap_or_default();
            report.add(node.mark, Code::ListedTwice, format!("{what} must stand there once, and `{again}` stands there twice"));
        }
        Some(())
    })?;
    if matches!(&node.content, Content::List(elements) if elements.is_empty()) {
        let hint = Some("leave it out to retry every failure; leave `retry` out to retry none".to_owned());
        report.add_with(node.mark, Code::Empty, "`on` must list an exit code or a reason", hint);
    }
    Some(())
}

/// What a caller asked for, and what could never have started, is not tried again.
pub(crate) fn is_retried(reason: ReasonName) -> bool {
    !matches!(reason, ReasonName::Cancelled | ReasonName::Refused)
}

fn reason(node: &Node<'_>, word: &str, report: &mut Report<'_>) -> Option<ReasonName> {
    let names = || ReasonName::ALL.into_iter().filter(|reason| is_retried(*reason)).map(ReasonName::as_str);
    match word.parse::<ReasonName>() {
        Ok(reason) if !is_retried(reason) => {
            report.add(node.mark, Code::UnknownWord, format!("`{word}` is never tried again"));
            None
        }
        Ok(reason) => Some(reason),
        Err(_) => {
            let code = word.parse::<u8>().ok().map(|code| format!("write {code}, without quotes"));
            let hint = code.or_else(|| did_you_mean(word, names()));
            let hint = hint.or_else(|| Some(format!("known reasons: {}", names().collect::<Vec<_>>().join(", "))));
            report.add_with(node.mark, Code::UnknownWord, format!("`{}` is not a reason", short(word)), hint);
            None
        }
    }
}

/// One span for `running`, or one for each part.
pub(crate) fn timeouts(node: &Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<Timeouts> {
    let default = Timeouts::default();
    if !matches!(node.content, Content::Mapping(_)) {
        return positive_span(node, what, report).map(|running| Timeouts { running: Some(running), ..default });
    }
    let fields = Fields::of(node, what, &TIMEOUT, report)?;
    Some(Timeouts {
        waiting: fields.optional("waiting", report, positive_span),
        starting: fields.optional("starting", report, positive_span).unwrap_or(default.starting),
        running: fields.optional("running", report, positive_span),
        // Zero is a kill without asking.
        stopping: fields.optional("stopping", report, span).unwrap_or(default.stopping),
    })
}

/// Kept as written: this version does not act on it.
pub(crate) fn schedule(node: &Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<Value> {
    Fields::of(node, what, &SCHEDULE, report)?;
    json(node, what, report)
}
