//! A growable array of plain values that keeps only some of its pages in memory.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bytemuck::Pod;

use crate::error::{IngestError, Result};

const PAGE: usize = 1 << 16;

enum Page<T> {
    Memory(Vec<T>),
    Disk(u64),
}

/// Values by index. One thread appends and changes them. After that, any number of threads may read
/// them.
pub struct SpillVec<T> {
    pages: Vec<Page<T>>,
    len: usize,
    max_pages: usize,
    in_memory: usize,
    oldest: usize,
    folder: PathBuf,
    file: Option<File>,
    file_len: u64,
}

impl<T: Pod> SpillVec<T> {
    /// Creates an empty array that keeps about `budget` bytes in memory and the rest in an unnamed
    /// file in `folder`.
    pub fn new(folder: &Path, budget: usize) -> Self {
        let max_pages = (budget / (PAGE * size_of::<T>())).max(4);
        Self {
            pages: Vec::new(),
            len: 0,
            max_pages,
            in_memory: 0,
            oldest: 0,
            folder: folder.to_owned(),
            file: None,
            file_len: 0,
        }
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: T) -> Result<()> {
        if self.len.is_multiple_of(PAGE) {
            self.make_room()?;
            self.pages.push(Page::Memory(Vec::with_capacity(PAGE)));
            self.in_memory += 1;
        }
        self.len += 1;
        if let Some(Page::Memory(page)) = self.pages.last_mut() {
            page.push(value);
        }
        Ok(())
    }

    /// Changes a value.
    #[inline]
    pub fn update(&mut self, at: usize, change: impl FnOnce(&mut T)) -> Result<()> {
        if let Page::Memory(page) = &mut self.pages[at / PAGE] {
            change(&mut page[at % PAGE]);
            return Ok(());
        }
        self.update_on_disk(at, change)
    }

    fn update_on_disk(&mut self, at: usize, change: impl FnOnce(&mut T)) -> Result<()> {
        let Page::Disk(start) = self.pages[at / PAGE] else { return Ok(()) };
        let place = start + ((at % PAGE) * size_of::<T>()) as u64;
        let Some(file) = &self.file else { return Ok(()) };
        let mut value = T::zeroed();
        let io = |e| IngestError::io(&self.folder, e);
        file.read_exact_at(bytemuck::bytes_of_mut(&mut value), place).map_err(io)?;
        change(&mut value);
        file.write_all_at(bytemuck::bytes_of(&value), place).map_err(io)
    }

    /// Copies the values of a range, replacing the content of `into`.
    pub fn read(&self, range: Range<usize>, into: &mut Vec<T>) -> Result<()> {
        into.clear();
        let mut at = range.start;
        while at < range.end {
            let (page, from) = (at / PAGE, at % PAGE);
            let n = (range.end - at).min(PAGE - from);
            match &self.pages[page] {
                Page::Memory(records) => into.extend_from_slice(&records[from..from + n]),
                Page::Disk(start) => {
                    let old = into.len();
                    into.resize(old + n, T::zeroed());
                    let place = start + (from * size_of::<T>()) as u64;
                    if let Some(file) = &self.file {
                        let bytes = bytemuck::cast_slice_mut(&mut into[old..]);
                        file.read_exact_at(bytes, place)
                            .map_err(|e| IngestError::io(&self.folder, e))?;
                    }
                }
            }
            at += n;
        }
        Ok(())
    }

    /// Calls a function for each value.
    pub fn for_each(&self, mut each: impl FnMut(&T) -> Result<()>) -> Result<()> {
        let mut batch = Vec::new();
        let mut at = 0;
        while at < self.len {
            let end = self.len.min(at + 4096);
            self.read(at..end, &mut batch)?;
            batch.iter().try_for_each(&mut each)?;
            at = end;
        }
        Ok(())
    }

    fn make_room(&mut self) -> Result<()> {
        while self.in_memory >= self.max_pages && self.oldest < self.pages.len() {
            let io = |e| IngestError::io(&self.folder, e);
            if let Page::Memory(records) = &self.pages[self.oldest] {
                let file = match &self.file {
                    Some(file) => file,
                    None => self.file.insert(tempfile::tempfile_in(&self.folder).map_err(io)?),
                };
                file.write_all_at(bytemuck::cast_slice(records), self.file_len).map_err(io)?;
                let place = self.file_len;
                self.file_len += size_of_val(records.as_slice()) as u64;
                self.pages[self.oldest] = Page::Disk(place);
                self.in_memory -= 1;
            }
            self.oldest += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spilled_values_can_be_changed_and_read() {
        let folder = tempfile::tempdir().expect("temp folder");
        let mut v = SpillVec::<u64>::new(folder.path(), 0);
        let n = PAGE * 9 + 17;
        for i in 0..n {
            v.push(i as u64).expect("push");
        }
        assert!(v.file.is_some(), "the test must spill");
        for i in [0, 5, PAGE, PAGE * 3 + 1, n - 1] {
            v.update(i, |x| *x += 1_000_000).expect("update");
        }
        let mut out = Vec::new();
        v.read(PAGE - 2..PAGE * 4, &mut out).expect("read");
        let want = |i: usize| {
            i as u64 + if [0, 5, PAGE, PAGE * 3 + 1, n - 1].contains(&i) { 1_000_000 } else { 0 }
        };
        assert!(out.iter().enumerate().all(|(k, &x)| x == want(PAGE - 2 + k)));
        v.read(n - 3..n, &mut out).expect("read");
        assert_eq!(out, [want(n - 3), want(n - 2), want(n - 1)]);
    }
}
