//! Decisions: the gate, lifecycles, retries; pure.
