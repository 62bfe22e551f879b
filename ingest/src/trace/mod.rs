//! Converts the text of a trace to compact records: reads the document and its elements, determines
//! their classes and interns their names.

mod category;
mod chunk;
mod chunk_reader;
mod document;
mod element;
mod event_fields;
mod event_list;
mod event_record;
mod intern;
mod meta;
mod reading;
mod resync;
mod times;

pub use category::{Class, step_number};
pub use chunk::{MAX_ARGS, MAX_NAME, Step};
pub use chunk_reader::read as read_chunk;
pub use document::{Document, Form, RecordSink, TopLevel, read_document};
pub use element::is_real_id;
pub use event_fields::{ElementShapes, EventFields, written_id};
pub use event_record::*;
pub use intern::{INLINE_TEXT, Id, Local, NO_TEXT, TextId, Texts, Track, Tracks};
pub use meta::{MAX_META, Meta, MetaKind};
pub use reading::{Progress, Reading};
pub use times::{Span, is_work};
