//! The decompressed text of one input: a file on disk, complete or still growing.

use std::fs::File;
use std::io::Write;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};

use memmap2::{Mmap, MmapOptions};

use crate::error::{IngestError, Result};
use crate::issues::Issues;

/// The decompressed text of an input.
///
/// A plain file is used as it lies; anything else is unpacked by a thread into an unnamed temporary file, and readers
/// follow behind.
#[derive(Clone)]
pub struct Content {
    file: Arc<File>,
    name: PathBuf,
    feed: Arc<Feed>,
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
    /// A complete file.
    pub fn of_file(file: File, path: &Path) -> Result<Self> {
        Self::of_copy(file, path, Issues::default())
    }

    /// A complete file in place of another content, with what was odd about that.
    pub fn of_copy(file: File, path: &Path, issues: Issues) -> Result<Self> {
        let len = file.metadata().map_err(|e| IngestError::io(path, e))?.len();
        let feed = Feed { state: Mutex::new(FeedState { len, done: true, wanted: true, issues, ..Default::default() }), ..Default::default() };
        Ok(Self { file: Arc::new(file), name: path.to_owned(), feed: Arc::new(feed) })
    }

    /// An empty text in a temporary file of `folder`, and the end that fills it.
    pub fn growing(folder: &Path) -> Result<(Self, ContentWriter)> {
        let file = Arc::new(tempfile::tempfile_in(folder).map_err(|e| IngestError::io(folder, e))?);
        let feed = Arc::new(Feed { state: Mutex::new(FeedState { wanted: true, ..Default::default() }), ..Default::default() });
        let writer = ContentWriter { file: file.clone(), feed: feed.clone() };
        Ok((Self { file, name: folder.to_owned(), feed }, writer))
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

    /// The bytes from `start` up to `end`, which must be there.
    pub fn map(&self, start: u64, end: u64) -> Result<Window> {
        if start >= end {
            return Ok(Window { map: None });
        }
        // SAFETY: the mapping is read-only. The temporary file is ours alone. A trace that another process cuts short
        // while it is read would end this process, which loses nothing stored: a trace appears in the store only
        // when it is complete. Copying every input first would cost a second pass over the bytes.
        let map = unsafe { MmapOptions::new().offset(start).len((end - start) as usize).map(&*self.file) };
        Ok(Window { map: Some(map.map_err(|e| IngestError::io(&self.name, e))?) })
    }
}

/// A mapped part of a [`Content`].
pub struct Window {
    map: Option<Mmap>,
}

impl Deref for Window {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or(&[])
    }
}

/// Reads a complete text here and there.
///
/// What was touched counts as memory of this process while it is mapped, up to a block for each place. So when many
/// blocks were touched the text is mapped anew.
pub struct Reader<'a> {
    content: &'a Content,
    len: u64,
    window: Window,
    touched: Vec<bool>,
    blocks: u32,
}

const BLOCK: u64 = 2 << 20;
const MOST_BLOCKS: u32 = 12;

impl<'a> Reader<'a> {
    /// A reader of a text of `len` bytes.
    pub fn new(content: &'a Content, len: u64) -> Result<Self> {
        Ok(Self { content, len, window: content.map(0, len)?, touched: vec![false; (len / BLOCK) as usize + 1], blocks: 0 })
    }

    /// The text from `offset` on; empty beyond its end.
    #[inline]
    pub fn from(&mut self, offset: u64) -> Result<&[u8]> {
        if let Some(touched) = self.touched.get_mut((offset / BLOCK) as usize)
            && !*touched
        {
            *touched = true;
            self.blocks += 1;
            if self.blocks > MOST_BLOCKS {
                self.touched.fill(false);
                self.blocks = 0;
                self.window = self.content.map(0, self.len)?;
            }
        }
        Ok(self.window.get(offset as usize..).unwrap_or(&[]))
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
