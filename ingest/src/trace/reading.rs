//! What reading a trace needs, and how far it has come.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::intern::{Texts, Tracks};
use crate::error::{IngestError, Result};
use crate::source::Content;

/// Bytes of text that are read at a time.
pub const STRETCH: u64 = 4 << 20;
/// Bytes of text that are looked at first.
pub const TAIL: u64 = 64 << 10;

/// How far reading has come, for a display in another thread, and a way to stop it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Bytes of text read.
    pub bytes: AtomicU64,
    /// Elements read.
    pub elements: AtomicU64,
    /// Rows in their final order, nested.
    pub nested: AtomicU64,
    /// Rows written.
    pub rows: AtomicU64,
    /// Set this to end reading with [`IngestError::Stopped`]; nothing is stored then.
    pub stop: AtomicBool,
}

impl Progress {
    /// Fails if reading is to end.
    pub(crate) fn go_on(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(IngestError::Stopped) } else { Ok(()) }
    }
}

/// The input of reading, and what it fills.
pub struct Reading<'a> {
    /// The input's name in messages.
    pub name: &'a str,
    /// Its text.
    pub content: &'a Content,
    /// Texts of the trace.
    pub texts: &'a Texts,
    /// Tracks of the trace.
    pub tracks: &'a Tracks,
    /// Number of decoding threads.
    pub threads: usize,
    /// How far reading has come.
    pub progress: &'a Progress,
}
