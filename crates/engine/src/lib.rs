//! Decisions: who may start ([`gate`]), what a command does to an execution or a run ([`execution`], [`run`]), what an outcome
//! means ([`judge`]), whether to try again ([`retry`]), which items a selection holds ([`select`]) and what exactly a worker is
//! told ([`assign`]).
//!
//! Every decision is a function of (state, command, now). No clock, no I/O, no randomness: what a decision wants done is data
//! that its caller stores with the new state and carries out later.

pub mod assign;
pub mod execution;
pub mod gate;
pub mod judge;
pub mod retry;
pub mod run;
pub mod select;
