//! The folder: its lock, its paths, the walk over a fleet folder, clock and ids.
