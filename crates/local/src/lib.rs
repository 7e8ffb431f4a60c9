//! Adapters of the embedded home: SQLite store, object folder, processes, timers.
