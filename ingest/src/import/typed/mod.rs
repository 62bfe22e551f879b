//! Events of formats with typed fields, in front of the stages that sort, nest, link and write
//! them.
//!
//! A reader gives each event with its times, track and class to a [`TypedWriter`], which creates
//! the same records as the first reading of JSON does. The args of an event are written as compact
//! JSON to a temporary file. The second reading takes them from there, so that columns such as
//! `kernels.grid_x` are set in one place for all formats. Args use Kineto's keys for values that
//! have columns.

mod args;
mod writer;

pub use args::{Args, Key, push_text};
pub use writer::{Times, TypedRead, TypedWriter};
