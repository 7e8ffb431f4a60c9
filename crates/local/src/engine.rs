//! Executes state machines with a journal.
