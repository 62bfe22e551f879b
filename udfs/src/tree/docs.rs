//! The documentation of the functions that carry values along links.

use crate::doc::{Example, FunctionDoc};

const RULES: &str = "A row's parent is the first row of the window's partition whose id equals it; only the rows of the query take part. \
    Order and frames (ROWS …) do not matter, but windows of one query with the same ORDER BY are sorted once.";

pub const PARENT_VALUE: FunctionDoc = FunctionDoc {
    name: "parent_value",
    area: "nesting",
    signature: "parent_value(id BIGINT, parent BIGINT, value ANY) OVER (PARTITION BY …) → type of value",
    summary: "The value of the row that a row names as its parent.",
    detail: RULES,
    nulls: "NULL where parent is NULL or names no row; a row whose id is NULL is nobody's parent.",
    errors: "None.",
    examples: &[Example {
        sql: "SELECT id, parent_value(id, parent, name) OVER () AS above \
              FROM (VALUES (1, NULL, 'a'), (2, 1, 'b'), (3, 2, 'c')) AS t(id, parent, name) ORDER BY id",
        answer: "1 | NULL\n2 | a\n3 | b",
    }],
};

pub const CHILDREN_SUM: FunctionDoc = FunctionDoc {
    name: "children_sum",
    area: "nesting",
    signature: "children_sum(id BIGINT, parent BIGINT, value BIGINT|DOUBLE) OVER (PARTITION BY …) → BIGINT|DOUBLE",
    summary: "The sum of a value over the rows that name a row as their parent.",
    detail: "0 without any. With 1 as value it counts children. A parent's id that several rows share is that of the first of them. \
        Only the rows of the query take part. Order and frames (ROWS …) do not matter, but windows of one query with the same ORDER BY \
        are sorted once.",
    nulls: "NULL values are left out; a row whose id is NULL has no children.",
    errors: "A sum that does not fit 64 bits is refused.",
    examples: &[Example {
        sql: "SELECT id, children_sum(id, parent, ns) OVER () AS inside \
              FROM (VALUES (1, NULL, 100), (2, 1, 50), (3, 1, 20), (4, 2, 5)) AS t(id, parent, ns) ORDER BY id",
        answer: "1 | 70\n2 | 5\n3 | 0\n4 | 0",
    }],
};

pub const SUBTREE_SUM: FunctionDoc = FunctionDoc {
    name: "subtree_sum",
    area: "nesting",
    signature: "subtree_sum(id BIGINT, parent BIGINT, value BIGINT|DOUBLE) OVER (PARTITION BY …) → BIGINT|DOUBLE",
    summary: "The sum of a value over a row, its children, their children and so on.",
    detail: RULES,
    nulls: "NULL values count as 0; a row whose id is NULL has no children.",
    errors: "A row that is its own ancestor is refused, and so is a sum that does not fit 64 bits.",
    examples: &[Example {
        sql: "SELECT id, subtree_sum(id, parent, ns) OVER () AS total \
              FROM (VALUES (1, NULL, 1), (2, 1, 10), (3, 1, 20), (4, 2, 300)) AS t(id, parent, ns) ORDER BY id",
        answer: "1 | 331\n2 | 310\n3 | 20\n4 | 300",
    }],
};
