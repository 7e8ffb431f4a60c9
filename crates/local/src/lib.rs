//! Adapters of the embedded home: one folder on one machine.
//!
//! [`store`] keeps the registry and all state in SQLite; [`objects`] keeps files; [`worker`] carries out one attempt as a local process;
//! [`shim`] is the long-lived helper process that owns those processes and survives the control process; [`engine`] executes state machines.

pub mod engine;
pub mod home;
pub mod objects;
mod outcomes;
pub mod secrets;
pub mod shim;
pub mod store;
pub mod worker;
