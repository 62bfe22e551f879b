//! Pairs the rows of two call trees, so that comparable calls are shown side by side.

use std::collections::HashMap;
use std::ops::Range;

/// A tree as rows in the order of siblings. Each row has an id, its parent's id, and optionally a
/// key for pairing.
pub(super) struct Tree {
    ids: Vec<i64>,
    keys: Vec<Option<String>>,
    children: Vec<Vec<usize>>,
    outermost: Vec<usize>,
}

/// Reasons why rows do not form a tree.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// Two rows have this id.
    Twice(i64),
    /// A row is its own ancestor.
    Circle,
}

impl Tree {
    /// Builds a tree from rows. A row whose parent is not one of the rows is outermost.
    pub fn new(
        ids: Vec<i64>,
        parents: &[Option<i64>],
        keys: Vec<Option<String>>,
    ) -> Result<Self, Broken> {
        let mut places = HashMap::with_capacity(ids.len());
        for (at, id) in ids.iter().enumerate() {
            if places.insert(*id, at).is_some() {
                return Err(Broken::Twice(*id));
            }
        }
        let mut tree =
            Self { children: vec![Vec::new(); ids.len()], outermost: Vec::new(), ids, keys };
        for (at, parent) in parents.iter().enumerate() {
            match parent.and_then(|p| places.get(&p)) {
                Some(parent) => tree.children[*parent].push(at),
                None => tree.outermost.push(at),
            }
        }
        if tree.downwards().len() < tree.ids.len() { Err(Broken::Circle) } else { Ok(tree) }
    }

    /// Returns all rows from the outermost ones down, parents before their children.
    fn downwards(&self) -> Vec<usize> {
        let mut order = self.outermost.clone();
        let mut next = 0;
        while next < order.len() {
            order.extend(&self.children[order[next]]);
            next += 1;
        }
        order
    }
}

/// Rows of both trees that are paired with each other.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pair {
    /// The position of the pair in the tree of pairs, as the number of the child at each level:
    /// `0-3-1`.
    pub path: String,
    /// The number of the last pair inside this pair. All pairs from this one up to that one are
    /// inside.
    pub last: usize,
    /// The ids that are compared, for each side.
    pub sides: [Vec<i64>; 2],
    /// The ids of all rows that belong to this pair and to no inner pair, for each side.
    pub inside: [Vec<i64>; 2],
}

/// A pair whose inner pairs have not been found yet.
struct Open {
    path: String,
    parent: usize,
    sides: [Vec<usize>; 2],
}

/// Pairs two trees. The first pair consists of all outermost rows. Within the first pair, and
/// within each pair of one row per side, the lists of children are divided by `stretches`.
pub(super) fn align(trees: [&Tree; 2]) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut parents = Vec::new();
    let mut pair_of = trees.map(|t| vec![usize::MAX; t.ids.len()]);
    let mut open =
        vec![Open { path: "0".to_owned(), parent: 0, sides: trees.map(|t| t.outermost.clone()) }];
    while let Some(Open { path, parent, sides }) = open.pop() {
        let place = pairs.len();
        for (rows, pair_of) in sides.iter().zip(&mut pair_of) {
            for row in rows {
                pair_of[*row] = place;
            }
        }
        let lists = match (&sides[0][..], &sides[1][..]) {
            ([left], [right]) => {
                Some([trees[0].children[*left].as_slice(), trees[1].children[*right].as_slice()])
            }
            ([_, _, ..], [_, _, ..]) => Some([sides[0].as_slice(), sides[1].as_slice()]),
            _ => None,
        };
        // The order is reversed, because the pair opened last is handled first.
        for (i, of) in
            lists.map(|l| stretches(trees, l)).unwrap_or_default().into_iter().enumerate().rev()
        {
            open.push(Open { path: format!("{path}-{i}"), parent: place, sides: of });
        }
        let ids =
            [0, 1].map(|side: usize| sides[side].iter().map(|row| trees[side].ids[*row]).collect());
        pairs.push(Pair { path, last: place, sides: ids, inside: [Vec::new(), Vec::new()] });
        parents.push(parent);
    }
    for place in (1..pairs.len()).rev() {
        let (parent, last) = (parents[place], pairs[place].last);
        pairs[parent].last = pairs[parent].last.max(last);
    }
    for (side, (tree, pair_of)) in trees.into_iter().zip(&mut pair_of).enumerate() {
        for row in tree.downwards() {
            let place = pair_of[row];
            pairs[place].inside[side].push(tree.ids[row]);
            for child in &tree.children[row] {
                if pair_of[*child] == usize::MAX {
                    pair_of[*child] = place;
                }
            }
        }
    }
    pairs
}

/// Divides two lists into stretches that are paired with each other. There are no stretches if no
/// rows pair up.
///
/// Each row of the left list that has a key is paired with the first row on the right that has the
/// same key and comes after all rows paired so far. The rows between two such pairs are paired with
/// each other too.
fn stretches(trees: [&Tree; 2], lists: [&[usize]; 2]) -> Vec<[Vec<usize>; 2]> {
    let mut on_the_right: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, row) in lists[1].iter().enumerate() {
        if let Some(key) = &trees[1].keys[*row] {
            on_the_right.entry(key).or_default().push(at);
        }
    }
    let mut parts = Vec::new();
    let mut from = [0, 0];
    let part = |left: Range<usize>, right: Range<usize>| {
        [lists[0][left].to_vec(), lists[1][right].to_vec()]
    };
    for (left, row) in lists[0].iter().enumerate() {
        let Some(places) = trees[0].keys[*row].as_deref().and_then(|key| on_the_right.get(key))
        else {
            continue;
        };
        let Some(right) = places.get(places.partition_point(|place| *place < from[1])) else {
            continue;
        };
        if left > from[0] || *right > from[1] {
            parts.push(part(from[0]..left, from[1]..*right));
        }
        parts.push(part(left..left + 1, *right..right + 1));
        from = [left + 1, right + 1];
    }
    if !parts.is_empty() && (from[0] < lists[0].len() || from[1] < lists[1].len()) {
        parts.push(part(from[0]..lists[0].len(), from[1]..lists[1].len()));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a tree from rows of id, parent (0 for none) and key (empty for none).
    fn tree(rows: &[(i64, i64, &str)]) -> Tree {
        let parents: Vec<Option<i64>> = rows.iter().map(|r| (r.1 != 0).then_some(r.1)).collect();
        let keys = rows.iter().map(|r| (!r.2.is_empty()).then(|| r.2.to_owned())).collect();
        Tree::new(rows.iter().map(|r| r.0).collect(), &parents, keys).expect("a tree")
    }

    fn shown(left: &Tree, right: &Tree) -> Vec<String> {
        let pairs = align([left, right]);
        pairs
            .iter()
            .map(|p| {
                format!(
                    "{} {} {:?} {:?} {:?} {:?}",
                    p.path, p.last, p.sides[0], p.sides[1], p.inside[0], p.inside[1]
                )
            })
            .collect()
    }

    #[test]
    fn lists_are_cut_at_pairs() {
        let left =
            tree(&[(1, 0, ""), (2, 0, "m"), (3, 2, "k"), (4, 0, ""), (5, 0, "m"), (6, 0, "")]);
        let right = tree(&[(11, 0, "m"), (12, 11, "k"), (13, 0, ""), (14, 13, ""), (15, 0, "m")]);
        let expected = [
            "0 6 [1, 2, 4, 5, 6] [11, 13, 15] [] []",
            "0-0 1 [1] [] [1] []",
            "0-1 3 [2] [11] [2] [11]",
            "0-1-0 3 [3] [12] [3] [12]",
            "0-2 4 [4] [13] [4] [13, 14]",
            "0-3 5 [5] [15] [5] [15]",
            "0-4 6 [6] [] [6] []",
        ];
        assert_eq!(shown(&left, &right), expected);
    }

    #[test]
    fn the_right_side_never_goes_back() {
        let (left, right) = (
            tree(&[(1, 0, "a"), (2, 0, "b"), (3, 0, "a")]),
            tree(&[(11, 0, "b"), (12, 0, "a"), (13, 0, "b"), (14, 0, "c")]),
        );
        let expected = [
            "0 4 [1, 2, 3] [11, 12, 13, 14] [] []",
            "0-0 1 [] [11] [] [11]",
            "0-1 2 [1] [12] [1] [12]",
            "0-2 3 [2] [13] [2] [13]",
            "0-3 4 [3] [14] [3] [14]",
        ];
        assert_eq!(shown(&left, &right), expected);
    }

    #[test]
    fn lists_without_a_common_key_stay_whole() {
        let (left, right) = (tree(&[(1, 0, "a"), (2, 1, "")]), tree(&[(11, 0, "b"), (12, 0, "c")]));
        assert_eq!(shown(&left, &right), ["0 0 [1] [11, 12] [1, 2] [11, 12]"]);
        // Single rows on both sides are paired regardless of their keys, and so are their children.
        let (left, right) =
            (tree(&[(1, 0, "a"), (2, 1, "x"), (3, 1, "")]), tree(&[(11, 0, "b"), (12, 11, "x")]));
        assert_eq!(
            shown(&left, &right),
            ["0 2 [1] [11] [1] [11]", "0-0 1 [2] [12] [2] [12]", "0-1 2 [3] [] [3] []"]
        );
        assert_eq!(shown(&tree(&[]), &tree(&[])), ["0 0 [] [] [] []"]);
    }

    #[test]
    fn rows_that_form_no_tree_are_refused() {
        assert_eq!(
            Tree::new(vec![1, 1], &[None, None], vec![None, None]).err(),
            Some(Broken::Twice(1))
        );
        assert_eq!(
            Tree::new(vec![1, 2], &[Some(2), Some(1)], vec![None, None]).err(),
            Some(Broken::Circle)
        );
        assert_eq!(
            Tree::new(vec![1, 2], &[Some(1), None], vec![None, None]).err(),
            Some(Broken::Circle)
        );
    }
}
