//! The documentation of the statistics.

use crate::doc::{Example, FunctionDoc};

const NULLS: &str = "Rows in which an argument is NULL or NaN are ignored. NULL if no row remains.";
const NULLS_IN_LISTS: &str =
    "NULL and NaN in a list are ignored. NULL if a list is NULL or no value remains.";

pub(super) const WEIGHTED_AVG: FunctionDoc = FunctionDoc {
    name: "weighted_avg",
    area: "statistics",
    signature: "weighted_avg(value DOUBLE, weight DOUBLE) → DOUBLE",
    summary: "The average of values, each with a weight: Σ value · weight / Σ weight.",
    detail: "Both sums are kept with their rounding errors (Neumaier), so the order of rows and \
        the number of threads have no visible effect.",
    nulls: "Rows in which an argument is NULL or NaN are ignored. NULL if no row remains or the \
        weights add up to 0.",
    errors: "None.",
    examples: &[Example {
        sql: "SELECT weighted_avg(v, w) FROM (VALUES (1.0, 1.0), (4.0, 2.0), (9.0, NULL)) t(v, w)",
        answer: "3.0",
    }],
};

pub(super) const LINEAR_REGRESSION: FunctionDoc = FunctionDoc {
    name: "linear_regression",
    area: "statistics",
    signature: "linear_regression(y DOUBLE, x DOUBLE) → STRUCT<slope DOUBLE, intercept DOUBLE, r2 \
        DOUBLE, n BIGINT>",
    summary: "The straight line of least squares through points: y = intercept + slope · x.",
    detail: "r2 is the share of the variance of y that the line explains, n the number of points. \
        The same figures as regr_slope, regr_intercept, regr_r2 and regr_count, in one pass. \
        Nanoseconds since 1970 are too large for DOUBLE: subtract the start of the trace first.",
    nulls: "Rows in which an argument is NULL or NaN are ignored. slope, intercept and r2 are NULL \
        with fewer than two points or if all x are equal. r2 is also NULL if all y are equal.",
    errors: "None.",
    examples: &[Example {
        sql: "SELECT r['slope'], r['intercept'], r['r2'], r['n'] FROM (SELECT linear_regression(y, \
            x) AS r FROM (VALUES (3, 1), (5, 2), (7, 3)) t(y, x))",
        answer: "2.0 | 1.0 | 1.0 | 3",
    }],
};

pub(super) const QUANTILE: FunctionDoc = FunctionDoc {
    name: "quantile",
    area: "statistics",
    signature: "quantile(x DOUBLE, share DOUBLE) → DOUBLE",
    summary: "The exact quantile of values: quantile(x, 0.95) is the 95th percentile.",
    detail: "Interpolated between the two nearest values at position share · (n − 1), type 7 of \
        Hyndman and Fan, which is the default of numpy, pandas and R. The built-in percentile_cont \
        differs: it truncates the weight of interpolation after six decimals. \
        approx_percentile_cont estimates. median(x) is exact for DOUBLE, but rounds towards zero \
        for integers: write median(CAST(x AS DOUBLE)). All values are kept in memory.",
    nulls: NULLS,
    errors: "A share outside 0 to 1, and one that is not the same in all rows, are refused.",
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
    detail: "A measure of spread that is robust against outliers. It is not scaled: for a normal \
        distribution 1.4826 · mad is the standard deviation. All values are kept in memory.",
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
    signature: "mann_whitney(a DOUBLE[], b DOUBLE[]) → STRUCT<u DOUBLE, p_value DOUBLE, effect \
        DOUBLE>",
    summary: "The Mann-Whitney test: whether values of b tend to be larger or smaller than those of a.",
    detail: "u is the number of pairs in which the value of a is larger; a pair of equal values \
        counts one half. p_value is two-sided: exact if no two values are equal, the smaller \
        sample has at most 8 and the larger at most 10,000 values, otherwise from the normal \
        approximation corrected for ties and for continuity. Both equal the results of \
        scipy.stats.mannwhitneyu(a, b). effect is the share of pairs in which b is larger minus \
        the share in which a is larger (Cliff's delta): 1 if all values of b are larger, −1 if all \
        are smaller, 0 if there is no tendency.",
    nulls: NULLS_IN_LISTS,
    errors: "Arguments that are not lists of numbers are refused.",
    examples: &[Example {
        sql: "SELECT m['u'], m['p_value'], m['effect'] FROM (SELECT mann_whitney([1, 2, 3], [4, 5, \
            6]) AS m)",
        answer: "0.0 | 0.1 | 1.0",
    }],
};

pub(super) const BOOTSTRAP_DIFF: FunctionDoc = FunctionDoc {
    name: "bootstrap_diff",
    area: "statistics",
    signature: "bootstrap_diff(a DOUBLE[], b DOUBLE[]) → STRUCT<diff DOUBLE, low DOUBLE, high \
        DOUBLE>",
    summary: "The median of b minus the median of a, with a 95 % interval.",
    detail: "The interval is the percentile bootstrap: each sample is resampled with replacement \
        2,000 times, and low and high are the 2.5 % and 97.5 % quantiles of the differences of the \
        medians. The random seed is fixed, so the same values, in any order, give the same result. \
        With fewer than about 8 values per side the interval is too narrow. It takes 2,000 · (a + \
        b) steps.",
    nulls: NULLS_IN_LISTS,
    errors: "Arguments that are not lists of numbers are refused.",
    examples: &[Example {
        sql: "SELECT d['diff'], d['low'] > 0 FROM (SELECT bootstrap_diff([1, 2, 3, 4, 5], [11, 12, \
            13, 14, 15]) AS d)",
        answer: "10.0 | true",
    }],
};

pub(super) const HODGES_LEHMANN: FunctionDoc = FunctionDoc {
    name: "hodges_lehmann",
    area: "statistics",
    signature: "hodges_lehmann(a DOUBLE[], b DOUBLE[]) → DOUBLE",
    summary: "The median of the differences b − a of all pairs: the shift of b against a.",
    detail: "The Hodges-Lehmann estimate, which belongs to mann_whitney. It is exact, but does not \
        form the pairs.",
    nulls: NULLS_IN_LISTS,
    errors: "Arguments that are not lists of numbers are refused.",
    examples: &[Example { sql: "SELECT hodges_lehmann([1, 2], [5, 7])", answer: "4.5" }],
};
