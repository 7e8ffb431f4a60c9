//! The adapters of a home that does not exist yet: everything is empty, and nothing can be written.

use async_trait::async_trait;
use model::{
    Definition, DefinitionKind, Digest, Event, Execution, ExecutionId, ObjectKey, PermitKey, Revised, Run, RunId, Scope,
    Timestamp, UnitName,
};
use ports::{
    Applied, Change, ExecutionFilter, IdempotencyRecord, ObjectError, Objects, Page, Registry, RunFilter, Runs, SlotHolder,
    Snapshot, Source, StoreError, Stored, Switch,
};

/// Nothing, as registry, runs and objects.
pub(crate) struct Nowhere;

/// Why nothing is written.
fn read_only() -> StoreError {
    StoreError::Unavailable("there is no home yet; `muster run` makes it".into())
}

#[async_trait]
impl Registry for Nowhere {
    async fn apply(
        &self,
        _: &Scope,
        _: &[Definition],
        _: &[(DefinitionKind, String)],
        _: Timestamp,
    ) -> Result<Vec<Applied>, StoreError> {
        Err(read_only())
    }

    async fn current(&self, _: &Scope) -> Result<Snapshot, StoreError> {
        Ok(Snapshot::default())
    }

    async fn revision(&self, _: &Scope, _: DefinitionKind, _: &str, _: u64) -> Result<Revised<Definition>, StoreError> {
        Err(StoreError::NotFound)
    }

    async fn revisions(&self, _: &Scope, _: DefinitionKind, _: &str, _: usize) -> Result<Vec<Revised<Definition>>, StoreError> {
        Ok(Vec::new())
    }

    async fn switch(&self, _: &Scope, _: &str, _: Option<Switch>, _: Event) -> Result<(), StoreError> {
        Err(read_only())
    }
}

#[async_trait]
impl Runs for Nowhere {
    async fn write(&self, _: &Scope, _: Vec<Change>) -> Result<(), StoreError> {
        Err(read_only())
    }

    async fn run(&self, _: &Scope, _: RunId) -> Result<Stored<Run>, StoreError> {
        Err(StoreError::NotFound)
    }

    async fn runs(&self, _: &Scope, _: &RunFilter) -> Result<Page<Run>, StoreError> {
        Ok(Page { items: Vec::new(), more: false })
    }

    async fn execution(&self, _: &Scope, _: ExecutionId) -> Result<Stored<Execution>, StoreError> {
        Err(StoreError::NotFound)
    }

    async fn executions(&self, _: &Scope, _: RunId, _: &ExecutionFilter) -> Result<Vec<Stored<Execution>>, StoreError> {
        Ok(Vec::new())
    }

    async fn last_accepted(
        &self,
        _: &Scope,
        wanted: &[(UnitName, Digest)],
        _: RunId,
    ) -> Result<Vec<Option<Execution>>, StoreError> {
        Ok(vec![None; wanted.len()])
    }

    async fn holders(&self, _: &Scope, _: &PermitKey) -> Result<Vec<SlotHolder>, StoreError> {
        Ok(Vec::new())
    }

    async fn find(&self, _: &Scope, _: &str, _: usize) -> Result<Vec<RunId>, StoreError> {
        Ok(Vec::new())
    }

    async fn remembered(&self, _: &Scope, _: &str) -> Result<Option<IdempotencyRecord>, StoreError> {
        Ok(None)
    }

    async fn events(&self, _: &Scope, _: u64, _: usize) -> Result<Vec<(u64, Event)>, StoreError> {
        Ok(Vec::new())
    }

    async fn foreign_changes(&self) -> Result<u64, StoreError> {
        Ok(0)
    }
}

#[async_trait]
impl Objects for Nowhere {
    async fn put(&self, key: &ObjectKey, _: Source) -> Result<(), ObjectError> {
        Err(ObjectError::Unavailable { key: key.clone(), source: "there is no home yet".into() })
    }

    async fn get(&self, key: &ObjectKey) -> Result<Vec<u8>, ObjectError> {
        Err(ObjectError::NotFound(key.clone()))
    }

    async fn range(&self, key: &ObjectKey, _: u64, _: usize) -> Result<Vec<u8>, ObjectError> {
        Err(ObjectError::NotFound(key.clone()))
    }

    async fn list(&self, _: &ObjectKey, _: Option<&ObjectKey>, _: usize) -> Result<Vec<ObjectKey>, ObjectError> {
        Ok(Vec::new())
    }
}
