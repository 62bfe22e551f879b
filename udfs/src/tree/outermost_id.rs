//! `outermost_id`: the outermost row of a path to the root that has a key.

use std::hash::Hash;

use arrow::array::{Array, ArrayAccessor, ArrayRef, AsArray, UInt32Array, new_null_array};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Int64Type};
use datafusion_common::{HashSet, Result, exec_err};

use super::links::Links;
use crate::doc::{Example, Function, FunctionDoc};
use crate::types::{Takes, arguments};
use crate::window::{Arguments, PartitionFunction};

/// Returns the function with its documentation.
pub fn function() -> Function {
    PartitionFunction {
        doc: DOC,
        arguments: Arguments::Coerced(|types| {
            let key = match types.get(2) {
                Some(key) if key.is_integer() => Takes::Int,
                _ => Takes::Text,
            };
            arguments(DOC.name, "id, parent, key", types, &[Takes::Int, Takes::Int, key])
        }),
        result_type: |_| DataType::Int64,
        evaluate,
    }
    .into_function()
}

const DOC: FunctionDoc = FunctionDoc {
    name: "outermost_id",
    area: "nesting",
    signature: "outermost_id(id BIGINT, parent BIGINT, key VARCHAR or BIGINT) OVER (PARTITION BY …) \
        → BIGINT",
    summary: "The id of the outermost row, among a row and its ancestors, that has a key which no \
        row between has.",
    detail: "The search begins at the row itself and goes from parent to parent. Rows whose key is \
        NULL are passed over. If several rows of the path have the same key, only the innermost of \
        them counts, so a call that wraps another one of the same name is passed over. Of more \
        than 1,000 rows with keys on a path, the innermost 1,000 count. The parent of a row is the \
        first row of the window's partition that has the id in `parent`. Order and frames \
        (ROWS …) have no effect.",
    nulls: "NULL if no row of the path has a key.",
    errors: "None.",
    examples: &[Example {
        sql: "SELECT id, outermost_id(id, parent, key) OVER () AS owner FROM (VALUES (1, NULL, \
            'norm'), (2, 1, 'add'), (3, NULL, 'bmm'), (4, 3, 'bmm'), (5, NULL, NULL)) AS t(id, \
            parent, key) ORDER BY id",
        answer: "1 | 1\n2 | 1\n3 | 3\n4 | 4\n5 | NULL",
    }],
};

/// The maximum number of rows with keys that count on a path.
const MAX_KEYS: u32 = 1_000;

fn evaluate(values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    if rows >= u32::MAX as usize {
        return exec_err!("{}: the window's partition has {rows} rows", DOC.name);
    }
    let int = |at: usize| cast(&values[at], &DataType::Int64);
    let (ids, parents) = (int(0)?, int(1)?);
    let ids = ids.as_primitive::<Int64Type>();
    if values[2].null_count() == rows {
        return Ok(new_null_array(&DataType::Int64, rows));
    }
    let links = Links::new(ids, parents.as_primitive());
    let outermost = if values[2].data_type() == &DataType::Int64 {
        Paths::new(&links, values[2].as_primitive::<Int64Type>()).outermost_rows()
    } else {
        let keys = cast(&values[2], &DataType::Utf8View)?;
        Paths::new(&links, keys.as_string_view()).outermost_rows()
    };
    Ok(take(ids, &outermost, None)?)
}

/// The position of a row, or `NONE`.
type Row = u32;
const NONE: Row = u32::MAX;

/// The rows with keys, linked to each other.
struct Paths<K> {
    keys: K,
    /// The nearest row with a key: the row itself or an ancestor.
    nearest: Vec<Row>,
    /// The nearest ancestor with a key, for rows with keys.
    above: Vec<Row>,
}

impl<K: ArrayAccessor<Item: Eq + Hash>> Paths<K> {
    fn new(links: &Links, keys: K) -> Self {
        let rows = keys.len();
        let mut nearest: Vec<Row> =
            (0..rows).map(|row| if keys.is_valid(row) { row as Row } else { NONE }).collect();
        let mut is_known = vec![false; rows];
        let mut path = Vec::new();
        for start in 0..rows {
            let mut at = Some(start);
            // A circle ends at a row of this path, whose answer is still NONE.
            while let Some(row) = at.filter(|row| nearest[*row] == NONE && !is_known[*row]) {
                is_known[row] = true;
                path.push(row);
                at = links.parent(row);
            }
            let answer = at.map_or(NONE, |at| nearest[at]);
            while let Some(row) = path.pop() {
                nearest[row] = answer;
            }
        }
        let above = (0..rows)
            .map(|row| match links.parent(row) {
                Some(parent) if nearest[row] == row as Row => nearest[parent],
                _ => NONE,
            })
            .collect();
        Self { keys, nearest, above }
    }

    /// For each row the outermost row with a key; NULL if its path has none.
    fn outermost_rows(&self) -> UInt32Array {
        let outermost = self.outermost();
        let of = |nearest: &Row| outermost.get(*nearest as usize).copied().unwrap_or(NONE);
        self.nearest.iter().map(|nearest| Some(of(nearest)).filter(|row| *row != NONE)).collect()
    }

    /// For each row with a key, the outermost row whose key occurs only once from the row up to it.
    ///
    /// It is that of the nearest row above, unless both have the same key.
    fn outermost(&self) -> Vec<Row> {
        let mut outermost = vec![NONE; self.above.len()];
        let mut keys_up = vec![UNKNOWN; self.above.len()];
        let mut path = Vec::new();
        for start in 0..self.above.len() {
            let mut at = start as Row;
            if self.nearest[start] != at {
                continue;
            }
            while at != NONE && keys_up[at as usize] == UNKNOWN {
                // A circle comes back to this row, and has no end.
                keys_up[at as usize] = ENDLESS;
                path.push(at);
                at = self.above[at as usize];
            }
            while let Some(row) = path.pop() {
                let (further, number) = match self.above[row as usize] {
                    NONE => (row, 1),
                    above => (outermost[above as usize], keys_up[above as usize] + 1),
                };
                let is_found =
                    number <= MAX_KEYS && (further == row || !self.have_equal_keys(further, row));
                outermost[row as usize] = if is_found { further } else { self.walk(row) };
                keys_up[row as usize] = number.min(ENDLESS);
            }
        }
        outermost
    }

    fn have_equal_keys(&self, a: Row, b: Row) -> bool {
        self.keys.value(a as usize) == self.keys.value(b as usize)
    }

    /// The outermost row whose key occurs only once from the given row up to it.
    fn walk(&self, row: Row) -> Row {
        let mut seen = HashSet::new();
        let (mut at, mut outermost) = (row, NONE);
        for _ in 0..MAX_KEYS {
            if at == NONE {
                break;
            }
            if seen.insert(self.keys.value(at as usize)) {
                outermost = at;
            }
            at = self.above[at as usize];
        }
        outermost
    }
}

/// Numbers of keys from a row upwards: not counted yet, and more than count.
const UNKNOWN: u32 = 0;
const ENDLESS: u32 = MAX_KEYS + 1;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Int64Array, StringViewArray};
    use proptest::prelude::*;

    use super::*;

    fn outermost(rows: &[(Option<i64>, Option<&str>)]) -> Vec<Option<i64>> {
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows.len() as i64));
        let parents: ArrayRef = Arc::new(rows.iter().map(|row| row.0).collect::<Int64Array>());
        let keys: ArrayRef = Arc::new(rows.iter().map(|row| row.1).collect::<StringViewArray>());
        // Numbers in the place of the texts give the same.
        let number = |text: &str| text.bytes().fold(0, |n, byte| 256 * n + i64::from(byte));
        let numbers = rows.iter().map(|row| row.1.map(number)).collect::<Int64Array>();
        let [by_text, by_number] = [keys, Arc::new(numbers)].map(|keys| {
            let values = [ids.clone(), parents.clone(), keys];
            let found = evaluate(&values, rows.len()).expect("few rows");
            found.as_primitive::<Int64Type>().iter().collect::<Vec<_>>()
        });
        assert_eq!(by_text, by_number);
        by_text
    }

    #[test]
    fn circles_end() {
        let rows = [(Some(1), None), (Some(0), None), (Some(2), Some("a")), (Some(1), Some("b"))];
        assert_eq!(outermost(&rows), [None, None, Some(2), Some(3)]);
    }

    #[test]
    fn the_innermost_thousand_count() {
        let names: Vec<String> = (0..1_500).map(|row| (row % 1_200).to_string()).collect();
        let rows: Vec<(Option<i64>, Option<&str>)> = names
            .iter()
            .zip(-1i64..)
            .map(|(name, parent)| ((parent >= 0).then_some(parent), Some(name.as_str())))
            .collect();
        let found = outermost(&rows);
        assert_eq!(found[999], Some(0));
        assert_eq!(found[1_000], Some(1));
        assert_eq!(found[1_499], Some(500));
    }

    proptest! {
        #[test]
        fn the_answer_is_that_of_the_definition(
            rows in prop::collection::vec((0usize..30, 0usize..5), 1..30)
        ) {
            let names = [None, None, Some("a"), Some("b"), Some("c")];
            let rows: Vec<(Option<i64>, Option<&str>)> = rows
                .iter()
                .enumerate()
                .map(|(i, (parent, key))| ((*parent < i).then_some(*parent as i64), names[*key]))
                .collect();
            let expected: Vec<Option<i64>> = (0..rows.len())
                .map(|row| {
                    let mut path = vec![row];
                    while let Some(parent) = rows[path[path.len() - 1]].0 {
                        path.push(parent as usize);
                    }
                    let last = (0..path.len()).rev().find(|i| {
                        let key = rows[path[*i]].1;
                        key.is_some() && path[..*i].iter().all(|inner| rows[*inner].1 != key)
                    });
                    last.map(|i| path[i] as i64)
                })
                .collect();
            prop_assert_eq!(outermost(&rows), expected);
        }
    }
}
