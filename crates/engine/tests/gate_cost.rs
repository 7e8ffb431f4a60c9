//! What the gate costs, in queues looked at and not in time: each request is looked at a few times, however many wait.

use std::collections::BTreeMap;

use engine::gate::{Decision, Gate, ItemEnd, Request, Ruling};
use model::{ExecutionId, ExecutionState, NeedVerdict, PermitKey, RunId, UnitName};

const MANY: u32 = 10_000;
/// A grant looks at one queue a key, and each slot that comes free shows once that there is no second one.
const MOST_LOOKS: f64 = 6.0;
const GOOD: ItemEnd = ItemEnd { state: ExecutionState::Succeeded, verdict: None };

fn unit(number: u32) -> UnitName {
    format!("unit-{number}").parse().expect("a name")
}

fn tier(name: &str) -> PermitKey {
    PermitKey::Tier(name.parse().expect("a name"))
}

fn limit(name: &str) -> PermitKey {
    PermitKey::Limit(name.parse().expect("a name"))
}

fn request(run: u32, item: u32, keys: Vec<(PermitKey, u32)>) -> Request {
    let execution = ExecutionId { run: RunId::from_bits(run.into()), item };
    Request { execution, unit: unit(item), keys, needs: Vec::new(), priority: 0 }
}

/// Lets all ask, then ends whoever holds slots, the oldest grant first, until all have ended. Gives the looks by request.
fn looks_by_request(requests: Vec<Request>) -> f64 {
    let mut gate = Gate::new();
    let all = requests.len();
    let mut by_run: BTreeMap<RunId, Vec<(ExecutionId, UnitName)>> = BTreeMap::new();
    for request in &requests {
        by_run.entry(request.execution.run).or_default().push((request.execution, request.unit.clone()));
    }
    for (run, items) in &by_run {
        gate.open_run(*run, items.iter().map(|(execution, unit)| (*execution, unit)));
    }
    let mut granted: Vec<ExecutionId> = requests.into_iter().flat_map(|request| grants(&gate.ask(request))).collect();
    let mut ended = 0;
    while let Some(execution) = granted.get(ended).copied() {
        granted.extend(grants(&gate.release(execution, Some(GOOD))));
        ended += 1;
    }
    assert_eq!((ended, gate.waiting()), (all, 0), "all were granted and ended");
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    let looks = gate.looks() as f64 / all as f64;
    looks
}

fn grants(rulings: &[Ruling]) -> Vec<ExecutionId> {
    let grant = |ruling: &Ruling| matches!(ruling.decision, Decision::Grant(_));
    assert!(rulings.iter().all(grant), "nobody is refused");
    rulings.iter().map(|ruling| ruling.execution).collect()
}

#[track_caller]
fn assert_cheap(looks: f64) {
    assert!(looks <= MOST_LOOKS, "{looks} looks a request");
}

#[test]
fn ten_thousand_on_one_tier() {
    assert_cheap(looks_by_request((0..MANY).map(|item| request(1, item, vec![(tier("light"), 16)])).collect()));
}

/// Every unit has a limit of its own, so that each is a queue of its own: the number of queues must not count either.
#[test]
fn a_thousand_units_with_limits_of_their_own_share_a_tier_and_an_upstream() {
    let keys = |item: u32| {
        let own = (PermitKey::Unit(unit(item % 1_000)), 1);
        let shared = [(limit("api"), 4), (tier("light"), 16)];
        match item % 10 {
            0 => vec![own, shared[0].clone(), shared[1].clone()],
            1 => vec![own, shared[1].clone()],
            _ => vec![shared[1].clone()],
        }
    };
    assert_cheap(looks_by_request((0..MANY).map(|item| request(1, item, keys(item))).collect()));
}

/// Two keys that are short by turns: a thousand queues must not move from the one to the other and back with every slot.
#[test]
fn an_upstream_and_a_tier_that_are_short_by_turns() {
    let keys = |item: u32| match item % 4 {
        0 => vec![(limit("api"), 1), (tier("heavy"), 1)],
        1 => vec![(tier("light"), 2)],
        _ => vec![(PermitKey::Unit(unit(item)), 1), (limit("api"), 1), (tier("light"), 2)],
    };
    assert_cheap(looks_by_request((0..MANY).map(|item| request(1, item, keys(item))).collect()));
}

#[test]
fn a_hundred_runs_with_limits_of_their_own() {
    let request = |number: u32| {
        let run = number % 100;
        request(run, number / 100, vec![(tier("light"), 16), (PermitKey::Run(RunId::from_bits(run.into())), 4)])
    };
    assert_cheap(looks_by_request((0..MANY).map(request).collect()));
}

#[test]
fn one_unit_that_needs_ten_thousand_others_and_is_needed_by_as_many() {
    let join = |mut request: Request| {
        request.needs = (0..MANY).map(|item| (unit(item), NeedVerdict::Pass)).collect();
        request
    };
    let after = |mut request: Request| {
        request.needs = vec![(unit(MANY), NeedVerdict::Pass)];
        request
    };
    let light = || vec![(tier("light"), 16)];
    let first = (0..MANY).map(|item| request(1, item, light()));
    let last = (MANY + 1..=2 * MANY).map(|item| after(request(1, item, light())));
    assert_cheap(looks_by_request(first.chain([join(request(1, MANY, light()))]).chain(last).collect()));
}

/// Twice as many requests cost twice the looks, whoever goes first.
#[test]
fn the_cost_of_a_request_does_not_grow_with_their_number() {
    let fleet = |count: u32| {
        let keys = |item: u32| vec![(PermitKey::Unit(unit(item % (count / 10))), 1), (limit("api"), 4), (tier("light"), 16)];
        let priority = |item: u32| i16::try_from(item * 7_919 % 201).expect("at most 200") - 100;
        looks_by_request((0..count).map(|item| Request { priority: priority(item), ..request(1, item, keys(item)) }).collect())
    };
    let [few, many] = [fleet(1_000), fleet(MANY)];
    assert!(many <= few * 1.1, "{few} looks a request with 1,000 of them, {many} with {MANY}");
}
