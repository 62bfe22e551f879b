//! Repeated sequences by example, and compared with a slow search.

use proptest::prelude::*;

use super::repeats::{Limits, Repeat, repeats};
use super::suffixes::Suffixes;

fn limits(min_length: usize, max_length: usize, top: usize) -> Limits {
    Limits { min_length, max_length, top }
}

fn of(text: &str, limits: Limits) -> Vec<(String, Vec<usize>)> {
    let values: Vec<Option<i64>> =
        text.bytes().map(|b| (b != b'.').then_some(i64::from(b))).collect();
    let groups = vec![None; values.len()];
    let named = |r: Repeat| (text[r.starts[0]..r.starts[0] + r.length].to_owned(), r.starts);
    repeats(&values, &groups, limits).into_iter().map(named).collect()
}

fn one(text: &str, starts: &[usize]) -> (String, Vec<usize>) {
    (text.to_owned(), starts.to_vec())
}

#[test]
fn a_layer_that_repeats_is_one_sequence_and_not_several_layers() {
    assert_eq!(of("eabcabcabcabch", limits(2, 64, 9)), [one("abc", &[1, 4, 7, 10])]);
}

#[test]
fn the_period_of_a_sequence_that_overlaps_itself_counts() {
    assert_eq!(of("xabcabcabcay", limits(2, 64, 9)), [one("abc", &[1, 4, 7])]);
    assert_eq!(of("ababa", limits(2, 64, 9)), [one("ab", &[0, 2])]);
}

#[test]
fn values_are_in_one_sequence_only() {
    let found = [one("abcd", &[0, 5, 10]), one("ab", &[15, 18])];
    assert_eq!(of("abcdxabcdyabcdzabwab", limits(2, 64, 9)), found);
}

#[test]
fn no_sequence_holds_a_missing_value_or_crosses_a_group() {
    assert_eq!(of("ab.cab.c", limits(2, 64, 9)), [one("ab", &[0, 4])]);
    let values = [1, 2, 3, 1, 2, 3].map(Some);
    let groups = [0, 0, 1, 1, 2, 2].map(Some);
    assert_eq!(repeats(&values, &groups, limits(2, 9, 9)), []);
    let groups = [0, 0, 1, 2, 2, 3].map(Some);
    let found = repeats(&values, &groups, limits(2, 9, 9));
    assert_eq!(found, [Repeat { length: 2, starts: vec![0, 3] }]);
}

#[test]
fn limits_hold() {
    assert_eq!(of("abcdabcd", limits(2, 3, 1)), [one("abc", &[0, 4])]);
    assert_eq!(of("abcdabcd", limits(5, 9, 9)), []);
    assert_eq!(of("abab", limits(2, 9, 0)), []);
    assert_eq!(of("", limits(1, 9, 9)), []);
    assert_eq!(of("a", limits(1, 9, 9)), []);
}

#[test]
fn a_list_of_one_value_is_counted_without_overlap() {
    assert_eq!(of("aaaaaaa", limits(2, 64, 9)), [one("aa", &[0, 2, 4])]);
}

/// The most that any sequence of the list repeats, by trying all of them.
fn best(values: &[Option<i64>], limits: Limits) -> usize {
    let mut best = 0;
    for length in limits.min_length..=limits.max_length.min(values.len()) {
        for sequence in values.windows(length).filter(|s| s.iter().all(Option::is_some)) {
            let (mut at, mut count) = (0, 0);
            while at + length <= values.len() {
                if &values[at..at + length] == sequence {
                    count += 1;
                    at += length;
                } else {
                    at += 1;
                }
            }
            best = best.max(length * (count - 1));
        }
    }
    best
}

proptest! {
    #[test]
    fn sequences_occur_where_they_say_and_share_no_value(
        values in proptest::collection::vec(proptest::option::weighted(0.95, 0_i64..4), 0..60),
        min_length in 1_usize..4,
        more in 0_usize..6,
    ) {
        let limits = limits(min_length, min_length + more, 3);
        let found = repeats(&values, &vec![None; values.len()], limits);
        let gain = found.first().map_or(0, |r| r.length * (r.starts.len() - 1));
        let best = best(&values, limits);
        prop_assert!(gain <= best && (gain > 0) == (best > 0), "{gain} of {best}");
        let mut taken = vec![false; values.len()];
        for repeat in &found {
            prop_assert!(repeat.length >= limits.min_length && repeat.length <= limits.max_length);
            prop_assert!(repeat.starts.len() > 1);
            let first = &values[repeat.starts[0]..repeat.starts[0] + repeat.length];
            for &start in &repeat.starts {
                prop_assert_eq!(&values[start..start + repeat.length], first);
                for place in &mut taken[start..start + repeat.length] {
                    prop_assert!(!std::mem::replace(place, true));
                }
            }
        }
    }

    #[test]
    fn suffixes_are_in_order_up_to_the_depth(
        text in proptest::collection::vec(0_u32..3, 0..80),
        depth in 1_usize..20,
    ) {
        let suffixes = Suffixes::new(&text, depth);
        let cut = |start: u32| &text[start as usize..text.len().min(start as usize + depth)];
        for place in 1..text.len() {
            let (a, b) = (cut(suffixes.starts[place - 1]), cut(suffixes.starts[place]));
            prop_assert!(a <= b);
            let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
            prop_assert_eq!(common, suffixes.common[place] as usize);
        }
    }
}
