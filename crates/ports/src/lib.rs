//! What the program needs from the world: traits, closed errors, conformance suites.
