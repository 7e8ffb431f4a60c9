//! [`Registry`] on the tables.

use std::collections::HashMap;

use async_trait::async_trait;
use model::{Definition, DefinitionKind, Digest, Event, EventKind, Revised, Scope, Timestamp};
use ports::{Applied, Entry, Registry, Snapshot, StoreError, Switch};
use rusqlite::{Connection, Row, params};
use serde_json::json;

use super::{
    Store,
    changes::{self, Edit},
    fault,
    key::{self, Json},
    runs::{all, first},
};

#[async_trait]
impl Registry for Store {
    async fn apply(
        &self,
        scope: &Scope,
        definitions: &[Definition],
        removed: &[(DefinitionKind, String)],
        now: Timestamp,
    ) -> Result<Vec<Applied>, StoreError> {
        let scope = scope.clone();
        let offers: Vec<Offer> = definitions.iter().map(Offer::from).collect();
        let removed = removed.to_vec();
        self.inner.writer.run(move |connection| apply(connection, &scope, &offers, &removed, now)).await
    }

    async fn current(&self, scope: &Scope) -> Result<Snapshot, StoreError> {
        let scope = scope.clone();
        self.read(move |connection| {
            let entry = |row: &Row<'_>| {
                let disabled = match key::at::<Option<String>>(row, 3)? {
                    Some(_) => Some(key::json_at(row, 3)?),
                    None => None,
                };
                Ok(Entry { definition: revised(row)?, disabled })
            };
            Ok(Snapshot { entries: all(connection, CURRENT, params![scope.as_str()], entry)? })
        })
        .await
    }

    async fn revision(
        &self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
        revision: u64,
    ) -> Result<Revised<Definition>, StoreError> {
        let (scope, name) = (scope.clone(), name.to_owned());
        let revision = i64::try_from(revision).map_err(|_| StoreError::NotFound)?;
        self.read(move |connection| {
            let select = "SELECT revision, applied_at, body FROM revisions
                 WHERE scope = ?1 AND kind = ?2 AND name = ?3 AND revision = ?4";
            let values = params![scope.as_str(), of_kind(kind), name, revision];
            first(connection, select, values, revised)?.ok_or(StoreError::NotFound)
        })
        .await
    }

    async fn revisions(
        &self,
        scope: &Scope,
        kind: DefinitionKind,
        name: &str,
        limit: usize,
    ) -> Result<Vec<Revised<Definition>>, StoreError> {
        let (scope, name) = (scope.clone(), name.to_owned());
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(move |connection| {
            let select = "SELECT revision, applied_at, body FROM revisions
                 WHERE scope = ?1 AND kind = ?2 AND name = ?3 ORDER BY revision DESC LIMIT ?4";
            all(connection, select, params![scope.as_str(), of_kind(kind), name, limit], revised)
        })
        .await
    }

    async fn switch(&self, scope: &Scope, unit: &str, switch: Option<Switch>, event: Event) -> Result<(), StoreError> {
        let (scope, unit) = (scope.clone(), unit.to_owned());
        let (body, event) = (switch.as_ref().map(key::json), Edit::from(&event));
        let set = move |connection: &Connection| {
            let written = match &body {
                Some(body) => connection
                    .prepare_cached("INSERT OR REPLACE INTO switches (scope, unit, body) VALUES (?1, ?2, ?3)")
                    .and_then(|mut set| set.execute(params![scope.as_str(), unit, body])),
                None => connection
                    .prepare_cached("DELETE FROM switches WHERE scope = ?1 AND unit = ?2")
                    .and_then(|mut unset| unset.execute(params![scope.as_str(), unit])),
            };
            written.map_err(fault::of)?;
            changes::make(connection, &scope, &event)
        };
        self.inner.writer.run(set).await
    }
}

/// Joined in the order of the primary key of `definitions`; the switch of a unit lies beside its definition.
pub(super) const CURRENT: &str = "SELECT d.revision, r.applied_at, r.body, s.body FROM definitions d
     JOIN revisions r ON r.scope = d.scope AND r.kind = d.kind AND r.name = d.name AND r.revision = d.revision
     LEFT JOIN switches s ON d.kind = 0 AND s.scope = d.scope AND s.unit = d.name
     WHERE d.scope = ?1 ORDER BY d.kind, d.name";

/// A kind as a column, in the order of [`DefinitionKind`].
fn of_kind(kind: DefinitionKind) -> i64 {
    match kind {
        DefinitionKind::Job => 0,
        DefinitionKind::Tier => 1,
        DefinitionKind::Limit => 2,
    }
}

fn revised(row: &Row<'_>) -> Result<Revised<Definition>, StoreError> {
    let revision = key::number_at(row, 0).map_err(fault::of)?;
    Ok(Revised { revision, applied_at: key::time_of(key::at(row, 1)?), content: key::json_at(row, 2)? })
}

/// A definition as columns.
struct Offer {
    kind: DefinitionKind,
    name: String,
    digest: Digest,
    body: Json,
}

impl From<&Definition> for Offer {
    fn from(definition: &Definition) -> Offer {
        let body = key::json(definition);
        Offer { kind: definition.kind(), name: definition.name().to_owned(), digest: definition.digest(), body }
    }
}

/// What is current now, by kind and name: revision and digest.
type Current = HashMap<(i64, String), (u64, [u8; 16])>;

fn apply(
    connection: &Connection,
    scope: &Scope,
    offers: &[Offer],
    removed: &[(DefinitionKind, String)],
    now: Timestamp,
) -> Result<Vec<Applied>, StoreError> {
    for (kind, name) in removed {
        let remove = "DELETE FROM definitions WHERE scope = ?1 AND kind = ?2 AND name = ?3";
        let mut remove = connection.prepare_cached(remove).map_err(fault::of)?;
        remove.execute(params![scope.as_str(), of_kind(*kind), name]).map_err(fault::of)?;
    }
    let current = current(connection, scope)?;
    let mut applied = Vec::with_capacity(offers.len());
    for offer in offers {
        let known = current.get(&(of_kind(offer.kind), offer.name.clone()));
        let unchanged = known.filter(|(_, digest)| *digest == of_digest(offer.digest)).map(|(revision, _)| *revision);
        let revision = match unchanged {
            Some(revision) => revision,
            None => revise(connection, scope, offer, known.map(|(revision, _)| *revision), now)?,
        };
        applied.push(Applied { kind: offer.kind, name: offer.name.clone(), revision, changed: unchanged.is_none() });
    }
    Ok(applied)
}

fn current(connection: &Connection, scope: &Scope) -> Result<Current, StoreError> {
    let select = "SELECT kind, name, revision, digest FROM definitions WHERE scope = ?1";
    let entries = all(connection, select, params![scope.as_str()], |row| {
        let revision = key::number_at(row, 2).map_err(fault::of)?;
        Ok(((key::at(row, 0)?, key::at(row, 1)?), (revision, key::at(row, 3)?)))
    })?;
    Ok(entries.into_iter().collect())
}

/// Half of the digest tells revisions apart as well as the whole.
fn of_digest(digest: Digest) -> [u8; 16] {
    digest.bits().to_be_bytes()
}

/// Writes a new revision with its event and makes it current; its number.
fn revise(
    connection: &Connection,
    scope: &Scope,
    offer: &Offer,
    previous: Option<u64>,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let (kind, name) = (of_kind(offer.kind), offer.name.as_str());
    // Not from `definitions`: an entry that was removed and comes back goes on counting.
    let last = "SELECT coalesce(max(revision), 0) FROM revisions WHERE scope = ?1 AND kind = ?2 AND name = ?3";
    let last = first(connection, last, params![scope.as_str(), kind, name], |row| key::at::<i64>(row, 0))?;
    let revision = last.unwrap_or(0) + 1;
    let write = |statement: &str, values: &[&dyn rusqlite::ToSql]| {
        connection.prepare_cached(statement).and_then(|mut ready| ready.execute(values)).map_err(fault::of)
    };
    write(
        "INSERT INTO revisions (scope, kind, name, revision, applied_at, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![scope.as_str(), kind, name, revision, key::of_time(now), offer.body],
    )?;
    write(
        "INSERT OR REPLACE INTO definitions (scope, kind, name, revision, digest) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![scope.as_str(), kind, name, revision, of_digest(offer.digest)],
    )?;
    let event = Event::of_change(
        EventKind::DefinitionApplied,
        &format!("{}/{name}", offer.kind.as_str()),
        &revision.to_string(),
        now,
        scope,
        &format!("apply:{now}"),
        json!({ "kind": offer.kind, "name": name, "revision": revision, "digest": offer.digest, "replaces": previous }),
    );
    changes::make(connection, scope, &Edit::from(&event))?;
    Ok(revision.cast_unsigned())
}
