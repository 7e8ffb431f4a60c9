//! One document: its kind, its name, and the definition it holds.

use std::{collections::HashSet, str::FromStr};

use model::{BadName, Definition, DefinitionKind};

use crate::{
    Code, SourceFile,
    compute::{LIMIT, TIER, limit, tier},
    fields::{Fields, Shape},
    job::{JOB, job},
    link::{Declaration, Reference},
    node::{Content, Mark, Node, short},
    report::{Report, closest},
    value::{What, scalar, text},
};

/// What a document gave.
pub(crate) struct Document<'f> {
    /// Its name and what it uses, where its kind is known.
    pub(crate) declaration: Option<Declaration<'f>>,
    /// What it defines, where nothing in it is wrong.
    pub(crate) definition: Option<Definition>,
}

/// Reads a document. Names of which it is not clear what they declare go to `doubtful`.
pub(crate) fn document<'f>(
    node: &Node<'_>,
    file: &'f SourceFile,
    doubtful: &mut HashSet<String>,
    report: &mut Report<'_>,
) -> Document<'f> {
    let kind = kind(node, report);
    match kind {
        Some(DefinitionKind::Job) => named(node, file, DefinitionKind::Job, &JOB, report, |fields, name, references, report| {
            job(fields, name, file, references, report).map(|unit| Definition::Job(Box::new(unit)))
        }),
        Some(DefinitionKind::Tier) => named(node, file, DefinitionKind::Tier, &TIER, report, |fields, name, _, report| {
            tier(fields, name, report).map(Definition::Tier)
        }),
        Some(DefinitionKind::Limit) => named(node, file, DefinitionKind::Limit, &LIMIT, report, |fields, name, _, report| {
            limit(fields, name, report).map(Definition::Limit)
        }),
        None => {
            doubtful.extend(node.get("name").and_then(scalar).map(|scalar| scalar.text.to_string()));
            Document { declaration: None, definition: None }
        }
    }
}

/// The kind; reported where this version has no such.
fn kind(node: &Node<'_>, report: &mut Report<'_>) -> Option<DefinitionKind> {
    if !matches!(node.content, Content::Mapping(_)) {
        if !node.is_reported() {
            let message = format!("{} must be a mapping with `name`, and this is {}", What::Document, node.in_words());
            report.add(node.mark, Code::NotAMapping, message);
        }
        return None;
    }
    let Some(node) = node.get("kind") else { return Some(DefinitionKind::Job) };
    let word = text(node, What::Key("kind"), report)?;
    let kinds = [DefinitionKind::Job, DefinitionKind::Tier, DefinitionKind::Limit];
    let kind = kinds.into_iter().find(|kind| kind.as_str() == word);
    if kind.is_none() {
        unknown_kind(node.mark, word, &kinds, report);
    }
    kind
}

fn unknown_kind(mark: Mark, word: &str, kinds: &[DefinitionKind], report: &mut Report<'_>) {
    if matches!(word, "service" | "flow") {
        let message = format!("`kind: {word}` cannot be run by this version yet");
        report.add_with(mark, Code::UnknownKind, message, Some("take the document out for now".to_owned()));
        return;
    }
    let words = || kinds.iter().map(|kind| kind.as_str());
    let hint = match closest(word, words()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            format!("known kinds: {}; a folder with a file `.musterignore` is left out", words().collect::<Vec<_>>().join(", "))
        }
    };
    report.add_with(mark, Code::UnknownKind, format!("`{}` is not a kind", short(word)), Some(hint));
}

fn named<'f, N: FromStr<Err = BadName>>(
    node: &Node<'_>,
    file: &'f SourceFile,
    kind: DefinitionKind,
    shape: &'static Shape,
    report: &mut Report<'_>,
    read: impl FnOnce(&Fields<'_, '_>, Option<N>, &mut Vec<Reference>, &mut Report<'_>) -> Option<Definition>,
) -> Document<'f> {
    let Some(fields) = Fields::of(node, What::Document, shape, report) else {
        return Document { declaration: None, definition: None };
    };
    let named = fields.required("name", report, |node, what, report| Some((text(node, what, report)?, node.mark)));
    let name = named.and_then(|(text, mark)| match text.parse() {
        Ok(name) => Some(name),
        Err(error) => {
            let hint = near_name(text).map(|near| format!("for example `{near}`"));
            report.add_with(mark, Code::BadName, BadName::to_string(&error), hint);
            None
        }
    });
    let mut references = Vec::new();
    let definition = read(&fields, name, &mut references, report);
    // A name that is wrong or misspelt stands all the same: whoever uses it has no problem of his own.
    let misspelt = || fields.misspelt("name").and_then(|node| Some((scalar(node)?.text.as_ref(), node.mark)));
    let (name, mark) = match named.or_else(misspelt) {
        Some((name, mark)) => (Some(name.to_owned()), mark),
        None => (None, node.mark),
    };
    Document { declaration: Some(Declaration { kind, name, file: &file.path, mark, references }), definition }
}

/// What is left of a text when it is written as a name.
fn near_name(text: &str) -> Option<String> {
    let letters = text.to_lowercase().replace(['_', ' ', '.', '/'], "-");
    let name: String = letters.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').take(63).collect();
    let name = name.trim_matches('-');
    (!name.is_empty()).then(|| name.to_owned())
}
