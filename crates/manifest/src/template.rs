//! Templates in manifests: the model reads them, this finds the place and the word that was meant.

use std::collections::BTreeSet;

use model::Template;

use crate::{
    Code,
    node::{Mark, Node, short},
    report::{Report, closest},
    value::{What, any_text, scalar},
};

/// A text with holes, whose parameters are among `known` (not compared where those could not be read).
pub(crate) fn template(
    node: &Node<'_>,
    what: What<'_>,
    known: Option<&BTreeSet<String>>,
    report: &mut Report<'_>,
) -> Option<Template> {
    let text = any_text(node, what, report)?;
    match Template::parse(text) {
        Ok(template) => {
            if let Some(known) = known {
                for name in template.parameters().filter(|name| !known.contains(*name)) {
                    unknown_parameter(node, text, name, known, report);
                }
            }
            Some(template)
        }
        Err(mistake) => {
            let hint = mistake.unknown.as_ref().and_then(|(word, names)| meant(word, names, known));
            report.add_with(inside(node, text, mistake.offset), Code::BadTemplate, mistake.message, hint);
            None
        }
    }
}

/// The place of the byte `offset` of the node's text, or of the text where its writing differs from its reading.
pub(crate) fn inside(node: &Node<'_>, text: &str, offset: usize) -> Mark {
    let inset = scalar(node).and_then(|scalar| scalar.inset).and_then(|inset| usize::try_from(inset).ok());
    match (inset, text.get(..offset)) {
        (Some(inset), Some(before)) => node.mark.right(inset + before.chars().count()),
        (_, _) => node.mark,
    }
}

fn meant(word: &str, names: &[&str], known: Option<&BTreeSet<String>>) -> Option<String> {
    if known.is_some_and(|known| known.contains(word)) {
        return Some(format!("did you mean `params.{word}`?"));
    }
    closest(word, names.iter().copied()).map(|name| format!("did you mean `{name}`?"))
}

fn unknown_parameter(node: &Node<'_>, text: &str, name: &str, known: &BTreeSet<String>, report: &mut Report<'_>) {
    let offset = text.find(&format!("params.{name}")).unwrap_or(0);
    let hint = match closest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `params.{near}`?"),
        None => format!("declare it: parameters: {{ {}: {{ type: string }} }}", short(name)),
    };
    let message = format!("the unit declares no parameter `{}`", short(name));
    report.add_with(inside(node, text, offset), Code::UnknownParameter, message, Some(hint));
}
