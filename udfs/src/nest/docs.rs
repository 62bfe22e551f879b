//! The documentation of the functions on nesting.

use crate::doc::{Example, FunctionDoc};

/// What all of them refuse.
pub const ERRORS: &str = "Rows that are not in the order of start, longest first (`ORDER BY start, end DESC`) are refused, and so is an end \
    before its start; the message names the function and the row.";

pub const PARENT: FunctionDoc = FunctionDoc {
    name: "nest_parent",
    area: "nesting",
    signature: "nest_parent(id ANY, start BIGINT, end BIGINT) OVER (PARTITION BY … ORDER BY start, end DESC, …) → type of id",
    summary: "The id of the innermost interval of the window's partition that fully encloses the row's own.",
    detail: "Intervals are half-open. Of several that enclose an interval the one that starts last is the parent, of equal ones the one that \
        comes last in the order. An interval that partly overlaps others takes the innermost one that encloses it fully. A zero-length \
        interval at the end of another is not its child; zero-length intervals at the same instant stack. Only the rows of the query take \
        part, so a filter leaves out parents too: each row then takes the next outer one. The rules are those of `events.parent_id`, where \
        device work encloses nothing. Frames (ROWS …) do not matter.",
    nulls: "NULL without a parent. A row whose start or end is NULL takes no part, and its answer is NULL.",
    errors: ERRORS,
    examples: &[
        Example {
            sql: "SELECT id, nest_parent(id, s, e) OVER (ORDER BY s, e DESC, id) AS parent \
                  FROM (VALUES (1, 0, 100), (2, 10, 60), (3, 20, 30), (4, 60, 70)) AS t(id, s, e) ORDER BY id",
            answer: "1 | NULL\n2 | 1\n3 | 2\n4 | 1",
        },
        Example {
            sql: "SELECT id, nest_parent(id, s, e) OVER (PARTITION BY track ORDER BY s, e DESC, id) AS parent \
                  FROM (VALUES ('a', 'x', 0, 9), ('b', 'y', 1, 2), ('c', 'x', 1, 2)) AS t(id, track, s, e) ORDER BY id",
            answer: "a | NULL\nb | NULL\nc | a",
        },
    ],
};

pub const DEPTH: FunctionDoc = FunctionDoc {
    name: "nest_depth",
    area: "nesting",
    signature: "nest_depth(start BIGINT, end BIGINT) OVER (PARTITION BY … ORDER BY start, end DESC, …) → BIGINT",
    summary: "The number of intervals of the window's partition around the row's own, one within the other.",
    detail: "0 without a parent, else the parent's depth plus 1; the rules are those of `nest_parent`.",
    nulls: "A row whose start or end is NULL takes no part, and its answer is NULL.",
    errors: ERRORS,
    examples: &[Example {
        sql: "SELECT id, nest_depth(s, e) OVER (ORDER BY s, e DESC, id) AS depth \
              FROM (VALUES (1, 0, 100), (2, 10, 60), (3, 20, 30), (4, 55, 70)) AS t(id, s, e) ORDER BY id",
        answer: "1 | 0\n2 | 1\n3 | 2\n4 | 1",
    }],
};

pub const SELF: FunctionDoc = FunctionDoc {
    name: "nest_self",
    area: "nesting",
    signature: "nest_self(start BIGINT, end BIGINT) OVER (PARTITION BY … ORDER BY start, end DESC, …) → BIGINT",
    summary: "The length of the row's interval less the union of its direct children.",
    detail: "In the unit of start and end. Where no interval partly overlaps another, the sum over a partition is the union of its intervals. \
        Children that overlap each other are subtracted once, so each keeps its own length and the sum exceeds the union by their overlap. \
        The rules are those of `nest_parent`.",
    nulls: "A row whose start or end is NULL takes no part, and its answer is NULL.",
    errors: ERRORS,
    examples: &[Example {
        sql: "SELECT id, nest_self(s, e) OVER (ORDER BY s, e DESC, id) AS own \
              FROM (VALUES (1, 0, 100), (2, 10, 60), (3, 20, 30), (4, 60, 70)) AS t(id, s, e) ORDER BY id",
        answer: "1 | 40\n2 | 40\n3 | 10\n4 | 10",
    }],
};
