//! Ports that fail at a call of the test's choice: crash everywhere, then try again.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use async_trait::async_trait;
use model::{
    Assignment, Definition, DefinitionKind, Digest, Event, Execution, ExecutionId, ObjectKey, PermitKey, Revised, Run, RunId,
    Scope, StopCause, Timestamp, UnitName,
};
use ports::{
    Applied, BoxError, Change, Engine, EngineError, ExecutionFilter, IdempotencyRecord, LaunchError, Launcher, MachineStatus,
    ObjectError, Objects, Observation, Page, Registry, RunFilter, Runs, SlotHolder, Snapshot, Source, StepError, StoreError,
    Stored, Switch,
};
use serde_json::Value;

/// Counts the calls of every port it wraps and fails the one whose number was chosen.
///
/// ```text
/// for nth in 0.. {
///     let fault = FailsAt::call(nth);
///     let app = App::new(fault.runs(runs), fault.objects(objects), …);
///     let first_try = app.start(…).await;
///     if !fault.fired() { break }                  // past the last call: done
///     app.start(…).await.unwrap();                 // the second try must succeed
/// }
/// ```
#[derive(Debug, Clone)]
pub struct FailsAt {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    calls: AtomicU64,
    nth: u64,
    loses: Loses,
}

/// What is lost of the call that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loses {
    /// The call: nothing was done.
    Request,
    /// The answer: it was done all the same.
    Reply,
}

impl FailsAt {
    /// Fails the call with number `nth`, from 0, before it does anything.
    pub fn call(nth: u64) -> FailsAt {
        FailsAt::losing(Loses::Request, nth)
    }

    /// Fails no call.
    pub fn never() -> FailsAt {
        FailsAt::call(u64::MAX)
    }

    /// Lets the call with number `nth`, from 0, do its work and loses the answer.
    pub fn reply(nth: u64) -> FailsAt {
        FailsAt::losing(Loses::Reply, nth)
    }

    fn losing(loses: Loses, nth: u64) -> FailsAt {
        FailsAt { shared: Arc::new(Shared { calls: AtomicU64::new(0), nth, loses }) }
    }

    /// True once the chosen call has failed.
    pub fn fired(&self) -> bool {
        self.calls() > self.shared.nth
    }

    /// How many calls there were so far.
    pub fn calls(&self) -> u64 {
        self.shared.calls.load(Ordering::SeqCst)
    }

    /// `inner`, failing.
    pub fn runs(&self, inner: Arc<dyn Runs>) -> Arc<dyn Runs> {
        Arc::new(Failing { inner, fault: self.clone() })
    }

    /// `inner`, failing.
    pub fn registry(&self, inner: Arc<dyn Registry>) -> Arc<dyn Registry> {
        Arc::new(Failing { inner, fault: self.clone() })
    }

    /// `inner`, failing.
    pub fn objects(&self, inner: Arc<dyn Objects>) -> Arc<dyn Objects> {
        Arc::new(Failing { inner, fault: self.clone() })
    }

    /// `inner`, failing.
    pub fn engine(&self, inner: Arc<dyn Engine>) -> Arc<dyn Engine> {
        Arc::new(Failing { inner, fault: self.clone() })
    }

    /// `inner`, failing.
    pub fn launcher(&self, inner: Arc<dyn Launcher>) -> Arc<dyn Launcher> {
        Arc::new(Failing { inner, fault: self.clone() })
    }

    /// Counts a call and carries it out, unless it is the one to lose.
    async fn pass<T, E>(
        &self,
        call: impl Future<Output = Result<T, E>> + Send,
        lost: impl FnOnce(BoxError) -> E,
    ) -> Result<T, E> {
        let number = self.shared.calls.fetch_add(1, Ordering::SeqCst);
        let error = || lost(format!("the test lets call {number} fail").into());
        match (number == self.shared.nth, self.shared.loses) {
            (false, _) => call.await,
            (true, Loses::Request) => Err(error()),
            (true, Loses::Reply) => {
                call.await?;
                Err(error())
            }
        }
    }
}

/// A port that fails when its fault says so.
struct Failing<P: ?Sized> {
    fault: FailsAt,
    inner: Arc<P>,
}

#[async_trait]
impl Runs for Failing<dyn Runs> {
    async fn write(&self, scope: &Scope, changes: Vec<Change>) -> Result<(), StoreError> {
        self.fault.pass(self.inner.write(scope, changes), StoreError::Unavailable).await
    }

    async fn run(&self, scope: &Scope, run: RunId) -> Result<Stored<Run>, StoreError> {
        self.fault.pass(self.inner.run(scope, run), StoreError::Unavailable).await
    }

    async fn runs(&self, scope: &Scope, filter: &RunFilter) -> Result<Page<Run>, StoreError> {
        self.fault.pass(self.inner.runs(scope, filter), StoreError::Unavailable).await
    }

    async fn execution(&self, scope: &Scope, execution: ExecutionId) -> Result<Stored<Execution>, StoreError> {
        self.fault.pass(self.inner.execution(scope, execution), StoreError::Unavailable).await
    }

    async fn executions(
        &self,
        scope: &Scope,
        run: RunId,
        filter: &ExecutionFilter,
    ) -> Result<Vec<Stored<Execution>>, StoreError> {
        self.fault.pass(self.inner.executions(scope, run, filter), StoreError::Unavailable).await
    }

    async fn last_accepted(
        &self,
        scope: &Scope,
        wanted: &[(UnitName, Digest)],
        except: RunId,
    ) -> Result<Vec<Option<Execution>>, StoreError> {
        self.fault.pass(self.inner.last_accepted(scope, wanted, except), StoreError::Unavailable).await
    }

    async fn holders(&self, scope: &Scope, key: &PermitKey) -> Result<Vec<SlotHolder>, StoreError> {
        self.fault.pass(self.inner.holders(scope, key), StoreError::Unavailable).await
    }

    async fn find(&self, scope: &Scope, prefix: &str, limit: usize) -> Result<Vec<RunId>, StoreError> {
        self.fault.pass(self.inner.find(scope, prefix, limit), StoreError::Unavailable).await
    }

    async fn remembered(&self, scope: &Scope, key: &str) -> Result<Option<IdempotencyRecord>, StoreError> {
        self.fault.pass(self.inner.remembered(scope, key), StoreError::Unavailable).await
    }

    async fn events(&self, scope: &Scope, after: u64, limit: usize) -> Result<Vec<(u64, Event)>, StoreError> {
        self.fault.pass(self.inner.events(scope, after, limit), StoreError::Unavailable).await
    }

    async fn foreign_changes(&self) -> Result<u64, StoreError> {
        self.fault.pass(self.inner.foreign_changes(), StoreError::Unavailable).await
    }
}

#[async_trait]
impl Registry for Failing<dyn Registry> {
    async fn apply(
        &self,
        scope: &Scope,
        definitions: &[Definition],
        removed: &[(DefinitionKind, String)],
        now: Timestamp,
    ) -> Result<Vec<Applied>, StoreError> {
        self.fault.pass(self.inner.apply(scope, definitions, removed, now), StoreError::Unavailable).await
    }

    async fn current(&self, scope: &Scope) -> Result<Snapshot, StoreError> {
        self.fault.pass(self.inner.current(scope), StoreError::Unavailable).await
    }

    async fn revision(
        &self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
        revision: u64,
    ) -> Result<Revised<Definition>, StoreError> {
        self.fault.pass(self.inner.revision(scope, kind, name, revision), StoreError::Unavailable).await
    }

    async fn revisions(
        &self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
        limit: usize,
    ) -> Result<Vec<Revised<Definition>>, StoreError> {
        self.fault.pass(self.inner.revisions(scope, kind, name, limit), StoreError::Unavailable).await
    }

    async fn switch(&self, scope: &Scope, unit: &str, switch: Option<Switch>, event: Event) -> Result<(), StoreError> {
        self.fault.pass(self.inner.switch(scope, unit, switch, event), StoreError::Unavailable).await
    }
}

#[async_trait]
impl Objects for Failing<dyn Objects> {
    async fn put(&self, key: &ObjectKey, source: Source) -> Result<(), ObjectError> {
        self.fault.pass(self.inner.put(key, source), unreachable(key)).await
    }

    async fn get(&self, key: &ObjectKey) -> Result<Vec<u8>, ObjectError> {
        self.fault.pass(self.inner.get(key), unreachable(key)).await
    }

    async fn range(&self, key: &ObjectKey, offset: u64, length: usize) -> Result<Vec<u8>, ObjectError> {
        self.fault.pass(self.inner.range(key, offset, length), unreachable(key)).await
    }

    async fn list(&self, folder: &ObjectKey, after: Option<&ObjectKey>, limit: usize) -> Result<Vec<ObjectKey>, ObjectError> {
        self.fault.pass(self.inner.list(folder, after, limit), unreachable(folder)).await
    }
}

fn unreachable(key: &ObjectKey) -> impl FnOnce(BoxError) -> ObjectError {
    let key = key.clone();
    move |source| ObjectError::Unavailable { key, source }
}

#[async_trait]
impl Engine for Failing<dyn Engine> {
    async fn start(&self, scope: &Scope, machine: &str, name: &str, input: Value) -> Result<(), EngineError> {
        self.fault.pass(self.inner.start(scope, machine, name, input), EngineError::Unavailable).await
    }

    async fn stop(&self, scope: &Scope, name: &str, cause: &str) -> Result<(), EngineError> {
        self.fault.pass(self.inner.stop(scope, name, cause), EngineError::Unavailable).await
    }

    async fn describe(&self, scope: &Scope, name: &str) -> Result<MachineStatus, EngineError> {
        self.fault.pass(self.inner.describe(scope, name), EngineError::Unavailable).await
    }

    async fn resume(&self, token: &str, result: Result<Value, StepError>) -> Result<(), EngineError> {
        self.fault.pass(self.inner.resume(token, result), EngineError::Unavailable).await
    }
}

#[async_trait]
impl Launcher for Failing<dyn Launcher> {
    async fn start(&self, assignment: &Assignment) -> Result<(), LaunchError> {
        self.fault.pass(self.inner.start(assignment), LaunchError::Unavailable).await
    }

    async fn stop(&self, scope: &Scope, execution: ExecutionId, attempt: u32, cause: StopCause) -> Result<(), LaunchError> {
        self.fault.pass(self.inner.stop(scope, execution, attempt, cause), LaunchError::Unavailable).await
    }

    async fn observe(&self, scope: &Scope, execution: ExecutionId, attempt: u32) -> Result<Observation, LaunchError> {
        self.fault.pass(self.inner.observe(scope, execution, attempt), LaunchError::Unavailable).await
    }
}
