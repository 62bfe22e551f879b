//! Metadata elements: names, labels and sort order of processes and threads.

use rustc_hash::FxHashMap;

use super::intern::Id;
use crate::json::{self, Cursor};

/// Maximum length of a text that is kept, in bytes.
pub const MAX_META: usize = 16 << 10;

/// A property of a process or thread.
#[derive(Debug, Clone)]
pub struct Meta {
    /// Position in the event list.
    pub ord: u32,
    /// The text of the value.
    pub value: String,
}

/// The property that a metadata element sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MetaKind {
    /// `process_name`
    ProcessName,
    /// `process_labels`
    ProcessLabels,
    /// `process_sort_index`
    ProcessSortIndex,
    /// `thread_name`
    ThreadName,
    /// `thread_sort_index`
    ThreadSortIndex,
}

/// The last value of each property, by kind, process and thread.
pub type Metas = FxHashMap<(MetaKind, Id, Id), Meta>;

impl MetaKind {
    /// Whether the property belongs to a process, including all its threads.
    pub fn is_of_process(self) -> bool {
        matches!(self, Self::ProcessName | Self::ProcessLabels | Self::ProcessSortIndex)
    }
}

/// Returns the property that a metadata element with this name sets, and the raw text of its value
/// if the value is usable.
pub fn property<'a>(name: &[u8], args: &'a [u8]) -> Option<(MetaKind, Option<&'a [u8]>)> {
    let (kind, field): (_, &[u8]) = match name {
        b"process_name" => (MetaKind::ProcessName, b"name"),
        b"thread_name" => (MetaKind::ThreadName, b"name"),
        b"process_labels" => (MetaKind::ProcessLabels, b"labels"),
        b"process_sort_index" => (MetaKind::ProcessSortIndex, b"sort_index"),
        b"thread_sort_index" => (MetaKind::ThreadSortIndex, b"sort_index"),
        _ => return None,
    };
    let mut found = None;
    if args.first() == Some(&b'{') {
        let _ = Cursor::new(args, 0).object(|key, value| {
            if key == field {
                found = Some(value);
            }
        });
    }
    let wants_text = !matches!(kind, MetaKind::ProcessSortIndex | MetaKind::ThreadSortIndex);
    Some((
        kind,
        found.filter(|raw| json::is_text(raw) || (!wants_text && json::float(raw).is_some())),
    ))
}
