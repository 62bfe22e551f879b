//! Compares the accumulators with definitions that are checked instant by instant, for any way to
//! split, merge and emit rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int64Array, StringViewArray, new_empty_array,
};
use arrow::compute::concat;
use arrow::datatypes::Int64Type;
use datafusion_expr::{Accumulator, EmitTo, GroupsAccumulator};
use proptest::collection::vec;
use proptest::prelude::*;

use super::Measure;
use super::groups::{Groups, Single};
use crate::intervals::algorithm::Span;
use crate::intervals::algorithm::testing::*;

const GROUPS: usize = 3;
const SETS: [&str; 3] = ["b", "c", "a"];

/// A row: its group, its start and end if known, its set, and whether it passes the filter.
type Input = (usize, Option<(i64, i64)>, usize, bool);

fn inputs() -> impl Strategy<Value = Vec<Input>> {
    let interval = (GRID, 0..6i64).prop_map(|(s, len)| Some((s, (s + len).min(GRID.end))));
    let times = prop_oneof![9 => interval, 1 => Just(None)];
    vec((0..GROUPS, times, 0..SETS.len(), prop::bool::weighted(0.9)), 0..24)
}

fn arrays(rows: &[Input], measure: Measure, text: bool) -> Vec<ArrayRef> {
    let starts: Int64Array = rows.iter().map(|r| r.1.map(|t| t.0)).collect();
    let ends: Int64Array = rows.iter().map(|r| r.1.map(|t| t.1)).collect();
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(starts), Arc::new(ends)];
    if measure == Measure::OverlapLen && text {
        arrays.push(Arc::new(StringViewArray::from_iter_values(rows.iter().map(|r| SETS[r.2]))));
    } else if measure == Measure::OverlapLen {
        arrays.push(Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.2 as i64))));
    }
    arrays
}

fn update(groups: &mut Groups, rows: &[Input], measure: Measure, text: bool) {
    let numbers: Vec<usize> = rows.iter().map(|r| r.0).collect();
    let filter = BooleanArray::from_iter(rows.iter().map(|r| Some(r.3)));
    groups.update_batch(&arrays(rows, measure, text), &numbers, Some(&filter), GROUPS).unwrap();
}

/// Aggregates all rows in one pass, in their order.
fn one_pass(rows: &[Input], measure: Measure, text: bool) -> ArrayRef {
    let mut groups = Groups::new(measure, text);
    update(&mut groups, rows, measure, text);
    groups.evaluate(EmitTo::All).unwrap()
}

fn spans(rows: &[Input], group: usize) -> Vec<(usize, Span)> {
    let wanted = rows.iter().filter(|r| r.0 == group && r.3);
    wanted.filter_map(|r| r.1.map(|(start, end)| (r.2, Span { start, end }))).collect()
}

fn open_at(rows: &[Input], group: usize, t: i64) -> Vec<usize> {
    spans(rows, group).iter().filter(|(_, s)| s.holds(t)).map(|(set, _)| *set).collect()
}

fn field(list: &ArrayRef, group: usize, name: &str) -> Vec<i64> {
    let structs = list.as_list::<i32>().value(group);
    structs.as_struct().column_by_name(name).unwrap().as_primitive::<Int64Type>().values().to_vec()
}

fn measures() -> impl Strategy<Value = (Measure, bool)> {
    prop_oneof![
        Just((Measure::UnionLen, false)),
        Just((Measure::Merge, false)),
        Just((Measure::MaxOverlap, false)),
        Just((Measure::OverlapCount, false)),
        Just((Measure::OverlapLen, false)),
        Just((Measure::OverlapLen, true)),
    ]
}

proptest! {
    #[test]
    fn results_agree_with_a_count_of_instants(rows in inputs()) {
        let lens = one_pass(&rows, Measure::UnionLen, false);
        let most = one_pass(&rows, Measure::MaxOverlap, false);
        let merged = one_pass(&rows, Measure::Merge, false);
        let counts = one_pass(&rows, Measure::OverlapCount, false);
        let masks = one_pass(&rows, Measure::OverlapLen, false);
        let named = one_pass(&rows, Measure::OverlapLen, true);
        for group in 0..GROUPS {
            let open: BTreeMap<i64, Vec<usize>> = GRID
                .map(|t| (t, open_at(&rows, group, t)))
                .filter(|(_, sets)| !sets.is_empty())
                .collect();
            prop_assert_eq!(lens.as_primitive::<Int64Type>().value(group), open.len() as i64);
            prop_assert_eq!(
                most.as_primitive::<Int64Type>().value(group),
                open.values().map(Vec::len).max().unwrap_or(0) as i64
            );
            let parts: Vec<Span> = field(&merged, group, "start")
                .into_iter()
                .zip(field(&merged, group, "end"))
                .map(|(start, end)| Span { start, end })
                .collect();
            prop_assert_eq!(instants(&parts), open.keys().copied().collect::<Vec<_>>());
            let stretches = field(&counts, group, "start")
                .into_iter()
                .zip(field(&counts, group, "end"))
                .zip(field(&counts, group, "open"));
            let counted: BTreeMap<i64, i64> =
                stretches.flat_map(|((s, e), n)| (s..e).map(move |t| (t, n))).collect();
            prop_assert_eq!(
                counted,
                open.iter().map(|(t, sets)| (*t, sets.len() as i64)).collect::<BTreeMap<_, _>>()
            );

            let mut by_mask = BTreeMap::<i64, i64>::new();
            let mut by_names = BTreeMap::<Vec<String>, i64>::new();
            for sets in open.values() {
                *by_mask.entry(sets.iter().fold(0, |m, s| m | 1 << s)).or_default() += 1;
                let mut names: Vec<String> = sets.iter().map(|s| SETS[*s].to_owned()).collect();
                names.sort();
                names.dedup();
                *by_names.entry(names).or_default() += 1;
            }
            let found: Vec<(i64, i64)> =
                field(&masks, group, "sets").into_iter().zip(field(&masks, group, "len")).collect();
            prop_assert_eq!(found, by_mask.into_iter().collect::<Vec<_>>());
            let own = named.as_list::<i32>().value(group);
            let names = own.as_struct().column(0).as_list::<i32>().iter().map(|l| {
                l.unwrap().as_string::<i32>().iter().map(|n| n.unwrap().to_owned()).collect()
            });
            let found: Vec<(Vec<String>, i64)> = names.zip(field(&named, group, "len")).collect();
            prop_assert_eq!(found, by_names.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn any_split_and_order_gives_the_same_result(
        rows in inputs().prop_shuffle(),
        cuts in vec(0..25usize, 0..4),
        (measure, text) in measures(),
        reverse: bool,
        first in 0..=GROUPS
    ) {
        let wanted = one_pass(&rows, measure, text);
        let mut cuts: Vec<usize> =
            cuts.into_iter().map(|c| c.min(rows.len())).chain([0, rows.len()]).collect();
        cuts.sort();
        let mut parts: Vec<&[Input]> = cuts.windows(2).map(|w| &rows[w[0]..w[1]]).collect();
        if reverse {
            parts.reverse();
        }
        let all: Vec<usize> = (0..GROUPS).collect();
        let mut merged = Groups::new(measure, text);
        for (i, part) in parts.iter().enumerate() {
            if i % 2 == 1 {
                let filter = BooleanArray::from_iter(part.iter().map(|r| Some(r.3)));
                let state = Groups::new(measure, text)
                    .convert_to_state(&arrays(part, measure, text), Some(&filter))
                    .unwrap();
                let numbers: Vec<usize> = part.iter().map(|r| r.0).collect();
                merged.merge_batch(&state, &numbers, GROUPS).unwrap();
            } else {
                let mut partial = Groups::new(measure, text);
                update(&mut partial, part, measure, text);
                let emitted = partial.state(EmitTo::First(first)).unwrap();
                merged.merge_batch(&emitted, &all[..emitted[0].len()], GROUPS).unwrap();
                let rest = partial.state(EmitTo::All).unwrap();
                merged.merge_batch(&rest, &all[GROUPS - rest[0].len()..], GROUPS).unwrap();
            }
        }
        let head = merged.evaluate(EmitTo::First(first)).unwrap();
        let tail = if first < GROUPS {
            merged.evaluate(EmitTo::All).unwrap()
        } else {
            new_empty_array(head.data_type())
        };
        prop_assert_eq!(&concat(&[head.as_ref(), tail.as_ref()]).unwrap(), &wanted);
    }

    #[test]
    fn a_single_group_gives_the_same_as_one_of_many(
        rows in inputs(),
        (measure, text) in measures(),
        cut in 0..24usize
    ) {
        let rows: Vec<Input> = rows.into_iter().map(|r| (0, r.1, r.2, true)).collect();
        let (front, back) = rows.split_at(cut.min(rows.len()));
        let wanted = one_pass(&rows, measure, text).slice(0, 1);
        let mut single = Single::new(Groups::new(measure, text));
        single.update_batch(&arrays(front, measure, text)).unwrap();
        // A window also evaluates between its rows.
        prop_assert_eq!(
            &single.evaluate().unwrap().to_array().unwrap(),
            &one_pass(front, measure, text).slice(0, 1)
        );
        let mut other = Single::new(Groups::new(measure, text));
        other.update_batch(&arrays(back, measure, text)).unwrap();
        let state: Vec<ArrayRef> =
            other.state().unwrap().iter().map(|s| s.to_array().unwrap()).collect();
        single.merge_batch(&state).unwrap();
        prop_assert_eq!(&single.evaluate().unwrap().to_array().unwrap(), &wanted);
    }
}

#[test]
fn faults_name_the_function_and_the_values() {
    let message = |measure, rows: Vec<ArrayRef>| {
        let mut groups = Groups::new(measure, false);
        groups.update_batch(&rows, &[0], None, 1).unwrap_err().to_string()
    };
    let int = |n: i64| Arc::new(Int64Array::from(vec![n])) as ArrayRef;
    let negative = message(Measure::UnionLen, vec![int(5), int(3)]);
    assert!(
        negative.contains(
            "interval_union_len: negative interval: it starts at 5 and ends at \
        3; write greatest(end, start)"
        ),
        "{negative}"
    );
    let set = message(Measure::OverlapLen, vec![int(0), int(1), int(63)]);
    assert!(set.contains("interval_overlap_len: set 63 is outside 0..62"), "{set}");
}

#[test]
fn more_names_than_bits_are_refused() {
    let names: Vec<String> = (0..64).map(|i| format!("s{i}")).collect();
    let rows = |n: usize| -> Vec<ArrayRef> {
        let ints = |v: i64| Arc::new(Int64Array::from(vec![v; n])) as ArrayRef;
        vec![ints(0), ints(2), Arc::new(StringViewArray::from_iter_values(&names[..n]))]
    };
    let mut groups = Groups::new(Measure::OverlapLen, true);
    groups.update_batch(&rows(63), &[0; 63], None, 1).unwrap();
    assert_eq!(field(&groups.evaluate(EmitTo::All).unwrap(), 0, "len"), [2]);
    groups.update_batch(&rows(64), &[0; 64], None, 1).unwrap();
    let message = groups.evaluate(EmitTo::All).unwrap_err().to_string();
    assert!(message.contains("64 sets in one group, but at most 63"), "{message}");
}

#[test]
fn memory_is_counted_and_unions_stay_small() {
    let n = 100_000i64;
    let nested: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values((0..n).map(|i| (i * 7919) % n))),
        Arc::new(Int64Array::from_iter_values((0..n).map(|i| (i * 7919) % n + 50))),
    ];
    let numbers = vec![0; n as usize];
    let size = |measure| {
        let mut groups = Groups::new(measure, false);
        groups.update_batch(&nested, &numbers, None, 1).unwrap();
        GroupsAccumulator::size(&groups)
    };
    assert!(size(Measure::MaxOverlap) >= n as usize * 24, "each interval is kept and counted");
    assert!(
        size(Measure::UnionLen) < n as usize * 24 / 2,
        "a union is compacted: {} bytes",
        size(Measure::UnionLen)
    );
}
