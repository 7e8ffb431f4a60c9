//! Stories of executions, told through the public interface on a virtual clock.

mod flow;
mod host;
mod maps;
mod replay;
mod tasks;
