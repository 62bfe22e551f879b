//! The events of a track that are open at a time, and which of them enclose another.
//!
//! Looking through all of them for each row would take time that grows with the square of their
//! number where events overlap. So those that can be found are kept in two lists besides, of which
//! each ends later than the next.

use crate::trace::{IS_OP, Key};

/// An open event.
#[derive(Debug, Clone, Copy)]
pub struct Open {
    pub row: u32,
    pub ord: u32,
    pub ts: i64,
    pub end: i64,
    pub dur: i64,
    pub covered_to: i64,
    pub children_ns: i64,
    pub depth: u32,
    pub module: u32,
}

impl Open {
    #[inline]
    pub fn is_open_at(&self, ts: i64, zero_length: bool) -> bool {
        self.end > ts || (self.end == ts && self.ts == ts && zero_length)
    }
}

/// Open events in the order of their starts, innermost last. One that ended stays until those after
/// it are gone.
#[derive(Default)]
pub struct OpenEvents {
    all: Vec<Open>,
    /// Positions of those that may be parents. One that ends no later than a later one is left out:
    /// whatever it encloses the later one encloses too, and it is over when the later one is.
    parents: Vec<u32>,
    /// The same of operators.
    operators: Vec<u32>,
}

impl OpenEvents {
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

    /// Adds the event of a key, which starts no earlier than the others.
    pub fn push(&mut self, open: Open, key: &Key) {
        if key.class().encloses() {
            add(&mut self.parents, &self.all, &open);
        }
        if key.has(IS_OP) {
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

    /// Position of the innermost event that encloses a key fully and may be its parent.
    #[inline]
    pub fn parent_of(&self, key: &Key) -> Option<usize> {
        self.around(&self.parents, key)
    }

    /// The innermost operator that contains a launch, whatever overlaps the two.
    pub fn operator_around(&self, key: &Key) -> Option<&Open> {
        self.around(&self.operators, key).map(|at| &self.all[at])
    }

    /// The outermost of those that start at a time.
    pub fn first_starting_at(&self, ts: i64) -> Option<&Open> {
        let at = self.all.partition_point(|open| open.ts < ts);
        self.all.get(at).filter(|open| open.ts == ts)
    }

    #[inline]
    fn around(&self, list: &[u32], key: &Key) -> Option<usize> {
        let (end, zero) = (key.end(), key.extent() == 0);
        let open = |at: u32| &self.all[at as usize];
        let mut lasting = list.len();
        if list.last().is_some_and(|&at| open(at).end < end) {
            lasting = list.partition_point(|&at| open(at).end >= end);
        }
        // Of those that end late enough only the last can be over, where a zero-length event
        // follows at its end.
        list[..lasting]
            .iter()
            .rev()
            .find(|&&at| open(at).is_open_at(key.ts, zero))
            .map(|&at| at as usize)
    }
}

fn add(list: &mut Vec<u32>, all: &[Open], open: &Open) {
    while list.pop_if(|at| all[*at as usize].end <= open.end).is_some() {}
    list.push(all.len() as u32);
}
