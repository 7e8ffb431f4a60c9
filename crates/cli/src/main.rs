//! Placeholder until the root is wired.
fn main() {}
