//! Decompresses files, and refuses files that unpack to more bytes than a trace of their size can
//! have.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::sniff::{Container, container, read_head};
use crate::error::{IngestError, Result};

/// Text up to this size, in bytes, is unpacked at any compression ratio.
const TRUSTED_BYTES: u64 = 1 << 30;
/// Maximum compression ratio of a larger text. No trace exceeds it.
const MAX_RATIO: u64 = 500;

/// Explains why so few packed bytes cannot be a trace of so many bytes; `None` if they can.
pub(super) fn too_dense(packed: u64, unpacked: u64) -> Option<String> {
    (unpacked > TRUSTED_BYTES && unpacked / packed.max(1) > MAX_RATIO).then(|| {
        format!(
            "{packed} bytes unpack to more than {unpacked}, over {MAX_RATIO} times as many: \
             no trace is packed so densely; unpack it yourself if it is one"
        )
    })
}

/// Reads the unpacked bytes of an archive. Reading fails if there are too many of them for the
/// packed size. The names of members are read into memory whatever their length, so a limit on
/// members would take effect too late.
struct Bounded<R> {
    inner: R,
    packed: u64,
    unpacked: u64,
}

impl<R: Read> Bounded<R> {
    fn new(inner: R, packed: u64) -> Self {
        Self { inner, packed, unpacked: 0 }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.unpacked += n as u64;
        too_dense(self.packed, self.unpacked)
            .map_or(Ok(n), |reason| Err(std::io::Error::other(reason)))
    }
}

/// Opens a file, and unpacks it if it is gzip or Zstandard. Reading fails if the file is packed
/// more densely than any trace.
pub(super) fn unpacked(path: &Path) -> Result<Box<dyn Read + Send>> {
    let io = |e| IngestError::io(path, e);
    let mut file = File::open(path).map_err(io)?;
    let mut magic = [0u8; 4];
    let n = read_head(&mut file, &mut magic).map_err(io)?;
    let len = file.metadata().map_err(io)?.len();
    let file = std::io::BufReader::with_capacity(1 << 18, File::open(path).map_err(io)?);
    Ok(match container(&magic[..n]) {
        Container::Gzip => Box::new(Bounded::new(flate2::bufread::MultiGzDecoder::new(file), len)),
        Container::Zstd => {
            Box::new(Bounded::new(zstd::Decoder::with_buffer(file).map_err(io)?, len))
        }
        _ => Box::new(file),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_that_unpack_to_far_more_bytes_are_refused() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        let zeros = std::io::repeat(0).take((1 << 30) + (1 << 20));
        zstd::stream::copy_encode(std::io::BufReader::with_capacity(1 << 20, zeros), &mut file, 1)
            .expect("packed");
        let mut reader = unpacked(file.path()).expect("a reader");
        let error =
            std::io::copy(&mut reader, &mut std::io::sink()).expect_err("refused").to_string();
        assert!(error.contains("no trace is packed so densely"), "{error}");
    }
}
