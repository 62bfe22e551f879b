//! The documentation of the functions that copy or sum values along links.

use crate::doc::{Example, FunctionDoc};

const RULES: &str = "The parent of a row is the first row of the window's partition that has the \
    id in `parent`. Only the rows of the query count. Order and frames (ROWS …) have no effect, \
    but windows of one query with the same ORDER BY are sorted once.";

pub const PARENT_VALUE: FunctionDoc = FunctionDoc {
    name: "parent_value",
    area: "nesting",
    signature: "parent_value(id BIGINT, parent BIGINT, value ANY) OVER (PARTITION BY …) → type of \
        value",
    summary: "The value of a row's parent.",
    detail: RULES,
    nulls: "NULL if parent is NULL or no row has this id. A row whose id is NULL is never a \
        parent.",
    errors: "None.",
    examples: &[Example {
        sql: "SELECT id, parent_value(id, parent, name) OVER () AS above FROM (VALUES (1, NULL, \
            'a'), (2, 1, 'b'), (3, 2, 'c')) AS t(id, parent, name) ORDER BY id",
        answer: "1 | NULL\n2 | a\n3 | b",
    }],
};

pub const CHILDREN_SUM: FunctionDoc = FunctionDoc {
    name: "children_sum",
    area: "nesting",
    signature: "children_sum(id BIGINT, parent BIGINT, value BIGINT|DOUBLE) OVER (PARTITION BY …) \
        → BIGINT|DOUBLE",
    summary: "The sum of a value over the children of a row.",
    detail: "The children are the rows that have the row's id in `parent`. 0 without children. \
        With 1 as value it counts children. If several rows share an id, it stands for the first \
        of them. Only the rows of the query count. Order and frames (ROWS …) have no effect, but \
        windows of one query with the same ORDER BY are sorted once.",
    nulls: "NULL values are ignored. A row whose id is NULL has no children.",
    errors: "A sum that does not fit 64 bits is refused.",
    examples: &[Example {
        sql: "SELECT id, children_sum(id, parent, ns) OVER () AS inside FROM (VALUES (1, NULL, \
            100), (2, 1, 50), (3, 1, 20), (4, 2, 5)) AS t(id, parent, ns) ORDER BY id",
        answer: "1 | 70\n2 | 5\n3 | 0\n4 | 0",
    }],
};

pub const SUBTREE_SUM: FunctionDoc = FunctionDoc {
    name: "subtree_sum",
    area: "nesting",
    signature: "subtree_sum(id BIGINT, parent BIGINT, value BIGINT|DOUBLE) OVER (PARTITION BY …) → \
        BIGINT|DOUBLE",
    summary: "The sum of a value over a row, its children, their children and so on.",
    detail: RULES,
    nulls: "NULL values count as 0. A row whose id is NULL has no children.",
    errors: "A row that is its own ancestor is refused, and so is a sum that does not fit 64 bits.",
    examples: &[Example {
        sql: "SELECT id, subtree_sum(id, parent, ns) OVER () AS total FROM (VALUES (1, NULL, 1), \
            (2, 1, 10), (3, 1, 20), (4, 2, 300)) AS t(id, parent, ns) ORDER BY id",
        answer: "1 | 331\n2 | 310\n3 | 20\n4 | 300",
    }],
};
