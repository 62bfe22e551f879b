//! What there is to say about the statistics.

use crate::doc::{Example, FunctionDoc};

const NULLS: &str = "Rows in which an argument is NULL or NaN are left out. NULL if none is left.";
const NULLS_IN_LISTS: &str =
    "NULL and NaN in a list are left out. NULL if a list is NULL or nothing is left of it.";

pub(super) const WEIGHTED_AVG: FunctionDoc = FunctionDoc {
    name: "weighted_avg",
    area: "statistics",
    signature: "weighted_avg(value DOUBLE, weight DOUBLE) → DOUBLE",
    summary: "The average of values, each with a weight: Σ value · weight / Σ weight.",
    detail: "Both sums are kept with their rounding errors (Neumaier), so that the order of rows and the number of threads do not show.",
    nulls: "Rows in which an argument is NULL or NaN are left out. NULL if none is left or the weights add up to 0.",
    errors: "None.",
    examples: &[Example {
        sql: "SELECT weighted_avg(v, w) FROM (VALUES (1.0, 1.0), (4.0, 2.0), (9.0, NULL)) t(v, w)",
        answer: "3.0",
    }],
};

pub(super) const LINEAR_REGRESSION: FunctionDoc = FunctionDoc {
    name: "linear_regression",
    area: "statistics",
    signature: "linear_regression(y DOUBLE, x DOUBLE) → STRUCT<slope DOUBLE, intercept DOUBLE, r2 DOUBLE, n BIGINT>",
    summary: "The straight line of least squares through points: y = intercept + slope · x.",
    detail: "r2 is the share of the variance of y that the line explains, n the number of points. The same figures as regr_slope, regr_intercept, \
             regr_r2 and regr_count, in one pass. Nanoseconds since 1970 are too large for DOUBLE: subtract the start of the trace first.",
    nulls: "Rows in which an argument is NULL or NaN are left out. slope, intercept and r2 are NULL with fewer than two points or if all x are \
            equal, r2 also if all y are equal.",
    errors: "None.",
    examples: &[Example {
        sql: "SELECT r['slope'], r['intercept'], r['r2'], r['n'] FROM (SELECT linear_regression(y, x) AS r FROM (VALUES (3, 1), (5, 2), (7, 3)) t(y, x))",
        answer: "2.0 | 1.0 | 1.0 | 3",
    }],
};

pub(super) const QUANTILE: FunctionDoc = FunctionDoc {
    name: "quantile",
    area: "statistics",
    signature: "quantile(x DOUBLE, share DOUBLE) → DOUBLE",
    summary: "The exact quantile of values: quantile(x, 0.95) is the 95th percentile.",
    detail: "Interpolated between the two nearest values at position share · (n − 1), type 7 of Hyndman and Fan, as numpy, pandas and R do it by \
             default. The built-in percentile_cont differs: it cuts the weight of interpolation off after six decimals. approx_percentile_cont \
             estimates. median(x) is exact for DOUBLE, but rounds towards zero for integers: write median(CAST(x AS DOUBLE)). Keeps all values in \
             memory.",
    nulls: NULLS,
    errors: "A share outside 0 to 1, or one that is not the same in all rows.",
    examples: &[Example {
        sql: "SELECT quantile(x, 0.75), quantile(x, 1) FROM (VALUES (1), (2), (4), (8)) t(x)",
        answer: "5.0 | 8.0",
    }],
};

pub(super) const MAD: FunctionDoc = FunctionDoc {
    name: "mad",
    area: "statistics",
    signature: "mad(x DOUBLE) → DOUBLE",
    summary: "The median absolute deviation: the median of the distances from the median.",
    detail: "A measure of spread that outliers do not move. Not scaled: of a normal distribution 1.4826 · mad is the standard deviation. Keeps all \
             values in memory.",
    nulls: NULLS,
    errors: "None.",
    examples: &[Example {
        sql: "SELECT mad(x) FROM (VALUES (1), (1), (2), (2), (4), (6), (9)) t(x)",
        answer: "1.0",
    }],
};

pub(super) const MANN_WHITNEY: FunctionDoc = FunctionDoc {
    name: "mann_whitney",
    area: "statistics",
    signature: "mann_whitney(a DOUBLE[], b DOUBLE[]) → STRUCT<u DOUBLE, p_value DOUBLE, effect DOUBLE>",
    summary: "The test of Mann and Whitney, whether values of b tend to be larger or smaller than those of a.",
    detail: "u counts the pairs in which the value of a is larger, equal ones half. p_value is two-sided: exact if no two values are equal, the \
             smaller sample has at most 8 and the larger at most 10,000 values, otherwise from the normal approximation corrected for ties and for \
             continuity. Both as scipy.stats.mannwhitneyu(a, b) gives them. effect is the share of pairs in which b is larger less the share in \
             which a is (Cliff's delta): 1 if all of b is larger, −1 if all is smaller, 0 if neither tends to be.",
    nulls: NULLS_IN_LISTS,
    errors: "Arguments that are no lists of numbers.",
    examples: &[Example {
        sql: "SELECT m['u'], m['p_value'], m['effect'] FROM (SELECT mann_whitney([1, 2, 3], [4, 5, 6]) AS m)",
        answer: "0.0 | 0.1 | 1.0",
    }],
};

pub(super) const BOOTSTRAP_DIFF: FunctionDoc = FunctionDoc {
    name: "bootstrap_diff",
    area: "statistics",
    signature: "bootstrap_diff(a DOUBLE[], b DOUBLE[]) → STRUCT<diff DOUBLE, low DOUBLE, high DOUBLE>",
    summary: "The median of b less the median of a, with a 95 % interval.",
    detail: "The interval is the percentile bootstrap: each sample is drawn from itself with replacement 2,000 times; low and high are the 2.5 % \
             and 97.5 % quantiles of the differences of the medians. The random numbers always begin the same, so the same values, in any order, give \
             the same answer. With fewer than about 8 values a side the interval is too narrow. Takes 2,000 · (a + b) steps.",
    nulls: NULLS_IN_LISTS,
    errors: "Arguments that are no lists of numbers.",
    examples: &[Example {
        sql: "SELECT d['diff'], d['low'] > 0 FROM (SELECT bootstrap_diff([1, 2, 3, 4, 5], [11, 12, 13, 14, 15]) AS d)",
        answer: "10.0 | true",
    }],
};

pub(super) const HODGES_LEHMANN: FunctionDoc = FunctionDoc {
    name: "hodges_lehmann",
    area: "statistics",
    signature: "hodges_lehmann(a DOUBLE[], b DOUBLE[]) → DOUBLE",
    summary: "The median of the differences of all pairs, b less a: by how much b is shifted against a.",
    detail: "The estimate that belongs to mann_whitney (Hodges and Lehmann). Exact, without forming the pairs.",
    nulls: NULLS_IN_LISTS,
    errors: "Arguments that are no lists of numbers.",
    examples: &[Example { sql: "SELECT hodges_lehmann([1, 2], [5, 7])", answer: "4.5" }],
};
