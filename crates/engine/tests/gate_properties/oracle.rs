//! The rules of the gate by brute force: who may start is found by looking at everybody, every time.

use std::collections::{BTreeMap, BTreeSet};

use engine::gate::{Decision, Explanation, Gate, Hold, ItemEnd, Request, Ruling};
use model::{ExecutionId, ExecutionState, NeedVerdict, PermitKey, Permits, UnitName, Verdict};

use crate::fleet::{Fleet, Item};

/// A gate and, beside it, all that is recorded about the same world.
pub(crate) struct World {
    pub(crate) fleet: Fleet,
    pub(crate) gate: Gate,
    pub(crate) waiting: BTreeMap<ExecutionId, Request>,
    pub(crate) holding: BTreeMap<ExecutionId, Permits>,
    pub(crate) ended: BTreeMap<ExecutionId, ItemEnd>,
    pub(crate) disabled: BTreeMap<UnitName, String>,
    pub(crate) grants: usize,
}

const CANCELLED: ItemEnd = ItemEnd { state: ExecutionState::Cancelled, verdict: None };

impl World {
    pub(crate) fn new(fleet: Fleet) -> World {
        let mut world = World {
            fleet,
            gate: Gate::new(),
            waiting: BTreeMap::new(),
            holding: BTreeMap::new(),
            ended: BTreeMap::new(),
            disabled: BTreeMap::new(),
            grants: 0,
        };
        world.gate = world.recorded_gate();
        world
    }

    /// A gate made from what is recorded, before anybody asks.
    fn recorded_gate(&self) -> Gate {
        let mut gate = Gate::new();
        let runs: BTreeSet<_> = self.fleet.items.iter().map(|item| item.id().run).collect();
        for run in runs {
            let items = || self.fleet.items.iter().filter(|item| item.id().run == run).map(|item| (item.id(), &item.unit));
            gate.open_run(run, items());
        }
        for (execution, permits) in &self.holding {
            gate.occupy(*execution, permits);
        }
        for (unit, why) in &self.disabled {
            assert_eq!(gate.switch(unit, Some(why.clone())), []);
        }
        for (execution, end) in &self.ended {
            assert_eq!(gate.release(*execution, Some(*end)), []);
        }
        gate
    }

    pub(crate) fn ask(&mut self, item: &Item) {
        let id = item.id();
        let rulings = self.gate.ask(item.request.clone());
        if !self.holding.contains_key(&id) {
            self.waiting.insert(id, item.request.clone());
        }
        self.follow(rulings);
        if !self.ended.contains_key(&id) {
            assert_eq!(self.gate.ask(item.request.clone()), [], "asking again changes nothing");
        }
    }

    pub(crate) fn withdraw(&mut self, execution: ExecutionId) {
        let rulings = self.gate.withdraw(execution);
        self.waiting.remove(&execution);
        self.follow(rulings);
    }

    /// The attempt of an execution is over, and the execution too where there is an end.
    pub(crate) fn release(&mut self, execution: ExecutionId, end: Option<ItemEnd>) {
        let rulings = self.gate.release(execution, end);
        self.holding.remove(&execution);
        if let Some(end) = end {
            self.waiting.remove(&execution);
            self.ended.insert(execution, end);
        }
        self.follow(rulings);
    }

    pub(crate) fn cancel(&mut self, execution: ExecutionId) {
        self.release(execution, Some(CANCELLED));
    }

    pub(crate) fn switch(&mut self, unit: &UnitName, on: bool) {
        let why = (!on).then(|| "disabled by ada".to_owned());
        match &why {
            Some(why) => self.disabled.insert(unit.clone(), why.clone()),
            None => self.disabled.remove(unit),
        };
        let rulings = self.gate.switch(unit, why);
        self.follow(rulings);
    }

    /// Loses the gate and makes it anew. Nobody could start before, so nobody may start now.
    pub(crate) fn restart(&mut self) {
        self.gate = self.recorded_gate();
        for request in self.waiting.values().rev() {
            assert_eq!(self.gate.ask(request.clone()), [], "a restart let {} start", request.execution);
        }
    }

    /// The rulings must be just those of the rules, in that order; then what they say is recorded and carried out.
    fn follow(&mut self, rulings: Vec<Ruling>) {
        let refused: BTreeSet<ExecutionId> = rulings
            .iter()
            .filter(|ruling| matches!(ruling.decision, Decision::Refuse(_)))
            .map(|ruling| ruling.execution)
            .collect();
        let hopeless: BTreeSet<ExecutionId> =
            self.waiting.values().filter(|request| self.is_hopeless(request)).map(|request| request.execution).collect();
        assert_eq!(refused, hopeless, "refused are exactly those with a need that can never be met");
        self.waiting.retain(|execution, _| !refused.contains(execution));
        for Ruling { execution, decision } in rulings {
            let Decision::Grant(permits) = decision else { continue };
            assert_eq!(Some(execution), self.best(), "the best of those who can start goes first");
            self.record(execution, permits);
        }
        assert_eq!(self.best(), None, "nobody who could start is left waiting");
        self.check();
        for execution in refused {
            self.cancel(execution);
        }
    }

    fn record(&mut self, execution: ExecutionId, permits: Permits) {
        let request = self.waiting.remove(&execution).expect("granted to somebody who waits");
        let keys: Vec<&PermitKey> = permits.iter().map(|(key, _)| key).collect();
        let wanted: Vec<&PermitKey> = request.keys.iter().map(|(key, _)| key).collect();
        assert_eq!(keys, wanted, "one slot of each key");
        for ((key, slot), (_, limit)) in permits.iter().zip(&request.keys) {
            assert!(slot < limit, "slot {slot} of {limit} of {key}");
            assert!(!self.holders(key).contains_key(slot), "slot {slot} of {key} is given twice");
        }
        self.holding.insert(execution, permits);
        self.grants += 1;
    }

    /// What `muster why` prints is what the rules say.
    fn check(&self) {
        assert_eq!(self.gate.waiting(), self.waiting.len());
        for request in self.waiting.values() {
            let holds = self.holds(request);
            assert!(!holds.is_empty(), "{} waits for nothing", request.execution);
            let shares = |other: &&Request| request.keys.iter().any(|(key, _)| other.keys.iter().any(|(its, _)| its == key));
            let rivals: Vec<&Request> = self.waiting.values().filter(shares).collect();
            let before = rivals.iter().filter(|other| goes_before(other, request)).count();
            let expected = Explanation { holds, before, waiting: rivals.len() };
            assert_eq!(self.gate.explain(request.execution), Some(expected));
        }
        for item in self.fleet.items.iter().filter(|item| !self.waiting.contains_key(&item.id())) {
            assert_eq!(self.gate.explain(item.id()), None);
        }
    }

    fn best(&self) -> Option<ExecutionId> {
        let can_start = self.waiting.values().filter(|request| self.holds(request).is_empty());
        can_start.reduce(|best, other| if goes_before(other, best) { other } else { best }).map(|request| request.execution)
    }

    fn holders(&self, key: &PermitKey) -> BTreeMap<u32, ExecutionId> {
        let permits = self.holding.iter().flat_map(|(execution, permits)| permits.iter().map(|permit| (permit, *execution)));
        permits.filter(|((held, _), _)| held == key).map(|((_, slot), execution)| (*slot, execution)).collect()
    }

    fn holds(&self, request: &Request) -> Vec<Hold> {
        let disabled = self.disabled.get(&request.unit);
        let disabled = disabled.map(|why| Hold::Disabled { unit: request.unit.clone(), why: why.clone() });
        let needs = request.needs.iter().filter_map(|(unit, _)| {
            let left = self.items_of(request, unit).filter(|item| !self.ended.contains_key(&item.id())).count();
            (left > 0).then(|| Hold::Need { unit: unit.clone(), left })
        });
        let slots = request.keys.iter().filter_map(|(key, limit)| {
            let holders: Vec<ExecutionId> = self.holders(key).into_values().collect();
            (holders.len() >= *limit as usize).then(|| Hold::Slots { key: key.clone(), limit: *limit, holders })
        });
        disabled.into_iter().chain(needs).chain(slots).collect()
    }

    fn items_of(&self, request: &Request, unit: &UnitName) -> impl Iterator<Item = &Item> {
        self.fleet.items.iter().filter(move |item| item.unit == *unit && item.id().run == request.execution.run)
    }

    /// Whether a need can never be met: one of the unit's items did not succeed, or all did and one is not good enough.
    fn is_hopeless(&self, request: &Request) -> bool {
        request.needs.iter().any(|(unit, wanted)| {
            let ends: Vec<Option<&ItemEnd>> = self.items_of(request, unit).map(|item| self.ended.get(&item.id())).collect();
            let failed = ends.iter().flatten().any(|end| end.state != ExecutionState::Succeeded);
            let bad = ends.iter().flatten().any(|end| !is_good(end.verdict, *wanted));
            failed || (bad && ends.iter().all(Option::is_some))
        })
    }
}

fn is_good(verdict: Option<Verdict>, wanted: NeedVerdict) -> bool {
    match wanted {
        NeedVerdict::Any => true,
        NeedVerdict::Warn => !matches!(verdict, Some(Verdict::Fail | Verdict::Error)),
        NeedVerdict::Pass => !matches!(verdict, Some(Verdict::Warn | Verdict::Fail | Verdict::Error)),
    }
}

fn goes_before(one: &Request, other: &Request) -> bool {
    (-one.priority, one.execution) < (-other.priority, other.execution)
}
