//! Computes a confidence interval for the difference of two medians with the bootstrap.

use super::quantile::{median, quantile};

const DRAWS: usize = 2000;
const SEED: u64 = 0x7472_6163_6573_716c;

/// The difference of the medians with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Difference {
    /// Median of `b` minus median of `a`.
    pub diff: f64,
    /// 2.5 % quantile of the drawn differences.
    pub low: f64,
    /// 97.5 % quantile of the drawn differences.
    pub high: f64,
}

/// Resamples both samples with replacement `DRAWS` times. The result does not depend on the order
/// of the values. Returns `None` if either sample is empty.
pub(super) fn bootstrap_diff(a: &[f64], b: &[f64]) -> Option<Difference> {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    a.sort_unstable_by(f64::total_cmp);
    b.sort_unstable_by(f64::total_cmp);
    let diff = median(&mut b.clone())? - median(&mut a.clone())?;
    let mut random = Random(SEED);
    let mut drawn = Vec::with_capacity(a.len().max(b.len()));
    let mut differences = Vec::with_capacity(DRAWS);
    for _ in 0..DRAWS {
        let of_a = random.median_of(&a, &mut drawn)?;
        let of_b = random.median_of(&b, &mut drawn)?;
        differences.push(of_b - of_a);
    }
    Some(Difference {
        diff,
        low: quantile(&mut differences, 0.025)?,
        high: quantile(&mut differences, 0.975)?,
    })
}

/// SplitMix64: small, good enough for resampling, and the same on every platform.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn median_of(&mut self, values: &[f64], drawn: &mut Vec<f64>) -> Option<f64> {
        drawn.clear();
        // The high half of the product distributes 64 random bits over the positions.
        drawn
            .extend((0..values.len()).map(|_| {
                values[((u128::from(self.next()) * values.len() as u128) >> 64) as usize]
            }));
        median(drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_holds_the_difference_and_is_always_the_same() {
        let a: Vec<f64> = (0..50).map(f64::from).collect();
        let b: Vec<f64> = a.iter().map(|v| v + 100.0).collect();
        let found = bootstrap_diff(&a, &b).unwrap();
        assert_eq!(found.diff, 100.0);
        assert!(
            found.low > 80.0 && found.low < 100.0 && found.high > 100.0 && found.high < 120.0,
            "{found:?}"
        );
        let turned: Vec<f64> = a.iter().rev().copied().collect();
        assert_eq!(bootstrap_diff(&turned, &b).unwrap(), found);
        assert_eq!(
            bootstrap_diff(&[1.0], &[3.0]).unwrap(),
            Difference { diff: 2.0, low: 2.0, high: 2.0 }
        );
        assert_eq!(bootstrap_diff(&[], &[3.0]), None);
    }

    #[test]
    fn the_random_numbers_are_those_of_splitmix64() {
        // The expected values come from the reference implementation with seed 1234567.
        let mut random = Random(1_234_567);
        assert_eq!(
            [random.next(), random.next()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]
        );
    }
}
