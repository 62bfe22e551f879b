//! Order statistics of numbers, exact within f64 arithmetic.

use std::cmp::Ordering;

/// Computes the quantile for a share between 0 and 1, interpolated between the two nearest values;
/// `None` if there are no values.
///
/// This is type 7 of Hyndman and Fan, the default of numpy, pandas and R: position
/// `share · (n − 1)` in the sorted values.
pub(super) fn quantile(values: &mut [f64], share: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let position = share.clamp(0.0, 1.0) * last as f64;
    let (below, part) = (position.floor() as usize, position.fract());
    let (_, low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let low = *low;
    if part == 0.0 {
        return Some(low);
    }
    let high = above.iter().copied().min_by(f64::total_cmp)?;
    Some(between(low, high, part))
}

/// Interpolates from the nearer end, so that equal ends give exactly their common value.
fn between(low: f64, high: f64, part: f64) -> f64 {
    if part < 0.5 { low + (high - low) * part } else { high - (high - low) * (1.0 - part) }
}

pub(super) fn median(values: &mut [f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Computes the median of the distances from the median.
pub(super) fn mad(values: &mut [f64]) -> Option<f64> {
    let center = median(values)?;
    for value in values.iter_mut() {
        *value = (*value - center).abs();
    }
    median(values)
}

/// Computes the median of all differences `b − a` between a value of `b` and a value of `a` (Hodges
/// and Lehmann); `None` if either is empty.
///
/// Both must be sorted. The differences are not stored. Their order statistics are found by
/// bisecting the range of f64 and counting, which takes `64 · (a + b)` steps.
pub(super) fn hodges_lehmann(a: &[f64], b: &[f64]) -> Option<f64> {
    let pairs = a.len() as u64 * b.len() as u64;
    let upper = pairs.checked_sub(1)? / 2 + 1;
    let middle = difference_of_rank(a, b, upper);
    if pairs % 2 == 1 {
        Some(middle)
    } else {
        Some(between(middle, difference_of_rank(a, b, upper + 1), 0.5))
    }
}

/// Returns the difference with this rank, counted from 1, among all sorted differences.
fn difference_of_rank(a: &[f64], b: &[f64], rank: u64) -> f64 {
    let (mut low, mut high) = (ordered(f64::NEG_INFINITY), ordered(f64::INFINITY));
    while low < high {
        let middle = low.midpoint(high);
        if differences_up_to(a, b, from_ordered(middle)) >= rank {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    // The search finds −0 instead of 0, and the addition converts it to 0.
    from_ordered(low) + 0.0
}

fn differences_up_to(a: &[f64], b: &[f64], limit: f64) -> u64 {
    let mut count = 0;
    let mut from = 0;
    for value in b {
        while from < a.len() && (value - a[from]).partial_cmp(&limit) == Some(Ordering::Greater) {
            from += 1;
        }
        count += (a.len() - from) as u64;
    }
    count
}

/// Maps floats to integers in the same order.
fn ordered(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn from_ordered(number: u64) -> f64 {
    f64::from_bits(if number >> 63 == 1 { number & !(1 << 63) } else { !number })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ends_of_the_range() {
        let of = |values: &[f64], share| quantile(&mut values.to_vec(), share);
        assert_eq!(of(&[3.0], 0.7), Some(3.0));
        assert_eq!(of(&[2.0, 1.0], 0.0), Some(1.0));
        assert_eq!(of(&[2.0, 1.0], 1.0), Some(2.0));
        assert_eq!(of(&[5.0, 5.0], 0.3), Some(5.0));
        assert_eq!(of(&[], 0.5), None);
    }

    #[test]
    fn medians() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(mad(&mut [1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some(1.0));
        assert_eq!(mad(&mut []), None);
        assert_eq!(hodges_lehmann(&[1.0, 2.0], &[5.0, 7.0]), Some(4.5));
        assert_eq!(hodges_lehmann(&[], &[1.0]), None);
    }

    proptest! {
        #[test]
        fn quantile_is_that_of_the_sorted_values(
            mut values in prop::collection::vec(-1e6f64..1e6, 1..40),
            share in 0.0f64..=1.0
        ) {
            let found = quantile(&mut values.clone(), share).unwrap();
            values.sort_by(f64::total_cmp);
            let position = share * (values.len() - 1) as f64;
            let (low, high) = (values[position.floor() as usize], values[position.ceil() as usize]);
            prop_assert!(low <= found && found <= high);
            prop_assert!((found - (low + (high - low) * position.fract())).abs() < 1e-6);
        }

        #[test]
        fn hodges_lehmann_is_the_median_of_all_differences(
            mut a in prop::collection::vec(-20i32..20, 1..12),
            mut b in prop::collection::vec(-20i32..20, 1..12)
        ) {
            a.sort_unstable();
            b.sort_unstable();
            let floats =
                |values: &[i32]| values.iter().map(|v| f64::from(*v) / 8.0).collect::<Vec<_>>();
            let (a, b) = (floats(&a), floats(&b));
            let mut differences: Vec<f64> =
                b.iter().flat_map(|b| a.iter().map(move |a| b - a)).collect();
            prop_assert_eq!(hodges_lehmann(&a, &b), median(&mut differences));
        }
    }
}
