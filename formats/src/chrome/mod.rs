//! Writes rows of `events` as elements of a Chrome trace.
//!
//! Reading a written element again gives the same row: times are exact decimal microseconds, ids
//! are kept as the trace wrote them, and all other keys come from `extra`. [`Shape`] holds the
//! settings for the rows of one trace. [`Elements`] puts the elements into the order of the file.

mod columns;
mod event;
mod merge;
mod order;
mod text;

pub use event::{COLUMNS, Ids, Shape, TrackIds};
pub use merge::{Merge, id_number};
pub use order::{Elements, MakeFile};
pub use text::{members, push_int, push_string, push_time_us};
