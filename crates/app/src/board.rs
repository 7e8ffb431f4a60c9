//! What this process has in hand: open runs, their executions, the gate, and definitions by revision.
//!
//! A cache and an index, never an authority: everything on the board can be rebuilt from the store, and every write names the version it replaces.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use engine::gate::Gate;
use model::{
    Execution, ExecutionId, Limit, LimitName, Outcome, ProcessIdentity, Run, RunId, Scope, StopCause, Tier, TierName, Timestamp,
    Unit, UnitName,
};
use ports::Stored;
use serde_json::Value;

/// A run in hand.
#[derive(Debug)]
pub(crate) struct OpenRun {
    pub scope: Scope,
    /// As it was when opened: options and correlation never change; its state is read from the store.
    pub run: Run,
    /// By item number: the accepted output to compare with, as it was when the run was opened.
    pub baselines: HashMap<u32, (ExecutionId, u32)>,
}

/// What is known of an execution besides its record.
#[derive(Debug, Default)]
pub(crate) struct Live {
    /// Where its admission is to be answered.
    pub token: Option<String>,
    /// Evidence that came and is not settled yet.
    pub outcome: Option<Box<Outcome>>,
    /// The answer to the admission, until it is delivered.
    pub answer: Option<Value>,
    /// A stop that the launcher did not take yet.
    pub stop: Option<(u32, StopCause)>,
    /// What was seen of the attempt and the record does not say yet.
    pub seen: Option<Seen>,
    /// The store did not take the permits: the gate is to be asked once more.
    pub ask_again: bool,
}

/// What was seen of an attempt.
#[derive(Debug)]
pub(crate) enum Seen {
    Running { attempt: u32, process: ProcessIdentity, started_at: Timestamp },
    Publishing { attempt: u32 },
}

/// The record of an execution in hand; the lock is held across its writes, so that they follow one another.
pub(crate) type Record = Arc<tokio::sync::Mutex<Option<Stored<Execution>>>>;

/// A time limit that this process watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimeLimit {
    Waiting,
    Starting(u32),
}

#[derive(Debug, Default)]
pub(crate) struct Board {
    gate: Mutex<Gate>,
    runs: Mutex<HashMap<RunId, Arc<OpenRun>>>,
    records: Mutex<HashMap<ExecutionId, Record>>,
    live: Mutex<HashMap<ExecutionId, Live>>,
    units: Mutex<HashMap<(Scope, UnitName, u64), Arc<Unit>>>,
    tiers: Mutex<HashMap<(Scope, TierName), Arc<Tier>>>,
    limits: Mutex<HashMap<(Scope, LimitName), u32>>,
    deadlines: Mutex<BTreeSet<(Timestamp, ExecutionId, TimeLimit)>>,
    foreign: Mutex<u64>,
    /// Runs in hand that are being cancelled.
    cancelled: Mutex<HashSet<RunId>>,
}

/// A poisoned lock means a panic elsewhere; the data is an index that every write checks against the store, so go on.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    pub(crate) fn gate(&self) -> MutexGuard<'_, Gate> {
        lock(&self.gate)
    }

    pub(crate) fn open(&self, open: OpenRun) -> Arc<OpenRun> {
        lock(&self.runs).entry(open.run.id).or_insert_with(|| Arc::new(open)).clone()
    }

    pub(crate) fn run(&self, run: RunId) -> Option<Arc<OpenRun>> {
        lock(&self.runs).get(&run).cloned()
    }

    pub(crate) fn runs(&self) -> Vec<Arc<OpenRun>> {
        lock(&self.runs).values().cloned().collect()
    }

    pub(crate) fn mark_cancelled(&self, run: RunId) {
        lock(&self.cancelled).insert(run);
    }

    pub(crate) fn cancelled(&self) -> Vec<RunId> {
        lock(&self.cancelled).iter().copied().collect()
    }

    pub(crate) fn close(&self, run: RunId) {
        lock(&self.cancelled).remove(&run);
        self.gate().close_run(run);
        lock(&self.runs).remove(&run);
        lock(&self.records).retain(|execution, _| execution.run != run);
        lock(&self.live).retain(|execution, _| execution.run != run);
        lock(&self.deadlines).retain(|(_, execution, _)| execution.run != run);
        if lock(&self.runs).is_empty() {
            // Revisions that no run in hand pins are read again when one does.
            lock(&self.units).clear();
        }
    }

    pub(crate) fn record(&self, execution: ExecutionId) -> Record {
        lock(&self.records).entry(execution).or_default().clone()
    }

    pub(crate) fn put_record(&self, stored: Stored<Execution>) {
        let id = stored.value.id;
        lock(&self.records).insert(id, Arc::new(tokio::sync::Mutex::new(Some(stored))));
    }

    pub(crate) fn drop_record(&self, execution: ExecutionId) {
        lock(&self.records).remove(&execution);
        lock(&self.live).remove(&execution);
    }

    pub(crate) fn live<T>(&self, execution: ExecutionId, look: impl FnOnce(&mut Live) -> T) -> T {
        look(lock(&self.live).entry(execution).or_default())
    }

    /// Takes something off every live entry that has it.
    pub(crate) fn take<T>(&self, take: impl Fn(&mut Live) -> Option<T>) -> Vec<(ExecutionId, T)> {
        lock(&self.live).iter_mut().filter_map(|(execution, live)| take(live).map(|taken| (*execution, taken))).collect()
    }

    pub(crate) fn unit(&self, scope: &Scope, name: &UnitName, revision: u64) -> Option<Arc<Unit>> {
        lock(&self.units).get(&(scope.clone(), name.clone(), revision)).cloned()
    }

    pub(crate) fn put_unit(&self, scope: &Scope, revision: u64, unit: Unit) -> Arc<Unit> {
        let unit = Arc::new(unit);
        lock(&self.units).insert((scope.clone(), unit.name.clone(), revision), unit.clone());
        unit
    }

    pub(crate) fn tier(&self, scope: &Scope, name: &TierName) -> Option<Arc<Tier>> {
        lock(&self.tiers).get(&(scope.clone(), name.clone())).cloned()
    }

    /// Makes these the scope's tiers and shared limits: what is not among them is declared no more.
    pub(crate) fn put_compute(&self, scope: &Scope, tiers: Vec<Tier>, limits: Vec<Limit>) {
        let mut known = lock(&self.tiers);
        known.retain(|(owner, _), _| owner != scope);
        known.extend(tiers.into_iter().map(|tier| ((scope.clone(), tier.name.clone()), Arc::new(tier))));
        let mut known = lock(&self.limits);
        known.retain(|(owner, _), _| owner != scope);
        known.extend(limits.into_iter().map(|limit| ((scope.clone(), limit.name), limit.limit)));
    }

    pub(crate) fn limit(&self, scope: &Scope, name: &LimitName) -> Option<u32> {
        lock(&self.limits).get(&(scope.clone(), name.clone())).copied()
    }

    pub(crate) fn watch(&self, at: Timestamp, execution: ExecutionId, limit: TimeLimit) {
        lock(&self.deadlines).insert((at, execution, limit));
    }

    /// Time limits that have passed; each is given once.
    pub(crate) fn due(&self, now: Timestamp) -> Vec<(ExecutionId, TimeLimit)> {
        let mut deadlines = lock(&self.deadlines);
        let mut due = Vec::new();
        while let Some(first) = deadlines.first().copied().filter(|(at, _, _)| *at <= now) {
            deadlines.remove(&first);
            due.push((first.1, first.2));
        }
        due
    }

    /// Whether somebody else wrote since the last call.
    pub(crate) fn is_news(&self, version: u64) -> bool {
        std::mem::replace(&mut *lock(&self.foreign), version) != version
    }
}
