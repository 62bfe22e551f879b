//! Memory-mapped ranges of a file.

use std::fs::File;
use std::ops::Deref;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use memmap2::{Mmap, MmapMut, MmapOptions};

use super::sigbus::BusErrorGuard;

/// A memory-mapped range of a file.
pub struct Mapping {
    /// Declared before the mapping, so that it is dropped first.
    _guard: Option<BusErrorGuard>,
    map: Option<Mmap>,
}

impl Mapping {
    /// Maps the bytes from `start` up to `end`. `broken` is required for files that other processes
    /// may change. It is set when the mapping is dropped, if a part of the mapping was missing.
    pub fn of(
        file: &File,
        start: u64,
        end: u64,
        broken: Option<&Arc<AtomicBool>>,
    ) -> std::io::Result<Self> {
        if start >= end {
            return Ok(Self { _guard: None, map: None });
        }
        let len = (end - start) as usize;
        // SAFETY: the mapping is read-only. Its bytes may change if another process writes to the
        // file, and the parser accepts any bytes. The guard supplies zeros where the file was cut.
        let map = unsafe { MmapOptions::new().offset(start).len(len).map(file) }?;
        let Some(broken) = broken else { return Ok(Self { _guard: None, map: Some(map) }) };
        match BusErrorGuard::of(&map, broken) {
            Some(guard) => Ok(Self { _guard: Some(guard), map: Some(map) }),
            None => Ok(Self { _guard: None, map: Some(copied(file, start, len)?) }),
        }
    }
}

/// Copies the bytes, for the case that no guard is available.
fn copied(file: &File, start: u64, len: usize) -> std::io::Result<Mmap> {
    let mut copy = MmapMut::map_anon(len)?;
    file.read_exact_at(&mut copy, start)?;
    copy.make_read_only()
}

impl Deref for Mapping {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_copy_has_the_bytes_of_the_mapping() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&(0..9_000u32).map(|i| i as u8).collect::<Vec<_>>()).expect("written");
        let mapping = Mapping::of(&file, 5_000, 9_000, None).expect("mapped");
        assert_eq!(mapping[..], copied(&file, 5_000, 4_000).expect("copied")[..]);
        assert!(copied(&file, 5_000, 4_001).is_err());
    }
}
