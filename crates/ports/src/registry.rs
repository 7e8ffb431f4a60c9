//! The registry: every definition, each change a new immutable revision.

use async_trait::async_trait;
use model::{Definition, DefinitionKind, Event, Revised, Scope, Timestamp};
use serde::{Deserialize, Serialize};

use crate::StoreError;

/// Definitions by kind and name. A revision, once applied, never changes.
#[async_trait]
pub trait Registry: Send + Sync {
    /// Makes the definitions the current ones, all or none: a new revision for each whose content differs from its current
    /// revision; the same content again changes nothing. Entries of `removed` stop being current; their revisions stay.
    async fn apply(
        &self,
        scope: &Scope,
        definitions: &[Definition],
        removed: &[(DefinitionKind, String)],
        now: Timestamp,
    ) -> Result<Vec<Applied>, StoreError>;

    /// Every current definition, sorted by kind and name, with its operator's switch.
    async fn current(&self, scope: &Scope) -> Result<Snapshot, StoreError>;

    /// One revision.
    async fn revision(
        &self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
        revision: u64,
    ) -> Result<Revised<Definition>, StoreError>;

    /// The revisions of one entry, newest first, at most `limit`.
    async fn revisions(
        &self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
        limit: usize,
    ) -> Result<Vec<Revised<Definition>>, StoreError>;

    /// Sets the operator's switch of a unit and writes `event` with it. `None` takes the switch away.
    async fn switch(&self, scope: &Scope, unit: &str, switch: Option<Switch>, event: Event) -> Result<(), StoreError>;
}

/// What applying one definition did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// Its kind.
    pub kind: DefinitionKind,
    /// Its name.
    pub name: String,
    /// Its revision now.
    pub revision: u64,
    /// True where this is a new revision.
    pub changed: bool,
}

/// The current definitions of a scope.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    /// Sorted by kind and name.
    pub entries: Vec<Entry>,
}

/// One current definition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The definition.
    pub definition: Revised<Definition>,
    /// Set where an operator disabled the unit, whatever its definition says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<Switch>,
}

/// An operator's word against new starts of a unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switch {
    /// Who.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
