//! Use cases: load, decide, save, run effects.
