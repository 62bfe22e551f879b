//! The Mann-Whitney test: whether values of one sample tend to be larger than those of another.

/// Maximum size of the smaller sample for an exact p-value, which also needs distinct values.
const EXACT_SMALLER: usize = 8;
/// Maximum size of the larger sample for an exact p-value.
const EXACT_LARGER: usize = 10_000;

/// The result of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MannWhitney {
    /// Number of pairs in which `a` is larger; equal values count one half.
    pub u: f64,
    /// Two-sided probability of a `u` at least as far from its mean if both samples come from the
    /// same distribution.
    pub p_value: f64,
    /// Share of pairs in which `b` is larger minus the share in which `a` is larger: −1 to 1
    /// (Cliff's delta).
    pub effect: f64,
}

/// Tests two samples, whose values may be in any order; returns `None` if either sample is empty.
pub(super) fn mann_whitney(a: &[f64], b: &[f64]) -> Option<MannWhitney> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let ranks = ranks(a, b);
    let (n, m) = (a.len() as f64, b.len() as f64);
    let u = ranks.sum_of_a - n * (n + 1.0) / 2.0;
    let effect = 1.0 - 2.0 * u / (n * m);
    let exact = ranks.ties == 0.0
        && a.len().min(b.len()) <= EXACT_SMALLER
        && a.len().max(b.len()) <= EXACT_LARGER;
    let p_value = if exact {
        exact_p(u.min(n * m - u), a.len(), b.len())
    } else {
        normal_p(u, n, m, ranks.ties)
    };
    Some(MannWhitney { u, p_value, effect })
}

struct Ranks {
    /// Sum of the ranks of the first sample; equal values share the mean of their ranks.
    sum_of_a: f64,
    /// Σ (t³ − t) over groups of t equal values.
    ties: f64,
}

fn ranks(a: &[f64], b: &[f64]) -> Ranks {
    let mut values: Vec<(f64, bool)> =
        a.iter().map(|v| (*v, true)).chain(b.iter().map(|v| (*v, false))).collect();
    values.sort_unstable_by(|x, y| x.0.total_cmp(&y.0));
    let mut ranks = Ranks { sum_of_a: 0.0, ties: 0.0 };
    let mut before = 0.0;
    for group in values.chunk_by(|x, y| x.0 == y.0) {
        let size = group.len() as f64;
        let rank = before + (size + 1.0) / 2.0;
        ranks.sum_of_a += rank * group.iter().filter(|(_, of_a)| *of_a).count() as f64;
        ranks.ties += size * size * size - size;
        before += size;
    }
    ranks
}

/// Computes twice the share of arrangements with at most `u` pairs, from the generating function ∏
/// (1 − q^(m+i)) / (1 − q^i).
fn exact_p(u: f64, n: usize, m: usize) -> f64 {
    let (small, large) = (n.min(m), n.max(m));
    let last = u as usize;
    let mut arrangements = vec![0.0; last + 1];
    arrangements[0] = 1.0;
    let mut all = 1.0;
    for i in 1..=small {
        for at in (large + i..=last).rev() {
            arrangements[at] -= arrangements[at - large - i];
        }
        for at in i..=last {
            arrangements[at] += arrangements[at - i];
        }
        all = all * (large + i) as f64 / i as f64;
    }
    (2.0 * arrangements.iter().sum::<f64>() / all).min(1.0)
}

/// Computes the normal approximation, corrected for ties and for continuity.
fn normal_p(u: f64, n: f64, m: f64, ties: f64) -> f64 {
    let all = n + m;
    let variance = n * m / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    let distance = (u - n * m / 2.0).abs() - 0.5;
    if variance <= 0.0 || distance <= 0.0 {
        return 1.0;
    }
    libm::erfc(distance / (2.0 * variance).sqrt()).min(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_cannot_be_told_apart() {
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(mann_whitney(&[1.0], &[]), None);
        let same = mann_whitney(&[2.0; 5], &[2.0; 4]).unwrap();
        assert_eq!(same, MannWhitney { u: 10.0, p_value: 1.0, effect: 0.0 });
    }

    /// Compares with counts over all arrangements of small samples.
    #[test]
    fn exact_p_values_are_counts() {
        let (n, m) = (4, 5);
        let arrangement = |mask: u32| (0..n + m).partition::<Vec<u32>, _>(|at| mask >> at & 1 == 1);
        let masks: Vec<u32> = (0u32..1 << (n + m)).filter(|mask| mask.count_ones() == n).collect();
        let u = |mask: u32| {
            let (a, b) = arrangement(mask);
            a.iter().map(|x| b.iter().filter(|y| x > y).count()).sum::<usize>() as f64
        };
        let middle = f64::from(n * m) / 2.0;
        for mask in &masks {
            let (a, b) = arrangement(*mask);
            let floats = |values: &[u32]| values.iter().map(|v| f64::from(*v)).collect::<Vec<_>>();
            let found = mann_whitney(&floats(&a), &floats(&b)).unwrap();
            let as_far = masks
                .iter()
                .filter(|other| (u(**other) - middle).abs() >= (u(*mask) - middle).abs())
                .count();
            assert_eq!(found.u, u(*mask));
            assert!((found.p_value - as_far as f64 / masks.len() as f64).abs() < 1e-12);
        }
    }

    proptest! {
        #[test]
        fn turning_the_samples_turns_the_effect(
            a in prop::collection::vec(-5i32..5, 1..30), b in prop::collection::vec(-5i32..5, 1..30)
        ) {
            let floats = |values: &[i32]| values.iter().map(|v| f64::from(*v)).collect::<Vec<_>>();
            let (a, b) = (floats(&a), floats(&b));
            let (one, other) = (mann_whitney(&a, &b).unwrap(), mann_whitney(&b, &a).unwrap());
            prop_assert_eq!(one.u + other.u, (a.len() * b.len()) as f64);
            prop_assert_eq!(one.p_value, other.p_value);
            prop_assert!((one.effect + other.effect).abs() < 1e-12);
            prop_assert!((0.0..=1.0).contains(&one.p_value));
        }
    }
}
