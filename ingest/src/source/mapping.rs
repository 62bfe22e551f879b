//! Memory-mapped ranges of a file.

use std::fs::File;
use std::ops::{Deref, Range};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use memmap2::{Mmap, MmapMut, MmapOptions};

use super::sigbus::BusErrorGuard;

/// A memory-mapped range of a file. Parts of it share the mapping.
pub struct Mapping {
    mapped: Option<Arc<Mapped>>,
    range: Range<usize>,
}

struct Mapped {
    /// Declared before the mapping, so that it is dropped first.
    _guard: Option<BusErrorGuard>,
    map: Mmap,
}

impl Mapping {
    /// Maps the bytes from `start` up to `end`. `broken` is required for files that other processes
    /// may change. It is set when the mapping and its parts are dropped, if bytes of the mapping
    /// were missing.
    pub fn of(
        file: &File,
        start: u64,
        end: u64,
        broken: Option<&Arc<AtomicBool>>,
    ) -> std::io::Result<Self> {
        if start >= end {
            return Ok(Self { mapped: None, range: 0..0 });
        }
        let len = (end - start) as usize;
        let of = |guard, map| Self {
            mapped: Some(Arc::new(Mapped { _guard: guard, map })),
            range: 0..len,
        };
        // SAFETY: the mapping is read-only. Its bytes may change if another process writes to the
        // file, and the parser accepts any bytes. The guard supplies zeros where the file was cut.
        let map = unsafe { MmapOptions::new().offset(start).len(len).map(file) }?;
        let Some(broken) = broken else { return Ok(of(None, map)) };
        match BusErrorGuard::of(&map, broken) {
            Some(guard) => Ok(of(Some(guard), map)),
            None => Ok(of(None, copied(file, start, len)?)),
        }
    }

    /// The part from `start` up to `end`, as far as the mapping has it.
    pub fn part(&self, start: u64, end: u64) -> Self {
        let place = |at: u64| self.range.start + self.range.len().min(at as usize);
        Self { mapped: self.mapped.clone(), range: place(start)..place(end).max(place(start)) }
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
        self.mapped.as_ref().map_or(&[], |mapped| &mapped.map[self.range.clone()])
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

    #[test]
    fn parts_have_their_bytes() {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"0123456789").expect("written");
        let mapping = Mapping::of(&file, 2, 9, None).expect("mapped");
        let part = mapping.part(1, 4);
        drop(mapping);
        assert_eq!(part[..], *b"345");
        assert_eq!(part.part(1, 9)[..], *b"45");
        assert_eq!(part.part(2, 1)[..], *b"");
        assert_eq!(part.part(9, 12)[..], *b"");
        assert_eq!(Mapping::of(&file, 3, 3, None).expect("empty").part(0, 1)[..], *b"");
    }
}
