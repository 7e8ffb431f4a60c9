//! `kind: job`: one unit.

use std::collections::{BTreeMap, BTreeSet};

use model::{Concurrency, DefinitionKind, ExitMeaning, LimitName, Need, NeedVerdict, Template, Tier, TierName, Unit, UnitName};

use crate::{
    Code, SourceFile,
    artifact::artifacts,
    fields::{Fields, Shape, entries},
    link::Reference,
    node::{Content, Mark, Node, short},
    parameter::{declared_parameters, parameters},
    report::{Report, did_you_mean},
    template::template,
    timing::{retry, schedule, timeouts},
    value::{What, boolean, count, list, scalar, text, whole, word, wrong_type},
    variable::{environment, pass_environment, refuse_clashes, secrets},
};

pub(crate) const JOB: Shape = Shape {
    title: "a job",
    keys: &[
        "kind",
        "name",
        "description",
        "owner",
        "enabled",
        "tags",
        "run",
        "location",
        "tier",
        "parameters",
        "environment",
        "pass_environment",
        "secrets",
        "needs",
        "priority",
        "concurrency",
        "limits",
        "retry",
        "timeout",
        "exit_codes",
        "artifacts",
        "schedule",
    ],
    synonyms: &[
        ("args", "run"),
        ("cmd", "run"),
        ("command", "run"),
        ("cron", "schedule"),
        ("cwd", "location"),
        ("dependencies", "needs"),
        ("depends_on", "needs"),
        ("env", "environment"),
        ("every", "schedule"),
        ("exec", "run"),
        ("id", "name"),
        ("inputs", "parameters"),
        ("labels", "tags"),
        ("outputs", "artifacts"),
        ("params", "parameters"),
        ("path", "location"),
        ("retries", "retry"),
        ("script", "run"),
        ("variables", "environment"),
        ("working_dir", "location"),
    ],
};

pub(crate) const NEED: Shape = Shape { title: "a need", keys: &["unit", "verdict"], synonyms: &[("name", "unit")] };

pub(crate) const CONCURRENCY: Shape = Shape { title: "`concurrency`", keys: &["limit", "per"], synonyms: &[("key", "per")] };

const VERDICTS: &[(&str, NeedVerdict)] = &[("any", NeedVerdict::Any), ("warn", NeedVerdict::Warn), ("pass", NeedVerdict::Pass)];

const MEANINGS: &[(&str, ExitMeaning)] =
    &[("success", ExitMeaning::Success), ("retry", ExitMeaning::Retry), ("fail", ExitMeaning::Fail)];

/// The unit that `fields` describe, where nothing in them is wrong; what is wrong is in the report.
pub(crate) fn job(
    fields: &Fields<'_, '_>,
    name: Option<UnitName>,
    file: &SourceFile,
    references: &mut Vec<Reference>,
    report: &mut Report<'_>,
) -> Option<Unit> {
    let before = report.problems.len();
    let known = declared_parameters(fields);
    let known = known.as_ref();
    refuse_clashes(fields, report);
    // A value that is wrong is stood in for, so that the rest is read and reported too; the unit is dropped at the end.
    let unit = Unit {
        description: fields.optional("description", report, owned_text),
        owner: fields.optional("owner", report, owned_text),
        enabled: fields.optional("enabled", report, boolean).unwrap_or(true),
        tags: fields.optional("tags", report, texts).unwrap_or_default(),
        run: fields.required("run", report, |node, what, report| run(node, what, known, report)).unwrap_or_default(),
        location: fields
            .optional("location", report, |node, what, report| location(node, what, file, report))
            .unwrap_or_else(|| file.folder.clone()),
        tier: tier(fields, references, report),
        parameters: fields.optional("parameters", report, parameters).unwrap_or_default(),
        environment: fields
            .optional("environment", report, |node, what, report| environment(node, what, known, report))
            .unwrap_or_default(),
        pass_environment: fields.optional("pass_environment", report, pass_environment).unwrap_or_default(),
        secrets: fields.optional("secrets", report, secrets).unwrap_or_default(),
        needs: fields.optional("needs", report, |node, what, report| needs(node, what, references, report)).unwrap_or_default(),
        priority: fields.optional("priority", report, |node, what, report| whole(node, what, -100, 100, report)).unwrap_or(0),
        concurrency: fields.optional("concurrency", report, |node, what, report| concurrency(node, what, known, report)),
        limits: fields
            .optional("limits", report, |node, what, report| limits(node, what, references, report))
            .unwrap_or_default(),
        retry: fields.optional("retry", report, retry).unwrap_or_default(),
        timeouts: fields.optional("timeout", report, timeouts).unwrap_or_default(),
        exit_codes: fields.optional("exit_codes", report, exit_codes).unwrap_or_default(),
        artifacts: fields.optional("artifacts", report, artifacts).unwrap_or_default(),
        schedule: fields.optional("schedule", report, schedule),
        // Last, because it ends the reading.
        name: name?,
    };
    (report.problems.len() == before).then_some(unit)
}

fn owned_text(node: &Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<String> {
    text(node, what, report).map(str::to_owned)
}

/// A list of texts, none empty and none twice.
pub(crate) fn texts(node: &Node<'_>, what: What<'static>, report: &mut Report<'_>) -> Option<Vec<String>> {
    let mut seen = BTreeSet::new();
    list(node, what, report, |node, what, report| {
        let text = text(node, what, report)?;
        once(&mut seen, text, node.mark, what, report).then(|| text.to_owned())
    })
}

/// Whether `text` is new to the list; reported where it is not.
pub(crate) fn once<'n>(seen: &mut BTreeSet<&'n str>, text: &'n str, mark: Mark, what: What<'_>, report: &mut Report<'_>) -> bool {
    let new = seen.insert(text);
    if !new {
        report.add(mark, Code::ListedTwice, format!("{what} must stand there once, and `{}` stands there twice", short(text)));
    }
    new
}

fn run(node: &Node<'_>, what: What<'static>, known: Option<&BTreeSet<String>>, report: &mut Report<'_>) -> Option<Vec<Template>> {
    if let Some(line) = scalar(node).filter(|scalar| !scalar.text.trim().is_empty()) {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        let hint = format!("no shell reads it: write [{}]", short(&words.join(", ")));
        wrong_type(node, what, "a list of program and arguments", Some(hint), report);
        return None;
    }
    let words = list(node, what, report, |node, what, report| template(node, what, known, report))?;
    if let Content::List(elements) = &node.content {
        match elements.first() {
            None => report.add(node.mark, Code::Empty, "`run` must name a program"),
            Some(first) if scalar(first).is_some_and(|scalar| !scalar.plain && scalar.text.trim().is_empty()) => {
                report.add(first.mark, Code::Empty, "`run` must start with a program, and this is an empty text");
            }
            Some(_) => {}
        }
    }
    Some(words)
}

/// Absolute as it is, or below the manifest's folder; `..` stays, since links may make it mean something else.
fn location(node: &Node<'_>, what: What<'_>, file: &SourceFile, report: &mut Report<'_>) -> Option<String> {
    let path = text(node, what, report)?;
    if path.starts_with('~') {
        let hint = Some("write an absolute path, or one relative to the manifest".to_owned());
        report.add_with(node.mark, Code::BadLocation, "`location` must be a folder, and `~` stands for none here", hint);
        return None;
    }
    let mut folder = if path.starts_with('/') { String::new() } else { file.folder.trim_end_matches('/').to_owned() };
    for segment in path.split('/').filter(|segment| !matches!(*segment, "" | ".")) {
        folder.push('/');
        folder.push_str(segment);
    }
    Some(if folder.is_empty() { "/".to_owned() } else { folder })
}

fn tier(fields: &Fields<'_, '_>, references: &mut Vec<Reference>, report: &mut Report<'_>) -> TierName {
    let named = fields.optional("tier", report, |node, what, report| {
        let name = text(node, what, report)?;
        references.push(Reference::new(DefinitionKind::Tier, name, node.mark));
        name.parse().ok()
    });
    named.unwrap_or_else(|| Tier::built_in().name)
}

fn limits(
    node: &Node<'_>,
    what: What<'static>,
    references: &mut Vec<Reference>,
    report: &mut Report<'_>,
) -> Option<Vec<LimitName>> {
    let mut seen = BTreeSet::new();
    list(node, what, report, |node, what, report| {
        let name = text(node, what, report)?;
        if once(&mut seen, name, node.mark, what, report) {
            references.push(Reference::new(DefinitionKind::Limit, name, node.mark));
        }
        name.parse().ok()
    })
}

fn needs(node: &Node<'_>, what: What<'static>, references: &mut Vec<Reference>, report: &mut Report<'_>) -> Option<Vec<Need>> {
    let mut seen = BTreeSet::new();
    list(node, what, report, |node, what, report| {
        let (place, verdict) = match &node.content {
            Content::Mapping(_) => {
                let fields = Fields::of(node, what, &NEED, report)?;
                let verdict = fields.optional("verdict", report, |node, what, report| word(node, what, VERDICTS, report));
                (fields.required("unit", report, |node, _, _| Some(node))?, verdict)
            }
            Content::Scalar(_) | Content::List(_) | Content::Reported => (node, None),
        };
        let name = text(place, what, report)?;
        if once(&mut seen, name, place.mark, what, report) {
            references.push(Reference::new(DefinitionKind::Job, name, place.mark));
        }
        Some(Need { unit: name.parse().ok()?, verdict: verdict.unwrap_or(NeedVerdict::Any) })
    })
}

fn concurrency(
    node: &Node<'_>,
    what: What<'_>,
    known: Option<&BTreeSet<String>>,
    report: &mut Report<'_>,
) -> Option<Concurrency> {
    if !matches!(node.content, Content::Mapping(_)) {
        return count(node, what, report).map(|limit| Concurrency { limit, per: None });
    }
    let fields = Fields::of(node, what, &CONCURRENCY, report)?;
    let limit = fields.required("limit", report, count);
    let per = fields.optional("per", report, |node, what, report| {
        let name = text(node, what, report)?;
        if let Some(known) = known.filter(|known| !known.contains(name)) {
            let message = format!("`per` names the parameter `{}`, which the unit does not declare", short(name));
            report.add_with(node.mark, Code::UnknownParameter, message, did_you_mean(name, known.iter().map(String::as_str)));
        }
        Some(name.to_owned())
    });
    Some(Concurrency { limit: limit?, per })
}

fn exit_codes(node: &Node<'_>, what: What<'static>, report: &mut Report<'_>) -> Option<BTreeMap<u8, ExitMeaning>> {
    let mut codes = BTreeMap::new();
    for entry in entries(node, what, report)? {
        let meaning = word(&entry.value, What::Member("exit_codes"), MEANINGS, report);
        match (entry.key.parse::<u8>(), meaning) {
            (Ok(code), Some(meaning)) => drop(codes.insert(code, meaning)),
            (Ok(_), None) => {}
            (Err(_), _) => {
                let message = format!("an exit code is a number from 0 to 255, and this key is `{}`", short(&entry.key));
                report.add(entry.key_mark, Code::BadExitCode, message);
            }
        }
    }
    Some(codes)
}
