//! The documentation of the relation functions.

use crate::doc::{Example, FunctionDoc};

const AREA: &str = "intervals";

/// `interval_merge`, the relation.
pub const MERGE: FunctionDoc = FunctionDoc {
    name: "interval_merge",
    area: AREA,
    signature: "FROM interval_merge((query), by => (column, …), start => column, end => column) → \
        by columns, start, end",
    summary: "The union of the intervals of each group, as rows that neither overlap nor touch.",
    detail: "The argument is a query in parentheses, or the name of a query in WITH. start and end \
        default to ts_ns and end_ns, or else start_ns and end_ns, or else start and end. The \
        columns of the result have the same names. Without by, all rows are one group. NULLs in by \
        form one group. The rows have no fixed order.",
    nulls: "Rows with NULL as start or end are ignored.",
    errors: "Unknown columns, columns that are not integers, intervals that end before they start, \
        and queries that use columns of an outer query are refused.",
    examples: &[Example {
        sql: "SELECT device, ts_ns, end_ns FROM interval_merge((SELECT * FROM (VALUES (0, 0, 10), \
            (0, 10, 15), (1, 3, 4)) AS t(device, ts_ns, end_ns)), by => device) ORDER BY device, \
            ts_ns",
        answer: "0 | 0 | 15\n1 | 3 | 4",
    }],
};

/// `interval_intersect`.
pub const INTERSECT: FunctionDoc = FunctionDoc {
    name: "interval_intersect",
    area: AREA,
    signature: "FROM interval_intersect((a), (b), by => (column, …), start => column, end => \
        column, b_start => column, b_end => column) → by columns, start, end, a_…, b_…",
    summary: "Every pair of overlapping rows of a and b in the same group, with their overlap.",
    detail: "start and end are those of the overlap, with their names in a. All other columns of \
        both queries follow with the prefixes a_ and b_, including the start and end of both rows; \
        by columns occur once. Rows of one side may overlap each other. Queries should select only \
        the columns they need. Names and defaults are as in interval_merge; b_start and b_end are \
        for a second query with other names. The rows of both queries are kept in memory.",
    nulls: "Rows with NULL as start or end are ignored. NULLs in by are equal.",
    errors: "As for interval_merge.",
    examples: &[Example {
        sql: "SELECT ts_ns, end_ns, a_id, b_id FROM interval_intersect((SELECT * FROM (VALUES \
            ('k1', 0, 10), ('k2', 12, 20)) AS t(id, ts_ns, end_ns)), (SELECT * FROM (VALUES ('step \
            1', 5, 15)) AS t(id, ts_ns, end_ns))) ORDER BY ts_ns",
        answer: "5 | 10 | k1 | step 1\n12 | 15 | k2 | step 1",
    }],
};

/// `interval_subtract`.
pub const SUBTRACT: FunctionDoc = FunctionDoc {
    name: "interval_subtract",
    area: AREA,
    signature: "FROM interval_subtract((a), (b), by => (column, …), start => column, end => \
        column, b_start => column, b_end => column) → the columns of a",
    summary: "The parts of each row of a during which no row of b in the same group is open.",
    detail: "Each row of a is cut on its own. It becomes one row for each remaining part, with all \
        its columns and the start and end of the part. If rows of a overlap, so do their parts; \
        merge a first if it stands for a set. Names and defaults are as in interval_intersect. The \
        rows of both queries are kept in memory.",
    nulls: "Rows with NULL as start or end are ignored. NULLs in by are equal.",
    errors: "As for interval_merge.",
    examples: &[Example {
        sql: "SELECT * FROM interval_subtract((SELECT 'nccl' AS name, 0 AS ts_ns, 10 AS end_ns), \
            (SELECT 3 AS ts_ns, 5 AS end_ns)) ORDER BY ts_ns",
        answer: "nccl | 0 | 3\nnccl | 5 | 10",
    }],
};

/// `interval_overlap_count`, the relation.
pub const OVERLAP_COUNT: FunctionDoc = FunctionDoc {
    name: "interval_overlap_count",
    area: AREA,
    signature: "FROM interval_overlap_count((query), by => (column, …), start => column, end => \
        column) → by columns, start, end, open BIGINT",
    summary: "The stretches of time during which at least one interval of the group is open, with \
        the number of open intervals.",
    detail: "A stretch lasts as long as the number stays the same. Names and defaults are as in \
        interval_merge.",
    nulls: "Rows with NULL as start or end are ignored.",
    errors: "As for interval_merge.",
    examples: &[Example {
        sql: "SELECT * FROM interval_overlap_count((SELECT * FROM (VALUES (0, 10), (5, 15)) AS \
            t(ts_ns, end_ns))) ORDER BY ts_ns",
        answer: "0 | 5 | 1\n5 | 10 | 2\n10 | 15 | 1",
    }],
};

/// `interval_gaps`.
pub const GAPS: FunctionDoc = FunctionDoc {
    name: "interval_gaps",
    area: AREA,
    signature: "FROM interval_gaps((query), by => (column, …), start => column, end => column, \
        from => bound, to => bound) → by columns, start, end",
    summary: "The stretches between the intervals of a group during which no interval is open.",
    detail: "from and to are bounds of a group: integers or expressions over the columns of the \
        query. A group uses its least from and its greatest to. With from, the time before the \
        first interval is a gap too; with to, so is the time after the last one. Nothing outside \
        the bounds is a gap. A group with both bounds but without intervals (rows with NULL as \
        start or end) is one gap. Names and defaults are as in interval_merge.",
    nulls: "Rows with NULL as start or end add no interval, but their bounds count. NULL as bound \
        stands for no bound.",
    errors: "As for interval_merge. A from after to is refused too.",
    examples: &[
        Example {
            sql: "SELECT * FROM interval_gaps((SELECT * FROM (VALUES (2, 4), (3, 6), (8, 9)) AS \
                t(ts_ns, end_ns)))",
            answer: "6 | 8",
        },
        Example {
            sql: "SELECT * FROM interval_gaps((SELECT * FROM (VALUES (2, 4), (3, 6), (8, 9)) AS \
                t(ts_ns, end_ns)), from => 0, to => 12) ORDER BY ts_ns",
            answer: "0 | 2\n6 | 8\n9 | 12",
        },
    ],
};

/// `interval_flatten`.
pub const FLATTEN: FunctionDoc = FunctionDoc {
    name: "interval_flatten",
    area: AREA,
    signature: "FROM interval_flatten((query), by => (column, …), start => column, end => column, \
        id => column) → the columns of the query",
    summary: "The innermost interval of a group at each instant, as rows that do not overlap, with \
        the columns of the innermost row.",
    detail: "The innermost of the open intervals is the one that started last, then the shortest \
        one, then the one with the greatest id. id defaults to event_id; without an id, the choice \
        between equal intervals is not fixed. If intervals nest, the length of a row's parts is \
        its self time. Names and defaults are as in interval_merge. The rows of the query are kept \
        in memory.",
    nulls: "Rows with NULL as start or end are ignored. A NULL id is the smallest.",
    errors: "As for interval_merge.",
    examples: &[Example {
        sql: "SELECT * FROM interval_flatten((SELECT * FROM (VALUES ('outer', 0, 10), ('inner', 3, \
            5)) AS t(name, ts_ns, end_ns))) ORDER BY ts_ns",
        answer: "outer | 0 | 3\ninner | 3 | 5\nouter | 5 | 10",
    }],
};

/// `asof_join`.
pub const ASOF_JOIN: FunctionDoc = FunctionDoc {
    name: "asof_join",
    area: AREA,
    signature: "FROM asof_join((left), (right), by => (column, …), left_time => column, right_time \
        => column, id => column) → the columns of left, right_…",
    summary: "Every row of left with the latest row of right in the same group that is not later.",
    detail: "The columns of right, except the by columns, follow those of left with the prefix \
        right_. Times default to ts_ns, or else start_ns, or else start. Among right rows with the \
        same time, the one with the greatest id counts. id is a column of right and defaults to \
        event_id; without an id, the choice is not fixed. The rows of both queries are kept in \
        memory.",
    nulls: "A left row without a match, or with NULL as time, has NULL in the columns of right. \
        Right rows with NULL as time are ignored. NULLs in by are equal.",
    errors: "As for interval_merge.",
    examples: &[Example {
        sql: "SELECT * FROM asof_join((SELECT * FROM (VALUES (5), (20)) AS t(ts_ns)), (SELECT * \
            FROM (VALUES (10, 'a'), (15, 'b')) AS t(ts_ns, value))) ORDER BY ts_ns",
        answer: "5 | NULL | NULL\n20 | 15 | b",
    }],
};
