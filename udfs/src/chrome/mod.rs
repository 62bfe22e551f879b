//! Rows of `events` as elements of a Chrome trace, for whoever writes files.
//!
//! An element is written so that reading it again gives the same row: times as exact decimal
//! microseconds, ids as the trace wrote them, all other keys from `extra`. [`Shape`] says how the
//! rows of one trace are written, [`Elements`] brings them into the order of the file.

mod columns;
mod event;
mod merge;
mod order;
mod text;

pub use event::{COLUMNS, Ids, Shape, TrackIds};
pub use merge::{Merge, id_number};
pub use order::Elements;
pub use text::{members, push_int, push_string, push_time_us};
