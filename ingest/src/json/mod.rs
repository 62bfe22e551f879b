//! Reading JSON text as traces really hold it: exactly, quickly, and without giving up on what
//! writers get wrong.
//!
//! Nothing here builds a tree. A [`Cursor`] walks the bytes and hands out the raw text of keys and
//! values;
//! [`number`] and [`text`] turn raw text into values; [`compact`] writes a value as valid compact JSON.

mod compact;
mod copy;
mod cursor;
mod number;
mod text;

pub use compact::{compact_value, reads_as_value};
pub use copy::{Copied, copy_members};
pub use cursor::{Bad, Cursor};
pub use number::{TimeError, float, int, is_null, time_ns};
pub use text::{Oddities, as_text, cut, is_text, unquote};
