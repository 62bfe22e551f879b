//! Queries over the traces of a store on many machines.
//!
//! What depends on single traces is computed by executors: a task is the queries over one trace,
//! and an executor runs them with the same engine that runs queries on one machine. Rows come back
//! to the client, which computes what is above. Ballista carries the tasks: it knows the executors,
//! hands out tasks, and repeats those whose executor is lost.
//!
//! On the client, [`Cluster`] gives the engine tables ([`relation`]) and an optimizer rule
//! ([`partial`]). Queries that start together become a [`batch`]: a [`job`] of the scheduler for
//! each trace, with all queries over that trace. On executors a [`leaf`] gives the task to a
//! [`worker`].

mod batch;
mod codec;
mod connection;
mod errors;
mod execution;
mod executor;
mod faults;
mod job;
mod leaf;
mod library;
pub mod logger;
mod partial;
mod relation;
mod rows;
mod scan;
mod scheduler;
mod session;
mod sql;
mod version;
mod wire;
mod worker;

pub use executor::{ExecutorOptions, run as run_executor};
pub use scheduler::{SchedulerOptions, run as run_scheduler};
pub use session::{Cluster, Progress};
pub use worker::Limits;
