//! Follows the allocations of one device through its history.
//!
//! An allocation lives from its `alloc` to its `free_completed`. Memory that is freed without an
//! `alloc`, or that an active block holds at the end without one, was allocated before the history
//! began.

use rustc_hash::FxHashMap;

use super::records::{ABSENT, Entry, HAS_DEVICE_FREE};

/// The actions of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Alloc,
    FreeRequested,
    Free,
    SegmentAlloc,
    SegmentFree,
    SegmentMap,
    SegmentUnmap,
    Snapshot,
    Oom,
    Annotate,
    Unknown,
}

impl Action {
    /// Recognises an action by its text. `free` is the name of `free_completed` in old snapshots.
    pub fn of(text: &[u8]) -> Self {
        match text {
            b"alloc" => Self::Alloc,
            b"free_requested" => Self::FreeRequested,
            b"free_completed" | b"free" => Self::Free,
            b"segment_alloc" => Self::SegmentAlloc,
            b"segment_free" => Self::SegmentFree,
            b"segment_map" => Self::SegmentMap,
            b"segment_unmap" => Self::SegmentUnmap,
            b"snapshot" => Self::Snapshot,
            b"oom" => Self::Oom,
            b"annotate" => Self::Annotate,
            _ => Self::Unknown,
        }
    }

    /// Returns the text of `memory.action`; `None` for an unknown action.
    pub fn text(self) -> Option<&'static str> {
        Some(match self {
            Self::Alloc => "alloc",
            Self::FreeRequested => "free_requested",
            Self::Free => "free",
            Self::SegmentAlloc => "segment_alloc",
            Self::SegmentFree => "segment_free",
            Self::SegmentMap => "segment_map",
            Self::SegmentUnmap => "segment_unmap",
            Self::Snapshot => "snapshot",
            Self::Oom => "oom",
            Self::Annotate => "annotate",
            Self::Unknown => return None,
        })
    }

    /// Returns -1 for an action that gives memory back, otherwise 1.
    pub fn sign(self) -> i64 {
        if matches!(self, Self::Free | Self::SegmentFree | Self::SegmentUnmap) { -1 } else { 1 }
    }

    /// Whether the action changes what is reserved.
    pub fn changes_reserved(self) -> bool {
        matches!(
            self,
            Self::SegmentAlloc | Self::SegmentFree | Self::SegmentMap | Self::SegmentUnmap
        )
    }
}

#[derive(Debug, Clone, Copy)]
struct Open {
    size: i64,
    id: i64,
}

/// The allocations of a device.
#[derive(Debug, Default)]
pub struct Ledger {
    open: FxHashMap<i64, Open>,
    /// Ids of memory from before the history that was freed in it.
    freed: FxHashMap<i64, i64>,
    /// Ids of memory from before the history whose free was requested.
    requested: FxHashMap<i64, i64>,
    next_earlier: i64,
    /// Bytes live now, less those live before the history.
    pub live: i64,
    /// Bytes reserved now, less those reserved before the history.
    pub reserved: i64,
    /// Bytes live before the history.
    pub initial_bytes: i64,
    /// Allocations live before the history.
    pub initial_count: u64,
    /// Bytes allocated in the history.
    pub allocated: i64,
    /// Bytes freed in the history.
    pub freed_bytes: i64,
    /// Allocations of addresses that were not freed before.
    pub missing_frees: u64,
}

impl Ledger {
    fn earlier(&mut self) -> i64 {
        self.next_earlier -= 1;
        self.next_earlier
    }

    /// Takes the next entry, whose address is usable; returns the allocation that it concerns.
    pub fn take(&mut self, entry: &Entry, action: Action, event_id: i64) -> Option<i64> {
        let size = if entry.size == ABSENT { 0 } else { entry.size };
        if action.changes_reserved() {
            self.reserved = self.reserved.saturating_add(action.sign() * size);
            return None;
        }
        if entry.addr == ABSENT || entry.flags & HAS_DEVICE_FREE != 0 {
            return None;
        }
        match action {
            Action::Alloc => {
                if let Some(old) = self.open.insert(entry.addr, Open { size, id: event_id }) {
                    self.missing_frees += 1;
                    self.live = self.live.saturating_sub(old.size);
                    self.freed_bytes = self.freed_bytes.saturating_add(old.size);
                }
                self.live = self.live.saturating_add(size);
                self.allocated = self.allocated.saturating_add(size);
                Some(event_id)
            }
            Action::FreeRequested => match self.open.get(&entry.addr) {
                Some(open) => Some(open.id),
                None if self.freed.contains_key(&entry.addr) => None,
                None => match self.requested.get(&entry.addr) {
                    Some(id) => Some(*id),
                    None => {
                        let id = self.earlier();
                        self.requested.insert(entry.addr, id);
                        Some(id)
                    }
                },
            },
            Action::Free => {
                let (size, id) = match self.open.remove(&entry.addr) {
                    Some(open) => (open.size, open.id),
                    None if self.freed.contains_key(&entry.addr) => return None,
                    None => {
                        let known = self.requested.remove(&entry.addr);
                        let id = known.unwrap_or_else(|| self.earlier());
                        self.freed.insert(entry.addr, id);
                        self.initial_bytes = self.initial_bytes.saturating_add(size);
                        self.initial_count += 1;
                        (size, id)
                    }
                };
                self.live = self.live.saturating_sub(size);
                self.freed_bytes = self.freed_bytes.saturating_add(size);
                Some(id)
            }
            Action::Annotate => self.open.get(&entry.addr).map(|open| open.id),
            _ => None,
        }
    }

    /// Takes a block that is allocated at the end; returns its allocation.
    pub fn active(&mut self, address: i64, requested: i64) -> Option<i64> {
        if let Some(open) = self.open.get(&address) {
            return Some(open.id);
        }
        // The memory was freed, so its second allocation is missing in the history.
        if self.freed.contains_key(&address) {
            return None;
        }
        let known = self.requested.remove(&address);
        let id = known.unwrap_or_else(|| self.earlier());
        self.freed.insert(address, id);
        self.initial_bytes = self.initial_bytes.saturating_add(requested);
        self.initial_count += 1;
        Some(id)
    }

    /// Takes a block that waits for other streams at the end; returns its allocation and whether
    /// its memory counts as live, because its allocation is recorded.
    pub fn pending(&self, address: i64) -> (Option<i64>, bool) {
        match self.open.get(&address) {
            Some(open) => (Some(open.id), true),
            None => (self.requested.get(&address).copied(), false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::NOTHING;
    use super::*;

    fn entry(addr: i64, size: i64) -> Entry {
        Entry {
            addr,
            size,
            time_us: 0,
            stream: 0,
            action: 0,
            frames: NOTHING,
            rest: NOTHING,
            flags: 0,
        }
    }

    #[test]
    fn memory_from_before_the_history_counts_as_initial() {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.take(&entry(16, 100), Action::FreeRequested, 0), Some(-1));
        assert_eq!(ledger.take(&entry(16, 100), Action::Free, 1), Some(-1));
        assert_eq!(ledger.take(&entry(16, 7), Action::Alloc, 2), Some(2));
        assert_eq!(ledger.active(16, 7), Some(2));
        assert_eq!(ledger.active(32, 50), Some(-2));
        let end = ledger.initial_bytes + ledger.live;
        assert_eq!((ledger.initial_bytes, ledger.initial_count, end), (150, 2, 57));
    }

    #[test]
    fn an_address_that_is_allocated_twice_counts_once() {
        let mut ledger = Ledger::default();
        ledger.take(&entry(16, 100), Action::Alloc, 0);
        ledger.take(&entry(16, 30), Action::Alloc, 1);
        assert_eq!((ledger.live, ledger.missing_frees), (30, 1));
    }
}
