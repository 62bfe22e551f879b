//! The decompressed text of one input: a file on disk, complete or still growing.

use std::fs::{File, Metadata};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::SystemTime;

use super::mapping::Mapping;
use crate::error::{IngestError, Result};
use crate::issues::Issues;
use crate::json::{Bad, Cursor};

/// The decompressed text of an input.
///
/// A plain file is used in place. Any other input is unpacked by a thread into an unnamed temporary
/// file, which is read while it grows.
#[derive(Clone)]
pub struct Content {
    file: Arc<File>,
    name: PathBuf,
    feed: Arc<Feed>,
    /// Properties of the file when it was opened, if other processes may change it.
    stamp: Option<Stamp>,
    /// Whether a mapped part of the file was missing when it was read.
    broken: Arc<AtomicBool>,
    /// The whole text, if it is small and complete. It is mapped once: a small text is accessed more
    /// than a hundred times, and when one is unmapped, all threads are interrupted.
    whole: Arc<Mutex<Option<Mapping>>>,
}

/// The largest text in bytes that is mapped as a whole.
const WHOLE_BYTES: u64 = 8 << 20;

#[derive(Default)]
struct Feed {
    state: Mutex<FeedState>,
    grown: Condvar,
}

#[derive(Default)]
struct FeedState {
    len: u64,
    done: bool,
    wanted: bool,
    failure: Option<IngestError>,
    issues: Issues,
}

impl Content {
    /// Opens a complete file that belongs to the user.
    pub fn of_file(file: File, path: &Path) -> Result<Self> {
        let metadata = file.metadata().map_err(|e| IngestError::io(path, e))?;
        let content = Self::complete(file, path, metadata.len(), Issues::default());
        Ok(Self { stamp: Some(Stamp::of(&metadata)), ..content })
    }

    /// Opens a complete temporary file that replaces another content, and takes over the issues of
    /// that content.
    pub fn of_copy(file: File, path: &Path, issues: Issues) -> Result<Self> {
        let len = file.metadata().map_err(|e| IngestError::io(path, e))?.len();
        Ok(Self::complete(file, path, len, issues))
    }

    fn complete(file: File, path: &Path, len: u64, issues: Issues) -> Self {
        let feed = Feed {
            state: Mutex::new(FeedState {
                len,
                done: true,
                wanted: true,
                issues,
                ..Default::default()
            }),
            ..Default::default()
        };
        Self::over(Arc::new(file), path, Arc::new(feed))
    }

    fn over(file: Arc<File>, name: &Path, feed: Arc<Feed>) -> Self {
        let name = name.to_owned();
        Self { file, name, feed, stamp: None, broken: Arc::default(), whole: Arc::default() }
    }

    /// Creates an empty text in a temporary file in `folder`, and the writer that fills it.
    pub fn growing(folder: &Path) -> Result<(Self, ContentWriter)> {
        let file = Arc::new(tempfile::tempfile_in(folder).map_err(|e| IngestError::io(folder, e))?);
        let feed = Arc::new(Feed {
            state: Mutex::new(FeedState { wanted: true, ..Default::default() }),
            ..Default::default()
        });
        let writer = ContentWriter { file: file.clone(), feed: feed.clone() };
        Ok((Self::over(file, folder, feed), writer))
    }

    /// Waits until at least `len` bytes are available or no more bytes will arrive. Returns the
    /// number of available bytes, and whether the text is complete.
    pub fn wait(&self, len: u64) -> Result<(u64, bool)> {
        let mut state = self.feed.state.lock().unwrap_or_else(|e| e.into_inner());
        while state.len < len && !state.done {
            state = self.feed.grown.wait(state).unwrap_or_else(|e| e.into_inner());
        }
        match state.failure.take() {
            Some(e) => Err(e),
            None => Ok((state.len, state.done)),
        }
    }

    /// Stops the unpacking thread, because the rest will not be read.
    pub fn abandon(&self) {
        self.feed.state.lock().unwrap_or_else(|e| e.into_inner()).wanted = false;
    }

    /// Returns the issues of decompression. They are complete once all bytes are available.
    pub fn issues(&self) -> Issues {
        self.feed.state.lock().unwrap_or_else(|e| e.into_inner()).issues.clone()
    }

    /// Maps the bytes from `start` up to `end`, which must be available. If another process has cut
    /// the file in the meantime, the missing bytes are zeros and [`Content::must_be_unchanged`]
    /// fails.
    pub fn map(&self, start: u64, end: u64) -> Result<Mapping> {
        let len = {
            let state = self.feed.state.lock().unwrap_or_else(|e| e.into_inner());
            if state.done { state.len } else { u64::MAX }
        };
        if len > WHOLE_BYTES || end > len {
            return self.map_alone(start, end);
        }
        let mut whole = self.whole.lock().unwrap_or_else(|e| e.into_inner());
        let mapping = match whole.take() {
            Some(mapping) => mapping,
            None => self.map_alone(0, len)?,
        };
        Ok(whole.insert(mapping).part(start, end))
    }

    fn map_alone(&self, start: u64, end: u64) -> Result<Mapping> {
        let broken = self.stamp.is_some().then_some(&self.broken);
        Mapping::of(&self.file, start, end, broken).map_err(|e| IngestError::io(&self.name, e))
    }

    /// Maps a range of a complete text that includes the whole value at `start`, unless the value
    /// is cut off.
    pub fn value(&self, start: u64) -> Result<Mapping> {
        let (len, _) = self.wait(u64::MAX)?;
        let mut want = 4 << 10;
        loop {
            let end = len.min(start.saturating_add(want));
            let window = self.map(start, end)?;
            if end == len || Cursor::new(&window, 0).value() != Err(Bad::End) {
                return Ok(window);
            }
            want *= 4;
        }
    }

    /// Returns the path of a file that has the name of this one plus `ending`, if there is one that
    /// is not empty. Unpacked contents have no such file.
    pub fn neighbour(&self, ending: &str) -> Result<Option<PathBuf>> {
        if self.stamp.is_none() {
            return Ok(None);
        }
        let mut path = self.name.clone().into_os_string();
        path.push(ending);
        let path = PathBuf::from(path);
        let has_bytes = std::fs::metadata(&path).is_ok_and(|m| m.is_file() && m.len() > 0);
        Ok(has_bytes.then_some(path))
    }

    /// Fails if the file has changed since it was opened. Call it after all mappings are dropped.
    pub fn must_be_unchanged(&self) -> Result<()> {
        let Some(stamp) = self.stamp else { return Ok(()) };
        // What was missing is known when the last mapping is dropped.
        self.whole.lock().unwrap_or_else(|e| e.into_inner()).take();
        let (name, io) = (self.name.display().to_string(), |e| IngestError::io(&self.name, e));
        if stamp != Stamp::of(&self.file.metadata().map_err(io)?) {
            return Err(changed(&name));
        }
        if self.broken.load(Ordering::Acquire) {
            return Err(IngestError::input(
                &name,
                "a part of the file could not be read: its disk or network failed; \
                 nothing was stored",
            ));
        }
        Ok(())
    }
}

/// Random access to a complete text.
///
/// Pages that were read count as memory of this process while they are mapped, up to one block for
/// each accessed place. So the text is mapped again after many blocks were accessed.
pub struct Reader<'a> {
    content: &'a Content,
    len: u64,
    window: Mapping,
    touched: Vec<bool>,
    blocks: u32,
}

/// Size of a block in bytes.
const BLOCK: u64 = 2 << 20;
/// Number of blocks that may be accessed before the text is mapped again.
const MAX_BLOCKS: u32 = 12;

impl<'a> Reader<'a> {
    /// Creates a reader of a text of `len` bytes.
    pub fn new(content: &'a Content, len: u64) -> Result<Self> {
        Ok(Self {
            content,
            len,
            window: content.map(0, len)?,
            touched: vec![false; (len / BLOCK) as usize + 1],
            blocks: 0,
        })
    }

    /// Returns the text from `offset` on; empty beyond its end.
    #[inline]
    pub fn from(&mut self, offset: u64) -> Result<&[u8]> {
        if let Some(touched) = self.touched.get_mut((offset / BLOCK) as usize)
            && !*touched
        {
            *touched = true;
            self.blocks += 1;
            if self.blocks > MAX_BLOCKS {
                self.touched.fill(false);
                self.blocks = 0;
                self.window = self.content.map(0, self.len)?;
            }
        }
        Ok(self.window.get(offset as usize..).unwrap_or(&[]))
    }
}

/// Creates the error for an input that has changed.
pub fn changed(name: &str) -> IngestError {
    IngestError::input(
        name,
        "the file was changed by another process while it was read; nothing was stored, \
         read it again when it is complete",
    )
}

/// Properties of a file that reveal changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self { len: metadata.len(), modified: metadata.modified().ok() }
    }
}

/// The writer of a growing [`Content`], for the unpacking thread.
pub struct ContentWriter {
    file: Arc<File>,
    feed: Arc<Feed>,
}

impl ContentWriter {
    /// Appends bytes; returns `false` if the rest will not be read.
    pub fn write(&mut self, bytes: &[u8]) -> std::io::Result<bool> {
        (&*self.file).write_all(bytes)?;
        let mut state = self.feed.state.lock().unwrap_or_else(|e| e.into_inner());
        state.len += bytes.len() as u64;
        self.feed.grown.notify_all();
        Ok(state.wanted)
    }

    /// Returns the number of bytes written.
    pub fn len(&self) -> u64 {
        self.feed.state.lock().unwrap_or_else(|e| e.into_inner()).len
    }

    /// Marks the text as complete, and adds the issues of unpacking.
    pub fn finish(self, issues: Issues) {
        let mut state = self.feed.state.lock().unwrap_or_else(|e| e.into_inner());
        state.issues = issues;
        state.done = true;
        self.feed.grown.notify_all();
    }

    /// Reports that the input cannot be read.
    pub fn fail(self, error: IngestError) {
        let mut state = self.feed.state.lock().unwrap_or_else(|e| e.into_inner());
        state.failure = Some(error);
        state.done = true;
        self.feed.grown.notify_all();
    }
}

impl Drop for ContentWriter {
    fn drop(&mut self) {
        // If the unpacking thread panics, readers must not wait forever.
        let mut state = self.feed.state.lock().unwrap_or_else(|e| e.into_inner());
        state.done = true;
        self.feed.grown.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &[u8]) -> (Content, tempfile::NamedTempFile) {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(text).expect("written");
        (Content::of_file(file.reopen().expect("open"), file.path()).expect("content"), file)
    }

    #[test]
    fn a_file_that_is_cut_short_is_an_error_and_no_signal() {
        let (content, file) = content(&[b'x'; 100_000]);
        assert!(content.must_be_unchanged().is_ok());
        let window = content.map(0, 100_000).expect("mapped");
        file.as_file().set_len(10_000).expect("cut");
        assert!(
            window[..10_000].iter().all(|&b| b == b'x') && window[12_288..].iter().all(|&b| b == 0)
        );
        let mut reader = Reader::new(&content, 100_000).expect("a reader");
        assert_eq!(reader.from(99_999).expect("zeros"), [0]);
        drop((window, reader));
        let message = content.must_be_unchanged().expect_err("refused").to_string();
        assert!(
            message.contains("changed by another process")
                && message.contains(&file.path().display().to_string()),
            "{message}"
        );
        assert!(content.broken.load(Ordering::Acquire));
    }

    #[test]
    fn a_small_text_is_mapped_once() {
        let (content, _file) = content(b"0123456789");
        let (all, part) = (content.map(0, 10).expect("mapped"), content.map(4, 8).expect("mapped"));
        assert_eq!((&all[..], &part[..]), (&b"0123456789"[..], &b"4567"[..]));
        assert!(std::ptr::eq(&all[4], &part[0]));
        let (large, _file) = self::content(&vec![b'x'; WHOLE_BYTES as usize + 1]);
        let (one, other) = (large.map(0, 2).expect("mapped"), large.map(0, 2).expect("mapped"));
        assert!(!std::ptr::eq(&one[0], &other[0]), "only the part that is read is mapped");
    }

    #[test]
    fn a_growing_text_is_mapped_as_far_as_it_is_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let (content, mut writer) = Content::growing(folder.path()).expect("a text");
        assert!(writer.write(b"[1,").expect("written"));
        assert_eq!(content.map(0, 3).expect("mapped")[..], *b"[1,");
        assert!(writer.write(b"2]").expect("written"));
        writer.finish(Issues::default());
        assert_eq!(content.wait(u64::MAX).expect("complete"), (5, true));
        assert_eq!(content.map(0, 5).expect("mapped")[..], *b"[1,2]");
        assert_eq!(content.map(3, 5).expect("mapped")[..], *b"2]");
    }

    #[test]
    fn the_bytes_of_a_value_are_complete() {
        let text = [b"[", &vec![b'7'; 10_000][..], b"] x"].concat();
        let (content, _file) = content(&text);
        assert!(content.value(0).expect("a value").starts_with(&text[..10_002]));
        assert_eq!(&content.value(10_003).expect("the rest")[..], b"x");
    }
}
