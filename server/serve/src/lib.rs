//! Servers over a store of traces: the protocol of PostgreSQL, and Arrow Flight SQL.
//!
//! Both protocols use the same parts. A [`Server`] knows the store, the [`Users`], TLS and the
//! [`Limits`]. Each connection has a [`Session`] with an engine of its own, so settings and views
//! of one connection are not seen in another. A session only reads: [`allowed`] names the
//! statements that it runs. [`Rows`] is a running statement; it ends at its time limit, when it is
//! cancelled, or when it is dropped.

pub mod allowed;
mod calendar;
mod failure;
pub mod flight;
mod infer;
mod log;
pub mod pg;
mod query;
mod rows;
mod server;
mod session;
mod tls;
mod users;

pub use failure::Failure;
pub use query::{Described, Query};
pub use rows::Rows;
pub use server::{Addresses, Config, Limits, OpenEngine, Server, run};
pub use session::Session;
pub use tls::Tls;
pub use users::{Users, Verifier};
