//! Second reading: converts elements in row order to the columns of `events` and of the tables
//! derived from it.

mod args;
mod context;
mod counters;
mod element;
mod event;
mod event_columns;
mod kernel;
mod kernel_args;
mod memory;
mod memory_args;
mod merge_args;
mod row_group;
mod tables;
mod text;

pub use args::{ArgValues, OwnArgs, args_copier};
pub use context::{Context, StepTimes};
pub use event_columns::EventColumns;
pub use row_group::{Group, GroupBuilder, SideRows};
pub use tables::*;
