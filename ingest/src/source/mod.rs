//! From the user's names to bytes of JSON text: files, folders, globs, standard input, compressed
//! files, archives.
//!
//! An [`Input`] is one trace. [`Content`] is its decompressed text, which grows while a thread
//! unpacks it. It is mapped in pieces, so that only what is being read is in memory.

mod content;
mod decompress;
mod expand;
mod mapping;
mod sigbus;
mod sniff;
mod strip_comments;
mod unpack;

pub use content::{Content, Reader};
pub use expand::{Input, expand};
pub use sniff::refuse_by_content;
pub use strip_comments::without_comments;
pub use unpack::{HashSource, open};
