//! `align_trees`: pairs the rows of two call trees.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, ListArray, StringArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field, Fields, Int64Type};
use datafusion_common::{Result, exec_datafusion_err, exec_err, plan_err};
use datafusion_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use tracesql_formats::stacks::is_text;

use super::pairing::{Broken, Pair, Tree, align};
use crate::doc::{Call, Example, Function, FunctionDoc};
use crate::types::{columns, item_of, list_of};

/// Returns the function with its documentation.
pub fn function() -> Function {
    let signature = Signature::user_defined(Volatility::Immutable);
    Function {
        call: Call::Scalar(Arc::new(ScalarUDF::new_from_impl(AlignTrees { signature }))),
        doc: DOC,
    }
}

const DOC: FunctionDoc = FunctionDoc {
    name: "align_trees",
    area: "nesting",
    signature: "align_trees(base_ids BIGINT[], base_parents BIGINT[], base_keys VARCHAR[], \
        cand_ids BIGINT[], cand_parents BIGINT[], cand_keys VARCHAR[]) → STRUCT(place BIGINT, path \
        VARCHAR, last BIGINT, base BIGINT[], cand BIGINT[], base_inside BIGINT[], cand_inside \
        BIGINT[])[]",
    summary: "Pairs two trees of calls, so that comparable calls stand side by side.",
    detail: "A tree is three lists of one length, in the order of siblings: ids, the parents' ids, \
        and keys for pairing calls. The first pair holds all outermost calls, which are those \
        whose parent is NULL or not in the list. Two lists of calls are cut at calls with equal \
        keys: each call of the base, in order, pairs with the first call of the candidate that has \
        the same key and comes after all calls paired so far. The calls between two such pairs \
        stand side by side too. The first pair is cut in this way. If a pair is one call on each \
        side, the lists of their children are cut. A pair without a common key is not cut. Each \
        pair comes before the pairs inside it. Pairs are numbered by place from 0, and the pairs \
        inside are place + 1 to last. path gives the number of the child at each level, for \
        example 0-3-1. base and cand are the ids that are compared. base_inside and cand_inside \
        are the ids of all calls in the pair that no inner pair holds, so each id is in one list.",
    nulls: "NULL if an argument is NULL. A NULL key pairs with nothing.",
    errors: "Lists of unequal length, an id that is NULL or occurs twice, and calls that are their \
        own ancestors are refused.",
    examples: &[
        Example {
            sql: "SELECT p['path'] AS path, p['base'] AS base, p['cand'] AS cand FROM (SELECT \
                unnest(align_trees([1, 2, 3], [NULL, NULL, 2], [NULL, 'net', NULL], [7, 8], [NULL, \
                7], ['net', NULL])) AS p) ORDER BY path",
            answer: "0 | [1, 2] | [7]",
        },
        Example {
            sql: "SELECT p['path'] AS path, p['base'] AS base, p['cand'] AS cand, p['cand_inside'] \
                AS inside FROM (SELECT unnest(align_trees([1, 2, 3], [NULL, NULL, 2], [NULL, \
                'net', NULL], [7, 8, 9], [NULL, 7, NULL], ['net', NULL, NULL])) AS p) ORDER BY \
                path",
            answer: "0 | [1, 2] | [7, 9] | []\n0-0 | [1] | [] | []\n0-1 | [2] | [7] | [7, 8]\n0-2 \
                | [] | [9] | [9]",
        },
    ],
};

#[derive(Debug, PartialEq, Eq, Hash)]
struct AlignTrees {
    signature: Signature,
}

fn fields() -> Fields {
    let ids = || list_of(DataType::Int64);
    let field = |(name, data_type)| Field::new(name, data_type, true);
    let own = [("place", DataType::Int64), ("path", DataType::Utf8), ("last", DataType::Int64)];
    let lists = [("base", ids()), ("cand", ids()), ("base_inside", ids()), ("cand_inside", ids())];
    own.into_iter().chain(lists).map(field).collect()
}

impl ScalarUDFImpl for AlignTrees {
    fn name(&self) -> &str {
        DOC.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        if types.len() != 6 {
            return plan_err!(
                "align_trees takes 6 lists (ids, parents and keys of two trees); arguments given: {}",
                types.len()
            );
        }
        let coerced = |(at, data_type): (usize, &DataType)| {
            let Some(item) = item_of(data_type).or(data_type.is_null().then_some(data_type)) else {
                return plan_err!(
                    "align_trees: argument {} must be a list, not {data_type}",
                    at + 1
                );
            };
            match at % 3 {
                2 if is_text(item) || item.is_null() => Ok(list_of(DataType::Utf8)),
                2 => plan_err!(
                    "align_trees: argument {} must be a list of texts, not of {item}",
                    at + 1
                ),
                _ if item.is_integer() || item.is_null() => Ok(list_of(DataType::Int64)),
                _ => plan_err!(
                    "align_trees: argument {} must be a list of whole numbers, not of {item}",
                    at + 1
                ),
            }
        };
        types.iter().enumerate().map(coerced).collect()
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(list_of(DataType::Struct(fields())))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let columns = columns(&args)?;
        let lists: Vec<&ListArray> = columns.iter().filter_map(|c| c.as_list_opt()).collect();
        if lists.len() != 6 {
            return exec_err!("align_trees takes 6 lists");
        }
        let mut rows = Vec::with_capacity(args.number_rows);
        for row in 0..args.number_rows {
            if lists.iter().any(|l| l.is_null(row)) {
                rows.push(None);
                continue;
            }
            let (base, cand) = (tree(&lists[..3], row)?, tree(&lists[3..], row)?);
            rows.push(Some(align([&base, &cand])));
        }
        Ok(ColumnarValue::Array(Arc::new(answer(rows)?)))
    }
}

/// Reads the tree of one row.
fn tree(lists: &[&ListArray], row: usize) -> Result<Tree> {
    let [ids, parents, keys] = [lists[0].value(row), lists[1].value(row), lists[2].value(row)];
    if ids.len() != parents.len() || ids.len() != keys.len() {
        return exec_err!(
            "align_trees: a tree of {} ids has {} parents and {} keys; the lists must be equally \
             long",
            ids.len(),
            parents.len(),
            keys.len()
        );
    }
    let (ids, parents, keys) = (
        ids.as_primitive::<Int64Type>(),
        parents.as_primitive::<Int64Type>(),
        keys.as_string::<i32>(),
    );
    if ids.null_count() > 0 {
        return exec_err!("align_trees: an id is NULL");
    }
    let parents: Vec<Option<i64>> = parents.iter().collect();
    Tree::new(ids.values().to_vec(), &parents, keys.iter().map(|k| k.map(str::to_owned)).collect())
        .map_err(|broken| match broken {
            Broken::Twice(id) => {
                exec_datafusion_err!("align_trees: the id {id} occurs twice in one tree")
            }
            Broken::Circle => {
                exec_datafusion_err!("align_trees: a call is inside itself, by way of its parents")
            }
        })
}

/// Builds the result column from the pairs of all rows.
fn answer(rows: Vec<Option<Vec<Pair>>>) -> Result<ListArray> {
    let valid = NullBuffer::from_iter(rows.iter().map(Option::is_some));
    let offsets = OffsetBuffer::from_lengths(rows.iter().map(|r| r.as_ref().map_or(0, Vec::len)));
    let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let place = rows.iter().flatten().flat_map(|pairs| 0..number(pairs.len()));
    let pairs: Vec<&Pair> = rows.iter().flatten().flatten().collect();
    let ids = |of: fn(&Pair) -> &Vec<i64>| -> ArrayRef {
        let offsets = OffsetBuffer::from_lengths(pairs.iter().map(|p| of(p).len()));
        let values: ScalarBuffer<i64> = pairs.iter().flat_map(|p| of(p)).copied().collect();
        Arc::new(ListArray::new(
            Arc::new(Field::new_list_field(DataType::Int64, true)),
            offsets,
            Arc::new(Int64Array::new(values, None)),
            None,
        ))
    };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(place.collect::<Int64Array>()),
        Arc::new(pairs.iter().map(|p| Some(p.path.as_str())).collect::<StringArray>()),
        Arc::new(pairs.iter().map(|p| number(p.last)).collect::<Int64Array>()),
        ids(|p| &p.sides[0]),
        ids(|p| &p.sides[1]),
        ids(|p| &p.inside[0]),
        ids(|p| &p.inside[1]),
    ];
    let values = StructArray::try_new(fields(), columns, None)?;
    Ok(ListArray::try_new(
        Arc::new(Field::new_list_field(DataType::Struct(fields()), true)),
        offsets,
        Arc::new(values),
        Some(valid),
    )?)
}
