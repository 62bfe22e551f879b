//! Compares the results with those of scipy 1.17.1 and numpy 2.4.6 for the same data.

use super::bootstrap::bootstrap_diff;
use super::mann_whitney::mann_whitney;
use super::moments::Pairs;
use super::quantile::{hodges_lehmann, mad, quantile};

const EXACT: (&[f64], &[f64]) =
    (&[19.0, 22.0, 16.0, 29.0, 24.0], &[20.0, 11.0, 17.0, 12.0, 13.0, 30.0]);
const EXACT_8_AND_20: (&[f64], &[f64]) = (
    &[0.0012, 0.2987, -0.2741, -0.8906, -0.4547, -0.9916, 0.0601, 1.3402],
    &[
        0.2078, 0.0795, 1.1898, 1.0569, 0.8054, -0.2305, 0.6707, 1.3953, -0.6442, 0.2424, -1.2012,
        -0.5895, -1.1417, 0.4649, -0.5674, 0.9713, 0.8568, 0.5131, -1.8168, 0.1613,
    ],
);
const TIES: (&[f64], &[f64]) =
    (&[1.0, 2.0, 2.0, 3.0, 4.0, 4.0], &[2.0, 3.0, 4.0, 4.0, 5.0, 6.0, 6.0]);
const NORMAL: (&[f64], &[f64]) = (
    &[9.903, 10.227, 6.94, 9.044, 8.043, 8.382, 12.122, 8.385, 9.935, 11.769, 8.833, 9.777],
    &[
        12.221, 12.128, 9.55, 12.152, 14.718, 8.906, 13.719, 12.239, 10.717, 16.001, 13.525, 9.601,
        12.149, 13.153, 11.622,
    ],
);
const NORMAL_WITH_TIES: (&[f64], &[f64]) = (
    &[
        5.0, 12.0, 6.0, 5.0, 8.0, 14.0, 5.0, 8.0, 6.0, 9.0, 6.0, 9.0, 8.0, 10.0, 14.0, 2.0, 8.0,
        6.0, 5.0, 3.0, 0.0, 6.0, 12.0, 1.0, 6.0, 14.0, 14.0, 3.0, 0.0, 10.0,
    ],
    &[
        3.0, 7.0, 10.0, 16.0, 4.0, 12.0, 10.0, 4.0, 15.0, 15.0, 10.0, 17.0, 12.0, 16.0, 17.0, 11.0,
        7.0, 5.0, 11.0, 5.0, 14.0, 16.0, 6.0, 11.0, 3.0, 5.0, 8.0, 16.0, 17.0, 12.0, 11.0, 11.0,
        3.0, 8.0, 17.0, 9.0, 6.0, 6.0, 13.0, 3.0,
    ],
);

fn near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-12 * expected.abs().max(1e-3),
        "{found} is not {expected}"
    );
}

#[test]
fn mann_whitney_and_hodges_lehmann() {
    let far: (Vec<f64>, Vec<f64>) =
        ((0..20).map(f64::from).collect(), (100..120).map(f64::from).collect());
    let cases = [
        (EXACT, 22.0, 0.246_753_246_753_246_72, -5.5),
        (EXACT_8_AND_20, 62.0, 0.381_147_355_060_398_6, 0.3628),
        (TIES, 8.5, 0.079_558_807_230_239_16, 2.0),
        (NORMAL, 23.0, 0.001_175_051_853_084_506_8, 2.667_500_000_000_001),
        (NORMAL_WITH_TIES, 398.0, 0.016_448_658_085_814_076, 3.0),
        ((&far.0, &far.1), 0.0, 6.795_615_128_173_358e-8, 100.0),
        ((&[1.0], &[2.0]), 0.0, 1.0, 1.0),
    ];
    for ((a, b), u, p_value, shift) in cases {
        let found = mann_whitney(a, b).unwrap();
        assert_eq!(found.u, u);
        near(found.p_value, p_value);
        near(found.effect, 1.0 - 2.0 * u / (a.len() * b.len()) as f64);
        let sorted = |values: &[f64]| {
            let mut values = values.to_vec();
            values.sort_by(f64::total_cmp);
            values
        };
        near(hodges_lehmann(&sorted(a), &sorted(b)).unwrap(), shift);
    }
}

/// The expected values are from scipy.stats.bootstrap, method percentile, 20,000 draws. The draws
/// differ, so the ends agree only approximately.
#[test]
fn bootstrap() {
    let cases = [
        (EXACT_8_AND_20, 0.361_55, -0.382_641, 1.161_65),
        (NORMAL, 2.7415, 1.539_125, 4.22),
        (NORMAL_WITH_TIES, 4.5, 0.0, 6.0),
    ];
    for ((a, b), diff, low, high) in cases {
        let found = bootstrap_diff(a, b).unwrap();
        near(found.diff, diff);
        assert!(
            (found.low - low).abs() <= 0.05 * (high - low),
            "low {} is not near {low}",
            found.low
        );
        assert!(
            (found.high - high).abs() <= 0.05 * (high - low),
            "high {} is not near {high}",
            found.high
        );
    }
}

#[test]
fn linear_regression() {
    let y = [2.1, 3.9, 6.2, 7.8, 10.1, 12.2, 13.8];
    // If x is far from 0, sums of squares lose all their digits.
    for far in [0.0, 1e9] {
        let mut pairs = Pairs::default();
        y.iter().enumerate().for_each(|(at, y)| pairs.add(*y, far + at as f64 + 1.0));
        let line = pairs.line().unwrap();
        near(line.slope, 1.985_714_285_714_285_8);
        near(line.r2.unwrap(), 0.998_346_509_585_077_2);
        if far == 0.0 {
            near(line.intercept, 0.071_428_571_428_571_17);
        }
    }
}

#[test]
fn quantiles_and_mad() {
    let of = |values: &[f64], share| quantile(&mut values.to_vec(), share).unwrap();
    for (share, expected) in
        [(0.1, 1.4), (0.3, 2.4), (0.9, 12.8), (0.95, 14.399_999_999_999_999), (0.99, 15.68)]
    {
        assert_eq!(of(&[16.0, 1.0, 8.0, 2.0, 4.0], share), expected, "{share}");
    }
    for (share, expected) in [
        (0.05, 1.430_000_000_000_000_2),
        (0.33, 3.278),
        (0.5, 4.4),
        (0.9, 8.580_000_000_000_002),
        (0.99, 9.767_999_999_999_999),
    ] {
        assert_eq!(of(&[3.3, 1.1, 2.2, 7.7, 5.5, 4.4, 9.9], share), expected, "{share}");
    }
    assert_eq!(mad(&mut [1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some(1.0));
    assert_eq!(mad(&mut [2.5, 1.25, -3.0, 8.0, 100.0, 7.0]), Some(3.375));
}
