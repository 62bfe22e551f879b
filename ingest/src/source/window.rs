//! Stretches of a text in memory: mapped where the file is ours alone, copied where other processes may cut it short.

use std::fs::File;
use std::ops::Deref;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};

use memmap2::{Mmap, MmapOptions};

/// A part of a text.
pub struct Window(Bytes);

enum Bytes {
    None,
    Mapped(Mmap),
    Copied(Buffer),
}

/// Maps a part of a file that no other process can reach.
pub fn map(file: &File, start: u64, end: u64) -> std::io::Result<Window> {
    if start >= end {
        return Ok(Window(Bytes::None));
    }
    // SAFETY: the mapping is read-only, and the file is an unnamed one of this process, which only appends to it.
    let map = unsafe { MmapOptions::new().offset(start).len((end - start) as usize).map(file) }?;
    Ok(Window(Bytes::Mapped(map)))
}

/// Copies a part of a file; fails with `UnexpectedEof` if the file is too short for it.
///
/// A mapping would cost less memory, but reading behind the end of a file that was cut short ends the process.
pub fn copy(file: &File, start: u64, end: u64, buffers: &Buffers) -> std::io::Result<Window> {
    if start >= end {
        return Ok(Window(Bytes::None));
    }
    let mut buffer = buffers.take((end - start) as usize);
    file.read_exact_at(&mut buffer.bytes[..buffer.len], start)?;
    Ok(Window(Bytes::Copied(buffer)))
}

impl Deref for Window {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::None => &[],
            Bytes::Mapped(map) => map,
            Bytes::Copied(buffer) => &buffer.bytes[..buffer.len],
        }
    }
}

/// Buffers that are used again: new memory costs more than what is read into it.
#[derive(Clone, Default)]
pub struct Buffers(Arc<Mutex<Vec<Vec<u8>>>>);

/// Buffers that are larger go back to the system, because few stretches need so much.
const LARGEST: usize = 8 << 20;
const MOST: usize = 64;

struct Buffer {
    /// All of its memory, of which `len` bytes are the text.
    bytes: Vec<u8>,
    len: usize,
    home: Buffers,
}

impl Buffers {
    fn take(&self, len: usize) -> Buffer {
        let mut spare = self.0.lock().unwrap_or_else(|e| e.into_inner());
        let mut bytes = spare.pop().unwrap_or_default();
        drop(spare);
        if bytes.len() < len {
            bytes.resize(len, 0);
        }
        Buffer { bytes, len, home: self.clone() }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut spare = self.home.0.lock().unwrap_or_else(|e| e.into_inner());
        if self.bytes.len() <= LARGEST && spare.len() < MOST {
            spare.push(std::mem::take(&mut self.bytes));
        }
    }
}
