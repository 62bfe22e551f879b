//! Second reading: elements in row order become the columns of `events` and of the tables made from
//! them.

mod args;
mod context;
mod counters;
mod event;
mod group;
mod kernel;
mod memory;

pub use args::Args;
pub use context::{Context, StepTimes};
pub use group::{Group, Maker, SideRows};
