//! The file that holds the args of typed elements until their rows are written.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{IngestError, Result};
use crate::issues::Issues;
use crate::source::Content;

/// Number of bytes before each text that hold the offset of its element in the input.
const PREFIX: u64 = 8;

/// A growing file of texts.
pub struct Spool {
    file: BufWriter<File>,
    folder: PathBuf,
    len: u64,
}

impl Spool {
    /// Creates an empty spool in an unnamed file in `folder`.
    pub fn new(folder: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(|e| IngestError::io(folder, e))?;
        let file = BufWriter::with_capacity(1 << 20, file);
        Ok(Self { file, folder: folder.to_owned(), len: 0 })
    }

    /// Appends the text of an element that begins at `source` in the input. Returns the offset of
    /// the text in the spool.
    pub fn push(&mut self, source: u64, text: &[u8]) -> Result<u64> {
        let io = |e| IngestError::io(&self.folder, e);
        self.file.write_all(&source.to_le_bytes()).map_err(io)?;
        self.file.write_all(text).map_err(io)?;
        let at = self.len + PREFIX;
        self.len = at + text.len() as u64;
        Ok(at)
    }

    /// Number of bytes that were written.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns the texts as a content.
    pub fn finish(self) -> Result<Content> {
        let file = self.file.into_inner().map_err(|e| {
            let (error, _) = e.into_parts();
            IngestError::io(&self.folder, error)
        })?;
        Content::of_copy(file, &self.folder, Issues::default())
    }
}

/// Returns the offset in the input of the element whose text begins at `at` in the spool.
pub fn source_offset(spool: &Content, at: u64) -> Result<Option<u64>> {
    let (len, _) = spool.wait(u64::MAX)?;
    let Some(start) = at.checked_sub(PREFIX).filter(|_| at <= len) else { return Ok(None) };
    Ok(spool.map(start, at)?.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_know_their_place_in_the_input() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut spool = Spool::new(folder.path()).expect("a spool");
        let first = spool.push(7, b"{}").expect("pushed");
        let second = spool.push(9000, b"{\"a\":1}").expect("pushed");
        assert_eq!(spool.len(), second + 7);
        let content = spool.finish().expect("a content");
        assert_eq!(&content.map(first, first + 2).expect("mapped")[..], b"{}");
        assert_eq!(source_offset(&content, second).expect("read"), Some(9000));
        assert_eq!(source_offset(&content, first).expect("read"), Some(7));
        assert_eq!(source_offset(&content, 3).expect("read"), None);
    }
}
