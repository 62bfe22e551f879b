//! Views that are computed once for several readers, and views that are planned on their own.
//!
//! A [`SharedView`] is the table that readers scan. Each reader needs some columns, and the rows
//! that pass some filters. A [`Part`] holds everything that the readers with the same filters need.
//! The operator `ViewExec` runs the plan of a part, and keeps its rows if there are several
//! readers.

mod needs;
mod part;
mod shared_view;
mod view_exec;

pub use needs::Needs;
pub use part::{Part, comparable};
pub use shared_view::{SharedView, each_scan, stands_alone};
pub use view_exec::{operators, planned_apart};
