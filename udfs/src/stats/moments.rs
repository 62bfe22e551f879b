//! The sums that aggregates maintain, for weighted values and for linear regression.

/// A sum that tracks its rounding error (Neumaier), so that the order of rows hardly matters.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Sum {
    pub total: f64,
    pub lost: f64,
}

impl Sum {
    pub fn add(&mut self, value: f64) {
        let total = self.total + value;
        self.lost += if self.total.abs() >= value.abs() {
            (self.total - total) + value
        } else {
            (value - total) + self.total
        };
        self.total = total;
    }

    pub fn value(self) -> f64 {
        // After an overflow the remainder is NaN, but the total is still meaningful.
        if self.lost.is_nan() { self.total } else { self.total + self.lost }
    }
}

/// Mean and centred sums of pairs (Welford; Chan, Golub and LeVeque to merge).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Pairs {
    pub count: u64,
    pub mean_x: f64,
    pub mean_y: f64,
    pub xx: f64,
    pub yy: f64,
    pub xy: f64,
}

/// The least-squares line `y = intercept + slope · x`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    pub slope: f64,
    pub intercept: f64,
    /// Share of the variance of y that the line explains; `None` if all y are equal.
    pub r2: Option<f64>,
}

impl Pairs {
    pub fn add(&mut self, y: f64, x: f64) {
        self.merge(&Self { count: 1, mean_x: x, mean_y: y, ..Self::default() });
    }

    pub fn merge(&mut self, other: &Self) {
        if self.count == 0 || other.count == 0 {
            if other.count > 0 {
                *self = *other;
            }
            return;
        }
        let count = self.count + other.count;
        let share = other.count as f64 / count as f64;
        let weight = self.count as f64 * share;
        let (dx, dy) = (other.mean_x - self.mean_x, other.mean_y - self.mean_y);
        self.xx += other.xx + dx * dx * weight;
        self.yy += other.yy + dy * dy * weight;
        self.xy += other.xy + dx * dy * weight;
        self.mean_x += dx * share;
        self.mean_y += dy * share;
        self.count = count;
    }

    /// Fits the line; returns `None` with fewer than two pairs or if all x are equal.
    pub fn line(&self) -> Option<Line> {
        if self.count < 2 || self.xx == 0.0 {
            return None;
        }
        let slope = self.xy / self.xx;
        let r2 = (self.yy > 0.0).then(|| (self.xy * self.xy / self.xx / self.yy).min(1.0));
        let line = Line { slope, intercept: self.mean_y - slope * self.mean_x, r2 };
        (line.slope.is_finite() && line.intercept.is_finite()).then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(values: &[(f64, f64)]) -> Pairs {
        let mut pairs = Pairs::default();
        values.iter().for_each(|(y, x)| pairs.add(*y, *x));
        pairs
    }

    #[test]
    fn sums_keep_small_parts() {
        let mut sum = Sum::default();
        for value in [1.0, 1e100, 1.0, -1e100] {
            sum.add(value);
        }
        assert_eq!(sum.value(), 2.0);
    }

    #[test]
    fn lines() {
        let line = pairs(&[(3.0, 1.0), (5.0, 2.0), (7.0, 3.0)]).line().unwrap();
        assert_eq!(line, Line { slope: 2.0, intercept: 1.0, r2: Some(1.0) });
        assert_eq!(pairs(&[(3.0, 1.0)]).line(), None);
        assert_eq!(pairs(&[(3.0, 1.0), (4.0, 1.0)]).line(), None);
        assert_eq!(
            pairs(&[(3.0, 1.0), (3.0, 2.0)]).line().unwrap(),
            Line { slope: 0.0, intercept: 3.0, r2: None }
        );
    }

    proptest! {
        #[test]
        fn merging_is_adding(
            values in prop::collection::vec((-1e3f64..1e3, -1e3f64..1e3), 2..40),
            at in 0usize..40
        ) {
            let (one, other) = values.split_at(at.min(values.len()));
            let mut merged = pairs(one);
            merged.merge(&pairs(other));
            let whole = pairs(&values);
            prop_assert_eq!(merged.count, whole.count);
            prop_assert!((merged.xy - whole.xy).abs() <= 1e-7 * (whole.xx + whole.yy) + 1e-9);
            prop_assert!((merged.xx - whole.xx).abs() <= 1e-9 * whole.xx + 1e-9);
        }
    }
}
