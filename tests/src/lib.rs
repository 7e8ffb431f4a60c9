//! Stories across crates: see the test targets.
