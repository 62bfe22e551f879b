//! The intervals of all groups, in one flat list.
//!
//! One list for all groups costs 24 bytes per interval and nothing per group, so many small groups
//! need little memory. If only unions matter, the list is compacted whenever its size has doubled,
//! and sorted input is merged on arrival.

use datafusion_expr::EmitTo;

use crate::intervals::algorithm::Span;
use crate::intervals::algorithm::merge::merge;

/// An interval with its group, and with its set if there are sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Group number.
    pub group: u32,
    /// Set number, or 0.
    pub set: u32,
    /// The interval. It is not empty.
    pub span: Span,
}

/// The intervals of groups.
#[derive(Debug, Clone)]
pub struct Rows {
    rows: Vec<Row>,
    groups: usize,
    unite: bool,
    compact_at: usize,
}

const COMPACT_AT: usize = 1 << 13;

impl Rows {
    /// Creates an empty list. If `unite` is true, intervals of the same group and set may be
    /// replaced by their union.
    pub fn new(unite: bool) -> Self {
        Self { rows: Vec::new(), groups: 0, unite, compact_at: COMPACT_AT }
    }

    /// Returns the number of groups.
    #[cfg(test)]
    fn groups(&self) -> usize {
        self.groups
    }

    /// Increases the number of groups to at least `groups`.
    pub fn grow(&mut self, groups: usize) {
        self.groups = self.groups.max(groups);
    }

    /// Returns the memory use in bytes.
    pub fn size(&self) -> usize {
        self.rows.capacity() * size_of::<Row>()
    }

    /// Adds an interval, unless it is empty.
    pub fn push(&mut self, row: Row) {
        if row.span.is_empty() {
            return;
        }
        if self.unite {
            if let Some(last) = self.rows.last_mut()
                && (last.group, last.set) == (row.group, row.set)
                && last.span.start <= row.span.start
                && row.span.start <= last.span.end
            {
                last.span.end = last.span.end.max(row.span.end);
                return;
            }
            if self.rows.len() >= self.compact_at {
                self.compact();
            }
        }
        self.rows.push(row);
    }

    /// Replaces the intervals of each group and set by their union, if this is allowed.
    pub fn compact(&mut self) {
        if !self.unite {
            return;
        }
        self.by_group(|row| (row.set, row.span.start));
        let mut kept = 0;
        let mut from = 0;
        while from < self.rows.len() {
            let Row { group, set, .. } = self.rows[from];
            let len =
                self.rows[from..].iter().take_while(|r| (r.group, r.set) == (group, set)).count();
            // There are never more parts than rows, so the parts can be written before the rows
            // that are still to be read.
            let mut open = self.rows[from];
            for at in from..from + len {
                let span = self.rows[at].span;
                if span.start <= open.span.end {
                    open.span.end = open.span.end.max(span.end);
                } else {
                    self.rows[kept] = open;
                    kept += 1;
                    open.span = span;
                }
            }
            self.rows[kept] = open;
            kept += 1;
            from += len;
        }
        self.rows.truncate(kept);
        self.compact_at = COMPACT_AT.max(2 * kept).max(4 * self.groups);
    }

    /// Sorts the intervals by group and start.
    pub fn sort(&mut self) {
        self.by_group(|row| row.span.start);
    }

    /// Iterates over the intervals of each group. The rows must be in the order of groups.
    pub fn each_group(&self) -> impl Iterator<Item = &[Row]> {
        let mut rest = self.rows.as_slice();
        (0..self.groups).map(move |group| {
            let len = rest.iter().take_while(|r| r.group as usize == group).count();
            let (own, others) = rest.split_at(len);
            rest = others;
            own
        })
    }

    /// Removes and returns the first groups. The groups after them move to the front.
    pub fn take(&mut self, emit: EmitTo) -> Self {
        let first = match emit {
            EmitTo::First(first) if first < self.groups => first,
            _ => {
                let empty = Self { compact_at: self.compact_at, ..Self::new(self.unite) };
                return std::mem::replace(self, empty);
            }
        };
        let mut taken = Self { groups: first, ..Self::new(self.unite) };
        taken.rows = self.rows.extract_if(.., |row| (row.group as usize) < first).collect();
        self.rows.iter_mut().for_each(|row| row.group -= first as u32);
        self.groups -= first;
        taken
    }

    /// Sorts the rows by group, and within a group by a key.
    fn by_group<K: Ord>(&mut self, key: impl Fn(&Row) -> K) {
        if !self.rows.is_sorted_by_key(|r| r.group) {
            self.rows = self.scattered();
        }
        let mut rest = self.rows.as_mut_slice();
        while let Some(first) = rest.first() {
            let group = first.group;
            let len = rest.iter().take_while(|r| r.group == group).count();
            let (own, others) = rest.split_at_mut(len);
            if !own.is_sorted_by_key(&key) {
                own.sort_unstable_by_key(&key);
            }
            rest = others;
        }
    }

    /// Returns the rows in the order of groups. It uses a counting sort, because group numbers are
    /// dense.
    fn scattered(&self) -> Vec<Row> {
        let mut next = vec![0usize; self.groups + 1];
        for row in &self.rows {
            next[row.group as usize + 1] += 1;
        }
        for group in 0..self.groups {
            next[group + 1] += next[group];
        }
        let Some(first) = self.rows.first() else { return Vec::new() };
        let mut out = vec![*first; self.rows.len()];
        for row in &self.rows {
            let at = &mut next[row.group as usize];
            out[*at] = *row;
            *at += 1;
        }
        out
    }
}

/// Computes the union of rows that are in the order of starts.
pub fn united(rows: &[Row], each: impl FnMut(Span)) {
    merge(rows.iter().map(|r| r.span), each);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::algorithm::testing::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        vec(
            (0..4u32, 0..3u32, grid_span()).prop_map(|(group, set, span)| Row { group, set, span }),
            0..40,
        )
    }

    fn covered(rows: &[Row], group: u32, set: u32) -> Vec<i64> {
        GRID.filter(|t| rows.iter().any(|r| (r.group, r.set) == (group, set) && r.span.holds(*t)))
            .collect()
    }

    proptest! {
        #[test]
        fn compacting_keeps_every_instant(input in rows(), compact_at in 1..10usize) {
            let mut kept = Rows { compact_at, ..Rows::new(true) };
            for row in &input {
                kept.grow(row.group as usize + 1);
                kept.push(*row);
                if kept.rows.len() > compact_at {
                    kept.compact();
                }
            }
            kept.compact();
            for group in 0..4 {
                for set in 0..3 {
                    let spans: Vec<Span> = kept
                        .rows
                        .iter()
                        .filter(|r| (r.group, r.set) == (group, set))
                        .map(|r| r.span)
                        .collect();
                    prop_assert_eq!(instants(&spans), covered(&input, group, set));
                    prop_assert!(spans.windows(2).all(|w| w[0].end < w[1].start));
                }
            }
        }

        #[test]
        fn the_first_groups_are_removed_and_the_others_move_up(
            input in rows(),
            first in 0..5usize
        ) {
            let mut all = Rows::new(false);
            all.grow(4);
            input.iter().for_each(|row| all.push(*row));
            let mut taken = all.take(EmitTo::First(first));
            prop_assert_eq!(taken.groups(), first.min(4));
            for (mut part, offset) in [(taken.clone(), 0), (all, taken.groups())] {
                part.sort();
                for (group, own) in part.each_group().enumerate() {
                    let mut wanted: Vec<Span> = input
                        .iter()
                        .filter(|r| r.group as usize == group + offset)
                        .map(|r| r.span)
                        .collect();
                    let mut found: Vec<Span> = own.iter().map(|r| r.span).collect();
                    prop_assert!(found.is_sorted_by_key(|s| s.start));
                    wanted.sort();
                    found.sort();
                    prop_assert_eq!(found, wanted);
                }
            }
            taken.sort();
        }
    }
}
