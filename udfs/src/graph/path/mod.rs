//! Critical paths without holes: the walk from the end of a window back to its start, along what
//! each piece of work waited for.
//!
//! `model` holds the activities by lane, `orders` finds out what was queued after what, `binding`
//! decides what an activity waited for, and `walk` follows it. `schedule` has all waits, and
//! `forecast` computes the times that other lengths of work would have led to. `meetings` are the
//! collectives by which several traces of a job wait for one another. `read` reads all of them from
//! rows. `bounds` are the starts and ends of windows in other times, `graphs` the launches that CUDA
//! graphs could join. `slack` computes how much longer work could take.

mod binding;
mod bounds;
mod forecast;
mod graphs;
mod meetings;
mod model;
mod orders;
mod read;
mod schedule;
mod slack;
mod walk;

use std::sync::Arc;

use arrow::array::{BooleanArray, Int64Array, StringArray, StructArray};
use arrow::datatypes::{DataType, Field, Fields};
use datafusion_common::Result;

use super::relation::Input;
use super::rows::Rows;
use crate::threads::Threads;
use bounds::Bounds;
use forecast::{Change, MAX_MOVE_NS, Passes};
pub use read::Side;
use read::{Read, read};
use schedule::Schedule;
use slack::Slack;
use walk::Piece;

/// The columns of the activities.
pub const ACTIVITIES: &[Input] = &[
    Input::int("id"),
    Input::int("lane"),
    Input::int("team"),
    Input::int("start_ns"),
    Input::int("end_ns"),
    Input::int("role"),
    Input::int("launch_id"),
    Input::int("domain").or_null(),
];

/// The columns of the orders. They share their places with those of the activities.
pub const ORDERS: &[Input] = &[
    Input::int("call_id"),
    Input::int("lane"),
    Input::int("key"),
    Input::int("at_ns"),
    Input::int("action"),
    Input::int("domain").or_null(),
];

/// The columns of the windows.
pub const WINDOWS: &[Input] = &[
    Input::int("window_id"),
    Input::int("last_id"),
    Input::int("from_ns"),
    Input::int("to_ns"),
    Input::int("mark_id").or_null(),
    Input::int("domain").or_null(),
];

/// The columns of the members of collectives.
pub const MEMBERS: &[Input] =
    &[Input::int("call_id"), Input::int("id"), Input::int("is_partial"), Input::int("missing_ns")];

/// The columns of the work whose length changes.
pub const TARGETS: &[Input] = &[
    Input::int("target"),
    Input::int("id"),
    Input::int("length_ns").or_null(),
    Input::int("change").or_null(),
];

/// The other arguments of forecasts.
pub const FORECAST_SETTINGS: &[Input] = &[Input::int("factor"), Input::int("second_factor")];

/// The columns of the result.
pub fn result_fields() -> Fields {
    let field = |(name, data_type)| Field::new(name, data_type, true);
    [
        ("window_id", DataType::Int64),
        ("position", DataType::Int64),
        ("start_ns", DataType::Int64),
        ("end_ns", DataType::Int64),
        ("kind", DataType::Utf8),
        ("event_id", DataType::Int64),
        ("cause_id", DataType::Int64),
        ("lane", DataType::Int64),
        ("is_inferred", DataType::Boolean),
    ]
    .map(field)
    .into_iter()
    .collect()
}

/// The columns of the result of forecasts.
pub fn forecast_fields() -> Fields {
    ["target", "window_id", "recorded_ns", "forecast_ns", "moved_ns", "factor"]
        .map(|name| Field::new(name, DataType::Int64, true))
        .into_iter()
        .collect()
}

/// Reads the rows of a group and returns the lengths of all windows after each change. A window
/// whose recorded times do not follow from the waits has no forecasts.
pub fn forecast(rows: &Rows<'_>, sides: &[Side]) -> Result<StructArray> {
    let Read { model, windows, changes } = read(rows, sides);
    let setting = |place: usize| rows.ints(ACTIVITIES.len() + 1 + place);
    let first = |place| (0..rows.len()).find_map(|row| setting(place).get(row));
    let factors: Vec<i64> = (0..FORECAST_SETTINGS.len()).filter_map(first).collect();
    let factors = if factors.is_empty() { vec![0] } else { factors };
    let schedule = Schedule::new(&model);
    let bounds = Bounds::new(&model, &windows);
    let mut recorded = Passes::new(&model, &schedule);
    let moves = recorded.recorded();
    let before = recorded.bounds(&bounds);
    let mut spans: Vec<Span> = Vec::new();
    for window in windows.chunk_by(|a, b| a.number == b.number) {
        let from = spans.last().map_or(0, |last| last.own.end);
        let marks: Vec<(i64, i64)> = window.iter().map(|part| (part.from, part.to)).collect();
        let own = from..from + window.len();
        spans.push(Span {
            number: window[0].number,
            recorded: length(&marks),
            before: length(&before[own.clone()]),
            moved: moves.in_windows(&model, window),
            own,
        });
    }
    let changes: Vec<(i64, Change)> = changes.into_iter().collect();
    let useful = model.positions().len() * changes.len() / MIN_PER_THREAD;
    let threads = Threads { most: useful.min(MAX_THREADS), stack_bytes: STACK_BYTES };
    let after = threads.each(
        &changes,
        || Passes::new(&model, &schedule),
        |passes, (_, change)| {
            let known = if change.ignores_factor() { &factors[..1] } else { &factors[..] };
            let mut after = Vec::new();
            for factor in known {
                passes.changed(change, *factor, &windows);
                after.push(passes.bounds(&bounds));
            }
            after
        },
    )?;
    let mut found: Vec<[Option<i64>; 6]> = Vec::new();
    for ((target, _), after) in changes.iter().zip(after) {
        for (at, factor) in factors.iter().enumerate() {
            let Some(after) = after.get(at).or(after.last()) else { continue };
            for span in &spans {
                let saved = span.before - length(&after[span.own.clone()]);
                found.push([
                    Some(*target),
                    Some(span.number),
                    Some(span.recorded),
                    (span.moved <= MAX_MOVE_NS).then_some(span.recorded - saved),
                    Some(span.moved),
                    Some(*factor),
                ]);
            }
        }
    }
    let column = |i: usize| -> arrow::array::ArrayRef {
        Arc::new(found.iter().map(|row| row[i]).collect::<Int64Array>())
    };
    Ok(StructArray::try_new(forecast_fields(), (0..6).map(column).collect(), None)?)
}

/// Activities times changes for which another thread pays off.
const MIN_PER_THREAD: usize = 100_000;

/// The most threads of a forecast. Each needs 40 bytes for each activity, which the memory limit
/// does not see.
const MAX_THREADS: usize = 4;

/// Passes do not recurse.
const STACK_BYTES: usize = 2 << 20;

/// A window of all domains.
struct Span {
    number: i64,
    /// The windows of its domains.
    own: std::ops::Range<usize>,
    /// Its recorded length.
    recorded: i64,
    /// The length that the pass without changes gives.
    before: i64,
    /// The largest move in that pass.
    moved: i64,
}

/// The time from the first start to the last end.
fn length(bounds: &[(i64, i64)]) -> i64 {
    let start = bounds.iter().map(|b| b.0).min().unwrap_or(0);
    bounds.iter().map(|b| b.1).max().unwrap_or(start) - start
}

/// The columns of the result of slack.
pub fn slack_fields() -> Fields {
    let field = |(name, data_type)| Field::new(name, data_type, true);
    [("id", DataType::Int64), ("slack_ns", DataType::Int64), ("is_reproduced", DataType::Boolean)]
        .map(field)
        .into_iter()
        .collect()
}

/// Reads the rows of a group and returns how much longer each activity could take. A group whose
/// recorded times do not follow from its waits has no slack.
pub fn slack(rows: &Rows<'_>, sides: &[Side]) -> Result<StructArray> {
    let Read { model, windows, .. } = read(rows, sides);
    let schedule = Schedule::new(&model);
    let moves = Passes::new(&model, &schedule).recorded();
    let known = (moves.largest_ns <= MAX_MOVE_NS).then(|| Slack::new(&model, &schedule, &windows));
    let ids = model.positions().map(|at| model.activity(at).id).collect::<Vec<_>>();
    let of = |at| known.as_ref().and_then(|slack| slack.of(&model, at));
    let columns: Vec<arrow::array::ArrayRef> = vec![
        Arc::new(Int64Array::from(ids)),
        Arc::new(model.positions().map(of).collect::<Int64Array>()),
        Arc::new(BooleanArray::from(vec![known.is_some(); model.positions().len()])),
    ];
    Ok(StructArray::try_new(slack_fields(), columns, None)?)
}

/// A piece with the number of its window and its position there.
type Found = (i64, i64, Piece);

/// Reads the rows of a group and returns the pieces of all windows.
pub fn run(rows: &Rows<'_>, sides: &[Side]) -> Result<StructArray> {
    let Read { model, windows, .. } = read(rows, sides);
    let mut found: Vec<Found> = Vec::new();
    for window in windows.chunk_by(|a, b| a.number == b.number) {
        let (number, pieces) = (window[0].number, walk::walk(&model, window));
        found.extend((0..).zip(pieces).map(|(position, piece)| (number, position, piece)));
    }
    let ints = |of: &dyn Fn(&Found) -> Option<i64>| -> Arc<Int64Array> {
        Arc::new(found.iter().map(of).collect())
    };
    let id = |at: Option<u32>| at.map(|at| model.activity(at).id);
    Ok(StructArray::try_new(
        result_fields(),
        vec![
            ints(&|row| Some(row.0)),
            ints(&|row| Some(row.1)),
            ints(&|row| Some(row.2.start)),
            ints(&|row| Some(row.2.end)),
            Arc::new(found.iter().map(|row| Some(row.2.kind.name())).collect::<StringArray>()),
            ints(&|row| id(row.2.event)),
            ints(&|row| id(row.2.cause)),
            ints(&|row| row.2.lane.map(|lane| model.lanes[lane as usize].id)),
            Arc::new(found.iter().map(|row| Some(row.2.inferred)).collect::<BooleanArray>()),
        ],
        None,
    )?)
}
