//! Sorts records by track and time: in memory, or through sorted runs on disk if there are too
//! many.

use std::cmp::Ordering;
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering as Atomic};

use super::spill::SpillVec;
use crate::error::{IngestError, Result};
use crate::threads::join;
use crate::trace::{EventRecord, RecordSink};

/// A function that compares two records of one track.
pub type Order = fn(&EventRecord, &EventRecord) -> Ordering;

const PAGE: usize = 1 << 16;

/// Accepts records in file order and returns them track by track, sorted.
pub struct Sorter {
    order: Order,
    folder: PathBuf,
    budget: usize,
    threads: usize,
    pages: Vec<Vec<EventRecord>>,
    len: usize,
    runs: Vec<Run>,
    file: Option<File>,
    file_len: u64,
}

impl RecordSink for Sorter {
    fn push(&mut self, records: &[EventRecord]) -> Result<()> {
        Sorter::push(self, records)
    }
}

/// A set of records on disk, sorted within each track. It holds the offset and the number of
/// records of each track.
struct Run {
    tracks: Vec<(u64, usize)>,
}

/// All records in sorted order.
pub enum SortedRecords {
    /// The records in memory, in file order, with a list of their sorted positions.
    Memory {
        /// The records, in pages of [`PAGE`] records.
        pages: Vec<Vec<EventRecord>>,
        /// The positions of the records in sorted order.
        order: Vec<u32>,
    },
    /// The records in sorted order, partly on disk.
    Disk(SpillVec<EventRecord>),
}

impl SortedRecords {
    /// Number of records.
    pub fn len(&self) -> usize {
        match self {
            Self::Memory { order, .. } => order.len(),
            Self::Disk(records) => records.len(),
        }
    }

    /// Copies the records of a range of rows, replacing what `into` holds.
    pub fn read(&self, rows: Range<usize>, into: &mut Vec<EventRecord>) -> Result<()> {
        match self {
            Self::Memory { pages, order } => {
                into.clear();
                into.extend(
                    order[rows].iter().map(|&i| pages[i as usize / PAGE][i as usize % PAGE]),
                );
                Ok(())
            }
            Self::Disk(records) => records.read(rows, into),
        }
    }

    /// Calls a function for each record, in sorted order.
    pub fn for_each(&self, mut each: impl FnMut(&EventRecord) -> Result<()>) -> Result<()> {
        let mut batch = Vec::new();
        let mut at = 0;
        while at < self.len() {
            let end = self.len().min(at + 4096);
            self.read(at..end, &mut batch)?;
            batch.iter().try_for_each(&mut each)?;
            at = end;
        }
        Ok(())
    }
}

impl Sorter {
    /// Creates an empty sorter that holds about `budget` bytes of records in memory.
    pub fn new(order: Order, folder: &Path, budget: usize, threads: usize) -> Self {
        Self {
            order,
            folder: folder.to_owned(),
            budget: budget / size_of::<EventRecord>(),
            threads,
            pages: Vec::new(),
            len: 0,
            runs: Vec::new(),
            file: None,
            file_len: 0,
        }
    }

    /// Adds records.
    pub fn push(&mut self, records: &[EventRecord]) -> Result<()> {
        let mut rest = records;
        while !rest.is_empty() {
            if self.len.is_multiple_of(PAGE) {
                self.pages.push(Vec::with_capacity(PAGE));
            }
            let n = rest.len().min(PAGE - self.len % PAGE);
            if let Some(page) = self.pages.last_mut() {
                page.extend_from_slice(&rest[..n]);
            }
            self.len += n;
            rest = &rest[n..];
        }
        if self.len > self.budget { self.spill() } else { Ok(()) }
    }

    /// Returns all records, track by track in the order of `tracks`. Records that do not fit into
    /// `budget` bytes are on disk.
    pub fn sorted(mut self, tracks: &[u32], budget: usize) -> Result<SortedRecords> {
        if self.runs.is_empty() {
            let mut by_track = self.order_by_track();
            let mut order = Vec::with_capacity(self.len);
            for &track in tracks {
                order.append(by_track.get_mut(track as usize).unwrap_or(&mut Vec::new()));
            }
            return Ok(SortedRecords::Memory { pages: self.pages, order });
        }
        self.spill()?;
        let mut records = SpillVec::new(&self.folder, budget);
        for &track in tracks {
            self.merge(track as usize, &mut |record| records.push(*record))?;
        }
        Ok(SortedRecords::Disk(records))
    }

    /// Returns the positions of the records in memory, by track number and sorted within each
    /// track.
    fn order_by_track(&self) -> Vec<Vec<u32>> {
        let mut by_track: Vec<Vec<u32>> = Vec::new();
        for (i, record) in self.pages.iter().flatten().enumerate() {
            let track = record.track as usize;
            if track >= by_track.len() {
                by_track.resize_with(track + 1, Vec::new);
            }
            by_track[track].push(i as u32);
        }
        let (order, pages) = (self.order, &self.pages);
        let record = |i: u32| &pages[i as usize / PAGE][i as usize % PAGE];
        let mut jobs: Vec<&mut Vec<u32>> = by_track.iter_mut().collect();
        jobs.sort_by_key(|positions| std::cmp::Reverse(positions.len()));
        let jobs: Vec<Mutex<&mut Vec<u32>>> = jobs.into_iter().map(Mutex::new).collect();
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let sort = || {
                while let Some(job) = jobs.get(next.fetch_add(1, Atomic::Relaxed)) {
                    let mut positions = job.lock().unwrap_or_else(|e| e.into_inner());
                    if positions
                        .is_sorted_by(|&a, &b| order(record(a), record(b)) != Ordering::Greater)
                    {
                        continue;
                    }
                    // Both orders compare starts first, so sort by copies of the starts: the
                    // records themselves are far apart in memory.
                    let mut starts: Vec<(i64, u32)> =
                        positions.iter().map(|&i| (record(i).ts, i)).collect();
                    starts.sort_by(|a, b| {
                        a.0.cmp(&b.0).then_with(|| order(record(a.1), record(b.1)))
                    });
                    positions
                        .iter_mut()
                        .zip(&starts)
                        .for_each(|(position, start)| *position = start.1);
                }
            };
            let sorters = 0..self.threads.min(jobs.len());
            join(sorters.map(|_| scope.spawn(sort)).collect());
        });
        by_track
    }

    fn spill(&mut self) -> Result<()> {
        if self.len == 0 {
            return Ok(());
        }
        let by_track = self.order_by_track();
        let io = |e| IngestError::io(&self.folder, e);
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile_in(&self.folder).map_err(io)?),
        };
        let mut tracks = Vec::with_capacity(by_track.len());
        let mut buffer: Vec<EventRecord> = Vec::new();
        for positions in by_track {
            tracks.push((self.file_len, positions.len()));
            for part in positions.chunks(PAGE) {
                buffer.clear();
                buffer
                    .extend(part.iter().map(|&i| self.pages[i as usize / PAGE][i as usize % PAGE]));
                file.write_all(bytemuck::cast_slice(&buffer)).map_err(io)?;
                self.file_len += size_of_val(buffer.as_slice()) as u64;
            }
        }
        self.runs.push(Run { tracks });
        self.pages.clear();
        self.len = 0;
        Ok(())
    }

    /// Merges the runs of one track.
    fn merge(&self, track: usize, each: &mut impl FnMut(&EventRecord) -> Result<()>) -> Result<()> {
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
        while !heads.is_empty() {
            // There are few runs, so a linear search is enough. Among equal records, the one of the
            // earlier run comes first, which preserves file order.
            let mut best = 0;
            for i in 1..heads.len() {
                if (self.order)(heads[i].record(), heads[best].record()) == Ordering::Less {
                    best = i;
                }
            }
            each(heads[best].record())?;
            if !heads[best].advance(file).map_err(|e| IngestError::io(&self.folder, e))? {
                heads.remove(best);
            }
        }
        Ok(())
    }
}

struct RunHead {
    place: u64,
    left: usize,
    buffer: Vec<EventRecord>,
    at: usize,
}

impl RunHead {
    fn record(&self) -> &EventRecord {
        &self.buffer[self.at]
    }

    fn fill(&mut self, file: &File) -> std::io::Result<()> {
        let n = self.left.min(1 << 12);
        self.buffer.resize(n, bytemuck::Zeroable::zeroed());
        file.read_exact_at(bytemuck::cast_slice_mut(&mut self.buffer), self.place)?;
        self.place += (n * size_of::<EventRecord>()) as u64;
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

    fn sorted(records: &[(u8, u8, u8)], budget: usize) -> Vec<(u32, i64, i64, u32)> {
        let folder = tempfile::tempdir().expect("temp folder");
        let mut sorter = Sorter::new(EventRecord::row_order, folder.path(), budget, 2);
        for (chunk_no, chunk) in records.chunks(7).enumerate() {
            let records = chunk.iter().enumerate().map(|(i, &(track, ts, dur))| EventRecord {
                track: track as u32 % 3,
                ts: ts as i64,
                dur: dur as i64,
                ph: b'X',
                ord: (chunk_no * 7 + i) as u32,
                ..EventRecord::zeroed()
            });
            sorter.push(&records.collect::<Vec<_>>()).expect("push");
        }
        let mut out = Vec::new();
        let sorted = sorter.sorted(&[2, 0, 1], budget).expect("sorted");
        sorted
            .for_each(|k| {
                out.push((k.track, k.ts, -k.dur, k.ord));
                Ok(())
            })
            .expect("all records");
        out
    }

    proptest! {
        #[test]
        fn sorting_on_disk_and_in_memory_agree(
            records in proptest::collection::vec(any::<(u8, u8, u8)>(), 0..200),
        ) {
            let in_memory = sorted(&records, usize::MAX);
            prop_assert_eq!(&in_memory, &sorted(&records, 20 * size_of::<EventRecord>()));
            let mut want = in_memory.clone();
            want.sort_by_key(|&(track, ts, dur, ord)| ((track + 1) % 3, ts, dur, ord));
            prop_assert_eq!(in_memory, want);
        }
    }
}
