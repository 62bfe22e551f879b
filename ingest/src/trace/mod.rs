//! From the text of a trace to compact keys: reading the document, its elements, their classes and
//! names.

mod category;
mod chunk;
mod document;
mod frame;
mod head;
mod intern;
mod key;
mod list;
mod meta;
mod times;

pub use category::Class;
pub use chunk::{MAX_NAME, Step, is_real_id, read as read_chunk};
pub use document::{Document, Form, KeySink, Progress, Reading, TopLevel, read_document};
pub use head::{Head, written_id};
pub use intern::{INLINE_TEXT, Id, Local, NO_TEXT, TextId, Texts, Track, Tracks};
pub use key::*;
pub use meta::{Meta, MetaKind};
pub use times::Span;
