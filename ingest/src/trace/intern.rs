//! Interned texts and tracks, shared by all decoding threads.

use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use super::event_fields::ElementShapes;

/// The id of an interned text. It depends on the timing of threads and must not appear in any
/// output.
pub type TextId = u32;
/// Marks the absence of a text.
pub const NO_TEXT: TextId = u32::MAX;
/// Represents a text that is not kept in memory and is read again from the trace.
pub const INLINE_TEXT: TextId = u32::MAX - 1;

/// Maximum length of a text that is kept in memory, in bytes.
const MAX_TEXT: usize = 16 << 10;
/// Maximum total size of the texts that are kept in memory, in bytes.
const MAX_BYTES: usize = 128 << 20;

/// All interned texts of a trace.
#[derive(Default)]
pub struct Texts {
    inner: Mutex<TextsInner>,
}

#[derive(Default)]
struct TextsInner {
    ids: FxHashMap<Arc<str>, TextId>,
    texts: Vec<Arc<str>>,
    bytes: usize,
}

impl Texts {
    /// Returns the id of a text, or [`INLINE_TEXT`] if it is too long or the memory for texts is
    /// used up.
    pub fn intern(&self, text: &str) -> TextId {
        if text.len() > MAX_TEXT {
            return INLINE_TEXT;
        }
        self.insert(text, MAX_BYTES)
    }

    /// Returns the id of a text that must be interned, because it distinguishes tracks.
    pub fn intern_always(&self, text: &str) -> TextId {
        self.insert(text, usize::MAX)
    }

    fn insert(&self, text: &str, max_bytes: usize) -> TextId {
        let mut inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(&id) = inner.ids.get(text) {
            return id;
        }
        if inner.bytes + text.len() > max_bytes {
            return INLINE_TEXT;
        }
        let id = inner.texts.len() as TextId;
        let text: Arc<str> = text.into();
        inner.bytes += text.len() + 64;
        inner.texts.push(text.clone());
        inner.ids.insert(text, id);
        id
    }

    /// Returns all texts by id.
    pub fn snapshot(&self) -> Vec<Arc<str>> {
        self.inner.lock().unwrap_or_else(|e| e.into_inner()).texts.clone()
    }
}

/// A process or thread id as the trace wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Id {
    /// Missing or null.
    None,
    /// An integer.
    Int(i64),
    /// Any other value, as its text.
    Text(TextId),
}

impl Id {
    /// Returns the id if it is an integer.
    pub fn number(self) -> Option<i64> {
        match self {
            Self::Int(n) => Some(n),
            _ => None,
        }
    }
}

/// The identity of a track: events with equal values share a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Track {
    /// A thread of a process, or a stream of a device.
    Thread {
        /// Process.
        pid: Id,
        /// Thread.
        tid: Id,
    },
    /// The async events with the same id.
    Async {
        /// Process.
        pid: Id,
        /// Category.
        cat: TextId,
        /// The id, with its scope.
        id: TextId,
    },
    /// A counter.
    Counter {
        /// Process.
        pid: Id,
        /// Name of the counter.
        name: TextId,
        /// The id of the counter, if it has one.
        id: TextId,
    },
}

impl Track {
    /// Returns the process of the track.
    pub fn pid(&self) -> Id {
        match *self {
            Self::Thread { pid, .. } | Self::Async { pid, .. } | Self::Counter { pid, .. } => pid,
        }
    }
}

/// The number of a track, similar to [`TextId`].
pub type TrackNo = u32;

/// All tracks of a trace.
#[derive(Default)]
pub struct Tracks {
    inner: Mutex<(FxHashMap<Track, TrackNo>, Vec<Track>)>,
}

impl Tracks {
    /// Returns the number of a track, and adds the track if it is new.
    pub fn intern(&self, track: Track) -> TrackNo {
        let mut inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(&no) = inner.0.get(&track) {
            return no;
        }
        let no = inner.1.len() as TrackNo;
        inner.1.push(track);
        inner.0.insert(track, no);
        no
    }

    /// Returns a track by its number.
    pub fn get(&self, no: TrackNo) -> Option<Track> {
        self.inner.lock().unwrap_or_else(|e| e.into_inner()).1.get(no as usize).copied()
    }

    /// Returns all tracks by number.
    pub fn snapshot(&self) -> Vec<Track> {
        self.inner.lock().unwrap_or_else(|e| e.into_inner()).1.clone()
    }
}

/// The tracks of the threads whose events were read last, by `pid` and `tid` as they are written.
#[derive(Default)]
pub struct Threads {
    known: [Option<KnownThread>; 16],
}

struct KnownThread {
    pid: Box<[u8]>,
    tid: Box<[u8]>,
    no: TrackNo,
}

/// `pid` and `tid` as they are written.
type WrittenThread<'a> = (&'a [u8], &'a [u8]);

impl Threads {
    #[inline(always)]
    fn place((pid, tid): WrittenThread<'_>) -> usize {
        // Streams of a device have the same process and small numbers; threads differ at the end.
        let last = |id: &[u8]| usize::from(id.last().copied().unwrap_or(0));
        (last(tid) ^ (last(pid) << 2) ^ tid.len()) % 16
    }

    /// Returns the track of a thread.
    #[inline(always)]
    pub fn get(&self, written: WrittenThread<'_>) -> Option<TrackNo> {
        let known = self.known[Self::place(written)].as_ref()?;
        (*known.tid == *written.1 && *known.pid == *written.0).then_some(known.no)
    }

    /// Remembers the track of a thread.
    pub fn set(&mut self, written: WrittenThread<'_>, no: TrackNo) {
        let known = KnownThread { pid: written.0.into(), tid: written.1.into(), no };
        self.known[Self::place(written)] = Some(known);
    }
}

/// One thread's cache of the shared ids, and of shapes. A raw text that was seen before costs one lookup and no
/// lock.
pub struct Local<'a> {
    /// The shared texts.
    pub texts: &'a Texts,
    /// The shapes of elements.
    pub shapes: ElementShapes,
    /// The tracks of threads.
    pub threads: Threads,
    tracks: &'a Tracks,
    by_raw: FxHashMap<Box<[u8]>, TextId>,
    by_track: FxHashMap<Track, TrackNo>,
    last_track: Option<(Track, TrackNo)>,
}

impl<'a> Local<'a> {
    /// Creates an empty cache.
    pub fn new(texts: &'a Texts, tracks: &'a Tracks) -> Self {
        Self {
            texts,
            shapes: ElementShapes::default(),
            threads: Threads::default(),
            tracks,
            by_raw: FxHashMap::default(),
            by_track: FxHashMap::default(),
            last_track: None,
        }
    }

    /// Returns the id of a raw text that was seen before.
    #[inline]
    pub fn seen(&self, raw: &[u8]) -> Option<TextId> {
        self.by_raw.get(raw).copied()
    }

    /// Caches the id of a raw text, unless the cache is full.
    pub fn remember(&mut self, raw: &[u8], id: TextId) {
        if self.by_raw.len() < 1 << 18 && raw.len() <= MAX_TEXT && id != INLINE_TEXT {
            self.by_raw.insert(raw.into(), id);
        }
    }

    /// Returns the number of a track.
    #[inline]
    pub fn track(&mut self, track: Track) -> TrackNo {
        if let Some((last, no)) = self.last_track
            && last == track
        {
            return no;
        }
        let no = match self.by_track.get(&track) {
            Some(&no) => no,
            None => {
                let no = self.tracks.intern(track);
                self.by_track.insert(track, no);
                no
            }
        };
        self.last_track = Some((track, no));
        no
    }
}
