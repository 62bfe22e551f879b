//! The documentation of the functions on nesting.

use crate::doc::{Example, FunctionDoc};

/// The errors of all functions on nesting.
pub const ERRORS: &str = "Rows that are not in the order of start, longest first (`ORDER BY start, \
    end DESC`) are refused, and so is an end before its start; the message names the function and \
    the row.";

pub const PARENT: FunctionDoc = FunctionDoc {
    name: "nest_parent",
    area: "nesting",
    signature: "nest_parent(id ANY, start BIGINT, end BIGINT) OVER (PARTITION BY … ORDER BY start, \
        end DESC, …) → type of id",
    summary: "The id of the innermost interval of the window's partition that fully encloses the \
        row's own.",
    detail: "Intervals are half-open. If several intervals enclose one, its parent is the one that \
        starts last, and among equal ones the last in the order. An interval that partly overlaps \
        others gets the innermost one that encloses it fully. A zero-length interval at the end of \
        another is not its child; zero-length intervals at the same instant stack. Only the rows \
        of the query count, so a filter removes parents too, and a row then gets the next outer \
        one. The rules are those of `events.parent_id`, where device work encloses nothing. Frames \
        (ROWS …) do not matter.",
    nulls: "NULL without a parent. A row whose start or end is NULL is ignored, and its result is \
        NULL.",
    errors: ERRORS,
    examples: &[
        Example {
            sql: "SELECT id, nest_parent(id, s, e) OVER (ORDER BY s, e DESC, id) AS parent FROM \
                (VALUES (1, 0, 100), (2, 10, 60), (3, 20, 30), (4, 60, 70)) AS t(id, s, e) ORDER \
                BY id",
            answer: "1 | NULL\n2 | 1\n3 | 2\n4 | 1",
        },
        Example {
            sql: "SELECT id, nest_parent(id, s, e) OVER (PARTITION BY track ORDER BY s, e DESC, \
                id) AS parent FROM (VALUES ('a', 'x', 0, 9), ('b', 'y', 1, 2), ('c', 'x', 1, 2)) \
                AS t(id, track, s, e) ORDER BY id",
            answer: "a | NULL\nb | NULL\nc | a",
        },
    ],
};

pub const DEPTH: FunctionDoc = FunctionDoc {
    name: "nest_depth",
    area: "nesting",
    signature: "nest_depth(start BIGINT, end BIGINT) OVER (PARTITION BY … ORDER BY start, end \
        DESC, …) → BIGINT",
    summary: "The number of nested intervals of the window's partition that enclose the row's \
        interval.",
    detail: "0 without a parent, otherwise the parent's depth plus 1. The rules are those of \
        `nest_parent`.",
    nulls: "A row whose start or end is NULL is ignored, and its result is NULL.",
    errors: ERRORS,
    examples: &[Example {
        sql: "SELECT id, nest_depth(s, e) OVER (ORDER BY s, e DESC, id) AS depth FROM (VALUES (1, \
            0, 100), (2, 10, 60), (3, 20, 30), (4, 55, 70)) AS t(id, s, e) ORDER BY id",
        answer: "1 | 0\n2 | 1\n3 | 2\n4 | 1",
    }],
};

pub const SELF: FunctionDoc = FunctionDoc {
    name: "nest_self",
    area: "nesting",
    signature: "nest_self(start BIGINT, end BIGINT) OVER (PARTITION BY … ORDER BY start, end DESC, \
        …) → BIGINT",
    summary: "The length of the row's interval minus the union of its direct children.",
    detail: "The unit is that of start and end. If no interval partly overlaps another, the sum \
        over a partition is the union of its intervals. The overlap of two children is subtracted \
        once, but each child keeps its whole length, so the sum then exceeds the union by their \
        overlap. The rules are those of `nest_parent`.",
    nulls: "A row whose start or end is NULL is ignored, and its result is NULL.",
    errors: ERRORS,
    examples: &[Example {
        sql: "SELECT id, nest_self(s, e) OVER (ORDER BY s, e DESC, id) AS own FROM (VALUES (1, 0, \
            100), (2, 10, 60), (3, 20, 30), (4, 60, 70)) AS t(id, s, e) ORDER BY id",
        answer: "1 | 40\n2 | 40\n3 | 10\n4 | 10",
    }],
};
