//! Apply a fleet: definitions from manifests become the registry's current revisions.

use std::collections::HashSet;

use manifest::Fleet;
use model::{Definition, DefinitionKind, Event, EventKind, Scope};
use ports::{Applied, Switch};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{App, Fault};

/// What applying a fleet did, or would do.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FleetChange {
    /// Entries with a new revision.
    pub changed: Vec<Applied>,
    /// How many entries are as they were.
    pub unchanged: usize,
    /// Entries that the fleet no longer holds.
    pub removed: Vec<(DefinitionKind, String)>,
}

/// How the manifest's entry differs from the registry's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Its kind.
    pub kind: DefinitionKind,
    /// Its name.
    pub name: String,
    /// `added`, `removed` or `changed`.
    pub change: &'static str,
    /// The keys that differ: (key, before, after).
    pub keys: Vec<(String, Value, Value)>,
}

impl App {
    /// Makes the fleet's definitions the current ones. The same fleet again changes nothing.
    ///
    /// # Errors
    /// A store that does not answer.
    pub async fn apply(&self, scope: &Scope, fleet: &Fleet) -> Result<FleetChange, Fault> {
        let removed = self.removed(scope, fleet).await?;
        let now = self.ports().clock.now();
        let applied = self.ports().registry.apply(scope, &fleet.definitions, &removed, now).await;
        let applied = applied.map_err(|error| Fault::store("apply the fleet", error))?;
        self.learn_registry(scope).await?;
        let (changed, unchanged): (Vec<Applied>, Vec<Applied>) = applied.into_iter().partition(|applied| applied.changed);
        Ok(FleetChange { changed, unchanged: unchanged.len(), removed })
    }

    async fn removed(&self, scope: &Scope, fleet: &Fleet) -> Result<Vec<(DefinitionKind, String)>, Fault> {
        let wanted: HashSet<(DefinitionKind, &str)> =
            fleet.definitions.iter().map(|entry| (entry.kind(), entry.name())).collect();
        let snapshot = self.snapshot(scope).await?;
        let current = snapshot.entries.into_iter().map(|entry| entry.definition.content);
        let gone = current.filter(|entry| !wanted.contains(&(entry.kind(), entry.name())));
        Ok(gone.map(|entry| (entry.kind(), entry.name().to_owned())).collect())
    }

    /// How the fleet differs from the registry.
    ///
    /// # Errors
    /// A store that does not answer.
    pub async fn differences(&self, scope: &Scope, fleet: &Fleet) -> Result<Vec<Difference>, Fault> {
        let snapshot = self.snapshot(scope).await?;
        let current = |kind: DefinitionKind, name: &str| {
            snapshot
                .entries
                .iter()
                .map(|entry| &entry.definition.content)
                .find(|entry| entry.kind() == kind && entry.name() == name)
        };
        let mut differences = Vec::new();
        for entry in &fleet.definitions {
            let before = current(entry.kind(), entry.name());
            let keys = differing_keys(before, Some(entry));
            if !keys.is_empty() {
                let change = if before.is_some() { "changed" } else { "added" };
                differences.push(Difference { kind: entry.kind(), name: entry.name().to_owned(), change, keys });
            }
        }
        for (kind, name) in self.removed(scope, fleet).await? {
            let keys = differing_keys(current(kind, &name), None);
            differences.push(Difference { kind, name, change: "removed", keys });
        }
        Ok(differences)
    }

    /// Holds every new start of a unit, or lets it start again, whatever its manifest says. What runs goes on.
    ///
    /// # Errors
    /// An unknown unit, a store that does not answer.
    pub async fn switch(&self, scope: &Scope, unit: &str, disable: Option<String>, by: &str) -> Result<(), Fault> {
        let known = self.named_unit(scope, unit).await?;
        let at = self.ports().clock.now();
        let switch = disable.map(|note| Switch { by: by.to_owned(), at, note: Some(note).filter(|note| !note.is_empty()) });
        let data = json!({ "unit": unit, "disabled": switch });
        let step = at.to_string();
        let event = Event::of_change(EventKind::UnitSwitched, unit, &step, at, scope, &format!("{unit}@{step}"), data);
        let written = self.ports().registry.switch(scope, known.name.as_str(), switch, event.clone()).await;
        written.map_err(|error| Fault::store("switch the unit", error))?;
        self.tell(event);
        self.learn_registry(scope).await
    }
}

fn differing_keys(before: Option<&Definition>, after: Option<&Definition>) -> Vec<(String, Value, Value)> {
    let (before, after) = (as_map(before), as_map(after));
    let mut keys: Vec<&String> = before.keys().chain(after.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let value = |map: &serde_json::Map<String, Value>, key: &str| map.get(key).cloned().unwrap_or(Value::Null);
    keys.into_iter()
        .map(|key| (key.clone(), value(&before, key), value(&after, key)))
        .filter(|(_, before, after)| before != after)
        .collect()
}

fn as_map(definition: Option<&Definition>) -> serde_json::Map<String, Value> {
    let value =
        definition.map(|definition| serde_json::to_value(definition).expect("a definition is JSON: its maps have text keys"));
    match value {
        Some(Value::Object(map)) => map,
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) | None => {
            serde_json::Map::new()
        }
    }
}
