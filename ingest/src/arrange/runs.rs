//! Sorts plain values that may not fit into memory, through sorted runs on disk.

use std::cmp::Ordering;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bytemuck::Pod;

use crate::error::{IngestError, Result};

/// Number of values of each run that are in memory while runs are merged.
const BUFFER: usize = 1 << 12;

/// Values to be sorted. No two of them may be equal in their order.
pub struct Runs<T> {
    order: fn(&T, &T) -> Ordering,
    folder: PathBuf,
    /// Maximum number of values in memory.
    max: usize,
    values: Vec<T>,
    file: Option<File>,
    /// Position and number of values of each run.
    runs: Vec<(u64, usize)>,
    file_len: u64,
}

impl<T: Pod> Runs<T> {
    /// Creates an empty set that keeps about `budget` bytes in memory and the rest in an unnamed
    /// file in `folder`.
    pub fn new(order: fn(&T, &T) -> Ordering, folder: &Path, budget: usize) -> Self {
        // While the list in memory grows, the old and the new one exist. Sorting takes half as much
        // again; the values come in few ascending runs, which this sort merges.
        let max = (budget / 3 * 2 / size_of::<T>()).max(BUFFER);
        Self {
            order,
            folder: folder.to_owned(),
            max,
            values: Vec::new(),
            file: None,
            runs: Vec::new(),
            file_len: 0,
        }
    }

    /// Adds a value.
    #[inline]
    pub fn push(&mut self, value: T) -> Result<()> {
        if self.values.len() == self.values.capacity() {
            self.make_room()?;
        }
        self.values.push(value);
        Ok(())
    }

    #[cold]
    fn make_room(&mut self) -> Result<()> {
        if self.values.len() >= self.max {
            return self.spill();
        }
        let more = self.values.len().clamp(BUFFER.min(self.max), self.max);
        self.values.reserve_exact(more.min(self.max - self.values.len()));
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        self.values.sort_by(self.order);
        let io = |e| IngestError::io(&self.folder, e);
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile_in(&self.folder).map_err(io)?),
        };
        file.write_all_at(bytemuck::cast_slice(&self.values), self.file_len).map_err(io)?;
        self.runs.push((self.file_len, self.values.len()));
        self.file_len += size_of_val(self.values.as_slice()) as u64;
        self.values.clear();
        Ok(())
    }

    /// Calls a function for each value, in order.
    pub fn for_each(mut self, mut each: impl FnMut(&T) -> Result<()>) -> Result<()> {
        if self.runs.is_empty() {
            self.values.sort_by(self.order);
            return self.values.iter().try_for_each(each);
        }
        self.spill()?;
        self.values = Vec::new();
        let io = |e| IngestError::io(&self.folder, e);
        let Some(file) = &self.file else { return Ok(()) };
        let heads = self.runs.iter().map(|&(place, left)| {
            let mut head = Head { place, left, buffer: Vec::new(), at: 0 };
            head.fill(file).map(|()| head)
        });
        let mut heads = heads.collect::<std::io::Result<Vec<_>>>().map_err(io)?;
        heads.retain(|head| !head.buffer.is_empty());
        while let Some(best) =
            (0..heads.len()).min_by(|&a, &b| (self.order)(heads[a].value(), heads[b].value()))
        {
            each(heads[best].value())?;
            heads[best].at += 1;
            if heads[best].at == heads[best].buffer.len() {
                heads[best].fill(file).map_err(io)?;
                if heads[best].buffer.is_empty() {
                    heads.remove(best);
                }
            }
        }
        Ok(())
    }
}

/// The next values of a run.
struct Head<T> {
    place: u64,
    left: usize,
    buffer: Vec<T>,
    at: usize,
}

impl<T: Pod> Head<T> {
    fn value(&self) -> &T {
        &self.buffer[self.at]
    }

    fn fill(&mut self, file: &File) -> std::io::Result<()> {
        let n = self.left.min(BUFFER);
        self.buffer.resize(n, T::zeroed());
        file.read_exact_at(bytemuck::cast_slice_mut(&mut self.buffer), self.place)?;
        self.place += (n * size_of::<T>()) as u64;
        self.left -= n;
        self.at = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_on_disk_and_in_memory_come_in_order() {
        let folder = tempfile::tempdir().expect("temp folder");
        for (n, spills) in [(0, false), (BUFFER, false), (BUFFER * 5 + 7, true)] {
            let mut runs = Runs::<u64>::new(u64::cmp, folder.path(), 0);
            for i in 0..n as u64 {
                runs.push(i * 7919 % n as u64).expect("pushed");
            }
            assert_eq!(runs.file.is_some(), spills);
            let mut next = 0;
            let check = |&value: &u64| {
                assert_eq!(value, next);
                next += 1;
                Ok(())
            };
            runs.for_each(check).expect("read");
            assert_eq!(next, n as u64);
        }
    }
}
