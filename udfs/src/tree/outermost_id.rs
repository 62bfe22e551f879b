//! `outermost_id`: the outermost row of a path to the root that has a key.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringViewArray};
use arrow::compute::cast;
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
            arguments(DOC.name, "id, parent, key", types, &[Takes::Int, Takes::Int, Takes::Text])
        }),
        result_type: |_| DataType::Int64,
        evaluate,
    }
    .into_function()
}

const DOC: FunctionDoc = FunctionDoc {
    name: "outermost_id",
    area: "nesting",
    signature: "outermost_id(id BIGINT, parent BIGINT, key VARCHAR) OVER (PARTITION BY …) → BIGINT",
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
const MAX_KEYS: usize = 1_000;

fn evaluate(values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    if rows >= u32::MAX as usize {
        return exec_err!("{}: the window's partition has {rows} rows", DOC.name);
    }
    let int = |at: usize| cast(&values[at], &DataType::Int64);
    let (ids, parents) = (int(0)?, int(1)?);
    let ids = ids.as_primitive::<Int64Type>();
    let keys = cast(&values[2], &DataType::Utf8View)?;
    let paths = Paths::new(&Links::new(ids, parents.as_primitive()), keys.as_string_view());
    let mut found: Vec<Option<Option<usize>>> = vec![None; rows];
    let result: Int64Array = (0..rows)
        .map(|row| {
            let nearest = paths.nearest[row]?;
            let at = *found[nearest].get_or_insert_with(|| paths.outermost(nearest));
            at.and_then(|at| ids.is_valid(at).then(|| ids.value(at)))
        })
        .collect();
    Ok(Arc::new(result))
}

/// The rows with keys, linked to each other.
struct Paths<'a> {
    keys: &'a StringViewArray,
    /// The nearest row with a key: the row itself or an ancestor.
    nearest: Vec<Option<usize>>,
    /// The nearest ancestor with a key.
    above: Vec<Option<usize>>,
}

impl<'a> Paths<'a> {
    fn new(links: &Links, keys: &'a StringViewArray) -> Self {
        let rows = keys.len();
        let mut nearest = vec![None; rows];
        let mut is_known = vec![false; rows];
        let mut path = Vec::new();
        for row in 0..rows {
            let mut at = Some(row);
            // A circle ends at a row of this path, whose answer is still None.
            while let Some(row) = at.filter(|row| !is_known[*row]) {
                is_known[row] = true;
                if keys.is_valid(row) {
                    nearest[row] = Some(row);
                    break;
                }
                path.push(row);
                at = links.parent(row);
            }
            let answer = at.and_then(|at| nearest[at]);
            path.drain(..).for_each(|row| nearest[row] = answer);
        }
        let above = (0..rows)
            .map(|row| links.parent(row).filter(|_| keys.is_valid(row)).and_then(|at| nearest[at]))
            .collect();
        Self { keys, nearest, above }
    }

    /// The outermost row whose key occurs only once from the given row up to it.
    fn outermost(&self, row: usize) -> Option<usize> {
        let mut seen = HashSet::new();
        let (mut at, mut outermost) = (Some(row), None);
        for _ in 0..MAX_KEYS {
            let Some(row) = at else { break };
            if seen.insert(self.keys.value(row)) {
                outermost = Some(row);
            }
            at = self.above[row];
        }
        outermost
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn outermost(rows: &[(Option<i64>, Option<&str>)]) -> Vec<Option<i64>> {
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows.len() as i64));
        let parents: ArrayRef = Arc::new(rows.iter().map(|row| row.0).collect::<Int64Array>());
        let keys: ArrayRef = Arc::new(rows.iter().map(|row| row.1).collect::<StringViewArray>());
        let found = evaluate(&[ids, parents, keys], rows.len()).expect("few rows");
        found.as_primitive::<Int64Type>().iter().collect()
    }

    #[test]
    fn circles_end() {
        let rows = [(Some(1), None), (Some(0), None), (Some(2), Some("a")), (Some(1), Some("b"))];
        assert_eq!(outermost(&rows), [None, None, Some(2), Some(3)]);
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
