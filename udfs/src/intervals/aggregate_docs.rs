//! The documentation of the aggregates over intervals.

use crate::doc::{Example, FunctionDoc};

const AREA: &str = "intervals";
const NULLS: &str = "Rows with NULL in an argument are ignored.";
const ERRORS: &str = "An interval that ends before it starts, an argument that is not an integer, \
    and a length beyond BIGINT are refused. Round other numbers, or write CAST(x AS BIGINT).";

/// `interval_union_len`.
pub const UNION_LEN: FunctionDoc = FunctionDoc {
    name: "interval_union_len",
    area: AREA,
    signature: "interval_union_len(start BIGINT, end BIGINT) → BIGINT",
    summary: "The length of the union of half-open intervals, in their unit: the time during which \
        at least one is open.",
    detail: "Time that intervals share counts once. Without any interval the length is 0. The time \
        of A without the time of B is the length of both together minus the length of B; FILTER \
        selects the two.",
    nulls: NULLS,
    errors: ERRORS,
    examples: &[Example {
        sql: "SELECT interval_union_len(s, e) FROM (VALUES (0, 10), (5, 15), (20, 30), (7, 7)) AS \
            t(s, e)",
        answer: "25",
    }],
};

/// `interval_overlap_len`.
pub const OVERLAP_LEN: FunctionDoc = FunctionDoc {
    name: "interval_overlap_len",
    area: AREA,
    signature: "interval_overlap_len(start BIGINT, end BIGINT, set BIGINT | VARCHAR) → \
        LIST<STRUCT<sets BIGINT | VARCHAR[], len BIGINT>>",
    summary: "For each combination of sets, the time during which exactly these sets have an open \
        interval.",
    detail: "One sweep over all intervals. A set with a number n of 0..62 is bit n of the mask \
        `sets`, so `sets & 2 <> 0` tests for set 1. Sets named by text give a sorted list of \
        names, at most 63 in a group. The lengths of all combinations add up to the length of the \
        union. Time without an open interval is not listed. The list is in the order of `sets`; \
        unnest turns it into rows.",
    nulls: NULLS,
    errors: "A set number outside 0..62, more than 63 names in a group, an interval that ends \
        before it starts, an argument of another type, and a length beyond BIGINT are refused.",
    examples: &[
        Example {
            sql: "SELECT o['sets'], o['len'] FROM (SELECT unnest(interval_overlap_len(s, e, k)) AS \
                o FROM (VALUES (0, 10, 0), (6, 14, 1)) AS t(s, e, k))",
            answer: "1 | 6\n2 | 4\n3 | 4",
        },
        Example {
            sql: "SELECT interval_overlap_len(s, e, k) FROM (VALUES (0, 10, 'compute'), (6, 14, \
                'copy')) AS t(s, e, k)",
            answer: "[{sets: [compute], len: 6}, {sets: [compute, copy], len: 4}, {sets: [copy], \
                len: 4}]",
        },
    ],
};

/// `interval_max_overlap`.
pub const MAX_OVERLAP: FunctionDoc = FunctionDoc {
    name: "interval_max_overlap",
    area: AREA,
    signature: "interval_max_overlap(start BIGINT, end BIGINT) → BIGINT",
    summary: "The largest number of intervals that are open at the same time.",
    detail: "An interval that ends where another starts is not open together with it. Without any \
        interval the number is 0.",
    nulls: NULLS,
    errors: ERRORS,
    examples: &[Example {
        sql: "SELECT interval_max_overlap(s, e) FROM (VALUES (0, 10), (5, 15), (10, 20), (20, 30)) \
            AS t(s, e)",
        answer: "2",
    }],
};

/// `interval_merge`, the aggregate.
pub const MERGE: FunctionDoc = FunctionDoc {
    name: "interval_merge",
    area: AREA,
    signature: "interval_merge(start BIGINT, end BIGINT) → LIST<STRUCT<start BIGINT, end BIGINT>>",
    summary: "The union of half-open intervals as an ordered list of intervals that neither \
        overlap nor touch.",
    detail: "Intervals that touch become one. Without any interval the list is empty. For rows \
        instead of a list, use the relation of the same name.",
    nulls: NULLS,
    errors: ERRORS,
    examples: &[Example {
        sql: "SELECT interval_merge(s, e) FROM (VALUES (20, 30), (5, 15), (0, 5)) AS t(s, e)",
        answer: "[{start: 0, end: 15}, {start: 20, end: 30}]",
    }],
};

/// `interval_overlap_count`, the aggregate.
pub const OVERLAP_COUNT: FunctionDoc = FunctionDoc {
    name: "interval_overlap_count",
    area: AREA,
    signature: "interval_overlap_count(start BIGINT, end BIGINT) → LIST<STRUCT<start BIGINT, end \
        BIGINT, open BIGINT>>",
    summary: "The number of open intervals over time, as an ordered list of stretches.",
    detail: "A stretch lasts as long as the number stays the same. Stretches without an open \
        interval are not listed. For rows instead of a list, use the relation of the same name.",
    nulls: NULLS,
    errors: ERRORS,
    examples: &[Example {
        sql: "SELECT interval_overlap_count(s, e) FROM (VALUES (0, 10), (5, 15)) AS t(s, e)",
        answer: "[{start: 0, end: 5, open: 1}, {start: 5, end: 10, open: 2}, {start: 10, end: 15, \
            open: 1}]",
    }],
};
