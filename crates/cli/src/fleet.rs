//! The fleet folder: read whole, or not at all.

use std::{collections::HashMap, path::Path};

use app::{Fault, FleetChange};
use local::home::read_fleet;
use manifest::{Fleet, SourceFile};
use model::{Definition, DefinitionKind, Kind, Problem};

use crate::{context::Context, failure::Failure, paint::Paint, times::counted};

/// Reads every manifest of the fleet folder.
///
/// # Errors
/// Every problem of every file.
pub(crate) fn load(context: &Context) -> Result<Fleet, Failure> {
    let folder = context.fleet.display().to_string();
    let files = read_fleet(&context.fleet)
        .map_err(|problems| Fault::problems(&format!("could not read the fleet in {folder}"), problems))?;
    let sources: Vec<SourceFile> = files
        .into_iter()
        .map(|file| SourceFile { path: file.path, folder: file.folder.to_string_lossy().into_owned(), text: file.text })
        .collect();
    let fleet = manifest::read(&sources).map_err(|problems| faulty(&folder, problems, &sources))?;
    let missing = missing_locations(&fleet);
    if !missing.is_empty() {
        return Err(faulty(&folder, missing, &sources));
    }
    if !fleet.definitions.iter().any(|definition| definition.kind() == DefinitionKind::Job) {
        let fault = Fault::new(Kind::Invalid, "E-F01", format!("there is no unit in {folder}"));
        return Err(fault.with_hint("`muster init` makes a small fleet; --fleet names another folder.").into());
    }
    for warning in &fleet.warnings {
        let label = context.screen.paint(Paint::Doubtful, "warning:");
        context.screen.note(&format!("{label} {}", explain(warning, &sources)));
    }
    Ok(fleet)
}

fn faulty(folder: &str, problems: Vec<Problem>, sources: &[SourceFile]) -> Failure {
    let explained = problems.iter().map(|problem| explain(problem, sources)).collect();
    let mut fault = Fault::problems(&format!("the fleet in {folder}"), problems);
    fault.hint = None;
    Failure { fault: Box::new(fault), explained }
}

fn explain(problem: &Problem, sources: &[SourceFile]) -> String {
    let texts: HashMap<&str, &str> = sources.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    manifest::explain(problem, texts.get(problem.file.as_str()).copied().unwrap_or_default())
}

/// The language knows no file system: that a unit's folder exists is checked here.
fn missing_locations(fleet: &Fleet) -> Vec<Problem> {
    let missing = |definition: &Definition| {
        let Definition::Job(unit) = definition else { return None };
        let origin = fleet.origin(definition).filter(|_| !Path::new(&unit.location).is_dir())?;
        Some(Problem {
            file: origin.file.clone(),
            line: origin.line,
            column: 1,
            code: "E-F02".to_owned(),
            message: format!("the location of unit `{}` is not a folder: {}", unit.name, unit.location),
            hint: Some("`location` is relative to the manifest's folder".to_owned()),
        })
    };
    fleet.definitions.iter().filter_map(missing).collect()
}

/// What applying a fleet did, in a sentence; nothing where it changed nothing.
pub(crate) fn changes(change: &FleetChange) -> Option<String> {
    let mut parts = Vec::new();
    for kind in [DefinitionKind::Job, DefinitionKind::Tier, DefinitionKind::Limit] {
        let word = match kind {
            DefinitionKind::Job => "unit",
            DefinitionKind::Tier => "tier",
            DefinitionKind::Limit => "limit",
        };
        let of_kind = |is_new: bool| {
            change.changed.iter().filter(|applied| applied.kind == kind && (applied.revision == 1) == is_new).count()
        };
        let removed = change.removed.iter().filter(|(removed, _)| *removed == kind).count();
        for (count, verb) in [(of_kind(false), "changed"), (of_kind(true), "added"), (removed, "removed")] {
            if count > 0 {
                parts.push(format!("{} {verb}", counted(count as u64, word)));
            }
        }
    }
    (!parts.is_empty()).then(|| format!("fleet applied: {}", parts.join(", ")))
}
