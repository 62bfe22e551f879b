//! Sorting keys by track and time: in memory, or by sorted runs on disk when there are too many.

use std::cmp::Ordering;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering as Atomic};
use std::sync::Mutex;

use crate::error::{IngestError, Result};
use crate::trace::Key;

/// How two keys of one track compare.
pub type Order = fn(&Key, &Key) -> Ordering;

/// Takes keys in file order and gives them back track by track, in order.
pub struct Sorter {
    order: Order,
    folder: PathBuf,
    budget: usize,
    threads: usize,
    chunks: Vec<Vec<Key>>,
    buffered: usize,
    runs: Vec<Run>,
    file: Option<File>,
    file_len: u64,
}

/// A part of all keys on disk, in order within each track: place and number of keys by track number.
struct Run {
    tracks: Vec<(u64, usize)>,
}

impl Sorter {
    /// An empty sorter that holds about `budget` bytes of keys in memory.
    pub fn new(order: Order, folder: &Path, budget: usize, threads: usize) -> Self {
        Self {
            order,
            folder: folder.to_owned(),
            budget: budget / size_of::<Key>(),
            threads,
            chunks: Vec::new(),
            buffered: 0,
            runs: Vec::new(),
            file: None,
            file_len: 0,
        }
    }

    /// Takes keys.
    pub fn push(&mut self, keys: Vec<Key>) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        self.buffered += keys.len();
        self.chunks.push(keys);
        if self.buffered > self.budget { self.spill() } else { Ok(()) }
    }

    /// Whether anything went to disk.
    pub fn spilled(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Gives all keys, for each track of `tracks` in turn, in one or more slices.
    pub fn finish(mut self, tracks: &[u32], mut each: impl FnMut(&[Key]) -> Result<()>) -> Result<()> {
        if self.runs.is_empty() {
            let mut sorted = self.take_sorted();
            for &track in tracks {
                if let Some(keys) = sorted.get_mut(track as usize) {
                    each(&std::mem::take(keys))?;
                }
            }
            return Ok(());
        }
        self.spill()?;
        for &track in tracks {
            self.merge(track as usize, &mut each)?;
        }
        Ok(())
    }

    /// The buffered keys by track number, each track in order.
    fn take_sorted(&mut self) -> Vec<Vec<Key>> {
        let mut counts: Vec<usize> = Vec::new();
        for key in self.chunks.iter().flatten() {
            let track = key.track as usize;
            if track >= counts.len() {
                counts.resize(track + 1, 0);
            }
            counts[track] += 1;
        }
        let mut by_track: Vec<Vec<Key>> = counts.iter().map(|&n| Vec::with_capacity(n)).collect();
        for chunk in self.chunks.drain(..) {
            for key in chunk {
                by_track[key.track as usize].push(key);
            }
        }
        self.buffered = 0;
        let order = self.order;
        let mut jobs: Vec<&mut Vec<Key>> = by_track.iter_mut().collect();
        jobs.sort_by_key(|keys| std::cmp::Reverse(keys.len()));
        let jobs: Vec<Mutex<&mut Vec<Key>>> = jobs.into_iter().map(Mutex::new).collect();
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..self.threads.min(jobs.len()) {
                scope.spawn(|| {
                    while let Some(job) = jobs.get(next.fetch_add(1, Atomic::Relaxed)) {
                        // Stable and quick on what is in order already, as most of a trace is.
                        job.lock().unwrap_or_else(|e| e.into_inner()).sort_by(order);
                    }
                });
            }
        });
        by_track
    }

    fn spill(&mut self) -> Result<()> {
        if self.buffered == 0 {
            return Ok(());
        }
        let sorted = self.take_sorted();
        let io = |e| IngestError::io(&self.folder, e);
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile_in(&self.folder).map_err(io)?),
        };
        let mut tracks = Vec::with_capacity(sorted.len());
        for keys in sorted {
            tracks.push((self.file_len, keys.len()));
            file.write_all(bytemuck::cast_slice(&keys)).map_err(io)?;
            self.file_len += size_of_val(keys.as_slice()) as u64;
        }
        self.runs.push(Run { tracks });
        Ok(())
    }

    /// Merges the runs of one track.
    fn merge(&self, track: usize, each: &mut impl FnMut(&[Key]) -> Result<()>) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let mut heads: Vec<RunHead> = Vec::new();
        for run in &self.runs {
            if let Some(&(place, n)) = run.tracks.get(track)
                && n > 0
            {
                let mut head = RunHead { place, left: n, buffer: Vec::new(), at: 0 };
                head.fill(file).map_err(|e| IngestError::io(&self.folder, e))?;
                heads.push(head);
            }
        }
        let mut out = Vec::with_capacity(1 << 14);
        while !heads.is_empty() {
            // There are few runs; of equal keys the earlier run's comes first, which is file order.
            let mut best = 0;
            for i in 1..heads.len() {
                if (self.order)(heads[i].key(), heads[best].key()) == Ordering::Less {
                    best = i;
                }
            }
            out.push(*heads[best].key());
            if !heads[best].advance(file).map_err(|e| IngestError::io(&self.folder, e))? {
                heads.remove(best);
            }
            if out.len() == out.capacity() {
                each(&out)?;
                out.clear();
            }
        }
        each(&out)
    }
}

struct RunHead {
    place: u64,
    left: usize,
    buffer: Vec<Key>,
    at: usize,
}

impl RunHead {
    fn key(&self) -> &Key {
        &self.buffer[self.at]
    }

    fn fill(&mut self, file: &File) -> std::io::Result<()> {
        let n = self.left.min(1 << 12);
        self.buffer.resize(n, bytemuck::Zeroable::zeroed());
        file.read_exact_at(bytemuck::cast_slice_mut(&mut self.buffer), self.place)?;
        self.place += (n * size_of::<Key>()) as u64;
        self.left -= n;
        self.at = 0;
        Ok(())
    }

    fn advance(&mut self, file: &File) -> std::io::Result<bool> {
        self.at += 1;
        if self.at < self.buffer.len() {
            return Ok(true);
        }
        if self.left == 0 {
            return Ok(false);
        }
        self.fill(file)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;
    use proptest::prelude::*;

    fn sorted(keys: &[(u8, u8, u8)], budget: usize) -> Vec<(u32, i64, i64, u32)> {
        let folder = tempfile::tempdir().expect("temp folder");
        let mut sorter = Sorter::new(Key::row_order, folder.path(), budget, 2);
        for (chunk_no, chunk) in keys.chunks(7).enumerate() {
            let keys = chunk.iter().enumerate().map(|(i, &(track, ts, dur))| Key {
                track: track as u32 % 3,
                ts: ts as i64,
                dur: dur as i64,
                ph: b'X',
                ord: (chunk_no * 7 + i) as u32,
                ..Key::zeroed()
            });
            sorter.push(keys.collect()).expect("push");
        }
        let mut out = Vec::new();
        sorter
            .finish(&[2, 0, 1], |keys| {
                out.extend(keys.iter().map(|k| (k.track, k.ts, -k.dur, k.ord)));
                Ok(())
            })
            .expect("finish");
        out
    }

    proptest! {
        #[test]
        fn disk_and_memory_agree(keys in proptest::collection::vec(any::<(u8, u8, u8)>(), 0..200)) {
            let in_memory = sorted(&keys, usize::MAX);
            prop_assert_eq!(&in_memory, &sorted(&keys, 20 * size_of::<Key>()));
            let mut want = in_memory.clone();
            want.sort_by_key(|&(track, ts, dur, ord)| ((track + 1) % 3, ts, dur, ord));
            prop_assert_eq!(in_memory, want);
        }
    }
}
