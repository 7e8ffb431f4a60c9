//! What changed since the last accepted run.

use std::collections::{HashMap, HashSet};

use crate::document::{Change, Changes, ColumnType, Document, RetypeClass, Retyped, Scalar, StructureChange};
use crate::words::rounded;

/// Compares a document with an earlier one of the same artifact.
#[must_use]
pub(crate) fn compare(current: &Document, previous: &Document) -> Changes {
    let tables = current.table.as_ref().zip(previous.table.as_ref());
    Changes {
        rows: tables.map(|(now, then)| Change {
            previous: then.rows.into(),
            delta: Scalar::from(i128::from(now.rows) - i128::from(then.rows)),
            ratio: (then.rows > 0).then(|| rounded(now.rows as f64 / then.rows as f64)),
        }),
        completeness: tables.and_then(|(now, then)| shares(now.completeness?, then.completeness?)),
        structure: tables.map(|_| structure(current, previous)),
        distribution: Vec::new(),
    }
}

fn shares(now: f64, then: f64) -> Option<Change> {
    let ratio = (then > 0.0).then(|| rounded(now / then));
    Some(Change { previous: then.into(), delta: rounded(now - then).into(), ratio })
}

fn structure(current: &Document, previous: &Document) -> StructureChange {
    let keys = |document: &Document| document.columns.iter().map(|column| column.key.clone()).collect::<Vec<_>>();
    let (now, then) = (keys(current), keys(previous));
    let without =
        |all: &[String], known: &HashSet<&String>| all.iter().filter(|key| !known.contains(key)).cloned().collect::<Vec<_>>();
    let known_now: HashSet<&String> = now.iter().collect();
    let known_then: HashSet<&String> = then.iter().collect();
    let stayed_now = now.iter().filter(|key| known_then.contains(key));
    let stayed_then = then.iter().filter(|key| known_now.contains(key));
    let reordered = stayed_now.ne(stayed_then);
    StructureChange {
        added: without(&now, &known_then),
        removed: without(&then, &known_now),
        retyped: retyped(current, previous),
        reordered,
    }
}

/// Columns of another type. A table without rows has no types, so nothing is said about it.
fn retyped(current: &Document, previous: &Document) -> Vec<Retyped> {
    if current.rows() == Some(0) || previous.rows() == Some(0) {
        return Vec::new();
    }
    let before: HashMap<&str, ColumnType> =
        previous.columns.iter().map(|column| (column.key.as_str(), column.column_type)).collect();
    let changed = current.columns.iter().filter_map(|column| {
        let from = *before.get(column.key.as_str())?;
        let to = column.column_type;
        (from != to).then(|| Retyped { column: column.key.clone(), from, to, class: class(from, to) })
    });
    changed.collect()
}

fn class(from: ColumnType, to: ColumnType) -> RetypeClass {
    match (from, to) {
        (ColumnType::Null, _) | (ColumnType::Int, ColumnType::Float) => RetypeClass::Widened,
        // Which type a day's data happens to have must not alarm every other day.
        (_, ColumnType::Null) | (ColumnType::Float, ColumnType::Int) => RetypeClass::Narrowed,
        (
            ColumnType::Int
            | ColumnType::Float
            | ColumnType::Bool
            | ColumnType::Date
            | ColumnType::Timestamp
            | ColumnType::String
            | ColumnType::List
            | ColumnType::Struct
            | ColumnType::Mixed,
            _,
        ) => RetypeClass::Changed,
    }
}
