//! `artifacts`: rules for what a unit publishes.

use std::collections::BTreeSet;

use model::{ArtifactFormat, ArtifactRule, EmptyPolicy, Freshness, OnFail};
use signals::Check;

use crate::{
    Code,
    fields::{Fields, Shape},
    job::{once, texts},
    node::{Content, Node, short},
    report::Report,
    template::inside,
    value::{What, boolean, list, positive_span, text, word},
};

pub(crate) const ARTIFACT: Shape = Shape {
    title: "an artifact rule",
    keys: &["path", "format", "key", "columns", "freshness", "empty", "optional", "checks", "on_fail"],
    synonyms: &[
        ("file", "path"),
        ("name", "path"),
        ("keys", "key"),
        ("primary_key", "key"),
        ("type", "format"),
        ("unique", "key"),
    ],
};

pub(crate) const FRESHNESS: Shape =
    Shape { title: "`freshness`", keys: &["column", "max_age"], synonyms: &[("age", "max_age"), ("field", "column")] };

const FORMATS: &[(&str, ArtifactFormat)] = &[
    ("auto", ArtifactFormat::Auto),
    ("csv", ArtifactFormat::Csv),
    ("tsv", ArtifactFormat::Tsv),
    ("jsonl", ArtifactFormat::Jsonl),
];

const EMPTY: &[(&str, EmptyPolicy)] = &[("ok", EmptyPolicy::Ok), ("warn", EmptyPolicy::Warn), ("fail", EmptyPolicy::Fail)];

const ON_FAIL: &[(&str, OnFail)] = &[("report", OnFail::Report), ("fail", OnFail::Fail)];

/// The rules, each for a path of its own.
pub(crate) fn artifacts(node: &Node<'_>, what: What<'static>, report: &mut Report<'_>) -> Option<Vec<ArtifactRule>> {
    let mut seen = BTreeSet::new();
    list(node, what, report, |node, what, report| {
        let fields = Fields::of(node, what, &ARTIFACT, report)?;
        if let Some(node) = fields.get("path")
            && let Some(scalar) = crate::value::scalar(node)
        {
            once(&mut seen, scalar.text.as_ref(), node.mark, What::Key("path"), report);
        }
        artifact(&fields, report)
    })
}

fn artifact(fields: &Fields<'_, '_>, report: &mut Report<'_>) -> Option<ArtifactRule> {
    let path = fields.required("path", report, pattern);
    let rule = ArtifactRule {
        format: fields
            .optional("format", report, |node, what, report| word(node, what, FORMATS, report))
            .unwrap_or(ArtifactFormat::Auto),
        key: fields.optional("key", report, columns).unwrap_or_default(),
        columns: fields.optional("columns", report, columns).unwrap_or_default(),
        freshness: fields.optional("freshness", report, freshness),
        empty: fields
            .optional("empty", report, |node, what, report| word(node, what, EMPTY, report))
            .unwrap_or(EmptyPolicy::Warn),
        optional: fields.optional("optional", report, boolean).unwrap_or(false),
        checks: fields.optional("checks", report, checks).unwrap_or_default(),
        on_fail: fields
            .optional("on_fail", report, |node, what, report| word(node, what, ON_FAIL, report))
            .unwrap_or(OnFail::Report),
        path: path?,
    };
    Some(rule)
}

/// A glob that cannot leave the output folder.
fn pattern(node: &Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<String> {
    let path = text(node, what, report)?;
    let wrong = if path.starts_with('/') {
        "an absolute path"
    } else if path.split('/').any(|part| part == "..") {
        "a path that leaves the folder"
    } else if path.ends_with('/') {
        "a folder"
    } else if path.split('/').any(|part| matches!(part, "" | ".")) {
        "a path with an empty part"
    } else {
        return Some(path.to_owned());
    };
    let message = format!("{what} is a pattern for files below the output folder, and this is {wrong}: `{}`", short(path));
    let hint = "write it relative to $MUSTER_OUT, such as prices.csv or daily/*.csv".to_owned();
    report.add_with(node.mark, Code::BadPattern, message, Some(hint));
    None
}

fn columns(node: &Node<'_>, what: What<'static>, report: &mut Report<'_>) -> Option<Vec<String>> {
    let columns = texts(node, what, report)?;
    if matches!(&node.content, Content::List(elements) if elements.is_empty()) {
        report.add(node.mark, Code::Empty, format!("{what} must list a column, or be left out"));
    }
    Some(columns)
}

fn freshness(node: &Node<'_>, what: What<'_>, report: &mut Report<'_>) -> Option<Freshness> {
    let fields = Fields::of(node, what, &FRESHNESS, report)?;
    let column = fields.required("column", report, |node, what, report| text(node, what, report).map(str::to_owned));
    let max_age = fields.required("max_age", report, positive_span);
    Some(Freshness { column: column?, max_age: max_age? })
}

fn checks(node: &Node<'_>, what: What<'static>, report: &mut Report<'_>) -> Option<Vec<String>> {
    let mut cut = false;
    list(node, what, report, |node, what, report| {
        // The rest of a check that a comma cut in pieces: said once, at its first piece.
        let rest = std::mem::take(&mut cut);
        let check = text(node, what, report)?;
        match Check::parse(check) {
            Ok(_) => Some(check.to_owned()),
            Err(problem) => {
                let open = check.matches('(').count() > check.matches(')').count();
                let plain = crate::value::scalar(node).is_some_and(|scalar| scalar.plain);
                cut = open && plain;
                let hint = if cut {
                    Some("quote the check: in brackets, a comma starts the next element".to_owned())
                } else {
                    problem.suggestion.map(|word| format!("did you mean `{word}`?"))
                };
                if !(rest && check.contains(')')) {
                    report.add_with(inside(node, check, problem.offset), Code::BadCheck, problem.message, hint);
                }
                None
            }
        }
    })
}
