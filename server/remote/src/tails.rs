//! Keeps small files and the ends of large ones in memory. A Parquet file is read from its end,
//! and a small one costs fewer requests if it is read whole.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use parking_lot::Mutex;

/// The most bytes that are kept.
const MAX_BYTES: usize = 128 << 20;

/// What is kept of the files of a store.
#[derive(Debug, Default)]
pub struct Tails {
    kept: Mutex<Kept>,
    /// The files that are being read. Another reader of the same file waits.
    gates: Mutex<HashMap<Path, Arc<tokio::sync::Mutex<()>>>>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The position of the first kept byte, and the bytes up to the end of the file.
    files: HashMap<Path, (u64, Bytes)>,
    oldest: VecDeque<Path>,
    bytes: usize,
}

impl Tails {
    /// A range of a file, if it is kept.
    pub fn get(&self, file: &Path, range: &Range<u64>) -> Option<Bytes> {
        let kept = self.kept.lock();
        let (start, bytes) = kept.files.get(file)?;
        let from = range.start.checked_sub(*start)?;
        let to = range.end.checked_sub(*start)?;
        (to <= bytes.len() as u64).then(|| bytes.slice(from as usize..to as usize))
    }

    /// Keeps the end of a file.
    pub fn keep(&self, file: &Path, start: u64, bytes: Bytes) {
        let mut kept = self.kept.lock();
        if kept.files.get(file).is_some_and(|(before, _)| *before <= start) {
            return;
        }
        kept.bytes += bytes.len();
        match kept.files.insert(file.clone(), (start, bytes)) {
            Some((_, before)) => kept.bytes -= before.len(),
            None => kept.oldest.push_back(file.clone()),
        }
        while kept.bytes > MAX_BYTES {
            let Some(oldest) = kept.oldest.pop_front() else { return };
            if let Some((_, bytes)) = kept.files.remove(&oldest) {
                kept.bytes -= bytes.len();
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ranges_within_the_kept_end_are_found() {
        let (tails, file) = (Tails::default(), Path::from("f"));
        tails.keep(&file, 10, Bytes::from("abcdef"));
        assert_eq!(tails.get(&file, &(11..13)), Some(Bytes::from("bc")));
        assert_eq!(tails.get(&file, &(9..12)), None);
        assert_eq!(tails.get(&file, &(12..17)), None);
        tails.keep(&file, 12, Bytes::from("cdef"));
        assert!(tails.get(&file, &(10..16)).is_some(), "the longer end stays");
    }

    #[test]
    fn the_oldest_files_make_room() {
        let tails = Tails::default();
        let half = Bytes::from(vec![0; MAX_BYTES / 2]);
        for name in ["a", "b", "c"] {
            tails.keep(&Path::from(name), 0, half.clone());
        }
        assert!(tails.get(&Path::from("a"), &(0..1)).is_none());
        assert!(tails.get(&Path::from("c"), &(0..1)).is_some());
    }
}
