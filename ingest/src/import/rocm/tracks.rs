//! Tracks of streams, and allocations by address.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::import::strings::Text;
use crate::import::typed::TypedWriter;
use crate::trace::{Id, MetaKind, Track};

/// The streams of all devices. Streams of another process with the same number are independent.
#[derive(Default)]
pub struct Streams {
    tracks: FxHashMap<(Option<i64>, Option<i64>, i64), u32>,
    owners: FxHashMap<(Option<i64>, Option<i64>), i64>,
    /// Numbers of processes in the operating system that the name of a stream states.
    named: FxHashSet<(Option<i64>, Option<i64>, i64)>,
}

impl Streams {
    /// Returns the track of a stream of a process on a device. The process is given by its number
    /// in the file and in the operating system.
    pub fn track(
        &mut self,
        writer: &mut TypedWriter<'_>,
        device: Option<i64>,
        stream: Option<i64>,
        (process, pid): (i64, Option<i64>),
        name: Option<&str>,
    ) -> u32 {
        if let Some(&no) = self.tracks.get(&(device, stream, process)) {
            return no;
        }
        let is_owner = *self.owners.entry((device, stream)).or_insert(process) == process;
        let number = match stream {
            Some(stream) => format!("stream {stream}"),
            None => "no stream".to_owned(),
        };
        let mut shown = name.map_or_else(|| number.clone(), str::to_owned);
        let mut tid = stream.map_or(Id::None, Id::Int);
        if !is_owner {
            let of = match pid {
                Some(pid) if self.named.insert((device, stream, pid)) => format!("process {pid}"),
                Some(pid) => format!("process {pid}, part {process}"),
                None => format!("part {process}"),
            };
            tid = Id::Text(writer.intern_always(&format!("{number} ({of})")));
            shown = format!("{shown} ({of})");
        }
        let pid = device.map_or(Id::None, Id::Int);
        writer.property(MetaKind::ThreadName, pid, tid, &shown);
        if let Some(device) = device {
            writer.property(MetaKind::ProcessLabels, pid, Id::None, &format!("GPU {device}"));
        }
        let no = writer.track(Track::Thread { pid, tid });
        self.tracks.insert((device, stream, process), no);
        no
    }
}

/// The sizes of live allocations, because a free states no size.
#[derive(Default)]
pub struct Allocations {
    live: FxHashMap<(i64, i64), i64>,
}

impl Allocations {
    /// Returns the bytes of an allocation or, as a negative number, of a free.
    pub fn bytes(
        &mut self,
        process: i64,
        kind: &str,
        address: Option<i64>,
        size: Option<i64>,
    ) -> Option<i64> {
        let key = (process, address.unwrap_or(0));
        match kind {
            "ALLOC" => {
                if let (Some(_), Some(size)) = (address, size) {
                    self.live.insert(key, size);
                }
                size
            }
            "FREE" => {
                let size = self.live.remove(&key).or(size.filter(|size| *size > 0));
                size.and_then(i64::checked_neg)
            }
            _ => None,
        }
    }
}

/// A cache of texts that are built from others.
#[derive(Default)]
pub struct Made {
    texts: FxHashMap<String, Text>,
}

impl Made {
    /// Returns a text. Only short ones are kept.
    pub fn get(&mut self, writer: &TypedWriter<'_>, text: &str) -> Text {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        let made = Text::new(writer, text);
        if self.texts.len() < 1 << 16 && text.len() <= 1 << 12 {
            self.texts.insert(text.to_owned(), made.clone());
        }
        made
    }
}
