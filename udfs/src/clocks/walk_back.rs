//! `walk_back`: the chain of activities that led to the start of one.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, ListArray, StringArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field, Fields, Int64Type};
use datafusion_common::{Result, plan_err};

use crate::doc::{Example, Function, FunctionDoc};
use crate::window::{Arguments, PartitionFunction};

/// The most pieces of a chain; the rest of a longer one is its last piece.
const MAX_PIECES: usize = 4_096;

/// Returns the function with its documentation.
pub fn function() -> Function {
    PartitionFunction {
        doc: DOC,
        arguments: Arguments::Coerced(coerce),
        result_type: |_| DataType::List(item()),
        evaluate,
    }
    .into_function()
}

const DOC: FunctionDoc = FunctionDoc {
    name: "walk_back",
    area: "clocks",
    signature: "walk_back(id BIGINT, start_ns BIGINT, end_ns BIGINT, from_id BIGINT, hop_id BIGINT, \
        stop_ns BIGINT) OVER (PARTITION BY …) → STRUCT<kind VARCHAR, id BIGINT, start_ns BIGINT, \
        end_ns BIGINT>[]",
    summary: "The chain of activities that led to the start of an activity, back to a given time.",
    detail: "Each row is an activity. from_id is the activity whose end let it start; hop_id is set \
        for activities that end together with others, and is the one that all of them waited for. \
        For rows with stop_ns, the time from stop_ns to the row's start is divided into pieces \
        without holes, the latest first: lag (from the end of from_id to the start of id), work \
        (the activity id), transfer (the activity id from the start of its hop_id, where the chain \
        goes on), and origin (the time before the start of id, which has no from_id). A chain goes \
        back over 4,096 activities at most; what is left then is origin too.",
    nulls: "NULL for rows without stop_ns, id or start_ns. A from_id or hop_id that is NULL or not \
        in the partition has no effect.",
    errors: "None.",
    examples: &[Example {
        sql: "SELECT p['kind'], p['id'], p['start_ns'], p['end_ns'] FROM (SELECT unnest(walk_back(id, \
            s, e, f, h, stop) OVER ()) AS p FROM (VALUES (1, 0, 50, NULL, NULL, NULL), (2, 52, 90, \
            1, NULL, NULL), (3, 92, 99, 2, NULL, 10)) AS t(id, s, e, f, h, stop)) ORDER BY 3 DESC, 4 \
            DESC",
        answer: "lag | 3 | 90 | 92\nwork | 2 | 52 | 90\nlag | 2 | 50 | 52\nwork | 1 | 10 | 50",
    }],
};

fn fields() -> Fields {
    let int = |name| Field::new(name, DataType::Int64, true);
    Fields::from(vec![
        Field::new("kind", DataType::Utf8, true),
        int("id"),
        int("start_ns"),
        int("end_ns"),
    ])
}

fn item() -> Arc<Field> {
    Arc::new(Field::new_list_field(DataType::Struct(fields()), true))
}

fn coerce(types: &[DataType]) -> Result<Vec<DataType>> {
    if types.len() == 6 {
        return Ok(vec![DataType::Int64; 6]);
    }
    plan_err!(
        "walk_back(id, start_ns, end_ns, from_id, hop_id, stop_ns) takes 6 arguments, {} were given",
        types.len()
    )
}

/// A piece of a chain: kind, id, start and end.
type Piece = (&'static str, i64, i64, i64);

struct Activities<'a> {
    columns: Vec<&'a Int64Array>,
    rows: HashMap<i64, usize>,
}

impl Activities<'_> {
    fn get(&self, column: usize, row: usize) -> Option<i64> {
        self.columns[column].is_valid(row).then(|| self.columns[column].value(row))
    }

    /// Returns the row that a column of another row refers to.
    fn linked(&self, column: usize, row: usize) -> Option<usize> {
        self.rows.get(&self.get(column, row)?).copied()
    }

    fn walk(&self, target: usize) -> Option<Vec<Piece>> {
        let stop = self.get(5, target)?;
        let (mut row, mut now) = (target, self.get(1, target)?);
        let mut pieces = Vec::new();
        let mut add = |kind, id, from: i64, to: i64| {
            if to > from.max(stop) {
                pieces.push((kind, id, from.max(stop), to));
            }
        };
        for _ in 0..MAX_PIECES {
            if now <= stop {
                return Some(pieces);
            }
            let id = self.get(0, row)?;
            let before =
                self.linked(3, row).and_then(|b| Some((b, self.get(1, b)?, self.get(2, b)?)));
            let Some((before, start, end)) = before.filter(|&(_, s, e)| s < now && e <= now) else {
                add("origin", id, stop, now);
                return Some(pieces);
            };
            add("lag", id, end, now);
            let hop = self.linked(4, before).and_then(|h| Some((h, self.get(1, h)?)));
            let of = self.get(0, before)?;
            match hop {
                Some((last, last_start)) => {
                    row = last;
                    now = last_start.min(end);
                    add("transfer", of, now, end);
                }
                None => {
                    row = before;
                    now = start;
                    add("work", of, start, end);
                }
            }
        }
        add("origin", self.get(0, row)?, stop, now);
        Some(pieces)
    }
}

fn evaluate(values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    let columns: Vec<&Int64Array> =
        values.iter().map(|column| column.as_primitive::<Int64Type>()).collect();
    let ids = columns[0];
    let known = (0..rows).filter(|&row| ids.is_valid(row)).map(|row| (ids.value(row), row));
    let activities = Activities { rows: known.collect(), columns };
    let chains: Vec<Option<Vec<Piece>>> = (0..rows).map(|row| activities.walk(row)).collect();
    let pieces: Vec<Piece> = chains.iter().flatten().flatten().copied().collect();
    let int = |of: fn(&Piece) -> i64| -> ArrayRef {
        Arc::new(pieces.iter().map(|piece| Some(of(piece))).collect::<Int64Array>())
    };
    let columns: Vec<ArrayRef> = vec![
        Arc::new(pieces.iter().map(|piece| Some(piece.0)).collect::<StringArray>()),
        int(|piece| piece.1),
        int(|piece| piece.2),
        int(|piece| piece.3),
    ];
    Ok(Arc::new(ListArray::try_new(
        item(),
        OffsetBuffer::from_lengths(chains.iter().map(|c| c.as_ref().map_or(0, Vec::len))),
        Arc::new(StructArray::try_new(fields(), columns, None)?),
        Some(NullBuffer::from_iter(chains.iter().map(Option::is_some))),
    )?))
}
