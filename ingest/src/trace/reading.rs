//! The inputs of reading a trace, and its progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::intern::{Texts, Tracks};
use crate::error::{IngestError, Result};
use crate::source::Content;

/// Number of bytes of text that are read at a time.
pub const STRETCH: u64 = 4 << 20;
/// Number of bytes of text that are examined first.
pub const TAIL: u64 = 64 << 10;

/// The progress of reading, for a display in another thread, and a flag to stop it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Number of bytes of text read so far.
    pub bytes: AtomicU64,
    /// Number of elements read so far.
    pub elements: AtomicU64,
    /// Number of rows that are nested and in their final order.
    pub nested: AtomicU64,
    /// Number of rows written so far.
    pub rows: AtomicU64,
    /// Set this flag to end reading with [`IngestError::Stopped`]. Nothing is stored in that case.
    /// Inputs that are read at the same time may share it.
    pub stop: Arc<AtomicBool>,
}

impl Progress {
    /// The progress of another input that the same flag ends.
    pub fn of_another(&self) -> Self {
        Self { stop: self.stop.clone(), ..Self::default() }
    }

    /// Fails if reading should stop.
    pub(crate) fn go_on(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(IngestError::Stopped) } else { Ok(()) }
    }
}

/// The input of reading, and the tables that it fills.
pub struct Reading<'a> {
    /// The input's name in messages.
    pub name: &'a str,
    /// The text of the input.
    pub content: &'a Content,
    /// Interned texts of the trace.
    pub texts: &'a Texts,
    /// Tracks of the trace.
    pub tracks: &'a Tracks,
    /// Number of decoding threads.
    pub threads: usize,
    /// The progress of reading.
    pub progress: &'a Progress,
}
