//! Mappings with known keys.

use crate::{
    Code,
    node::{Content, Entry, Node, short},
    report::{Report, closest},
    value::{What, wrong_type},
};

/// What a mapping may hold. The test `decoder_and_schema_know_the_same_keys` compares it with the schema.
#[derive(Debug)]
pub(crate) struct Shape {
    /// In messages: "… has no key `x`".
    pub(crate) title: &'static str,
    /// Every key.
    pub(crate) keys: &'static [&'static str],
    /// Keys that other systems use, and ours for the same.
    pub(crate) synonyms: &'static [(&'static str, &'static str)],
}

impl Shape {
    /// The key that `word`, which is none, was probably meant to be.
    fn meant(&self, word: &str) -> Option<&'static str> {
        let synonym = self.synonyms.iter().find(|(theirs, _)| *theirs == word).map(|(_, ours)| *ours);
        synonym.or_else(|| closest(word, self.keys.iter().copied()))
    }
}

/// A mapping whose keys are known ones.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'n, 't> {
    node: &'n Node<'t>,
    shape: &'static Shape,
}

impl<'n, 't> Fields<'n, 't> {
    /// The fields of a mapping; each unknown key is reported and then left out of account.
    pub(crate) fn of(
        node: &'n Node<'t>,
        what: What<'_>,
        shape: &'static Shape,
        report: &mut Report<'_>,
    ) -> Option<Fields<'n, 't>> {
        let entries = entries(node, what, report)?;
        for entry in entries.iter().filter(|entry| !shape.keys.contains(&entry.key.as_ref())) {
            unknown_key(entry, shape, report);
        }
        Some(Fields { node, shape })
    }

    /// The value of `key`, where it is given.
    pub(crate) fn get(&self, key: &'static str) -> Option<&'n Node<'t>> {
        debug_assert!(self.shape.keys.contains(&key), "{key} is not in the shape of {}", self.shape.title);
        self.node.get(key)
    }

    /// The value of an unknown key that was probably meant to be `key`: reported as unknown, so not missing as well.
    pub(crate) fn misspelt(&self, key: &'static str) -> Option<&'n Node<'t>> {
        let Content::Mapping(entries) = &self.node.content else { return None };
        let unknown = entries.iter().filter(|entry| !self.shape.keys.contains(&entry.key.as_ref()));
        unknown.into_iter().find(|entry| self.shape.meant(&entry.key) == Some(key)).map(|entry| &entry.value)
    }

    /// The value of `key` as `read` reads it, where it is given and right.
    pub(crate) fn optional<T>(
        &self,
        key: &'static str,
        report: &mut Report<'_>,
        read: impl FnOnce(&'n Node<'t>, What<'static>, &mut Report<'_>) -> Option<T>,
    ) -> Option<T> {
        self.get(key).and_then(|node| read(node, What::Key(key), report))
    }

    /// The same, reported where it is not given.
    pub(crate) fn required<T>(
        &self,
        key: &'static str,
        report: &mut Report<'_>,
        read: impl FnOnce(&'n Node<'t>, What<'static>, &mut Report<'_>) -> Option<T>,
    ) -> Option<T> {
        let Some(node) = self.get(key) else {
            if self.misspelt(key).is_some() {
                return None;
            }
            report.add(self.node.mark, Code::MissingKey, format!("{} needs the key `{key}`", self.shape.title));
            return None;
        };
        read(node, What::Key(key), report)
    }
}

/// The entries of a mapping with free keys.
pub(crate) fn entries<'n, 't>(node: &'n Node<'t>, what: What<'_>, report: &mut Report<'_>) -> Option<&'n [Entry<'t>]> {
    match &node.content {
        Content::Mapping(entries) => Some(entries),
        Content::Scalar(_) | Content::List(_) | Content::Reported => {
            wrong_type(node, what, "a mapping", None, report);
            None
        }
    }
}

fn unknown_key(entry: &Entry<'_>, shape: &Shape, report: &mut Report<'_>) {
    // An alias below a merge key `<<` has said enough.
    if entry.value.is_reported() && entry.key == "<<" {
        return;
    }
    let hint = match shape.meant(&entry.key) {
        Some(key) => format!("did you mean `{key}`?"),
        None => format!("known keys: {}", shape.keys.join(", ")),
    };
    let message = format!("{} has no key `{}`", shape.title, short(&entry.key));
    report.add_with(entry.key_mark, Code::UnknownKey, message, Some(hint));
}
