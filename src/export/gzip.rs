//! Compresses output while it is written to a file.

use std::io::{Error, Result, Write};

use flate2::{Compression, GzBuilder, write::GzEncoder};

/// Compresses all bytes that are written to it. Flushing ends the stream, and nothing can be
/// written afterwards.
pub struct Gzip<W: Write>(Option<GzEncoder<W>>);

impl<W: Write> Gzip<W> {
    pub fn new(out: W) -> Self {
        // The header has no name and no time, so equal traces result in equal bytes. Higher levels
        // take far longer and save only a few percent.
        Self(Some(GzBuilder::new().write(out, Compression::new(4))))
    }
}

impl<W: Write> Write for Gzip<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match &mut self.0 {
            Some(encoder) => encoder.write(bytes),
            None => Err(Error::other("the packing has ended")),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match self.0.take() {
            Some(encoder) => encoder.finish()?.flush(),
            None => Ok(()),
        }
    }
}
