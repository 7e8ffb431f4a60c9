-- Scope first in every key. Ids of runs are their 128 bits, states the words of the model, bodies JSON.
-- Tables whose bodies grow keep their row numbers: SQLite spills rows of a clustered table to overflow pages from about
-- 1,000 bytes on. Events are smaller.

CREATE TABLE runs (
    scope TEXT NOT NULL,
    id BLOB NOT NULL,
    state TEXT NOT NULL,
    version INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (scope, id)
) STRICT;
CREATE INDEX runs_by_state ON runs (scope, state, id);

CREATE TABLE executions (
    scope TEXT NOT NULL,
    run BLOB NOT NULL,
    item INTEGER NOT NULL,
    state TEXT NOT NULL,
    version INTEGER NOT NULL,
    unit TEXT NOT NULL,
    series BLOB,
    body TEXT NOT NULL,
    PRIMARY KEY (scope, run, item)
) STRICT;
CREATE INDEX executions_by_state ON executions (scope, run, state, item);
-- The baseline: what last_accepted looks up.
CREATE INDEX accepted ON executions (scope, unit, series, run, item) WHERE state = 'succeeded' AND series IS NOT NULL;

CREATE TABLE unit_runs (
    scope TEXT NOT NULL,
    unit TEXT NOT NULL,
    run BLOB NOT NULL,
    PRIMARY KEY (scope, unit, run)
) STRICT, WITHOUT ROWID;

CREATE TABLE slots (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    slot INTEGER NOT NULL,
    run BLOB NOT NULL,
    item INTEGER NOT NULL,
    PRIMARY KEY (scope, key, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

-- The outbox. Positions count from 1 in each scope. The cause is the record whose change the event is: ids derive from it,
-- and events of one record, unlike their ids, lie together.
CREATE TABLE events (
    scope TEXT NOT NULL,
    position INTEGER NOT NULL,
    cause TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (scope, position)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX events_by_id ON events (scope, cause, id);

-- Current definitions. Kinds: 0 job, 1 tier, 2 limit.
CREATE TABLE definitions (
    scope TEXT NOT NULL,
    kind INTEGER NOT NULL,
    name TEXT NOT NULL,
    revision INTEGER NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (scope, kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE revisions (
    scope TEXT NOT NULL,
    kind INTEGER NOT NULL,
    name TEXT NOT NULL,
    revision INTEGER NOT NULL,
    applied_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (scope, kind, name, revision)
) STRICT;

CREATE TABLE switches (
    scope TEXT NOT NULL,
    unit TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (scope, unit)
) STRICT, WITHOUT ROWID;

-- Executions of state machines. The status is absent while one runs.
CREATE TABLE machines (
    number INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    machine TEXT NOT NULL,
    input TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    status TEXT,
    UNIQUE (scope, name)
) STRICT;
CREATE INDEX machines_running ON machines (scope, name) WHERE status IS NULL;

-- The journal of an execution of a state machine. The place is the machine's number times 2^32 plus the entry's number:
-- entries are reached only through their machine, whose key starts with the scope.
CREATE TABLE journal (
    place INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    entry TEXT NOT NULL
) STRICT;
