//! Converts the names given by the user to bytes of JSON text: files, folders, glob patterns,
//! standard input, compressed files and archives.
//!
//! An [`Input`] is one trace. [`Content`] is its decompressed text, which grows while a thread
//! unpacks it. The text is mapped in parts, so that only the part being read is in memory.

mod content;
mod decompress;
mod expand;
mod mapping;
mod sigbus;
mod sniff;
mod strip_comments;
mod unpack;
mod walk;

pub use content::{Content, Reader};
pub use expand::{Input, TRACE_ENDINGS, expand, expand_copy};
pub use mapping::Mapping;
pub use sniff::refuse_by_content;
pub use strip_comments::without_comments;
pub use unpack::{HashSource, open};
pub use walk::{Ends, Walk};
