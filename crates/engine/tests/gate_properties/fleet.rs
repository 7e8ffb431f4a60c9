//! Random fleets: units with limits of every kind and needs between them, runs over them, and what happens to these.

use engine::gate::{ItemEnd, Request};
use model::{ExecutionId, ExecutionState, NeedVerdict, PermitKey, RunId, UnitName, Verdict};
use proptest::{collection::vec, option, prelude::*, sample::Index};

#[derive(Debug, Clone)]
pub(crate) struct Fleet {
    pub(crate) items: Vec<Item>,
    pub(crate) units: Vec<UnitName>,
}

#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) unit: UnitName,
    pub(crate) request: Request,
}

impl Item {
    pub(crate) fn id(&self) -> ExecutionId {
        self.request.execution
    }
}

/// What happens; an index chooses among the items or units of the fleet.
#[derive(Debug, Clone)]
pub(crate) enum Happening {
    Ask(Index),
    /// Its attempt is over and will be tried again.
    Pause(Index),
    End(Index, ItemEnd),
    /// Its time in the queue is over, or somebody changed his mind, but it may ask again.
    Withdraw(Index),
    Cancel(Index),
    Switch(Index, bool),
    /// The gate is lost and made anew from what is recorded.
    Restart,
}

#[derive(Debug, Clone)]
struct UnitPlan {
    /// Slots by revision (each run pins one), and whether each value has its own.
    concurrency: Option<([u32; 2], bool)>,
    limits: [bool; 2],
    tier: usize,
    needs: Vec<(Index, NeedVerdict)>,
    priority: i16,
}

#[derive(Debug, Clone)]
struct RunPlan {
    revision: usize,
    concurrency: Option<u32>,
    priority: i16,
    /// Which units it holds, each with a value.
    items: Vec<(Index, u8)>,
}

fn unit_plan() -> impl Strategy<Value = UnitPlan> {
    let verdict = prop_oneof![Just(NeedVerdict::Any), Just(NeedVerdict::Warn), Just(NeedVerdict::Pass)];
    let limit = prop_oneof![4 => (1..4_u32).prop_map(|limit| [limit, limit]), 1 => [1..4_u32, 1..4_u32]];
    let concurrency = option::of((limit, any::<bool>()));
    let needs = vec((any::<Index>(), verdict), 0..3);
    (concurrency, any::<[bool; 2]>(), 0..2_usize, needs, -1..2_i16)
        .prop_map(|(concurrency, limits, tier, needs, priority)| UnitPlan { concurrency, limits, tier, needs, priority })
}

fn run_plan() -> impl Strategy<Value = RunPlan> {
    let items = vec((any::<Index>(), 0..2_u8), 1..10);
    (0..2_usize, option::of(1..4_u32), -1..2_i16, items).prop_map(|(revision, concurrency, priority, items)| RunPlan {
        revision,
        concurrency,
        priority,
        items,
    })
}

pub(crate) fn fleet() -> impl Strategy<Value = Fleet> {
    (vec(unit_plan(), 1..7), vec(run_plan(), 1..4), [1..5_u32, 1..5_u32], [1..4_u32, 1..4_u32])
        .prop_map(|(units, runs, tiers, limits)| build(&units, &runs, tiers, limits))
}

fn build(units: &[UnitPlan], runs: &[RunPlan], tiers: [u32; 2], limits: [u32; 2]) -> Fleet {
    let names: Vec<UnitName> = (0..units.len()).map(|place| format!("unit-{place}").parse().expect("a name")).collect();
    let mut items = Vec::new();
    for (number, run) in (1..).zip(runs) {
        let id = RunId::from_bits(number);
        for (item, (unit, value)) in (0..).zip(&run.items) {
            let place = unit.index(units.len());
            let plan = &units[place];
            let mut keys = Vec::new();
            if let Some((slots, by_value)) = plan.concurrency {
                let key = match by_value {
                    true => PermitKey::UnitValue(names[place].clone(), value.to_string()),
                    false => PermitKey::Unit(names[place].clone()),
                };
                keys.push((key, slots[run.revision]));
            }
            let shared = (0..2).filter(|limit| plan.limits[*limit]);
            keys.extend(shared.map(|limit| (PermitKey::Limit(["api", "disk"][limit].parse().expect("a name")), limits[limit])));
            keys.push((PermitKey::Tier(["light", "heavy"][plan.tier].parse().expect("a name")), tiers[plan.tier]));
            keys.extend(run.concurrency.map(|limit| (PermitKey::Run(id), limit)));
            // Needs point backwards, so that there is no circle.
            let needs =
                plan.needs.iter().filter(|_| place > 0).map(|(need, verdict)| (names[need.index(place)].clone(), *verdict));
            let request = Request {
                execution: ExecutionId { run: id, item },
                unit: names[place].clone(),
                keys,
                needs: needs.collect(),
                priority: plan.priority + run.priority,
            };
            items.push(Item { unit: names[place].clone(), request });
        }
    }
    Fleet { items, units: names }
}

fn end() -> impl Strategy<Value = ItemEnd> {
    let verdict = prop_oneof![
        3 => Just(None),
        3 => Just(Some(Verdict::Pass)),
        1 => Just(Some(Verdict::Warn)),
        1 => Just(Some(Verdict::Fail)),
    ];
    let state = prop_oneof![8 => Just(ExecutionState::Succeeded), 1 => Just(ExecutionState::Failed)];
    (state, verdict).prop_map(|(state, verdict)| ItemEnd { state, verdict })
}

pub(crate) fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let index = any::<Index>;
    let happening = prop_oneof![
        12 => index().prop_map(Happening::Ask),
        2 => index().prop_map(Happening::Pause),
        8 => (index(), end()).prop_map(|(item, end)| Happening::End(item, end)),
        1 => index().prop_map(Happening::Withdraw),
        1 => index().prop_map(Happening::Cancel),
        2 => (index(), any::<bool>()).prop_map(|(unit, on)| Happening::Switch(unit, on)),
        1 => Just(Happening::Restart),
    ];
    vec(happening, 0..80)
}
