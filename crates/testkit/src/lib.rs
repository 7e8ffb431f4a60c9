//! Fixed clock, seeded ids, faults, builders (dev-dependency only).
