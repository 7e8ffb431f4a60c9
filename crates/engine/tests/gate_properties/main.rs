//! Random fleets at the gate, against the rules by brute force: after every happening the gate grants and refuses just what the
//! rules say, in their order, and explains each wait with all that holds it.

mod fleet;
mod oracle;

use engine::gate::{Decision, Gate, ItemEnd, Request};
use fleet::{Fleet, Happening, fleet, happenings};
use model::{ExecutionId, ExecutionState, PermitKey, RunId, Verdict};
use oracle::World;
use proptest::{prelude::*, sample::Index, test_runner::FileFailurePersistence};

const GOOD: ItemEnd = ItemEnd { state: ExecutionState::Succeeded, verdict: Some(Verdict::Pass) };

impl World {
    fn happens(&mut self, happening: &Happening) {
        match happening {
            Happening::Ask(index) => {
                let item = index.get(&self.fleet.items).clone();
                if !self.ended.contains_key(&item.id()) {
                    self.ask(&item);
                }
            }
            Happening::Pause(index) => {
                if let Some(execution) = self.holder(index) {
                    self.release(execution, None);
                }
            }
            Happening::End(index, end) => {
                if let Some(execution) = self.holder(index) {
                    self.release(execution, Some(*end));
                }
            }
            Happening::Withdraw(index) => {
                let execution = index.get(&self.fleet.items).id();
                self.withdraw(execution);
            }
            Happening::Cancel(index) => {
                let execution = index.get(&self.fleet.items).id();
                if !self.ended.contains_key(&execution) {
                    self.cancel(execution);
                }
            }
            Happening::Switch(index, on) => {
                let unit = index.get(&self.fleet.units).clone();
                self.switch(&unit, *on);
            }
            Happening::Restart => self.restart(),
        }
    }

    fn holder(&self, index: &Index) -> Option<ExecutionId> {
        let holders: Vec<ExecutionId> = self.holding.keys().copied().collect();
        (!holders.is_empty()).then(|| *index.get(&holders))
    }

    /// Lets everybody who has not ended ask, and everybody who is granted succeed, until nothing moves.
    fn drain(&mut self) {
        for item in self.fleet.items.clone() {
            if !self.ended.contains_key(&item.id()) {
                self.ask(&item);
            }
        }
        while let Some(execution) = self.holding.keys().next().copied() {
            self.release(execution, Some(GOOD));
        }
    }
}

fn play(fleet: Fleet, happenings: &[Happening]) -> World {
    let mut world = World::new(fleet);
    for happening in happenings {
        world.happens(happening);
    }
    world
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_gate_follows_the_rules_and_ends_empty(fleet in fleet(), happenings in happenings()) {
        let mut world = play(fleet, &happenings);
        world.drain();
        for (execution, request) in world.waiting.clone() {
            let disabled = world.disabled.contains_key(&request.unit);
            let needs_one_that_waits = request.needs.iter().any(|(unit, _)| {
                world.waiting.values().any(|other| other.unit == *unit && other.execution.run == execution.run)
            });
            prop_assert!(disabled || needs_one_that_waits, "{} is held by nothing that lasts", execution);
        }
        for unit in world.fleet.units.clone() {
            world.switch(&unit, true);
        }
        world.drain();
        prop_assert_eq!(world.gate.waiting(), 0);
        prop_assert_eq!(world.ended.len(), world.fleet.items.len());
    }

    #[test]
    fn a_restart_changes_nothing(fleet in fleet(), happenings in happenings()) {
        let restless = |happening: &Happening| [happening.clone(), Happening::Restart];
        let plain = play(fleet.clone(), &happenings);
        let restarted = play(fleet, &happenings.iter().flat_map(restless).collect::<Vec<_>>());
        prop_assert_eq!(plain.grants, restarted.grants);
        prop_assert_eq!(plain.holding, restarted.holding);
        prop_assert_eq!(plain.waiting, restarted.waiting);
    }

    #[test]
    fn the_same_happenings_give_the_same_grants(fleet in fleet(), happenings in happenings()) {
        prop_assert_eq!(play(fleet.clone(), &happenings).holding, play(fleet, &happenings).holding);
    }
}

fn request(item: u32, keys: &[(&PermitKey, u32)], priority: i16) -> Request {
    Request {
        execution: ExecutionId { run: RunId::from_bits(1), item },
        unit: format!("unit-{item}").parse().expect("a name"),
        keys: keys.iter().map(|(key, limit)| ((*key).clone(), *limit)).collect(),
        needs: Vec::new(),
        priority,
    }
}

fn tier() -> PermitKey {
    PermitKey::Tier("light".parse().expect("a name"))
}

fn granted(rulings: &[engine::gate::Ruling]) -> Vec<u32> {
    let grants = rulings.iter().filter(|ruling| matches!(ruling.decision, Decision::Grant(_)));
    grants.map(|ruling| ruling.execution.item).collect()
}

#[test]
fn fifty_ask_for_one_slot_and_one_gets_it() {
    let mut gate = Gate::new();
    let rulings: Vec<_> = (0..50).flat_map(|item| gate.ask(request(item, &[(&tier(), 1)], 0))).collect();
    assert_eq!(granted(&rulings), [0]);
    assert_eq!(gate.waiting(), 49);
    // One after the other, each as soon as the one before is over, whether or not it asks again meanwhile.
    for item in 0..49 {
        assert_eq!(gate.ask(request(item, &[(&tier(), 1)], 0)), [], "{item} holds the slot already");
        assert_eq!(granted(&gate.release(ExecutionId { run: RunId::from_bits(1), item }, None)), [item + 1]);
    }
}

#[test]
fn whoever_becomes_ready_does_not_pass_the_one_who_goes_before() {
    let mut gate = Gate::new();
    let run = RunId::from_bits(1);
    let first = request(0, &[(&tier(), 1)], 0);
    let own = PermitKey::Unit("unit-1".parse().unwrap());
    let needs = vec![(first.unit.clone(), model::NeedVerdict::Any)];
    let needs_first = Request { needs, ..request(1, &[(&own, 1), (&tier(), 1)], 0) };
    let important = request(2, &[(&tier(), 1)], 10);
    gate.open_run(run, [(first.execution, &first.unit), (needs_first.execution, &needs_first.unit)]);
    assert_eq!(granted(&gate.ask(first.clone())), [0]);
    assert_eq!(gate.ask(needs_first.clone()), []);
    assert_eq!(gate.ask(important), []);
    assert_eq!(granted(&gate.release(first.execution, Some(GOOD))), [2], "the slot goes to the higher priority");
}

#[test]
fn a_need_that_can_never_be_met_is_told_while_others_are_open() {
    let mut gate = Gate::new();
    let run = RunId::from_bits(1);
    let [slow, broken] = [request(0, &[(&tier(), 4)], 0), request(1, &[(&tier(), 4)], 0)];
    let needs = [&slow, &broken].map(|needed| (needed.unit.clone(), model::NeedVerdict::Any)).to_vec();
    let last = Request { needs, ..request(2, &[(&tier(), 4)], 0) };
    gate.open_run(run, [&slow, &broken, &last].map(|request| (request.execution, &request.unit)));
    gate.ask(slow);
    gate.ask(broken.clone());
    assert_eq!(gate.ask(last.clone()), []);
    let rulings = gate.release(broken.execution, Some(ItemEnd { state: ExecutionState::Failed, verdict: None }));
    assert!(matches!(&rulings[..], [ruling] if ruling.execution == last.execution), "{rulings:?}");
    insta::assert_snapshot!(match &rulings[0].decision {
        Decision::Refuse(why) => why.clone(),
        Decision::Grant(permits) => format!("granted {permits:?}"),
    }, @"needs unit-1, which failed (run_00000000000000000000000001.1)");
}

#[test]
fn an_item_that_has_ended_stays_so_when_its_run_is_opened_again() {
    let mut gate = Gate::new();
    let run = RunId::from_bits(1);
    let first = request(0, &[(&tier(), 1)], 0);
    let second = Request { needs: vec![(first.unit.clone(), model::NeedVerdict::Pass)], ..request(1, &[(&tier(), 1)], 0) };
    let items = || [(first.execution, &first.unit), (second.execution, &second.unit)];
    gate.open_run(run, items());
    gate.ask(first.clone());
    gate.release(first.execution, Some(GOOD));
    gate.open_run(run, items());
    assert_eq!(granted(&gate.ask(second.clone())), [1]);
}

#[test]
fn a_slot_that_somebody_else_turns_out_to_hold_is_his() {
    let mut gate = Gate::new();
    let [ours, theirs] = [0, 1].map(|item| request(item, &[(&tier(), 1)], 0));
    assert_eq!(granted(&gate.ask(ours.clone())), [0]);
    gate.occupy_slot(theirs.execution, tier(), 0);
    assert_eq!(gate.release(ours.execution, None), [], "giving back what was never ours frees nothing");
    assert_eq!(gate.ask(ours.clone()), []);
    assert_eq!(granted(&gate.release(theirs.execution, None)), [0]);
}
