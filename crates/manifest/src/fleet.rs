//! All files of a fleet together.

use std::collections::{BTreeMap, HashMap, HashSet};

use model::{Definition, DefinitionKind, Problem, Tier};

use crate::{
    Code,
    document::document,
    link::{Declaration, link},
    node::{Mark, Node},
    parse::{Parsed, parse},
    place::Readable,
    report::{Report, problem},
    syntax::{looks_like_manifest, names_in},
};

/// The problems of one file that are listed; a file with more is probably no manifest at all.
const MOST_PROBLEMS: usize = 100;

/// A file of the fleet folder, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path relative to the fleet folder, with `/`; what problems call it.
    pub path: String,
    /// The absolute folder it lies in; locations are relative to it.
    pub folder: String,
    /// Its text.
    pub text: String,
}

/// What the manifests of a fleet declare.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fleet {
    /// In order of file and place; the built-in tier comes last where the fleet declares no tier `default`.
    pub definitions: Vec<Definition>,
    /// Where each is declared, by kind and name; the built-in tier is not in it.
    pub origins: BTreeMap<(DefinitionKind, String), Origin>,
    /// What is worth a look and stops nothing, sorted by place.
    pub warnings: Vec<Problem>,
}

/// Where a definition is declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file, relative to the fleet folder.
    pub file: String,
    /// The line of its name, from 1.
    pub line: u32,
}

impl Fleet {
    /// Where `definition` is declared; nowhere for the built-in tier.
    pub fn origin(&self, definition: &Definition) -> Option<&Origin> {
        self.origins.get(&(definition.kind(), definition.name().to_owned()))
    }
}

/// Reads the manifests among `files`: those whose first document is a mapping with `name` or `kind`.
///
/// # Errors
/// Every problem of every file, sorted by file and place. One cause is one problem.
pub fn read(files: &[SourceFile]) -> Result<Fleet, Vec<Problem>> {
    let mut files: Vec<&SourceFile> = files.iter().collect();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    let mut reading = Reading::default();
    for file in files {
        reading.file(file);
    }
    reading.end()
}

#[derive(Default)]
struct Reading<'f> {
    definitions: Vec<Definition>,
    declarations: Vec<Declaration<'f>>,
    doubtful: HashSet<String>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
}

impl<'f> Reading<'f> {
    fn file(&mut self, file: &'f SourceFile) {
        let mut report = Report::new(&file.path);
        let json = file.path.ends_with(".json");
        let source = if json { Readable::json(&file.text) } else { Readable::yaml(&file.text) };
        let Parsed { documents, complete } = parse(&source, &mut report);
        let manifest = match documents.first() {
            Some(first) => is_manifest(first),
            None => looks_like_manifest(&file.text),
        };
        if !manifest {
            report.bring_inside(&file.text);
            self.warnings.extend(left_out(report, documents.first(), complete));
            return;
        }
        if !complete {
            self.doubtful.extend(names_in(&file.text).map(str::to_owned));
        }
        for node in &documents {
            let read = document(node, file, &mut self.doubtful, &mut report);
            self.declarations.extend(read.declaration);
            self.definitions.extend(read.definition);
        }
        report.bring_inside(&file.text);
        self.problems.append(&mut report.problems);
        self.warnings.append(&mut report.warnings);
    }

    fn end(mut self) -> Result<Fleet, Vec<Problem>> {
        self.problems.extend(link(&self.declarations, &self.doubtful));
        if !self.problems.is_empty() {
            return Err(listed(self.problems));
        }
        let origins: BTreeMap<_, _> = self.declarations.iter().filter_map(origin).collect();
        if !origins.contains_key(&(DefinitionKind::Tier, Tier::DEFAULT.to_owned())) {
            self.definitions.push(Definition::Tier(Tier::built_in()));
        }
        Ok(Fleet { definitions: self.definitions, origins, warnings: listed(self.warnings) })
    }
}

fn origin(declaration: &Declaration<'_>) -> Option<((DefinitionKind, String), Origin)> {
    let origin = Origin { file: declaration.file.to_owned(), line: declaration.mark.line };
    Some(((declaration.kind, declaration.name.clone()?), origin))
}

fn is_manifest(first: &Node<'_>) -> bool {
    first.get("name").or_else(|| first.get("kind")).is_some()
}

/// A file that is no manifest is nobody's business, but one that may have been meant as one is worth a word: it has `run` and
/// no name, or could not even be read.
fn left_out(mut report: Report<'_>, first: Option<&Node<'_>>, complete: bool) -> Option<Problem> {
    if let Some(first) = first {
        first.get("run")?;
        let message = "left out, since its first document has neither `name` nor `kind`";
        report.warn(first.mark, Code::NotRead, message, Some("give it a name, if it is a manifest".to_owned()));
        return report.warnings.pop();
    }
    let first = report.problems.into_iter().next().filter(|_| !complete)?;
    let message = format!("left out, since it does not look like a manifest and cannot be read: {}", first.message);
    Some(Problem { code: Code::NotRead.as_str().to_owned(), message, ..first })
}

/// In order of file and place, each once, at most so many a file.
fn listed(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort();
    problems.dedup();
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut listed: Vec<Problem> = Vec::new();
    let mut rest: Vec<(String, Mark, usize)> = Vec::new();
    for found in problems {
        let count = counts.entry(found.file.clone()).or_default();
        *count += 1;
        if *count <= MOST_PROBLEMS {
            listed.push(found);
        } else if let Some((_, _, more)) = rest.last_mut().filter(|(file, _, _)| *file == found.file) {
            *more += 1;
        } else {
            rest.push((found.file, Mark { line: found.line, column: found.column }, 1));
        }
    }
    listed.extend(
        rest.into_iter().map(|(file, mark, more)| {
            problem(&file, mark, Code::TooMany, format!("and {more} more problems from here on"), None)
        }),
    );
    listed.sort();
    listed
}
