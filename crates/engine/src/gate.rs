//! The gate: the only place that lets work start.
//!
//! [`Gate`] holds, in memory, who waits and who holds slots; it is rebuilt from the store at any time and never asks anybody. What it
//! decides and what [`Gate::explain`] prints is the same [`Gate::holds`]. A grant is a list of numbered slots: the store takes
//! each with a condition of its own, so that even two gates could never give one slot twice.
//!
//! Cost: executions that wait for the same keys form a [`Line`], and only its head is looked at; a blocked line is parked at the first
//! key that has no slot and is looked at again when one of that key's is freed. So a decision costs the logarithm of what waits, not its number.

mod explain;
mod needs;
mod slots;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

pub use explain::{Explanation, Hold};
use model::{ExecutionId, NeedVerdict, PermitKey, Permits, RunId, UnitName};
use needs::Needs;
pub use needs::{ItemEnd, NeedState};
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

/// The keys that a line of requests waits for.
type LineKey = Vec<PermitKey>;

/// Who waits and who holds slots.
#[derive(Debug, Default)]
pub struct Gate {
    requests: HashMap<ExecutionId, Request>,
    slots: Slots,
    needs: Needs,
    disabled: HashMap<UnitName, String>,
    /// Requests that wait for a disabled unit.
    disabled_waits: HashMap<UnitName, HashSet<ExecutionId>>,
    lines: HashMap<LineKey, BTreeSet<Rank>>,
    /// Lines parked at a key, by the rank of their head.
    parked: HashMap<PermitKey, BTreeMap<Rank, LineKey>>,
    /// Where each parked line is.
    places: HashMap<LineKey, (PermitKey, Rank)>,
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

    /// Asks for permits. The answer is in the rulings, or comes with those of a later call. Asking again changes nothing.
    pub fn ask(&mut self, request: Request) -> Vec<Ruling> {
        let execution = request.execution;
        if self.requests.contains_key(&execution) {
            return Vec::new();
        }
        self.requests.insert(execution, request);
        let mut rulings = Vec::new();
        self.consider(execution, &mut rulings);
        rulings
    }

    /// Takes a request back (cancelled, or its time in the queue is over). What it stood in the way of goes on.
    pub fn withdraw(&mut self, execution: ExecutionId) -> Vec<Ruling> {
        let mut rulings = Vec::new();
        if let Some(request) = self.requests.remove(&execution) {
            if let Some(line) = self.leave_line(&request) {
                self.serve(line, &mut rulings);
            }
            self.needs.stop_waiting(execution);
            if let Some(waits) = self.disabled_waits.get_mut(&request.unit) {
                waits.remove(&execution);
            }
        }
        rulings
    }

    /// An attempt is over: its slots are free. `end` is set where the execution itself is over.
    pub fn release(&mut self, execution: ExecutionId, end: Option<ItemEnd>) -> Vec<Ruling> {
        let mut rulings = Vec::new();
        let freed = self.slots.free(execution);
        if let Some(end) = end {
            for waiting in self.needs.ended(execution, end) {
                self.consider(waiting, &mut rulings);
            }
        }
        self.wake(freed.iter(), &mut rulings);
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
            }
            None => {}
        }
        rulings
    }

    /// How many requests wait.
    pub fn waiting(&self) -> usize {
        self.requests.len()
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

    /// Looks at a request that is in no line: refuses it, sets it aside for a need or a disabled unit, or puts it in line.
    fn consider(&mut self, execution: ExecutionId, rulings: &mut Vec<Ruling>) {
        let Some(request) = self.requests.get(&execution) else { return };
        let unmet = request.needs.iter().find_map(|(unit, verdict)| match self.needs.state(execution.run, unit, *verdict) {
            NeedState::Met => None,
            NeedState::Open { .. } => Some(Ok(unit.clone())),
            NeedState::Never { why } => Some(Err(why)),
        });
        match unmet {
            Some(Err(why)) => {
                self.requests.remove(&execution);
                rulings.push(Ruling { execution, decision: Decision::Refuse(why) });
            }
            Some(Ok(unit)) => self.needs.wait(execution, unit),
            None if self.disabled.contains_key(&request.unit) => {
                self.disabled_waits.entry(request.unit.clone()).or_default().insert(execution);
            }
            None => {
                let line = self.join_line(execution);
                self.serve(line, rulings);
            }
        }
    }

    fn join_line(&mut self, execution: ExecutionId) -> LineKey {
        let request = &self.requests[&execution];
        let line = line_of(request);
        self.lines.entry(line.clone()).or_default().insert(rank_of(request));
        line
    }

    /// Takes a request out of its line, if it is in one; says which.
    fn leave_line(&mut self, request: &Request) -> Option<LineKey> {
        let line = line_of(request);
        let left = self.lines.get_mut(&line)?.remove(&rank_of(request));
        left.then_some(line)
    }

    /// Grants from the head of a line until it is empty or a key has no slot left; then parks it there. So a line is parked at a key
    /// only as long as that key has no room.
    fn serve(&mut self, line: LineKey, rulings: &mut Vec<Ruling>) {
        self.unpark(&line);
        loop {
            let Some(head) = self.lines.get(&line).and_then(|ranks| ranks.first().copied()) else {
                self.lines.remove(&line);
                return;
            };
            if let Some(full) = self.first_full(&line) {
                self.park(line, full);
                return;
            }
            let request = self.requests.remove(&head.1).expect("whoever is in line has a request");
            self.lines.entry(line.clone()).or_default().remove(&head);
            if self.disabled.contains_key(&request.unit) {
                self.disabled_waits.entry(request.unit.clone()).or_default().insert(head.1);
                self.requests.insert(head.1, request);
                continue;
            }
            let permits = self.slots.take(head.1, &request.keys);
            rulings.push(Ruling { execution: head.1, decision: Decision::Grant(permits) });
        }
    }

    /// The first key of the line without room. Limits belong to the request; those of one line may differ by revision, the head's count.
    fn first_full(&self, line: &LineKey) -> Option<PermitKey> {
        let head = self.lines.get(line)?.first()?;
        let request = self.requests.get(&head.1)?;
        request.keys.iter().find(|(key, limit)| !self.slots.has_room(key, *limit)).map(|(key, _)| key.clone())
    }

    fn park(&mut self, line: LineKey, at: PermitKey) {
        let Some(head) = self.lines.get(&line).and_then(|ranks| ranks.first().copied()) else { return };
        self.places.insert(line.clone(), (at.clone(), head));
        self.parked.entry(at).or_default().insert(head, line);
    }

    fn unpark(&mut self, line: &LineKey) {
        if let Some((key, head)) = self.places.remove(line)
            && let Some(lines) = self.parked.get_mut(&key)
        {
            lines.remove(&head);
            if lines.is_empty() {
                self.parked.remove(&key);
            }
        }
    }

    /// Serves what is parked at keys with room, best rank first. A line that is blocked elsewhere moves there, so each turn of the
    /// loop either grants or takes one line off this key.
    fn wake<'a>(&mut self, keys: impl Iterator<Item = &'a PermitKey>, rulings: &mut Vec<Ruling>) {
        for key in keys {
            while let Some((_, line)) = self.parked.get(key).and_then(BTreeMap::first_key_value) {
                let line = line.clone();
                self.serve(line.clone(), rulings);
                if self.places.get(&line).is_some_and(|(place, _)| place == key) {
                    break;
                }
            }
        }
    }
}

fn rank_of(request: &Request) -> Rank {
    (std::cmp::Reverse(request.priority), request.execution)
}

fn line_of(request: &Request) -> LineKey {
    request.keys.iter().map(|(key, _)| key.clone()).collect()
}
