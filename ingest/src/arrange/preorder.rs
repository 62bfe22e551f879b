//! Assigns preorder numbers to rows: only the descendants of an event lie between the event and its
//! last descendant.
//!
//! Rows are in the order of their starts, which is a preorder unless events overlap: the starts of
//! the children of two overlapping events can alternate. Only trees with such events are numbered
//! here.

use super::nest::{NO_ROW, Nest};
use super::spill::SpillVec;
use crate::error::Result;

/// The rows from one outermost event up to the next.
#[derive(Default)]
pub struct Tree {
    /// Whether any of its rows is not a child of the innermost event that is open at its start.
    pub mixed: bool,
    first: u32,
    /// The parent of each row, both counted from `first`; [`NO_ROW`] for none.
    parents: Vec<u32>,
}

impl Tree {
    /// Adds the next row.
    pub fn add(&mut self, row: u32, parent: Option<u32>) {
        if self.parents.is_empty() {
            self.first = row;
        }
        self.parents.push(parent.map_or(NO_ROW, |parent| parent - self.first));
    }

    /// Assigns preorder numbers if they differ from the row numbers, and starts the next tree.
    pub fn finish(&mut self, nests: &mut SpillVec<Nest>) -> Result<()> {
        if std::mem::take(&mut self.mixed) {
            let (pre, sizes) = number(&self.parents);
            for (i, (pre, size)) in pre.into_iter().zip(sizes).enumerate() {
                nests.update(self.first as usize + i, |nest| {
                    nest.pre = self.first + pre;
                    nest.post = nest.pre + size - 1;
                })?;
            }
        }
        self.parents.clear();
        Ok(())
    }
}

/// Computes the number of each row and the size of its subtree. Parents must come before their
/// children.
fn number(parents: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut sizes = vec![1u32; parents.len()];
    for i in (0..parents.len()).rev() {
        if parents[i] != NO_ROW {
            sizes[parents[i] as usize] += sizes[i];
        }
    }
    // For each row, the number of its next child.
    let mut next = vec![0u32; parents.len()];
    let (mut pre, mut next_root) = (Vec::with_capacity(parents.len()), 0);
    for (i, &parent) in parents.iter().enumerate() {
        let free = if parent == NO_ROW { &mut next_root } else { &mut next[parent as usize] };
        let own = *free;
        *free += sizes[i];
        next[i] = own + 1;
        pre.push(own);
    }
    (pre, sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subtrees_are_together() {
        // Row a encloses b and c, which overlap; d is in c, e is in b, and f is another outermost
        // event.
        let parents = [NO_ROW, 0, 0, 2, 1, NO_ROW];
        let (pre, sizes) = number(&parents);
        assert_eq!((pre, sizes), (vec![0, 1, 3, 4, 2, 5], vec![5, 2, 2, 1, 1, 1]));
    }
}
