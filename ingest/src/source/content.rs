//! The decompressed text of one input: a file on disk, complete or still growing.

use std::fs::{File, Metadata};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::SystemTime;

use super::window::{self, Buffers, Window};
use crate::error::{IngestError, Result};
use crate::issues::Issues;
use crate::json::{Bad, Cursor};

/// The decompressed text of an input.
///
/// A plain file is used as it lies; anything else is unpacked by a thread into an unnamed temporary file, and readers
/// follow behind.
#[derive(Clone)]
pub struct Content {
    file: Arc<File>,
    name: PathBuf,
    feed: Arc<Feed>,
    buffers: Buffers,
    /// Of a file that others may change, as it was when it was opened.
    stamp: Option<Stamp>,
}

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
    /// A complete file of the user's.
    pub fn of_file(file: File, path: &Path) -> Result<Self> {
        let metadata = file.metadata().map_err(|e| IngestError::io(path, e))?;
        let content = Self::complete(file, path, metadata.len(), Issues::default());
        Ok(Self { stamp: Some(Stamp::of(&metadata)), ..content })
    }

    /// A complete temporary file in place of another content, with what was odd about that.
    pub fn of_copy(file: File, path: &Path, issues: Issues) -> Result<Self> {
        let len = file.metadata().map_err(|e| IngestError::io(path, e))?.len();
        Ok(Self::complete(file, path, len, issues))
    }

    fn complete(file: File, path: &Path, len: u64, issues: Issues) -> Self {
        let feed = Feed { state: Mutex::new(FeedState { len, done: true, wanted: true, issues, ..Default::default() }), ..Default::default() };
        Self { file: Arc::new(file), name: path.to_owned(), feed: Arc::new(feed), buffers: Buffers::default(), stamp: None }
    }

    /// An empty text in a temporary file of `folder`, and the end that fills it.
    pub fn growing(folder: &Path) -> Result<(Self, ContentWriter)> {
        let file = Arc::new(tempfile::tempfile_in(folder).map_err(|e| IngestError::io(folder, e))?);
        let feed = Arc::new(Feed { state: Mutex::new(FeedState { wanted: true, ..Default::default() }), ..Default::default() });
        let writer = ContentWriter { file: file.clone(), feed: feed.clone() };
        Ok((Self { file, name: folder.to_owned(), feed, buffers: Buffers::default(), stamp: None }, writer))
    }

    /// Waits until at least `len` bytes are there or no more will come; returns how many are, and whether that is all.
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

    /// Tells the thread that unpacks that nobody reads on.
    pub fn abandon(&self) {
        self.feed.state.lock().unwrap_or_else(|e| e.into_inner()).wanted = false;
    }

    /// What was odd about the compression; complete once all bytes are there.
    pub fn issues(&self) -> Issues {
        self.feed.state.lock().unwrap_or_else(|e| e.into_inner()).issues.clone()
    }

    /// Whether the text is a file that no other process can reach.
    pub fn is_ours(&self) -> bool {
        self.stamp.is_none()
    }

    /// The bytes from `start` up to `end`, which must be there.
    pub fn bytes(&self, start: u64, end: u64) -> Result<Window> {
        let window = if self.is_ours() { window::map(&self.file, start, end) } else { window::copy(&self.file, start, end, &self.buffers) };
        window.map_err(|e| self.failed(e, start))
    }

    /// Bytes of a complete text, at least those of the value that begins at `start`, unless that is cut short.
    pub fn value(&self, start: u64) -> Result<Window> {
        let (len, _) = self.wait(u64::MAX)?;
        let mut want = 4 << 10;
        loop {
            let end = len.min(start.saturating_add(want));
            let window = self.bytes(start, end)?;
            if end == len || Cursor::new(&window, 0).value() != Err(Bad::End) {
                return Ok(window);
            }
            want *= 4;
        }
    }

    /// Fills `bytes` with those from `start` on.
    pub fn read_at(&self, bytes: &mut [u8], start: u64) -> Result<()> {
        self.file.read_exact_at(bytes, start).map_err(|e| self.failed(e, start))
    }

    /// Fails if the file was changed since it was opened: then what was read is not what it holds.
    pub fn must_be_unchanged(&self) -> Result<()> {
        let now = self.file.metadata().map_err(|e| IngestError::io(&self.name, e))?;
        match self.stamp {
            Some(stamp) if stamp != Stamp::of(&now) => Err(self.changed()),
            _ => Ok(()),
        }
    }

    fn failed(&self, error: std::io::Error, at: u64) -> IngestError {
        match error.kind() {
            ErrorKind::UnexpectedEof => self.changed(),
            _ => IngestError::input_at(&self.name.display().to_string(), format!("cannot be read: {error}"), at),
        }
    }

    fn changed(&self) -> IngestError {
        changed(&self.name.display().to_string())
    }
}

/// The error that an input changed.
pub fn changed(name: &str) -> IngestError {
    IngestError::input(name, "the file was changed by another process while it was read; nothing was stored, read it again when it is complete")
}

/// What tells that a file was changed.
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

/// The end of a growing [`Content`] that the unpacking thread holds.
pub struct ContentWriter {
    file: Arc<File>,
    feed: Arc<Feed>,
}

impl ContentWriter {
    /// Appends bytes; `false` when nobody reads on.
    pub fn write(&mut self, bytes: &[u8]) -> std::io::Result<bool> {
        (&*self.file).write_all(bytes)?;
        let mut state = self.feed.state.lock().unwrap_or_else(|e| e.into_inner());
        state.len += bytes.len() as u64;
        self.feed.grown.notify_all();
        Ok(state.wanted)
    }

    /// How many bytes were written.
    pub fn len(&self) -> u64 {
        self.feed.state.lock().unwrap_or_else(|e| e.into_inner()).len
    }

    /// Says that all bytes are there, and what was odd on the way.
    pub fn finish(self, issues: Issues) {
        let mut state = self.feed.state.lock().unwrap_or_else(|e| e.into_inner());
        state.issues = issues;
        state.done = true;
        self.feed.grown.notify_all();
    }

    /// Says that the input cannot be read.
    pub fn fail(self, error: IngestError) {
        let mut state = self.feed.state.lock().unwrap_or_else(|e| e.into_inner());
        state.failure = Some(error);
        state.done = true;
        self.feed.grown.notify_all();
    }
}

impl Drop for ContentWriter {
    fn drop(&mut self) {
        // A panic of the unpacking thread must not leave readers waiting.
        let mut state = self.feed.state.lock().unwrap_or_else(|e| e.into_inner());
        state.done = true;
        self.feed.grown.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Reader;

    fn content(text: &[u8]) -> (Content, tempfile::NamedTempFile) {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(text).expect("written");
        (Content::of_file(file.reopen().expect("open"), file.path()).expect("content"), file)
    }

    #[test]
    fn a_file_that_is_cut_short_is_an_error_and_no_signal() {
        let (content, file) = content(&[b'x'; 100_000]);
        assert_eq!(content.bytes(50_000, 100_000).expect("all there").len(), 50_000);
        let mut reader = Reader::new(&content, 100_000).expect("a reader");
        file.as_file().set_len(60_000).expect("cut");
        let failures = [content.bytes(50_000, 100_000).err(), reader.from(59_999, 2).err(), content.must_be_unchanged().err()];
        for failure in failures {
            let said = failure.expect("refused").to_string();
            assert!(said.contains("changed by another process") && said.contains(&file.path().display().to_string()), "{said}");
        }
        assert_eq!(content.bytes(0, 60_000).expect("still there").len(), 60_000);
    }

    #[test]
    fn values_are_whole() {
        let text = [b"[", &vec![b'7'; 10_000][..], b"] x"].concat();
        let (content, _file) = content(&text);
        assert!(content.value(0).expect("a value").starts_with(&text[..10_002]));
        assert_eq!(&content.value(10_003).expect("the rest")[..], b"x");
    }
}
