//! The files of udfs that need no query engine, under the names that they have there.
#![allow(dead_code, unused_imports)]

pub mod names;
pub mod pprof;
pub mod stacks;

#[path = "../../../../udfs/src/types.rs"]
mod types;
