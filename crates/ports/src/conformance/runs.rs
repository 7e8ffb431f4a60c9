//! What every [`Runs`] must do.

use model::{Digest, ExecutionId, ExecutionState, RunState, Scope};

use super::{
    sample::{at, event, execution, full_execution, permit, run, run_id, scope},
    together,
};
use crate::{Change, ExecutionFilter, IdempotencyRecord, RunFilter, Runs, SlotHolder, StoreError};

/// Makes every case of the suite a test: `ports::runs_conformance!(fresh)`.
#[macro_export]
macro_rules! runs_conformance {
    ($fresh:path) => {
        $crate::conformance_cases!($fresh, runs:
            keeps_records_as_they_are,
            refuses_a_stale_write,
            writes_all_or_nothing,
            refuses_to_create_twice,
            sees_its_own_earlier_changes,
            gives_a_slot_to_one_holder,
            lets_only_the_holder_free_a_slot,
            gives_one_of_fifty_the_slot,
            lets_one_of_fifty_writes_of_a_version_win,
            keeps_events_once_and_in_order,
            keeps_scopes_apart,
            remembers_an_idempotency_key,
            pages_runs_newest_first,
            filters_runs_by_state_and_unit,
            lists_executions_by_item,
            finds_runs_by_prefix,
            takes_the_newest_accepted_output_as_baseline,
        );
    };
}

fn create(scope: &Scope, number: u32) -> Change {
    Change::CreateRun(Box::new(run(scope, number, RunState::Created)))
}

fn add(scope: &Scope, number: u32, item: u32, unit: &str, state: ExecutionState) -> Change {
    Change::CreateExecution(Box::new(execution(scope, number, item, unit, state)), None)
}

fn execution_id(number: u32, item: u32) -> ExecutionId {
    ExecutionId { run: run_id(number), item }
}

#[track_caller]
fn assert_conflict(result: &Result<(), StoreError>) {
    assert!(matches!(result, Err(StoreError::Conflict(_))), "got {result:?}");
}

/// Every field comes back as it was written; versions count from 1.
pub async fn keeps_records_as_they_are(runs: &dyn Runs) {
    let scope = scope("keeps-records");
    let (record, full) = (run(&scope, 1, RunState::Created), full_execution(&scope, 1, 0));
    let create_both = vec![Change::CreateRun(Box::new(record.clone())), Change::CreateExecution(Box::new(full.clone()), None)];
    runs.write(&scope, create_both).await.unwrap();
    let (stored_run, stored) = (runs.run(&scope, record.id).await.unwrap(), runs.execution(&scope, full.id).await.unwrap());
    assert_eq!((stored_run.value, stored_run.version), (record.clone(), 1));
    assert_eq!((stored.value, stored.version), (full, 1));

    let started = run(&scope, 1, RunState::Started);
    runs.write(&scope, vec![Change::UpdateRun(Box::new(started.clone()), 1)]).await.unwrap();
    let stored = runs.run(&scope, record.id).await.unwrap();
    assert_eq!((stored.value, stored.version), (started, 2));

    let missing = runs.run(&scope, run_id(2)).await;
    assert!(matches!(missing, Err(StoreError::NotFound)), "got {missing:?}");
    let missing = runs.execution(&scope, execution_id(1, 1)).await;
    assert!(matches!(missing, Err(StoreError::NotFound)), "got {missing:?}");
}

/// Who names an old version has not seen the newest change and must not undo it.
pub async fn refuses_a_stale_write(runs: &dyn Runs) {
    let scope = scope("stale");
    let change = |state, version| vec![Change::UpdateRun(Box::new(run(&scope, 1, state)), version)];
    runs.write(&scope, vec![create(&scope, 1), add(&scope, 1, 0, "a", ExecutionState::Created)]).await.unwrap();
    runs.write(&scope, change(RunState::Started, 1)).await.unwrap();
    for version in [0, 1, 3] {
        assert_conflict(&runs.write(&scope, change(RunState::Failed, version)).await);
    }
    assert_eq!(runs.run(&scope, run_id(1)).await.unwrap().value.state, RunState::Started);

    let update =
        |version| vec![Change::UpdateExecution(Box::new(execution(&scope, 1, 0, "a", ExecutionState::Started)), version)];
    runs.write(&scope, update(1)).await.unwrap();
    assert_conflict(&runs.write(&scope, update(1)).await);
    assert_conflict(&runs.write(&scope, vec![Change::UpdateRun(Box::new(run(&scope, 9, RunState::Failed)), 1)]).await);
}

/// A refused change takes every other change of its write with it, those before and those after.
pub async fn writes_all_or_nothing(runs: &dyn Runs) {
    let scope = scope("all-or-nothing");
    runs.write(&scope, vec![create(&scope, 1)]).await.unwrap();
    let taken = execution_id(1, 9);
    runs.write(&scope, vec![Change::TakeSlot(permit("b"), 1, taken)]).await.unwrap();
    let key = IdempotencyRecord { key: "k".to_owned(), request: Digest::of(b"r"), run: run_id(2), at: at(0) };
    let mixed = vec![
        create(&scope, 2),
        add(&scope, 2, 0, "a", ExecutionState::Created),
        Change::TakeSlot(permit("a"), 0, execution_id(2, 0)),
        Change::FreeSlot(permit("b"), 1, taken),
        Change::Emit(Box::new(event(&scope, "run 2", "1"))),
        Change::Remember(key),
        Change::UpdateRun(Box::new(run(&scope, 1, RunState::Started)), 5),
        create(&scope, 3),
    ];
    let refused = runs.write(&scope, mixed).await;
    let Err(StoreError::Conflict(what)) = refused else { panic!("got {refused:?}") };
    assert!(what.contains(&run_id(1).to_string()), "it names the first change that did not hold: {what}");

    for absent in [2, 3] {
        assert!(matches!(runs.run(&scope, run_id(absent)).await, Err(StoreError::NotFound)));
    }
    assert!(runs.executions(&scope, run_id(2), &ExecutionFilter::default()).await.unwrap().is_empty());
    assert!(runs.holders(&scope, &permit("a")).await.unwrap().is_empty());
    assert_eq!(runs.holders(&scope, &permit("b")).await.unwrap().len(), 1);
    assert!(runs.events(&scope, 0, 10).await.unwrap().is_empty());
    assert_eq!(runs.remembered(&scope, "k").await.unwrap(), None);
    let of_unit = RunFilter { unit: Some("a".parse().unwrap()), limit: 10, ..RunFilter::default() };
    assert!(runs.runs(&scope, &of_unit).await.unwrap().items.is_empty());
}

/// An id names one record for good.
pub async fn refuses_to_create_twice(runs: &dyn Runs) {
    let scope = scope("create-twice");
    runs.write(&scope, vec![create(&scope, 1), add(&scope, 1, 0, "a", ExecutionState::Created)]).await.unwrap();
    assert_conflict(&runs.write(&scope, vec![create(&scope, 1)]).await);
    assert_conflict(&runs.write(&scope, vec![add(&scope, 1, 0, "b", ExecutionState::Created)]).await);
    assert_conflict(&runs.write(&scope, vec![create(&scope, 2), create(&scope, 2)]).await);
    assert_eq!(runs.execution(&scope, execution_id(1, 0)).await.unwrap().value.unit.as_str(), "a");
}

/// A change's condition holds against what earlier changes of the same write did.
pub async fn sees_its_own_earlier_changes(runs: &dyn Runs) {
    let scope = scope("own-changes");
    let (one, two) = (execution_id(1, 0), execution_id(1, 1));
    let handed_over = vec![
        create(&scope, 1),
        Change::UpdateRun(Box::new(run(&scope, 1, RunState::Started)), 1),
        Change::TakeSlot(permit("a"), 0, one),
        Change::FreeSlot(permit("a"), 0, one),
        Change::TakeSlot(permit("a"), 0, two),
    ];
    runs.write(&scope, handed_over).await.unwrap();
    assert_eq!(runs.run(&scope, run_id(1)).await.unwrap().version, 2);
    assert_eq!(runs.holders(&scope, &permit("a")).await.unwrap(), [SlotHolder { slot: 0, execution: two }]);
}

/// A slot is exclusive; taking it again is no second taking.
pub async fn gives_a_slot_to_one_holder(runs: &dyn Runs) {
    let scope = scope("one-holder");
    let (one, other) = (execution_id(1, 1), execution_id(1, 2));
    let take = |key, slot, execution| vec![Change::TakeSlot(key, slot, execution)];
    for _ in 0..2 {
        runs.write(&scope, take(permit("a"), 3, one)).await.unwrap();
    }
    assert_conflict(&runs.write(&scope, take(permit("a"), 3, other)).await);
    // Other slots, and other keys that look alike, are free.
    runs.write(&scope, take(permit("a"), 2, other)).await.unwrap();
    let value = model::PermitKey::UnitValue("a".parse().unwrap(), "x".to_owned());
    runs.write(&scope, take(value, 3, other)).await.unwrap();
    let holders = runs.holders(&scope, &permit("a")).await.unwrap();
    assert_eq!(holders, [SlotHolder { slot: 2, execution: other }, SlotHolder { slot: 3, execution: one }]);
}

/// A late release does not take the slot from whoever holds it meanwhile.
pub async fn lets_only_the_holder_free_a_slot(runs: &dyn Runs) {
    let scope = scope("free");
    let (one, other) = (execution_id(1, 1), execution_id(1, 2));
    let holders = || async { runs.holders(&scope, &permit("a")).await.unwrap() };
    runs.write(&scope, vec![Change::TakeSlot(permit("a"), 0, one)]).await.unwrap();
    runs.write(&scope, vec![Change::FreeSlot(permit("a"), 0, other)]).await.unwrap();
    assert_eq!(holders().await, [SlotHolder { slot: 0, execution: one }]);
    for _ in 0..2 {
        runs.write(&scope, vec![Change::FreeSlot(permit("a"), 0, one)]).await.unwrap();
    }
    assert_eq!(holders().await, []);
    runs.write(&scope, vec![Change::TakeSlot(permit("a"), 0, other)]).await.unwrap();
    assert_eq!(holders().await, [SlotHolder { slot: 0, execution: other }]);
}

/// Fifty at once for a limit of one.
pub async fn gives_one_of_fifty_the_slot(runs: &dyn Runs) {
    let scope = scope("fifty");
    let attempts = (0..50).map(|item| {
        let take = Change::TakeSlot(permit("a"), 0, execution_id(1, item));
        let told = Change::Emit(Box::new(event(&scope, &format!("item {item}"), "granted")));
        runs.write(&scope, vec![told, take])
    });
    let results = together(attempts).await;
    let winners: Vec<usize> = (0..50).filter(|item| results[*item].is_ok()).collect();
    assert_eq!(winners.len(), 1, "winners: {winners:?}");
    results.iter().filter(|result| result.is_err()).for_each(assert_conflict);
    let winner = execution_id(1, u32::try_from(winners[0]).unwrap());
    assert_eq!(runs.holders(&scope, &permit("a")).await.unwrap(), [SlotHolder { slot: 0, execution: winner }]);
    assert_eq!(runs.events(&scope, 0, 100).await.unwrap().len(), 1, "the losers' events are undone with their writes");
}

/// Fifty at once that replace the same version.
pub async fn lets_one_of_fifty_writes_of_a_version_win(runs: &dyn Runs) {
    let scope = scope("fifty-versions");
    runs.write(&scope, vec![create(&scope, 1)]).await.unwrap();
    let update = || runs.write(&scope, vec![Change::UpdateRun(Box::new(run(&scope, 1, RunState::Started)), 1)]);
    let results = together((0..50).map(|_| update())).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert_eq!(runs.run(&scope, run_id(1)).await.unwrap().version, 2);
}

/// An event is what its id says: written again, it is the one that is there.
pub async fn keeps_events_once_and_in_order(runs: &dyn Runs) {
    let scope = scope("events");
    let emit = |step: &str| Change::Emit(Box::new(event(&scope, "execution", step)));
    runs.write(&scope, vec![emit("1"), emit("2"), emit("2")]).await.unwrap();
    runs.write(&scope, vec![emit("1"), emit("3")]).await.unwrap();
    let all = runs.events(&scope, 0, 10).await.unwrap();
    let steps: Vec<_> = all.iter().map(|(_, event)| event.data["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["1", "2", "3"]);
    assert!(all.iter().map(|(position, _)| position).is_sorted_by(|one, next| one < next));
    assert_eq!(all[0].1, event(&scope, "execution", "1"));

    // A reader that stops after any event goes on with the next.
    let first = runs.events(&scope, 0, 2).await.unwrap();
    let rest = runs.events(&scope, first[1].0, 10).await.unwrap();
    assert_eq!([first, rest].concat(), all);
    assert!(runs.events(&scope, all[2].0, 10).await.unwrap().is_empty());
}

/// The same ids in two scopes are different records; a foreign id answers like a missing one.
pub async fn keeps_scopes_apart(runs: &dyn Runs) {
    let (ours, theirs) = (scope("ours"), scope("theirs"));
    let record = IdempotencyRecord { key: "k".to_owned(), request: Digest::of(b"r"), run: run_id(1), at: at(0) };
    let series = Digest::of(b"series");
    let accepted = execution(&ours, 1, 0, "a", ExecutionState::Succeeded);
    let mine = vec![
        create(&ours, 1),
        Change::CreateExecution(Box::new(accepted), Some(series)),
        Change::TakeSlot(permit("a"), 0, execution_id(1, 0)),
        Change::Emit(Box::new(event(&ours, "run", "1"))),
        Change::Remember(record.clone()),
    ];
    runs.write(&ours, mine).await.unwrap();

    let id = execution_id(1, 0);
    assert!(matches!(runs.run(&theirs, run_id(1)).await, Err(StoreError::NotFound)));
    assert!(matches!(runs.execution(&theirs, id).await, Err(StoreError::NotFound)));
    assert!(runs.runs(&theirs, &RunFilter { limit: 10, ..RunFilter::default() }).await.unwrap().items.is_empty());
    assert!(runs.executions(&theirs, run_id(1), &ExecutionFilter::default()).await.unwrap().is_empty());
    assert!(runs.holders(&theirs, &permit("a")).await.unwrap().is_empty());
    assert!(runs.events(&theirs, 0, 10).await.unwrap().is_empty());
    assert!(runs.find(&theirs, "run_", 10).await.unwrap().is_empty());
    assert_eq!(runs.remembered(&theirs, "k").await.unwrap(), None);
    let unit: model::UnitName = "a".parse().unwrap();
    assert_eq!(runs.last_accepted(&theirs, &[(unit, series)], run_id(9)).await.unwrap(), [None]);
    assert_conflict(&runs.write(&theirs, vec![Change::UpdateRun(Box::new(run(&theirs, 1, RunState::Failed)), 1)]).await);
    runs.write(&theirs, vec![Change::FreeSlot(permit("a"), 0, id)]).await.unwrap();
    assert_eq!(runs.holders(&ours, &permit("a")).await.unwrap().len(), 1);

    // The same ids are free there, and what happens to them there is not seen here.
    let other = vec![
        create(&theirs, 1),
        add(&theirs, 1, 0, "b", ExecutionState::Created),
        Change::TakeSlot(permit("a"), 0, execution_id(7, 7)),
        Change::Remember(record),
        Change::UpdateRun(Box::new(run(&theirs, 1, RunState::Failed)), 1),
    ];
    runs.write(&theirs, other).await.unwrap();
    assert_eq!(runs.run(&ours, run_id(1)).await.unwrap().version, 1);
    assert_eq!(runs.execution(&ours, id).await.unwrap().value.unit.as_str(), "a");
    assert_eq!(runs.execution(&theirs, id).await.unwrap().value.unit.as_str(), "b");
}

/// A key that made a run keeps it.
pub async fn remembers_an_idempotency_key(runs: &dyn Runs) {
    let scope = scope("idempotency");
    let record = |number| IdempotencyRecord {
        key: "order 7: \"ü\"".to_owned(),
        request: Digest::of(b"request"),
        run: run_id(number),
        at: at(3),
    };
    runs.write(&scope, vec![create(&scope, 1), Change::Remember(record(1))]).await.unwrap();
    assert_conflict(&runs.write(&scope, vec![create(&scope, 2), Change::Remember(record(2))]).await);
    assert_conflict(&runs.write(&scope, vec![Change::Remember(record(1))]).await);
    assert_eq!(runs.remembered(&scope, &record(1).key).await.unwrap(), Some(record(1)));
    assert_eq!(runs.remembered(&scope, "order 7").await.unwrap(), None);
    assert!(matches!(runs.run(&scope, run_id(2)).await, Err(StoreError::NotFound)));
}

async fn numbers(runs: &dyn Runs, scope: &Scope, filter: RunFilter) -> (Vec<u32>, bool) {
    let page = runs.runs(scope, &filter).await.unwrap();
    let number = |id| (0..1_000).find(|number| run_id(*number) == id).unwrap();
    (page.items.iter().map(|run| number(run.value.id)).collect(), page.more)
}

/// Pages follow one another without a gap, and the last one says so.
pub async fn pages_runs_newest_first(runs: &dyn Runs) {
    let scope = scope("pages");
    for number in [3, 1, 5, 2, 4] {
        runs.write(&scope, vec![create(&scope, number)]).await.unwrap();
    }
    let page = |before: Option<u32>, limit| {
        let filter = RunFilter { before: before.map(run_id), limit, ..RunFilter::default() };
        numbers(runs, &scope, filter)
    };
    assert_eq!(page(None, 2).await, (vec![5, 4], true));
    assert_eq!(page(Some(4), 2).await, (vec![3, 2], true));
    assert_eq!(page(Some(2), 2).await, (vec![1], false));
    assert_eq!(page(Some(1), 2).await, (vec![], false));
    assert_eq!(page(None, 5).await, (vec![5, 4, 3, 2, 1], false));
}

/// Filters hold together, and pages are full in spite of them.
pub async fn filters_runs_by_state_and_unit(runs: &dyn Runs) {
    let scope = scope("filters");
    for number in 1..=9 {
        let state = [RunState::Started, RunState::Failed, RunState::Succeeded][number as usize % 3];
        let unit = if number % 2 == 0 { "even" } else { "odd" };
        let record = run(&scope, number, state);
        let items =
            [(0, unit), (1, unit), (2, "every")].map(|(item, unit)| add(&scope, number, item, unit, ExecutionState::Created));
        let changes: Vec<Change> = [Change::CreateRun(Box::new(record))].into_iter().chain(items).collect();
        runs.write(&scope, changes).await.unwrap();
    }
    runs.write(&scope, vec![Change::UpdateRun(Box::new(run(&scope, 9, RunState::Succeeded)), 1)]).await.unwrap();
    let list = |states: &[RunState], unit: Option<&str>, before: Option<u32>, limit| {
        let unit = unit.map(|unit| unit.parse().unwrap());
        numbers(runs, &scope, RunFilter { states: states.to_vec(), unit, before: before.map(run_id), limit })
    };
    let (started, failed) = (RunState::Started, RunState::Failed);
    assert_eq!(list(&[started], None, None, 9).await, (vec![6, 3], false));
    assert_eq!(list(&[failed, started, failed], None, None, 3).await, (vec![7, 6, 4], true));
    assert_eq!(list(&[failed, started], None, Some(4), 3).await, (vec![3, 1], false));
    assert_eq!(list(&[RunState::Cancelled], None, None, 3).await, (vec![], false));
    assert_eq!(list(&[], Some("even"), None, 3).await, (vec![8, 6, 4], true));
    assert_eq!(list(&[], Some("even"), Some(4), 3).await, (vec![2], false));
    assert_eq!(list(&[], Some("every"), None, 9).await, ((1..=9).rev().collect(), false));
    assert_eq!(list(&[failed], Some("even"), None, 9).await, (vec![4], false));
    assert_eq!(list(&[], Some("none"), None, 9).await, (vec![], false));
}

/// By item number, not by text; a limit of 0 is no limit.
pub async fn lists_executions_by_item(runs: &dyn Runs) {
    let scope = &scope("executions");
    let state = |item| if item % 2 == 0 { ExecutionState::Created } else { ExecutionState::Succeeded };
    let changes = [11, 2, 0, 10, 1].map(|item| add(scope, 1, item, "a", state(item)));
    runs.write(scope, changes.into()).await.unwrap();
    runs.write(scope, vec![add(scope, 2, 5, "a", ExecutionState::Created)]).await.unwrap();
    let list = |states: Vec<ExecutionState>, after, limit| async move {
        let found = runs.executions(scope, run_id(1), &ExecutionFilter { states, after, limit }).await.unwrap();
        found.iter().map(|execution| execution.value.id.item).collect::<Vec<u32>>()
    };
    let (created, succeeded) = (ExecutionState::Created, ExecutionState::Succeeded);
    assert_eq!(list(vec![], None, 0).await, [0, 1, 2, 10, 11]);
    assert_eq!(list(vec![], Some(1), 2).await, [2, 10]);
    assert_eq!(list(vec![created], None, 0).await, [0, 2, 10]);
    assert_eq!(list(vec![succeeded, created], Some(0), 3).await, [1, 2, 10]);
    assert!(list(vec![ExecutionState::Failed], None, 0).await.is_empty());

    // A change of state moves the execution from one list to the other.
    let done = execution(scope, 1, 2, "a", succeeded);
    runs.write(scope, vec![Change::UpdateExecution(Box::new(done), 1)]).await.unwrap();
    assert_eq!(list(vec![created], None, 0).await, [0, 10]);
    assert_eq!(list(vec![succeeded], None, 0).await, [1, 2, 11]);
}

/// A person types the beginning of an id.
pub async fn finds_runs_by_prefix(runs: &dyn Runs) {
    let scope = &scope("find");
    for number in [1, 2, 200] {
        runs.write(scope, vec![create(scope, number)]).await.unwrap();
    }
    let find = |prefix: String, limit| async move { runs.find(scope, &prefix, limit).await.unwrap() };
    let text = run_id(2).to_string();
    assert_eq!(find(text.clone(), 5).await, [run_id(2)]);
    // Ids of one second share their beginning.
    assert_eq!(find(text[..10].to_owned(), 5).await, [200, 2, 1].map(run_id));
    assert_eq!(find("run_".to_owned(), 2).await, [200, 2].map(run_id));
    for nobody in ["run_7", "run_01!", "run_%", "run_8", "x", &format!("{text}0")] {
        assert_eq!(find(nobody.to_owned(), 5).await, [], "{nobody}");
    }
}

/// The newest success of the same unit and series; never a capped one, a failure, or the run that asks.
pub async fn takes_the_newest_accepted_output_as_baseline(runs: &dyn Runs) {
    let scope = scope("baseline");
    let (series, other) = (Digest::of(b"series"), Digest::of(b"other"));
    let add = |run, item, unit: &str, state, series| {
        vec![Change::CreateExecution(Box::new(execution(&scope, run, item, unit, state)), series)]
    };
    let last = |except| {
        let (unit, nobody) = ("a".parse().unwrap(), "nobody".parse().unwrap());
        let (runs, scope) = (runs, scope.clone());
        async move {
            let found = runs.last_accepted(&scope, &[(unit, series), (nobody, series)], run_id(except)).await.unwrap();
            assert_eq!((found.len(), &found[1]), (2, &None), "one answer each, in the order asked");
            found[0].as_ref().map(|found| found.id)
        }
    };
    let succeeded = ExecutionState::Succeeded;
    assert_eq!(last(9).await, None);
    runs.write(&scope, add(1, 0, "a", succeeded, Some(series))).await.unwrap();
    runs.write(&scope, add(2, 0, "a", succeeded, Some(series))).await.unwrap();
    for (run, unit, state, series) in [
        (3, "a", succeeded, None),
        (4, "a", ExecutionState::Failed, Some(series)),
        (5, "a", ExecutionState::Started, Some(series)),
        (6, "a", succeeded, Some(other)),
        (7, "b", succeeded, Some(series)),
    ] {
        runs.write(&scope, add(run, 0, unit, state, series)).await.unwrap();
    }
    assert_eq!(last(9).await, Some(execution_id(2, 0)));
    assert_eq!(last(2).await, Some(execution_id(1, 0)));

    // An execution enters the baseline the moment it succeeds.
    let done = execution(&scope, 5, 0, "a", succeeded);
    runs.write(&scope, vec![Change::UpdateExecution(Box::new(done), 1)]).await.unwrap();
    assert_eq!(last(9).await, Some(execution_id(5, 0)));
    runs.write(&scope, add(5, 1, "a", succeeded, Some(series))).await.unwrap();
    assert_eq!(last(9).await, Some(execution_id(5, 1)));
}
