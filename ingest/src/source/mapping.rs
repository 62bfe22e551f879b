//! Mapped stretches of a file.

use std::fs::File;
use std::ops::Deref;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use memmap2::{Mmap, MmapMut, MmapOptions};

use super::sigbus::BusErrorGuard;

/// A stretch of a file in memory.
pub struct Mapping {
    /// Goes before the mapping does.
    _guard: Option<BusErrorGuard>,
    map: Option<Mmap>,
}

impl Mapping {
    /// The bytes from `start` up to `end`. `broken` is given for files that other processes may
    /// change, and set when the window goes if a part of it was not there; without it the file must
    /// be this process's alone.
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
        // SAFETY: the mapping is read-only. What others write into their file shows as other bytes, of which nothing here
        // expects anything; what they cut off is zeros by the guard.
        let map = unsafe { MmapOptions::new().offset(start).len(len).map(file) }?;
        let Some(broken) = broken else { return Ok(Self { _guard: None, map: Some(map) }) };
        match BusErrorGuard::of(&map, broken) {
            Some(guard) => Ok(Self { _guard: Some(guard), map: Some(map) }),
            None => Ok(Self { _guard: None, map: Some(copied(file, start, len)?) }),
        }
    }
}

/// The bytes in memory of our own, where no guard was to be had.
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
    fn a_copy_is_what_is_mapped() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&(0..9_000u32).map(|i| i as u8).collect::<Vec<_>>()).expect("written");
        let window = Mapping::of(&file, 5_000, 9_000, None).expect("mapped");
        assert_eq!(window[..], copied(&file, 5_000, 4_000).expect("copied")[..]);
        assert!(copied(&file, 5_000, 4_001).is_err());
    }
}
