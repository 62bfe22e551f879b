//! Puts elements into the order of the file within bounded memory.
//!
//! Rows arrive track by track, and from several threads. The range of `event_id`s is divided into
//! stretches, and each element goes to the stretch of its id. Stretches are written one after the
//! other, and each is sorted separately. Elements that do not fit into memory go to temporary
//! files, one per stretch.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, Result};

/// A function that creates a temporary file.
pub type MakeFile = Box<dyn Fn() -> std::io::Result<File> + Send + Sync>;

/// Elements that wait to be written in the order of their ids.
pub struct Elements {
    stretches: Vec<Mutex<Stretch>>,
    /// Number of `event_id`s per stretch.
    width: u64,
    /// Bytes currently in memory.
    held: AtomicUsize,
    /// Maximum number of bytes in memory before elements are spilled to disk.
    max_held: usize,
    make_file: MakeFile,
}

/// Elements from a range of `event_id`s, in any order. Each element is stored as its id (4 bytes),
/// its length (4 bytes) and its text.
#[derive(Default)]
struct Stretch {
    bytes: Vec<u8>,
    file: Option<File>,
}

const HEAD: usize = 8;

impl Elements {
    /// Creates a buffer for a file of `elements` elements and about `bytes` bytes, and keeps about
    /// `max_held` bytes in memory.
    pub fn new(elements: u64, bytes: u64, max_held: usize, make_file: MakeFile) -> Self {
        // If all elements have the same size, sorting one stretch takes at most a quarter of the
        // memory.
        let number = bytes.div_ceil((max_held as u64 / 4).max(1)).clamp(1, 512);
        let width = elements.div_ceil(number).max(1);
        let stretches = (0..elements.div_ceil(width).max(1)).map(|_| Mutex::default()).collect();
        Self { stretches, width, held: AtomicUsize::new(0), max_held, make_file }
    }

    /// Adds an element.
    ///
    /// # Errors
    ///
    /// Fails if the id is negative, or if the id or the length does not fit into 32 bits.
    pub fn add(&self, event_id: i64, text: &[u8]) -> Result<()> {
        let (Ok(id), Ok(len)) = (u32::try_from(event_id), u32::try_from(text.len())) else {
            return Err(Error::Input(format!(
                "event {event_id} with {} bytes cannot be written",
                text.len()
            )));
        };
        let at = ((id as u64 / self.width) as usize).min(self.stretches.len() - 1);
        let mut stretch = self.stretches[at].lock().unwrap_or_else(|e| e.into_inner());
        stretch.bytes.extend_from_slice(&id.to_le_bytes());
        stretch.bytes.extend_from_slice(&len.to_le_bytes());
        stretch.bytes.extend_from_slice(text);
        self.held.fetch_add(HEAD + text.len(), Ordering::Relaxed);
        Ok(())
    }

    /// Moves elements to temporary files if too many bytes are in memory.
    ///
    /// # Errors
    ///
    /// Fails if a temporary file cannot be written.
    pub fn spill_if_full(&self) -> Result<()> {
        if self.held.load(Ordering::Relaxed) <= self.max_held {
            return Ok(());
        }
        for stretch in &self.stretches {
            let mut stretch = stretch.lock().unwrap_or_else(|e| e.into_inner());
            if stretch.bytes.is_empty() {
                continue;
            }
            let Stretch { bytes, file } = &mut *stretch;
            let file = match file {
                Some(file) => file,
                None => file.insert((self.make_file)()?),
            };
            file.write_all(bytes)?;
            self.held.fetch_sub(bytes.len(), Ordering::Relaxed);
            bytes.clear();
            bytes.shrink_to(1 << 20);
        }
        Ok(())
    }

    /// Passes all elements to `each`, in order.
    ///
    /// # Errors
    ///
    /// Fails if a temporary file cannot be read, and returns the errors of `each`.
    pub fn finish(self, mut each: impl FnMut(&[u8]) -> std::io::Result<()>) -> std::io::Result<()> {
        for stretch in self.stretches {
            let Stretch { mut bytes, file } =
                stretch.into_inner().unwrap_or_else(|e| e.into_inner());
            if let Some(mut file) = file {
                file.rewind()?;
                let mut all = Vec::new();
                file.read_to_end(&mut all)?;
                all.append(&mut bytes);
                bytes = all;
            }
            let mut places = Vec::new();
            let mut at = 0;
            while let Some(&[a, b, c, d, e, f, g, h]) =
                bytes.get(at..at + HEAD).and_then(|head| head.first_chunk::<HEAD>())
            {
                let len = u32::from_le_bytes([e, f, g, h]) as usize;
                places.push((u32::from_le_bytes([a, b, c, d]), at + HEAD, len));
                at += HEAD + len;
            }
            places.sort_unstable();
            for (_, at, len) in places {
                each(bytes.get(at..at + len).unwrap_or_default())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temporary() -> MakeFile {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        Box::new(|| {
            let path = std::env::temp_dir().join(format!(
                "tracesql-order-{}-{}",
                std::process::id(),
                NUMBER.fetch_add(1, Ordering::Relaxed)
            ));
            let file = File::options().read(true).write(true).create_new(true).open(&path)?;
            std::fs::remove_file(&path)?;
            Ok(file)
        })
    }

    #[test]
    fn elements_come_in_order_with_any_memory() {
        for max_held in [0, 100, 10_000, usize::MAX] {
            let n = 1000u64;
            let elements = Elements::new(n, n * 20, max_held, temporary());
            for i in 0..n {
                let id = (i * 7919) % n;
                elements.add(id as i64, format!("element {id}").as_bytes()).expect("it fits");
                elements.spill_if_full().expect("a file");
            }
            let mut next = 0;
            elements
                .finish(|text| {
                    assert_eq!(text, format!("element {next}").as_bytes(), "{max_held}");
                    next += 1;
                    Ok(())
                })
                .expect("all is read");
            assert_eq!(next, n);
        }
    }

    #[test]
    fn ids_beyond_the_announced_ones_are_kept() {
        let elements = Elements::new(0, 0, 1000, temporary());
        for id in [5, 3, 4_000_000_000] {
            elements.add(id, b"x").expect("it fits");
        }
        assert!(elements.add(-1, b"x").is_err());
        let mut count = 0;
        elements
            .finish(|_| {
                count += 1;
                Ok(())
            })
            .expect("all is read");
        assert_eq!(count, 3);
    }
}
