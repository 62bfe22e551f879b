//! Reads JSON as real traces contain it: exactly, fast, and with tolerance for the mistakes of
//! writers.
//!
//! No tree is built. A [`Cursor`] walks over the bytes and returns the raw text of keys and values.
//! [`number`] and [`text`] decode raw text. [`compact`] writes a value as valid compact JSON.

mod compact;
mod copy;
mod cursor;
mod memo;
mod number;
mod scan;
mod shapes;
mod text;

pub use compact::{compact_value, reads_as_value};
pub use copy::{Copied, Copier};
pub use cursor::{Bad, Cursor};
pub use memo::Memo;
pub use number::{TimeError, float, int, is_null, time_ns};
pub use shapes::{Shapes, Slot};
pub use text::{Oddities, as_text, cut, is_text, unquote};
