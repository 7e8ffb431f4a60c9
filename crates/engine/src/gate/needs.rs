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

/// The items of every open run.
#[derive(Debug, Default)]
pub(super) struct Needs {
    runs: HashMap<RunId, RunItems>,
}

#[derive(Debug, Default)]
struct RunItems {
    units: HashMap<UnitName, UnitItems>,
    unit_of: HashMap<ExecutionId, UnitName>,
    /// The needs of each waiting execution that are open.
    open_needs: HashMap<ExecutionId, HashMap<UnitName, NeedVerdict>>,
}

impl Needs {
    /// Makes items known. One that is known already stays as it is: it may have ended.
    pub(super) fn open_run<'a>(&mut self, run: RunId, items: impl IntoIterator<Item = (ExecutionId, &'a UnitName)>) {
        let known = self.runs.entry(run).or_default();
        for (execution, unit) in items {
            if known.unit_of.insert(execution, unit.clone()).is_none() {
                known.units.entry(unit.clone()).or_default().open.insert(execution);
            }
        }
    }

    pub(super) fn close_run(&mut self, run: RunId) {
        self.runs.remove(&run);
    }

    /// Takes note of who waits for the open needs of its run.
    pub(super) fn wait(&mut self, execution: ExecutionId, needs: Vec<(UnitName, NeedVerdict)>) {
        let Some(run) = self.runs.get_mut(&execution.run) else { return };
        for (unit, _) in &needs {
            if let Some(items) = run.units.get_mut(unit) {
                items.waiting.insert(execution);
            }
        }
        run.open_needs.insert(execution, needs.into_iter().collect());
    }

    pub(super) fn stop_waiting(&mut self, execution: ExecutionId) {
        if let Some(run) = self.runs.get_mut(&execution.run) {
            run.stop_waiting(execution);
        }
    }

    /// Takes note of an item's end. Says who is to be looked at again: those of whom a need can never be met, or all are.
    pub(super) fn ended(&mut self, execution: ExecutionId, end: ItemEnd) -> Vec<ExecutionId> {
        self.runs.get_mut(&execution.run).map(|run| run.ended(execution, end)).unwrap_or_default()
    }

    pub(super) fn state(&self, run: RunId, unit: &UnitName, wanted: NeedVerdict) -> NeedState {
        self.runs.get(&run).and_then(|run| run.units.get(unit)).map_or(NeedState::Met, |items| items.state(unit, wanted))
    }
}

impl RunItems {
    fn stop_waiting(&mut self, execution: ExecutionId) {
        for unit in self.open_needs.remove(&execution).unwrap_or_default().keys() {
            if let Some(items) = self.units.get_mut(unit) {
                items.waiting.remove(&execution);
            }
        }
    }

    fn ended(&mut self, execution: ExecutionId, end: ItemEnd) -> Vec<ExecutionId> {
        let Some(unit) = self.unit_of.get(&execution).cloned() else { return Vec::new() };
        let Some(items) = self.units.get_mut(&unit) else { return Vec::new() };
        if !items.open.remove(&execution) {
            return Vec::new();
        }
        items.take_note(execution, end);
        if !items.open.is_empty() && items.not_succeeded.is_none() {
            return Vec::new();
        }
        let mut waiting: Vec<ExecutionId> = items.waiting.drain().collect();
        waiting.sort_unstable();
        waiting.retain(|waiting| self.is_decided(*waiting, &unit));
        waiting
    }

    /// A need of `execution` is no longer open: whether that decides about it.
    fn is_decided(&mut self, execution: ExecutionId, unit: &UnitName) -> bool {
        let Some(needs) = self.open_needs.get_mut(&execution) else { return false };
        let wanted = needs.remove(unit).unwrap_or(NeedVerdict::Any);
        let never = self.units.get(unit).is_some_and(|items| matches!(items.state(unit, wanted), NeedState::Never { .. }));
        let decided = never || needs.is_empty();
        if decided {
            self.stop_waiting(execution);
        }
        decided
    }
}

impl UnitItems {
    fn take_note(&mut self, execution: ExecutionId, end: ItemEnd) {
        match end.state {
            ExecutionState::Succeeded => {
                if let Some(verdict) = end.verdict
                    && self.worst.is_none_or(|(worst, _)| verdict > worst)
                {
                    self.worst = Some((verdict, execution));
                }
            }
            ExecutionState::Created | ExecutionState::Started | ExecutionState::Failed | ExecutionState::Cancelled => {
                self.not_succeeded = self.not_succeeded.or(Some((execution, end.state)));
            }
        }
    }

    fn state(&self, unit: &UnitName, wanted: NeedVerdict) -> NeedState {
        if let Some((execution, state)) = self.not_succeeded {
            return NeedState::Never { why: format!("needs {unit}, which {} ({execution})", words(state)) };
        }
        if !self.open.is_empty() {
            return NeedState::Open { left: self.open.len() };
        }
        match self.worst {
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
