//! Keeps what was read of files in memory, up to a limit. A Parquet file is read from its end, a
//! query often reads the same columns several times, and a small file costs fewer requests if it
//! is read whole.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use parking_lot::Mutex;

/// The most bytes that are kept.
const MAX_BYTES: usize = 128 << 20;
/// Longer ranges are not kept.
const MAX_RANGE: usize = MAX_BYTES / 8;

/// Ranges of files that were read.
#[derive(Debug, Default)]
pub struct Recent {
    kept: Mutex<Kept>,
    /// The files that are being read whole. Another reader of the same file waits.
    gates: Mutex<HashMap<Path, Arc<tokio::sync::Mutex<()>>>>,
}

#[derive(Debug, Default)]
struct Kept {
    /// For each file, the positions of ranges and their bytes.
    files: HashMap<Path, Vec<(u64, Bytes)>>,
    oldest: VecDeque<(Path, u64)>,
    bytes: usize,
}

impl Recent {
    /// A range of a file, if it is kept.
    pub fn get(&self, file: &Path, range: &Range<u64>) -> Option<Bytes> {
        let kept = self.kept.lock();
        kept.files.get(file)?.iter().find_map(|(start, bytes)| {
            let from = range.start.checked_sub(*start)?;
            let to = range.end.checked_sub(*start)?;
            (to <= bytes.len() as u64).then(|| bytes.slice(from as usize..to as usize))
        })
    }

    /// Keeps bytes of a file, unless they are too many.
    pub fn keep(&self, file: &Path, start: u64, bytes: Bytes) {
        let end = start + bytes.len() as u64;
        if bytes.len() > MAX_RANGE || self.get(file, &(start..end)).is_some() {
            return;
        }
        let mut kept = self.kept.lock();
        kept.bytes += bytes.len();
        kept.files.entry(file.clone()).or_default().push((start, bytes));
        kept.oldest.push_back((file.clone(), start));
        while kept.bytes > MAX_BYTES {
            let Some((file, start)) = kept.oldest.pop_front() else { return };
            kept.forget(&file, start);
        }
    }

    /// A whole file, which only one of several readers fetches.
    pub async fn whole<E>(
        &self,
        file: &Path,
        length: u64,
        fetch: impl Future<Output = Result<Bytes, E>>,
    ) -> Result<Bytes, E> {
        if let Some(bytes) = self.get(file, &(0..length)) {
            return Ok(bytes);
        }
        let gate = self.gates.lock().entry(file.clone()).or_default().clone();
        let _waiting = gate.lock().await;
        if let Some(bytes) = self.get(file, &(0..length)) {
            return Ok(bytes);
        }
        let bytes = fetch.await?;
        self.keep(file, 0, bytes.clone());
        self.gates.lock().remove(file);
        Ok(bytes)
    }
}

impl Kept {
    fn forget(&mut self, file: &Path, start: u64) {
        let Some(ranges) = self.files.get_mut(file) else { return };
        if let Some(at) = ranges.iter().position(|(other, _)| *other == start) {
            self.bytes -= ranges.remove(at).1.len();
        }
        if ranges.is_empty() {
            self.files.remove(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_read_is_found() {
        let (recent, file) = (Recent::default(), Path::from("f"));
        recent.keep(&file, 10, Bytes::from("abcdef"));
        recent.keep(&file, 30, Bytes::from("xyz"));
        assert_eq!(recent.get(&file, &(11..13)), Some(Bytes::from("bc")));
        assert_eq!(recent.get(&file, &(31..33)), Some(Bytes::from("yz")));
        assert_eq!(recent.get(&file, &(9..12)), None);
        assert_eq!(recent.get(&file, &(12..17)), None);
        assert_eq!(recent.get(&Path::from("g"), &(11..13)), None);
    }

    #[test]
    fn the_oldest_ranges_make_room() {
        let recent = Recent::default();
        let part = Bytes::from(vec![0; MAX_RANGE]);
        for at in 0..9 {
            recent.keep(&Path::from("f"), at * part.len() as u64, part.clone());
        }
        assert!(recent.get(&Path::from("f"), &(0..1)).is_none());
        let second = part.len() as u64;
        assert!(recent.get(&Path::from("f"), &(second..second + 1)).is_some());
        recent.keep(&Path::from("g"), 0, Bytes::from(vec![0; MAX_RANGE + 1]));
        assert!(recent.get(&Path::from("g"), &(0..1)).is_none());
    }

    #[test]
    fn several_readers_fetch_a_whole_file_once() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let (recent, fetched) = (Recent::default(), Mutex::new(0));
        let file = Path::from("f");
        let read = || {
            recent.whole(&file, 2, async {
                *fetched.lock() += 1;
                tokio::task::yield_now().await;
                Ok::<_, ()>(Bytes::from("ab"))
            })
        };
        runtime.expect("a runtime").block_on(async {
            let (a, b) = futures::future::join(read(), read()).await;
            assert_eq!((a, b), (Ok(Bytes::from("ab")), Ok(Bytes::from("ab"))));
        });
        assert_eq!(*fetched.lock(), 1);
    }
}
