//! No question makes SQLite read a whole table or sort one.

use rusqlite::Connection;

use super::{Durability, Mode, journal, registry, runs, schema};

/// The steps of a query's plan. Parameters without a value plan like those with one.
fn plan(connection: &Connection, select: &str) -> Vec<String> {
    let mut explain = connection.prepare(&format!("EXPLAIN QUERY PLAN {select}")).unwrap();
    let mut rows = explain.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        steps.push(row.get(3).unwrap());
    }
    steps
}

#[test]
fn every_question_is_looked_up() {
    let folder = tempfile::tempdir().unwrap();
    let connection = schema::open(&folder.path().join("store.sqlite"), Mode::Own, Durability::Normal).unwrap();
    let mut plans = String::new();
    for select in [
        runs::RUN,
        runs::PAGE,
        runs::PAGE_OF_STATE,
        runs::PAGE_OF_UNIT,
        runs::EXECUTION,
        runs::EXECUTIONS,
        runs::EXECUTIONS_OF_STATE,
        runs::LAST_ACCEPTED,
        runs::HOLDERS,
        runs::FIND,
        runs::REMEMBERED,
        runs::EVENTS,
        registry::CURRENT,
        journal::RUNNING,
    ] {
        let steps = plan(&connection, select);
        let wasteful = steps.iter().any(|step| step.contains("SCAN") || step.contains("TEMP B-TREE"));
        assert!(!wasteful, "{select}\n{steps:#?}");
        plans += &format!("{}\n", steps.join(" | "));
    }
    insta::assert_snapshot!(plans);
}
