//! Links from rows to the rows of their parents.

use std::ops::AddAssign;

use arrow::array::Int64Array;
use arrow::compute::{max, min};
use datafusion_common::HashMap;

/// Marks a row that has no parent.
const NONE: u32 = u32::MAX;

/// The row of each row's parent.
#[derive(Debug)]
pub struct Links {
    parents: Vec<u32>,
}

/// The error that a row is its own ancestor.
#[derive(Debug, PartialEq, Eq)]
pub struct Circle {
    /// A row in the circle, or a descendant of such a row.
    pub row: usize,
}

impl Links {
    /// Finds the parent of each row. There must be fewer than 2^32 rows.
    pub fn new(ids: &Int64Array, parents: &Int64Array) -> Self {
        let rows = Rows::new(ids);
        Self { parents: parents.iter().map(|p| p.map_or(NONE, |p| rows.find(p))).collect() }
    }

    /// Returns the parent of a row.
    pub fn parent(&self, row: usize) -> Option<usize> {
        let parent = self.parents[row];
        (parent != NONE).then_some(parent as usize)
    }

    /// Computes the sum over each row's children.
    pub fn children_sums<T: Copy + Default + AddAssign>(&self, values: &[T]) -> Vec<T> {
        let mut sums = vec![T::default(); self.parents.len()];
        for (&parent, &value) in self.parents.iter().zip(values) {
            if parent != NONE {
                sums[parent as usize] += value;
            }
        }
        sums
    }

    /// Computes the sum over each row and all its descendants.
    pub fn subtree_sums<T: Copy + Default + AddAssign>(
        &self,
        values: Vec<T>,
    ) -> Result<Vec<T>, Circle> {
        let mut sums = values;
        let mut open = vec![0u32; sums.len()];
        for row in 0..sums.len() {
            if let Some(parent) = self.parent(row) {
                open[parent] += 1;
            }
        }
        // A row is complete when all its children are complete, so walk up from each leaf as far as
        // possible.
        let mut done = 0;
        for leaf in 0..sums.len() {
            if open[leaf] != 0 {
                continue;
            }
            let mut row = leaf;
            loop {
                done += 1;
                open[row] = NONE;
                let Some(parent) = self.parent(row) else { break };
                let sum = sums[row];
                sums[parent] += sum;
                open[parent] -= 1;
                // The loop over leaves will reach later rows.
                if open[parent] != 0 || parent > leaf {
                    break;
                }
                row = parent;
            }
        }
        match open.iter().position(|&o| o != NONE) {
            Some(row) if done < sums.len() => Err(Circle { row }),
            _ => Ok(sums),
        }
    }
}

/// Finds the first row with an id.
enum Rows {
    /// The ids are close together: a table indexed by id, starting at `first`.
    Dense { first: i64, rows: Vec<u32> },
    /// The ids are far apart: a hash map.
    Sparse(HashMap<i64, u32>),
}

impl Rows {
    fn new(ids: &Int64Array) -> Self {
        let (first, last) = (min(ids).unwrap_or(0), max(ids).unwrap_or(0));
        let span = last.abs_diff(first);
        if span < 8 * ids.len() as u64 + 1024 {
            let mut rows = vec![NONE; span as usize + 1];
            for (row, id) in ids.iter().enumerate() {
                if let Some(id) = id
                    && rows[id.abs_diff(first) as usize] == NONE
                {
                    rows[id.abs_diff(first) as usize] = row as u32;
                }
            }
            Self::Dense { first, rows }
        } else {
            let mut rows = HashMap::with_capacity(ids.len());
            for (row, id) in ids.iter().enumerate() {
                if let Some(id) = id {
                    rows.entry(id).or_insert(row as u32);
                }
            }
            Self::Sparse(rows)
        }
    }

    fn find(&self, id: i64) -> u32 {
        match self {
            Self::Dense { first, rows } if id >= *first => usize::try_from(id.abs_diff(*first))
                .ok()
                .and_then(|at| rows.get(at))
                .copied()
                .unwrap_or(NONE),
            Self::Dense { .. } => NONE,
            Self::Sparse(rows) => rows.get(&id).copied().unwrap_or(NONE),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn links(rows: &[(i64, i64)]) -> Links {
        let known = |id: i64| (id >= 0).then_some(id);
        let ids: Int64Array = rows.iter().map(|r| known(r.0)).collect();
        let parents: Int64Array = rows.iter().map(|r| known(r.1)).collect();
        Links::new(&ids, &parents)
    }

    #[test]
    fn first_of_equal_ids_is_the_parent() {
        let links = links(&[(5, -1), (5, -1), (6, 5), (-1, 5), (7, -1), (8, 9)]);
        assert_eq!(
            (0..6).map(|r| links.parent(r)).collect::<Vec<_>>(),
            [None, None, Some(0), Some(0), None, None]
        );
    }

    #[test]
    fn ids_far_apart() {
        let far = Links::new(
            &Int64Array::from(vec![i64::MIN, i64::MAX, 0]),
            &Int64Array::from(vec![None, Some(i64::MIN), Some(i64::MAX)]),
        );
        assert_eq!((0..3).map(|r| far.parent(r)).collect::<Vec<_>>(), [None, Some(0), Some(1)]);
        assert_eq!(far.subtree_sums(vec![1, 2, 4]), Ok(vec![7, 6, 4]));
    }

    #[test]
    fn circles_are_found() {
        assert_eq!(
            links(&[(1, 2), (2, 1), (3, -1)]).subtree_sums(vec![1, 1, 1]),
            Err(Circle { row: 0 })
        );
        assert_eq!(links(&[(0, -1), (1, 1)]).subtree_sums(vec![1, 1]), Err(Circle { row: 1 }));
    }

    #[test]
    fn no_rows_give_no_sums() {
        assert_eq!(links(&[]).subtree_sums(Vec::<i64>::new()), Ok(vec![]));
        assert_eq!(links(&[(-1, -1)]).children_sums(&[3]), [0]);
    }

    proptest! {
        /// Parents are drawn from earlier rows, and then all rows are shuffled.
        #[test]
        fn sums_equal_those_of_walking_up_the_tree(
            parents in prop::collection::vec(0usize..40, 1..40),
            keys in prop::collection::vec(0u32..1000, 40),
            stretch in 1i64..1_000_000
        ) {
            let n = parents.len();
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by_key(|&i| (keys[i], i));
            let parent_of = |i: usize| (parents[i] < i).then(|| parents[i]);
            let rows: Vec<(i64, i64)> = order
                .iter()
                .map(|&i| (i as i64 * stretch, parent_of(i).map_or(-1, |p| p as i64 * stretch)))
                .collect();
            let value = |i: usize| 1i64 << (i % 60);
            let mut children = vec![0i64; n];
            let mut total = vec![0i64; n];
            for i in 0..n {
                if let Some(p) = parent_of(i) {
                    children[p] += value(i);
                }
                let mut at = Some(i);
                while let Some(a) = at {
                    total[a] += value(i);
                    at = parent_of(a);
                }
            }
            let links = links(&rows);
            let values: Vec<i64> = order.iter().map(|&i| value(i)).collect();
            prop_assert_eq!(
                links.children_sums(&values),
                order.iter().map(|&i| children[i]).collect::<Vec<_>>()
            );
            prop_assert_eq!(
                links.subtree_sums(values).expect(
                    "no \
                circle"
                ),
                order.iter().map(|&i| total[i]).collect::<Vec<_>>()
            );
        }
    }
}
