//! A world for stories across crates: the embedded home in a temporary folder, with a launcher that plays a script instead of starting processes.

mod launcher;
mod world;

pub use launcher::{Play, ScriptedLauncher};
pub use world::World;
