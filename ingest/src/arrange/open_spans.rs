//! The events of a track that are open at a given time, and which of them enclose another event.
//!
//! Searching all open events for each row would take quadratic time where events overlap. So the
//! candidates are also kept in two stacks, in which each entry ends later than the entry above it.

use crate::trace::{EventRecord, IS_OP};

/// An open event.
#[derive(Debug, Clone, Copy)]
pub struct Open {
    /// Row number.
    pub row: u32,
    /// Position in the event list.
    pub ord: u32,
    /// Start, ns.
    pub ts: i64,
    /// End used for nesting, ns.
    pub end: i64,
    /// Duration, ns; `NO_TIME` if the event has no end.
    pub dur: i64,
    /// The time up to which children cover the event, ns.
    pub covered_to: i64,
    /// Length of the union of the children, ns.
    pub children_ns: i64,
    /// Number of ancestors.
    pub depth: u32,
    /// The innermost enclosing module, the event itself if it is a module, or `NO_ROW`.
    pub module: u32,
}

impl Open {
    /// Adds the time of a child.
    #[inline]
    pub fn cover(&mut self, start: i64, end: i64) {
        if end > self.covered_to {
            self.children_ns += end.saturating_sub(start.max(self.covered_to));
            self.covered_to = end;
        }
    }

    #[inline]
    pub fn is_open_at(&self, ts: i64, zero_length: bool) -> bool {
        self.end > ts || (self.end == ts && self.ts == ts && zero_length)
    }
}

/// Open events in the order of their starts, innermost last. An event that has ended remains until
/// the events after it are removed.
#[derive(Default)]
pub struct OpenSpans {
    all: Vec<Open>,
    /// Positions of the events that may be parents. An event is left out if a later one ends at the
    /// same time or after it: the later event encloses everything that it could still enclose.
    parents: Vec<u32>,
    /// Like `parents`, but for operators only.
    operators: Vec<u32>,
}

impl OpenSpans {
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn last(&self) -> Option<&Open> {
        self.all.last()
    }

    pub fn get(&self, at: usize) -> &Open {
        &self.all[at]
    }

    pub fn get_mut(&mut self, at: usize) -> &mut Open {
        &mut self.all[at]
    }

    /// Adds the event of a record. It must not start before the other events.
    pub fn push(&mut self, open: Open, record: &EventRecord) {
        if record.class().encloses() {
            add(&mut self.parents, &self.all, &open);
        }
        if record.has(IS_OP) {
            add(&mut self.operators, &self.all, &open);
        }
        self.all.push(open);
    }

    pub fn pop(&mut self) -> Option<Open> {
        let top = self.all.pop();
        let gone = |at: &mut u32| *at as usize == self.all.len();
        self.parents.pop_if(gone);
        self.operators.pop_if(gone);
        top
    }

    /// Returns the position of the innermost event that fully encloses a record and may be its
    /// parent.
    #[inline]
    pub fn parent_of(&self, record: &EventRecord) -> Option<usize> {
        self.around(&self.parents, record)
    }

    /// Returns the innermost operator that encloses a launch, even if other events overlap both.
    pub fn operator_around(&self, record: &EventRecord) -> Option<&Open> {
        self.around(&self.operators, record).map(|at| &self.all[at])
    }

    /// Returns the outermost event that starts at a given time.
    pub fn first_starting_at(&self, ts: i64) -> Option<&Open> {
        let at = self.all.partition_point(|open| open.ts < ts);
        self.all.get(at).filter(|open| open.ts == ts)
    }

    #[inline]
    fn around(&self, list: &[u32], record: &EventRecord) -> Option<usize> {
        let (end, zero) = (record.end(), record.extent() == 0);
        let open = |at: u32| &self.all[at as usize];
        let mut lasting = list.len();
        if list.last().is_some_and(|&at| open(at).end < end) {
            lasting = list.partition_point(|&at| open(at).end >= end);
        }
        // Among the events that end late enough, only the last can have ended already. This happens
        // when a zero-length event follows at its end.
        list[..lasting]
            .iter()
            .rev()
            .find(|&&at| open(at).is_open_at(record.ts, zero))
            .map(|&at| at as usize)
    }
}

fn add(list: &mut Vec<u32>, all: &[Open], open: &Open) {
    while list.pop_if(|at| all[*at as usize].end <= open.end).is_some() {}
    list.push(all.len() as u32);
}
