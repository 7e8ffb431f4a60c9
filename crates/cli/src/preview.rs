//! The registry as applying a fleet would leave it; writes nothing.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use manifest::Fleet;
use model::{Definition, DefinitionKind, Event, Revised, Scope, Timestamp};
use ports::{Applied, Entry, Registry, Snapshot, StoreError, Switch};

/// A fleet's definitions over the registry below them.
pub(crate) struct Preview {
    fleet: Fleet,
    below: Arc<dyn Registry>,
    now: Timestamp,
}

impl Preview {
    pub(crate) fn new(fleet: Fleet, below: Arc<dyn Registry>, now: Timestamp) -> Preview {
        Preview { fleet, below, now }
    }

    /// The revision that applying `content` would make, or has made.
    async fn revised(&self, scope: &Scope, content: &Definition, current: Option<&Entry>) -> Result<Entry, StoreError> {
        let disabled = current.and_then(|entry| entry.disabled.clone());
        if let Some(entry) = current.filter(|entry| entry.definition.content.digest() == content.digest()) {
            return Ok(entry.clone());
        }
        let latest = self.below.revisions(scope, content.kind(), content.name(), 1).await?;
        let revision = latest.first().map_or(1, |latest| latest.revision + 1);
        Ok(Entry { definition: Revised { revision, applied_at: self.now, content: content.clone() }, disabled })
    }
}

fn read_only() -> StoreError {
    StoreError::Unavailable("a preview writes nothing".into())
}

#[async_trait]
impl Registry for Preview {
    async fn apply(
        &self,
        _: &Scope,
        _: &[Definition],
        _: &[(DefinitionKind, String)],
        _: Timestamp,
    ) -> Result<Vec<Applied>, StoreError> {
        Err(read_only())
    }

    async fn current(&self, scope: &Scope) -> Result<Snapshot, StoreError> {
        let below = self.below.current(scope).await?.entries;
        let known: HashMap<(DefinitionKind, &str), &Entry> =
            below.iter().map(|entry| ((entry.definition.content.kind(), entry.definition.content.name()), entry)).collect();
        let mut entries = Vec::with_capacity(self.fleet.definitions.len());
        for content in &self.fleet.definitions {
            let current = known.get(&(content.kind(), content.name())).copied();
            entries.push(self.revised(scope, content, current).await?);
        }
        let place = |entry: &Entry| (entry.definition.content.kind(), entry.definition.content.name().to_owned());
        entries.sort_by_cached_key(place);
        Ok(Snapshot { entries })
    }

    async fn revision(
        &self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
        revision: u64,
    ) -> Result<Revised<Definition>, StoreError> {
        let current = self.current(scope).await?.entries;
        let wanted = |definition: &Revised<Definition>| {
            (definition.content.kind(), definition.content.name(), definition.revision) == (kind, name, revision)
        };
        match current.into_iter().map(|entry| entry.definition).find(wanted) {
            Some(found) => Ok(found),
            None => self.below.revision(scope, kind, name, revision).await,
        }
    }

    async fn revisions(
        &self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
        limit: usize,
    ) -> Result<Vec<Revised<Definition>>, StoreError> {
        self.below.revisions(scope, kind, name, limit).await
    }

    async fn switch(&self, _: &Scope, _: &str, _: Option<Switch>, _: Event) -> Result<(), StoreError> {
        Err(read_only())
    }
}
