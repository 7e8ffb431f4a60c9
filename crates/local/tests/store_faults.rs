//! What the store survives: death of the process, a full disk, damage, strangers, company.
#![expect(clippy::unwrap_used, reason = "fixtures are test code too")]

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use local::store::{
    Durability, Mode, OpenError, Store,
    journal::{Entry, MachineExecution},
};
use model::{Event, EventKind, ExecutionId, PermitKey, Run, RunId, RunState, Scope, Timestamp};
use ports::{Change, RunFilter, Runs, StoreError};
use rusqlite::Connection;
use serde_json::json;
use testkit::FixedClock;

mod mounted;

fn now() -> Timestamp {
    ports::Clock::now(&FixedClock::default())
}

fn run_id(number: u32) -> RunId {
    RunId::from_bits((0x019b_0000_0000_u128 + u128::from(number)) << 80 | 7 << 76 | 0b10 << 62)
}

fn run(number: u32) -> Run {
    let body = json!({
        "id": run_id(number), "scope": Scope::local(), "state": RunState::Created, "selection": { "by": "all" },
        "options": { "priority": 0, "slot": now() }, "items": number, "created_at": now(), "correlation": "request",
        "totals": { "created": 0, "started": 0, "succeeded": 0, "failed": 0, "cancelled": 0, "warned": 0, "bad": 0 },
        "message": "x".repeat(500),
    });
    serde_json::from_value(body).unwrap()
}

/// A write of several parts that belong together.
fn parts(number: u32) -> Vec<Change> {
    let subject = run_id(number).to_string();
    let event =
        Event::of_change(EventKind::RunCreated, &subject, "1", now(), &Scope::local(), "request", json!({ "number": number }));
    let holder = ExecutionId { run: run_id(number), item: 0 };
    vec![
        Change::CreateRun(Box::new(run(number))),
        Change::TakeSlot(PermitKey::Run(run_id(number)), 0, holder),
        Change::Emit(Box::new(event)),
    ]
}

/// How much of the write is there: nothing, or all of it.
async fn is_there(store: &Store, number: u32) -> bool {
    let scope = Scope::local();
    let created = match store.run(&scope, run_id(number)).await {
        Ok(found) => {
            assert_eq!(found.value, run(number));
            true
        }
        Err(StoreError::NotFound) => false,
        Err(error) => panic!("run {number}: {error:?}"),
    };
    let taken = store.holders(&scope, &PermitKey::Run(run_id(number))).await.unwrap().len() == 1;
    assert_eq!(created, taken, "run {number} is there by half");
    created
}

fn assert_intact(path: &Path) {
    let connection = Connection::open(path).unwrap();
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
}

const CHILD: &str = "STORE_OF_THE_CHILD";

/// Not a test by itself: what the process does that `kill -9` ends. Prints the number of each acknowledged write.
#[tokio::test]
async fn child_writes_until_it_is_killed() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let store = Store::open(Path::new(&path), Mode::Own).unwrap();
    let scope = Scope::local();
    let machine = MachineExecution {
        name: "m".to_owned(),
        machine: "run".to_owned(),
        input: "{}".to_owned(),
        started_at: now(),
        status: None,
    };
    store.start_machine(&scope, machine).await.unwrap();
    let first = store.runs(&scope, &RunFilter { limit: 1, ..RunFilter::default() }).await.unwrap();
    let first = first.items.first().map_or(0, |newest| newest.value.items + 1);
    let mut seq = store.journal(&scope, "m").await.unwrap().len() as u64;
    let numbers = Arc::new(std::sync::atomic::AtomicU32::new(first));
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (store, numbers) = (store.clone(), Arc::clone(&numbers));
        writers.spawn(async move {
            loop {
                let number = numbers.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                store.write(&Scope::local(), parts(number)).await.unwrap();
                // One call: the line is whole or not there at all.
                std::io::stdout().write_all(format!("#{number}\n").as_bytes()).unwrap();
            }
        });
    }
    loop {
        drop(store.append(&scope, "m", vec![Entry { seq, at: now(), json: seq.to_string() }]));
        store.append(&scope, "m", vec![Entry { seq: seq + 1, at: now(), json: (seq + 1).to_string() }]).await.unwrap();
        seq += 2;
    }
}

#[tokio::test]
async fn every_acknowledged_write_survives_kill_minus_nine() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut acknowledged: Vec<u32> = Vec::new();
    for round in 0..20_usize {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_writes_until_it_is_killed", "--nocapture"])
            .env(CHILD, &path)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The kill meets the child in whatever it does just then: opening, writing, committing.
        let patience = round * 37 % 101;
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let numbers = lines.by_ref().map_while(Result::ok).filter_map(|line| line.strip_prefix('#')?.parse::<u32>().ok());
        acknowledged.extend(numbers.take(patience));
        child.kill().unwrap();
        child.wait().unwrap();
        // What it had said before it died counts too.
        acknowledged.extend(lines.map_while(Result::ok).filter_map(|line| line.strip_prefix('#')?.parse::<u32>().ok()));

        if path.exists() {
            let store = Store::open(&path, Mode::Own).unwrap();
            for number in &acknowledged {
                assert!(is_there(&store, *number).await, "round {round}: write {number} was acknowledged and is gone");
            }
            let entries = store.journal(&Scope::local(), "m").await.unwrap();
            assert!(entries.iter().zip(0..).all(|(entry, seq)| entry.seq == seq && entry.json == seq.to_string()));
            drop(store);
            assert_intact(&path);
        }
    }
    let store = Store::open(&path, Mode::Own).unwrap();
    // What was not acknowledged is there as a whole or not at all.
    let newest = acknowledged.iter().max().unwrap() + 50;
    let mut written = 0;
    for number in 0..newest {
        written += usize::from(is_there(&store, number).await);
    }
    assert_eq!(store.events(&Scope::local(), 0, usize::MAX).await.unwrap().len(), written);
    println!("20 kills, {} acknowledged writes, all there; {written} written in all", acknowledged.len());
}

#[tokio::test]
async fn a_full_disk_refuses_writes_and_nothing_else() {
    let Some(disk) = mounted::small_disk("6m") else { return };
    let path = disk.path().join("store.sqlite");
    let store = Store::open(&path, Mode::Own).unwrap();
    let scope = Scope::local();
    store.write(&scope, parts(0)).await.unwrap();
    let filler = disk.fill();
    let mut acknowledged = vec![0];
    let mut refused = 0;
    for number in 1..200 {
        match store.write(&scope, parts(number)).await {
            Ok(()) => acknowledged.push(number),
            Err(StoreError::Full(_)) => refused += 1,
            Err(error) => panic!("write {number}: {error:?}"),
        }
    }
    assert!(refused > 50, "only {refused} writes were refused");
    assert!(is_there(&store, 0).await, "reads go on");

    std::fs::remove_file(filler).unwrap();
    for number in 1_000..1_100 {
        store.write(&scope, parts(number)).await.unwrap();
        acknowledged.push(number);
    }
    for number in 0..1_100 {
        assert_eq!(is_there(&store, number).await, acknowledged.contains(&number), "write {number}");
    }
    drop(store);
    assert_intact(&path);
}

#[tokio::test]
async fn a_read_only_disk_is_named() {
    let Some(disk) = mounted::small_disk("6m") else { return };
    let path = disk.path().join("store.sqlite");
    drop(Store::open(&path, Mode::Own).unwrap());
    let remounted = Command::new("mount").args(["-o", "remount,ro"]).arg(disk.path()).status().unwrap();
    assert!(remounted.success());
    for path in [path, disk.path().join("new.sqlite")] {
        let error = Store::open(&path, Mode::Own).unwrap_err();
        assert!(matches!(&error, OpenError::ReadOnly { .. }), "got {error:?}");
    }
}

fn empty() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    (folder, path)
}

#[test]
fn files_of_strangers_are_left_alone() {
    let (_folder, path) = empty();
    let text = "not a database, but long enough to look at: ".repeat(100);
    std::fs::write(&path, &text).unwrap();
    for mode in [Mode::Own, Mode::Visit] {
        let error = Store::open(&path, mode).unwrap_err();
        assert!(matches!(&error, OpenError::Corrupt { path: named, .. } if *named == path), "got {error:?}");
        assert!(error.to_string().contains("not a database"));
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);

    let (_folder, path) = empty();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (a)").unwrap();
    let error = Store::open(&path, Mode::Own).unwrap_err();
    assert!(matches!(&error, OpenError::Foreign { .. }), "got {error:?}");
    let mode: String = Connection::open(&path).unwrap().pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "delete", "the file is not even switched to another journal");
}

#[test]
fn only_a_store_of_this_version_is_opened() {
    let (_folder, path) = empty();
    let error = Store::open(&path, Mode::Visit).unwrap_err();
    assert!(matches!(&error, OpenError::Missing { .. }), "got {error:?}");
    assert!(!path.exists(), "a visitor makes nothing");

    drop(Store::open(&path, Mode::Own).unwrap());
    let set = |version: u32| Connection::open(&path).unwrap().pragma_update(None, "user_version", version).unwrap();
    set(99);
    for mode in [Mode::Own, Mode::Visit] {
        let error = Store::open(&path, mode).unwrap_err();
        assert!(matches!(&error, OpenError::Newer { found: 99, known: 1, .. }), "got {error:?}");
    }
    set(0);
    let error = Store::open(&path, Mode::Visit).unwrap_err();
    assert!(matches!(&error, OpenError::Older { found: 0, known: 1, .. }), "got {error:?}");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let (_folder, path) = empty();
    let error = Store::open(&path.join("deeper/store.sqlite"), Mode::Own).unwrap_err();
    assert!(matches!(&error, OpenError::Unavailable { .. }) && error.to_string().contains("deeper"), "got {error:?}");
}

#[tokio::test]
async fn damage_is_told_with_the_file() {
    let (_folder, path) = empty();
    let store = Store::open_with(&path, Mode::Own, Durability::Normal).unwrap();
    for number in 0..300 {
        store.write(&Scope::local(), parts(number)).await.unwrap();
    }
    drop(store);
    // The first page keeps its word; the others hold noise.
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[4_096..].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
    let store = Store::open(&path, Mode::Own).unwrap();
    let read = store.run(&Scope::local(), run_id(7)).await.unwrap_err();
    let write = store.write(&Scope::local(), parts(1_000)).await.unwrap_err();
    for error in [read, write] {
        let StoreError::Corrupt(cause) = &error else { panic!("got {error:?}") };
        assert!(cause.to_string().contains("store.sqlite"), "the file is named: {cause}");
    }
}

#[tokio::test]
async fn a_visitor_reads_and_writes_beside_the_owner() {
    let (_folder, path) = empty();
    let (owner, scope) = (Store::open(&path, Mode::Own).unwrap(), Scope::local());
    owner.write(&scope, parts(1)).await.unwrap();
    let visitor = Store::open(&path, Mode::Visit).unwrap();
    assert_eq!(visitor.run(&scope, run_id(1)).await.unwrap().version, 1);

    let before = owner.foreign_changes().await.unwrap();
    owner.write(&scope, parts(2)).await.unwrap();
    assert_eq!(owner.foreign_changes().await.unwrap(), before, "its own writes are no news to the owner");
    visitor.write(&scope, vec![Change::UpdateRun(Box::new(run(1)), 1)]).await.unwrap();
    let after = owner.foreign_changes().await.unwrap();
    assert_ne!(after, before, "the visitor's are");
    assert_eq!(owner.foreign_changes().await.unwrap(), after, "and are told once");

    let stale = owner.write(&scope, vec![Change::UpdateRun(Box::new(run(1)), 1)]).await;
    assert!(matches!(stale, Err(StoreError::Conflict(_))), "got {stale:?}");
    assert_eq!(owner.run(&scope, run_id(1)).await.unwrap().version, 2);
}

#[tokio::test]
async fn two_who_write_at_once_wait_for_each_other() {
    let (_folder, path) = empty();
    let owner = Store::open(&path, Mode::Own).unwrap();
    let visitor = Store::open(&path, Mode::Visit).unwrap();
    let mut writes = tokio::task::JoinSet::new();
    for number in 0..400 {
        let store = if number % 2 == 0 { owner.clone() } else { visitor.clone() };
        writes.spawn(async move { store.write(&Scope::local(), parts(number)).await });
    }
    while let Some(written) = writes.join_next().await {
        written.unwrap().unwrap();
    }
    let events = owner.events(&Scope::local(), 0, usize::MAX).await.unwrap();
    assert!(events.iter().zip(1..).all(|((position, _), expected)| *position == expected), "positions have no gap");
    assert_eq!(events.len(), 400);
}

#[tokio::test]
async fn a_journal_has_no_gaps_and_is_written_when_the_store_closes() {
    let (_folder, path) = empty();
    let scope = Scope::local();
    let entry = |seq: u64| Entry { seq, at: "2026-01-01T00:00:00.123456789Z".parse().unwrap(), json: format!("{{\"n\":{seq}}}") };
    let store = Store::open(&path, Mode::Own).unwrap();
    let machine = |name: &str| MachineExecution {
        name: name.to_owned(),
        machine: "run".to_owned(),
        input: "[1]".to_owned(),
        started_at: now(),
        status: None,
    };
    assert!(store.start_machine(&scope, machine("b")).await.unwrap());
    assert!(!store.start_machine(&scope, MachineExecution { input: "[2]".to_owned(), ..machine("b") }).await.unwrap());
    assert!(store.start_machine(&scope, machine("a")).await.unwrap());
    assert_eq!(store.machines(&scope).await.unwrap(), [machine("a"), machine("b")]);

    store.append(&scope, "b", vec![entry(0), entry(1)]).await.unwrap();
    for wrong in [entry(1), entry(3)] {
        let refused = store.append(&scope, "b", vec![wrong]).await;
        assert!(matches!(refused, Err(StoreError::Conflict(_))), "got {refused:?}");
    }
    // Nobody waits for these.
    drop(store.append(&scope, "a", vec![entry(0)]));
    drop(store.append(&scope, "b", vec![entry(2), entry(3)]));
    drop(store);

    let store = Store::open(&path, Mode::Own).unwrap();
    assert_eq!(store.journal(&scope, "b").await.unwrap(), (0..4).map(entry).collect::<Vec<_>>());
    assert_eq!(store.journal(&scope, "a").await.unwrap(), [entry(0)]);
    let elsewhere: Scope = "other/local/default".parse().unwrap();
    assert!(store.journal(&elsewhere, "b").await.unwrap().is_empty());
    assert!(matches!(store.append(&elsewhere, "b", vec![entry(4)]).await, Err(StoreError::NotFound)));
    assert!(matches!(store.machine(&elsewhere, "b").await, Err(StoreError::NotFound)));

    assert!(matches!(store.forget(&scope, "b").await, Err(StoreError::NotFound)), "a running one needs its journal");
    store.finish(&scope, "b", "\"succeeded\"".to_owned()).await.unwrap();
    store.finish(&scope, "b", "\"failed\"".to_owned()).await.unwrap();
    assert_eq!(store.machine(&scope, "b").await.unwrap().status.as_deref(), Some("\"succeeded\""));
    assert_eq!(store.machines(&scope).await.unwrap(), [machine("a")]);
    store.forget(&scope, "b").await.unwrap();
    assert!(store.journal(&scope, "b").await.unwrap().is_empty());
    assert_eq!(store.journal(&scope, "a").await.unwrap(), [entry(0)]);
}
