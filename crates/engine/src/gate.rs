//! The gate: the only place that lets work start.
//!
//! [`Gate`] holds, in memory, who waits and who holds slots; it is rebuilt from the store at any time and never asks anybody. What it
//! decides and what [`Gate::explain`] prints is the same [`Gate::holds`]. A grant is a list of numbered slots: the store takes
//! each with a condition of its own, so that even two gates could never give one slot twice.
//!
//! Order: of all requests that could start, the best rank goes first, whatever freed the way. Cost: see `queues`: a decision looks
//! at the best of those that wait for the same keys, not at each; so it costs the logarithm of what waits, not its number.

mod explain;
mod needs;
mod queues;
mod slots;

use std::collections::{HashMap, HashSet};

pub use explain::{Explanation, Hold};
use model::{ExecutionId, NeedVerdict, PermitKey, Permits, RunId, UnitName};
use needs::Needs;
pub use needs::{ItemEnd, NeedState};
use queues::{Look, Queues};
use slots::Slots;

/// A wish to start an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Who wishes.
    pub execution: ExecutionId,
    /// Its unit.
    pub unit: UnitName,
    /// What it must hold one slot of, each with its number of slots, narrowest first (unit, value, shared limits, tier, run).
    pub keys: Vec<(PermitKey, u32)>,
    /// What must have succeeded first.
    pub needs: Vec<(UnitName, NeedVerdict)>,
    /// Higher goes first.
    pub priority: i16,
}

/// What the gate decided about a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// Whose request.
    pub execution: ExecutionId,
    /// The decision.
    pub decision: Decision,
}

/// A decision of the gate. Waiting is no decision: the request stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It may start and holds these slots.
    Grant(Permits),
    /// It may never start; a sentence says why.
    Refuse(String),
}

/// Higher priority first, then the older run, then the smaller item.
type Rank = (std::cmp::Reverse<i16>, ExecutionId);

/// Who waits and who holds slots.
#[derive(Debug, Default)]
pub struct Gate {
    requests: HashMap<ExecutionId, Request>,
    slots: Slots,
    needs: Needs,
    disabled: HashMap<UnitName, String>,
    /// Requests that wait for a disabled unit.
    disabled_waits: HashMap<UnitName, HashSet<ExecutionId>>,
    queues: Queues,
}

impl Gate {
    /// A gate that nobody waits at.
    pub fn new() -> Gate {
        Gate::default()
    }

    /// Makes a run's items known, so that needs between them can be told from needs of units that the run does not hold.
    pub fn open_run<'a>(&mut self, run: RunId, items: impl IntoIterator<Item = (ExecutionId, &'a UnitName)>) {
        self.needs.open_run(run, items);
    }

    /// Forgets a run that has ended.
    pub fn close_run(&mut self, run: RunId) {
        self.needs.close_run(run);
    }

    /// Takes note of slots that an execution holds already (after a restart).
    pub fn occupy(&mut self, execution: ExecutionId, permits: &Permits) {
        self.slots.occupy(execution, permits);
    }

    /// Takes note that a slot is held, where the store knows better than this gate.
    pub fn occupy_slot(&mut self, execution: ExecutionId, key: PermitKey, slot: u32) {
        self.slots.occupy_slot(execution, key, slot);
    }

    /// Lets a request wait without ever granting it: for a gate that only explains.
    pub fn watch(&mut self, request: Request) {
        self.requests.entry(request.execution).or_insert(request);
    }

    /// Asks for permits. The answer is in the rulings, or comes with those of a later call. Asking again changes nothing, nor does
    /// asking while holding: whoever lost the answer gives the slots back first.
    pub fn ask(&mut self, request: Request) -> Vec<Ruling> {
        let execution = request.execution;
        let mut rulings = Vec::new();
        if !self.requests.contains_key(&execution) && !self.slots.holds_any(execution) {
            self.requests.insert(execution, request);
            self.consider(execution, &mut rulings);
            self.grant(&[], &mut rulings);
        }
        rulings
    }

    /// Takes a request back (cancelled, or its time in the queue is over). What it stood in the way of goes on.
    pub fn withdraw(&mut self, execution: ExecutionId) -> Vec<Ruling> {
        let mut rulings = Vec::new();
        if let Some(request) = self.requests.remove(&execution) {
            self.queues.remove(rank_of(&request), &request.keys);
            self.needs.stop_waiting(execution);
            if let Some(waits) = self.disabled_waits.get_mut(&request.unit) {
                waits.remove(&execution);
            }
            self.grant(&[], &mut rulings);
        }
        rulings
    }

    /// An attempt is over: its slots are free. `end` is set where the execution itself is over; it waits for nothing then.
    pub fn release(&mut self, execution: ExecutionId, end: Option<ItemEnd>) -> Vec<Ruling> {
        let mut rulings = Vec::new();
        let freed = self.slots.free(execution);
        if let Some(end) = end {
            rulings.extend(self.withdraw(execution));
            for waiting in self.needs.ended(execution, end) {
                self.consider(waiting, &mut rulings);
            }
        }
        self.grant(&freed, &mut rulings);
        rulings
    }

    /// Lets a unit start again, or holds it with a sentence.
    pub fn switch(&mut self, unit: &UnitName, disabled: Option<String>) -> Vec<Ruling> {
        let mut rulings = Vec::new();
        match disabled {
            Some(why) => {
                self.disabled.insert(unit.clone(), why);
            }
            None if self.disabled.remove(unit).is_some() => {
                for execution in self.disabled_waits.remove(unit).unwrap_or_default() {
                    self.consider(execution, &mut rulings);
                }
                self.grant(&[], &mut rulings);
            }
            None => {}
        }
        rulings
    }

    /// How many requests wait.
    pub fn waiting(&self) -> usize {
        self.requests.len()
    }

    /// How many queues all decisions so far have looked at: the work of the gate, for metrics.
    pub fn looks(&self) -> u64 {
        self.queues.looks()
    }

    /// Everything that keeps the request from starting now; empty: nothing does. `Err` is a need that can never be met.
    fn holds(&self, request: &Request) -> Result<Vec<Hold>, String> {
        let mut holds = Vec::new();
        if let Some(why) = self.disabled.get(&request.unit) {
            holds.push(Hold::Disabled { unit: request.unit.clone(), why: why.clone() });
        }
        for (unit, verdict) in &request.needs {
            match self.needs.state(request.execution.run, unit, *verdict) {
                NeedState::Met => {}
                NeedState::Open { left } => holds.push(Hold::Need { unit: unit.clone(), left }),
                NeedState::Never { why } => return Err(why),
            }
        }
        holds.extend(
            request.keys.iter().filter(|(key, limit)| !self.slots.has_room(key, *limit)).map(|(key, limit)| Hold::Slots {
                key: key.clone(),
                limit: *limit,
                holders: self.slots.holders(key),
            }),
        );
        Ok(holds)
    }

    /// Looks at a request that is in no queue: refuses it, sets it aside for needs or a disabled unit, or puts it in its queue.
    fn consider(&mut self, execution: ExecutionId, rulings: &mut Vec<Ruling>) {
        let Some(request) = self.requests.get(&execution) else { return };
        let mut open = Vec::new();
        for (unit, verdict) in &request.needs {
            match self.needs.state(execution.run, unit, *verdict) {
                NeedState::Met => {}
                NeedState::Open { .. } => open.push((unit.clone(), *verdict)),
                NeedState::Never { why } => {
                    self.requests.remove(&execution);
                    rulings.push(Ruling { execution, decision: Decision::Refuse(why) });
                    return;
                }
            }
        }
        if !open.is_empty() {
            self.needs.wait(execution, open);
        } else if self.disabled.contains_key(&request.unit) {
            self.disabled_waits.entry(request.unit.clone()).or_default().insert(execution);
        } else {
            self.queues.insert(rank_of(request), &request.keys);
        }
    }

    /// Grants until nobody who waits could start. Afterwards every queue with somebody in it is parked at a key without room, or below one
    /// that is; so only what waits at `freed` keys, and who just joined, has to be looked at.
    fn grant(&mut self, freed: &[PermitKey], rulings: &mut Vec<Ruling>) {
        loop {
            // Before every look: what is parked behind somebody who went, or could not, may be the best now.
            let woken = freed.iter().filter(|key| self.queues.wake_best(key, &self.slots)).count();
            match self.queues.look(&self.slots) {
                Look::Free(rank) => self.let_go(rank.1, rulings),
                Look::Full => {}
                Look::Nobody if woken > 0 => {}
                Look::Nobody => return,
            }
        }
    }

    /// Grants to somebody for whom there is room, or sets him aside where his unit was disabled meanwhile.
    fn let_go(&mut self, execution: ExecutionId, rulings: &mut Vec<Ruling>) {
        let Some(request) = self.requests.get(&execution) else { return };
        if self.disabled.contains_key(&request.unit) {
            self.disabled_waits.entry(request.unit.clone()).or_default().insert(execution);
            return;
        }
        let permits = self.slots.take(execution, &request.keys);
        self.requests.remove(&execution);
        rulings.push(Ruling { execution, decision: Decision::Grant(permits) });
    }
}

fn rank_of(request: &Request) -> Rank {
    (std::cmp::Reverse(request.priority), request.execution)
}
