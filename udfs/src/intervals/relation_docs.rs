//! What the relation functions are and say.

use crate::doc::{Example, FunctionDoc};

const AREA: &str = "intervals";

/// `interval_merge`, the relation.
pub const MERGE: FunctionDoc = FunctionDoc {
    name: "interval_merge",
    area: AREA,
    signature: "FROM interval_merge((query), by => (column, …), start => column, end => column) → by columns, start, end",
    summary: "The union of the intervals of each group, as rows that neither overlap nor touch.",
    detail: "The argument is a query in parentheses, or the name of one in WITH. start and end default to ts_ns and end_ns, \
        else start_ns and end_ns, else start and end; the columns of the answer have the same names. Without by all rows are one \
        group; NULLs in by are one group too. Rows come in no order.",
    nulls: "Rows with NULL as start or end are ignored.",
    errors: "Unknown columns, columns of other types than integers, intervals that end before they start, and queries that use columns of an outer query.",
    examples: &[Example {
        sql: "SELECT device, ts_ns, end_ns FROM interval_merge((SELECT * FROM (VALUES (0, 0, 10), (0, 10, 15), (1, 3, 4)) AS t(device, ts_ns, end_ns)), by => device) ORDER BY device, ts_ns",
        answer: "0 | 0 | 15\n1 | 3 | 4",
    }],
};

/// `interval_intersect`.
pub const INTERSECT: FunctionDoc = FunctionDoc {
    name: "interval_intersect",
    area: AREA,
    signature: "FROM interval_intersect((a), (b), by => (column, …), start => column, end => column, b_start => column, b_end => column) → by columns, start, end, a_…, b_…",
    summary: "Every pair of a row of a and a row of b of the same group that have instants in common, with these instants.",
    detail: "start and end are those of the common part, under the names they have in a. All other columns of both queries follow with \
        a_ and b_ in front, a_ and b_ start and end among them; by columns come once. Rows of one side may overlap each other. Queries \
        should select only what is needed. Names and defaults are as in interval_merge; b_start and b_end are for a second \
        query with other names. Memory: the rows of both queries.",
    nulls: "Rows with NULL as start or end are ignored. NULLs in by are equal.",
    errors: "As interval_merge.",
    examples: &[Example {
        sql: "SELECT ts_ns, end_ns, a_id, b_id FROM interval_intersect((SELECT * FROM (VALUES ('k1', 0, 10), ('k2', 12, 20)) AS t(id, ts_ns, end_ns)), (SELECT * FROM (VALUES ('step 1', 5, 15)) AS t(id, ts_ns, end_ns))) ORDER BY ts_ns",
        answer: "5 | 10 | k1 | step 1\n12 | 15 | k2 | step 1",
    }],
};

/// `interval_subtract`.
pub const SUBTRACT: FunctionDoc = FunctionDoc {
    name: "interval_subtract",
    area: AREA,
    signature: "FROM interval_subtract((a), (b), by => (column, …), start => column, end => column, b_start => column, b_end => column) → the columns of a",
    summary: "The parts of each row of a in which no row of b of the same group is open.",
    detail: "Each row of a is cut on its own: it becomes as many rows as parts are left, with all its columns and the start and end of the \
        part. Where rows of a overlap, so do the parts; merge a first if it stands for a set. Names and defaults are as in interval_intersect. \
        Memory: the rows of both queries.",
    nulls: "Rows with NULL as start or end are ignored. NULLs in by are equal.",
    errors: "As interval_merge.",
    examples: &[Example {
        sql: "SELECT * FROM interval_subtract((SELECT 'nccl' AS name, 0 AS ts_ns, 10 AS end_ns), (SELECT 3 AS ts_ns, 5 AS end_ns)) ORDER BY ts_ns",
        answer: "nccl | 0 | 3\nnccl | 5 | 10",
    }],
};

/// `interval_overlap_count`, the relation.
pub const OVERLAP_COUNT: FunctionDoc = FunctionDoc {
    name: "interval_overlap_count",
    area: AREA,
    signature: "FROM interval_overlap_count((query), by => (column, …), start => column, end => column) → by columns, start, end, open BIGINT",
    summary: "The stretches of time in which at least one interval of the group is open, with the number of open ones.",
    detail: "Each stretch is as long as its number stays the same. Names and defaults are as in interval_merge.",
    nulls: "Rows with NULL as start or end are ignored.",
    errors: "As interval_merge.",
    examples: &[Example {
        sql: "SELECT * FROM interval_overlap_count((SELECT * FROM (VALUES (0, 10), (5, 15)) AS t(ts_ns, end_ns))) ORDER BY ts_ns",
        answer: "0 | 5 | 1\n5 | 10 | 2\n10 | 15 | 1",
    }],
};

/// `interval_gaps`.
pub const GAPS: FunctionDoc = FunctionDoc {
    name: "interval_gaps",
    area: AREA,
    signature: "FROM interval_gaps((query), by => (column, …), start => column, end => column, from => bound, to => bound) → by columns, start, end",
    summary: "The stretches between the intervals of a group in which none is open.",
    detail: "from and to are bounds of a group: integers or expressions over the columns of the query, of which a group takes the least from and \
        the greatest to. With from, what lies before the first interval is a gap too; with to, what lies behind the last one; nothing \
        outside the bounds is. A group with both bounds and no interval (rows with NULL as start or end) is one gap. Names and \
        defaults are as in interval_merge.",
    nulls: "Rows with NULL as start or end add no interval, but their bounds count. A NULL bound is none.",
    errors: "As interval_merge; and a from that lies after to.",
    examples: &[
        Example {
            sql: "SELECT * FROM interval_gaps((SELECT * FROM (VALUES (2, 4), (3, 6), (8, 9)) AS t(ts_ns, end_ns)))",
            answer: "6 | 8",
        },
        Example {
            sql: "SELECT * FROM interval_gaps((SELECT * FROM (VALUES (2, 4), (3, 6), (8, 9)) AS t(ts_ns, end_ns)), from => 0, to => 12) ORDER BY ts_ns",
            answer: "0 | 2\n6 | 8\n9 | 12",
        },
    ],
};

/// `interval_flatten`.
pub const FLATTEN: FunctionDoc = FunctionDoc {
    name: "interval_flatten",
    area: AREA,
    signature: "FROM interval_flatten((query), by => (column, …), start => column, end => column, id => column) → the columns of the query",
    summary: "The innermost interval of a group at each instant: rows that do not overlap, with the columns of the row that is innermost.",
    detail: "Of the open intervals the innermost is the one that started last; of those the shortest; of equal ones that with the greatest id. id \
        defaults to event_id; without one, equal intervals are told apart in no fixed order. Where intervals nest, the length of a row's \
        parts is its self time. Names and defaults are as in interval_merge. Memory: the rows of the query.",
    nulls: "Rows with NULL as start or end are ignored. A NULL id is the least.",
    errors: "As interval_merge.",
    examples: &[Example {
        sql: "SELECT * FROM interval_flatten((SELECT * FROM (VALUES ('outer', 0, 10), ('inner', 3, 5)) AS t(name, ts_ns, end_ns))) ORDER BY ts_ns",
        answer: "outer | 0 | 3\ninner | 3 | 5\nouter | 5 | 10",
    }],
};

/// `asof_join`.
pub const ASOF_JOIN: FunctionDoc = FunctionDoc {
    name: "asof_join",
    area: AREA,
    signature: "FROM asof_join((left), (right), by => (column, …), left_time => column, right_time => column, id => column) → the columns of left, right_…",
    summary: "Every row of left with the latest row of right of the same group that is not later.",
    detail: "The columns of right follow those of left with right_ in front, but for the by columns. Times default to ts_ns, else start_ns, else start. \
        Of right rows with the same time, the one with the greatest id is taken; id is a column of right and defaults to event_id; without one \
        there is no fixed choice. Memory: the rows of both queries.",
    nulls: "A left row without a match has NULL in the columns of right; so has one with NULL as time. Right rows with NULL as time are ignored. NULLs in by are equal.",
    errors: "As interval_merge.",
    examples: &[Example {
        sql: "SELECT * FROM asof_join((SELECT * FROM (VALUES (5), (20)) AS t(ts_ns)), (SELECT * FROM (VALUES (10, 'a'), (15, 'b')) AS t(ts_ns, value))) ORDER BY ts_ns",
        answer: "5 | NULL | NULL\n20 | 15 | b",
    }],
};
