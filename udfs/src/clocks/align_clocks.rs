//! `align_clocks`: the time of a common clock for times of many clocks.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, StructArray};
use arrow::datatypes::{DataType, Field, Fields, Int64Type};
use datafusion_common::{Result, plan_err};

use super::align::{Aligned, Clock, Sight, align};
use crate::doc::{Example, Function, FunctionDoc};
use crate::window::{Arguments, PartitionFunction};

/// Returns the function with its documentation.
pub fn function() -> Function {
    PartitionFunction {
        doc: DOC,
        arguments: Arguments::Coerced(coerce),
        result_type: |_| DataType::Struct(fields()),
        evaluate,
    }
    .into_function()
}

const DOC: FunctionDoc = FunctionDoc {
    name: "align_clocks",
    area: "clocks",
    signature: "align_clocks(clock BIGINT, event BIGINT, at_ns BIGINT) OVER (PARTITION BY …) → \
        STRUCT<aligned_ns BIGINT, reference BIGINT, segment BIGINT, origin_ns BIGINT, from_ns \
        BIGINT, to_ns BIGINT, unsure_from_ns BIGINT, unsure_to_ns BIGINT, offset_ns BIGINT, \
        drift_ppm DOUBLE, error_ns BIGINT, points BIGINT, spread_ns BIGINT>",
    summary: "Aligns clocks by events that several of them see at the same moment.",
    detail: "Rows of one event are the times at which its clocks saw it. The lowest clock of each \
        connected set is the reference. Each other clock is fitted by a level, a drift and \
        steps: aligned_ns = at_ns - offset_ns - round(drift_ppm / 10^6 · (at_ns - origin_ns)), \
        from from_ns to before to_ns (both NULL at the open ends). The drift is the median of \
        slopes (after Theil and Sen), and 0 unless the window is longer than 20 ms and the drift \
        exceeds its standard error 4 times; the level is the median of what remains. A step is a \
        jump of more than 5 µs and of 20 times the usual change that lasts for 3 events. A clock \
        that steps back shows some times twice: times from unsure_from_ns to unsure_to_ns may be \
        before or after the step that begins the segment, and segment says it for rows with an \
        event. Steps that most clocks of a set show at once are those of the reference, which then \
        has segments. All clocks are refitted 6 times with the medians of all others. error_ns \
        holds the error of aligned times in at least 95 of 100 cases: 3 · 1.4826 · MAD · sqrt(π / \
        2n), with n events that tie it to clocks placed before, plus the mean residual and the \
        drift, or median of 8 neighbours, that could go unnoticed, all times 1 + 4/n, and with the \
        error of the clock that it was placed by (the root of the sum of squares), and 1 µs at \
        least if the times are whole µs. points is the number of events that were compared, \
        spread_ns their median deviation (MAD). Clocks that differ by days \
        lose no precision.",
    nulls: "A row without event or at_ns takes no part in the fit, but has the segment of its \
        time, or the first one of its clock; aligned_ns is NULL without at_ns. NULL if clock is NULL. The second row of a \
        clock and event is not used.",
    errors: "None.",
    examples: &[Example {
        sql: "SELECT clock, a['aligned_ns'], a['offset_ns'], a['points'] FROM (SELECT clock, at, \
            align_clocks(clock, event, at) OVER () AS a FROM (VALUES (0, 1, 1000), (0, 2, 5000), \
            (0, 3, 9000), (1, 1, 8000), (1, 2, 12000), (1, 3, 16000)) AS t(clock, event, at)) \
            ORDER BY clock, at LIMIT 5",
        answer: "0 | 1000 | 0 | 0\n0 | 5000 | 0 | 0\n0 | 9000 | 0 | 0\n1 | 1000 | 7000 | 3\n1 | \
            5000 | 7000 | 3",
    }],
};

fn fields() -> Fields {
    let int = |name| Field::new(name, DataType::Int64, true);
    Fields::from(vec![
        int("aligned_ns"),
        int("reference"),
        int("segment"),
        int("origin_ns"),
        int("from_ns"),
        int("to_ns"),
        int("unsure_from_ns"),
        int("unsure_to_ns"),
        int("offset_ns"),
        Field::new("drift_ppm", DataType::Float64, true),
        int("error_ns"),
        int("points"),
        int("spread_ns"),
    ])
}

fn coerce(types: &[DataType]) -> Result<Vec<DataType>> {
    match types {
        [_, _, _] => Ok(vec![DataType::Int64; 3]),
        _ => plan_err!(
            "align_clocks(clock, event, at_ns) takes 3 arguments, {} were given",
            types.len()
        ),
    }
}

/// A value of a row by its clock, its time and the number of the segment.
type Value<'a> = &'a dyn Fn(&Clock, Option<i64>, usize) -> Option<i64>;

fn evaluate(values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
    let column = |at: usize| values[at].as_primitive::<Int64Type>();
    let (ids, events, times) = (column(0), column(1), column(2));
    let known = |column: &Int64Array, row| column.is_valid(row).then(|| column.value(row));
    let mut names: Vec<i64> = ids.iter().flatten().collect();
    names.sort_unstable();
    names.dedup();
    let mut places: HashMap<i64, usize> = HashMap::new();
    let mut sights: Vec<Vec<Sight>> = Vec::new();
    // The event and the sight of each row.
    let mut sight_of: Vec<Option<(usize, usize)>> = vec![None; rows];
    let clock_of: Vec<Option<usize>> =
        (0..rows).map(|row| names.binary_search(&known(ids, row)?).ok()).collect();
    for (row, clock) in clock_of.iter().enumerate() {
        let (Some(clock), Some(event), Some(at)) = (*clock, known(events, row), known(times, row))
        else {
            continue;
        };
        let place = *places.entry(event).or_insert_with(|| {
            sights.push(Vec::new());
            sights.len() - 1
        });
        if sights[place].iter().all(|sight| sight.clock != clock) {
            sight_of[row] = Some((place, sights[place].len()));
            sights[place].push(Sight { clock, at });
        }
    }
    // An event with one sight compares nothing.
    sights.iter_mut().filter(|members| members.len() == 1).for_each(Vec::clear);
    let Aligned { clocks, segments } = align(names.len(), &sights);
    let found = |row: usize| {
        let clock = &clocks[clock_of[row]?];
        let at = known(times, row);
        let of_sight = || sight_of[row].and_then(|(event, at)| segments[event].get(at).copied());
        Some((clock, at, of_sight().or_else(|| Some(clock.segment(at?))).unwrap_or(0)))
    };
    let int = |value: Value<'_>| -> ArrayRef {
        let value = |row| found(row).and_then(|(clock, at, segment)| value(clock, at, segment));
        Arc::new((0..rows).map(value).collect::<Int64Array>())
    };
    let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let drift = |row| found(row).map(|(clock, _, s)| clock.segments[s].drift * 1e6);
    let columns: Vec<ArrayRef> = vec![
        int(&|clock, at, s| at.map(|at| clock.aligned(at, s))),
        int(&|clock, _, _| Some(names[clock.reference])),
        int(&|_, _, segment| Some(number(segment + 1))),
        int(&|clock, _, _| Some(clock.origin)),
        int(&|clock, _, s| Some(clock.segments[s].from).filter(|&from| from != i64::MIN)),
        int(&|clock, _, s| clock.segments.get(s + 1).map(|next| next.from)),
        int(&|clock, _, s| (s > 0).then(|| clock.segments[s].unsure.0)),
        int(&|clock, _, s| (s > 0).then(|| clock.segments[s].unsure.1)),
        int(&|clock, _, s| Some(clock.segments[s].offset)),
        Arc::new((0..rows).map(drift).collect::<Float64Array>()),
        int(&|clock, _, s| Some(clock.segments[s].error)),
        int(&|clock, _, s| Some(number(clock.segments[s].points))),
        int(&|clock, _, s| Some(clock.segments[s].spread)),
    ];
    Ok(Arc::new(StructArray::try_new(fields(), columns, None)?))
}
