//! The helper process that owns the children, and the client that talks to it.
//!
//! The shim outlives the control process, so that units do. [`serve`] is the shim: one a home, it runs until nothing is in hand and nobody is
//! connected. [`Client`] is the control process's side: it starts a shim where none answers and is a [`ports::Launcher`].
//! They talk over a socket in the home, in lines of JSON.

mod client;
mod connect;
mod connection;
mod server;
mod socket;
mod wire;

pub use crate::worker::Ports;
pub use client::Client;
pub use connect::{ConnectError, ShimCommand};
pub use server::{ServeError, serve};
