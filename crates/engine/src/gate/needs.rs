//! Needs between the items of one run.

use std::collections::{HashMap, HashSet};

use model::{ExecutionId, ExecutionState, NeedVerdict, RunId, UnitName, Verdict};

/// How an item ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemEnd {
    /// Its terminal state.
    pub state: ExecutionState,
    /// Its verdict.
    pub verdict: Option<Verdict>,
}

/// How a need stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NeedState {
    /// Met, or void because the run does not hold the unit.
    Met,
    /// So many items of the unit have not ended.
    Open {
        /// How many.
        left: usize,
    },
    /// It can never be met; a sentence says why.
    Never {
        /// Why.
        why: String,
    },
}

#[derive(Debug, Default)]
struct UnitItems {
    open: HashSet<ExecutionId>,
    not_succeeded: Option<(ExecutionId, ExecutionState)>,
    /// The worst verdict of those that succeeded.
    worst: Option<(Verdict, ExecutionId)>,
    /// Who waits for them.
    waiting: HashSet<ExecutionId>,
}

/// The items of every open run, by unit.
#[derive(Debug, Default)]
pub(super) struct Needs {
    runs: HashMap<RunId, HashMap<UnitName, UnitItems>>,
    units: HashMap<ExecutionId, UnitName>,
    waits_for: HashMap<ExecutionId, UnitName>,
}

impl Needs {
    pub(super) fn open_run<'a>(&mut self, run: RunId, items: impl IntoIterator<Item = (ExecutionId, &'a UnitName)>) {
        let units = self.runs.entry(run).or_default();
        for (execution, unit) in items {
            units.entry(unit.clone()).or_default().open.insert(execution);
            self.units.insert(execution, unit.clone());
        }
    }

    pub(super) fn close_run(&mut self, run: RunId) {
        if self.runs.remove(&run).is_some() {
            self.units.retain(|execution, _| execution.run != run);
            self.waits_for.retain(|execution, _| execution.run != run);
        }
    }

    pub(super) fn wait(&mut self, execution: ExecutionId, unit: UnitName) {
        if let Some(items) = self.runs.get_mut(&execution.run).and_then(|units| units.get_mut(&unit)) {
            items.waiting.insert(execution);
            self.waits_for.insert(execution, unit);
        }
    }

    pub(super) fn stop_waiting(&mut self, execution: ExecutionId) {
        if let Some(unit) = self.waits_for.remove(&execution)
            && let Some(items) = self.runs.get_mut(&execution.run).and_then(|units| units.get_mut(&unit))
        {
            items.waiting.remove(&execution);
        }
    }

    /// Takes note of an item's end. Says who is to be looked at again: those that waited for its unit, once that is decided.
    pub(super) fn ended(&mut self, execution: ExecutionId, end: ItemEnd) -> Vec<ExecutionId> {
        let Some(unit) = self.units.get(&execution) else { return Vec::new() };
        let Some(items) = self.runs.get_mut(&execution.run).and_then(|units| units.get_mut(unit)) else { return Vec::new() };
        if !items.open.remove(&execution) {
            return Vec::new();
        }
        match end.state {
            ExecutionState::Succeeded => {
                if let Some(verdict) = end.verdict
                    && items.worst.is_none_or(|(worst, _)| verdict > worst)
                {
                    items.worst = Some((verdict, execution));
                }
            }
            ExecutionState::Created | ExecutionState::Started | ExecutionState::Failed | ExecutionState::Cancelled => {
                items.not_succeeded = items.not_succeeded.or(Some((execution, end.state)));
            }
        }
        if items.open.is_empty() || items.not_succeeded.is_some() {
            let mut waiting: Vec<ExecutionId> = items.waiting.drain().collect();
            waiting.sort_unstable();
            for execution in &waiting {
                self.waits_for.remove(execution);
            }
            waiting
        } else {
            Vec::new()
        }
    }

    pub(super) fn state(&self, run: RunId, unit: &UnitName, wanted: NeedVerdict) -> NeedState {
        let Some(items) = self.runs.get(&run).and_then(|units| units.get(unit)) else { return NeedState::Met };
        if let Some((execution, state)) = items.not_succeeded {
            return NeedState::Never { why: format!("needs {unit}, which {} ({execution})", words(state)) };
        }
        if !items.open.is_empty() {
            return NeedState::Open { left: items.open.len() };
        }
        match items.worst {
            Some((worst, execution)) if !good_enough(worst, wanted) => {
                NeedState::Never { why: format!("needs {unit} with a better verdict than `{}` ({execution})", worst.as_str()) }
            }
            Some(_) | None => NeedState::Met,
        }
    }
}

fn words(state: ExecutionState) -> &'static str {
    match state {
        ExecutionState::Created | ExecutionState::Started => "has not ended",
        ExecutionState::Succeeded => "succeeded",
        ExecutionState::Failed => "failed",
        ExecutionState::Cancelled => "did not run to its end",
    }
}

fn good_enough(verdict: Verdict, wanted: NeedVerdict) -> bool {
    match wanted {
        NeedVerdict::Any => true,
        NeedVerdict::Warn => verdict <= Verdict::Warn,
        NeedVerdict::Pass => verdict <= Verdict::Pass,
    }
}
