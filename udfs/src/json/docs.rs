//! The documentation of the functions on JSON.

use crate::doc::Example;
pub(super) use crate::doc::FunctionDoc;

const NULLS: &str = "NULL if the text is NULL, if the part of it that was read is not JSON, if the \
    path leads nowhere, or if the value there is a JSON null or of another type.";
const PATH: &str = "A path is any number of keys (text) and positions in lists (integers from 0; \
    negative ones count from the end), or one list of them. If a key occurs twice, the first one \
    counts. A text is read only up to the value, so damage after it goes unnoticed.";
const ERRORS: &str = "A first argument that is not text (write NULL::VARCHAR for NULL), and a step \
    that is neither text nor an integer, are refused.";

const fn function(
    name: &'static str,
    signature: &'static str,
    summary: &'static str,
    detail: &'static str,
    nulls: &'static str,
    examples: &'static [Example],
) -> FunctionDoc {
    FunctionDoc { name, area: "json", signature, summary, detail, nulls, errors: ERRORS, examples }
}

pub(super) const FUNCTIONS: [FunctionDoc; 13] = [
    function(
        "json_as_text",
        "json_as_text(json VARCHAR, path…) → VARCHAR",
        "The value at a path as text, whatever its type.",
        "The same as the operator ->>. A text loses its quotes, a number stays as written (so a \
         number of any length is exact), and a list or object stays JSON. The path is as for \
         json_get.",
        "NULL if the text is NULL, if the part of it that was read is not JSON, if the path leads \
         nowhere, or if the value there is a JSON null.",
        &[
            Example {
                sql: "SELECT json_as_text('{\"Ev Idx\": 7}', 'Ev Idx'), json_as_text('{\"a\": [1, \
                    {\"b\": \"x\"}]}', 'a', 1, 'b')",
                answer: "7 | x",
            },
            Example {
                sql: "SELECT json_as_text('{\"a\": 1', 'b'), json_as_text('no JSON', 'a')",
                answer: "NULL | NULL",
            },
        ],
    ),
    function(
        "json_get_str",
        "json_get_str(json VARCHAR, path…) → VARCHAR",
        "The text at a path.",
        "Only values in quotes count; use ->> to read any value as text. The path is as for \
         json_get.",
        NULLS,
        &[Example {
            sql: "SELECT json_get_str('{\"a\": \"x\", \"b\": 1}', 'a'), json_get_str('{\"a\": \
                \"x\", \"b\": 1}', 'b')",
            answer: "x | NULL",
        }],
    ),
    function(
        "json_get_int",
        "json_get_int(json VARCHAR, path…) → BIGINT",
        "The integer at a path.",
        "Reads integers, decimals without a fraction (2.0, 2e3), and texts that spell an integer \
         (\"7\", as Kineto writes some). A fraction, or a number beyond BIGINT, gives NULL. The \
         path is as for json_get.",
        NULLS,
        &[Example {
            sql: "SELECT json_get_int('[7, \"7\", 2.0, 2.5]', 0), json_get_int('[7, \"7\", 2.0, \
                2.5]', 1), json_get_int('[7, \"7\", 2.0, 2.5]', 3)",
            answer: "7 | 7 | NULL",
        }],
    ),
    function(
        "json_get_float",
        "json_get_float(json VARCHAR, path…) → DOUBLE",
        "The number at a path.",
        "Reads numbers, and texts that spell one. The path is as for json_get.",
        NULLS,
        &[Example {
            sql: "SELECT json_get_float('{\"a\": 2.5, \"b\": \"1e3\"}', 'a'), \
                json_get_float('{\"a\": 2.5, \"b\": \"1e3\"}', 'b')",
            answer: "2.5 | 1000.0",
        }],
    ),
    function(
        "json_get_bool",
        "json_get_bool(json VARCHAR, path…) → BOOLEAN",
        "The truth value at a path.",
        "Reads true and false, with or without quotes. The path is as for json_get.",
        NULLS,
        &[Example {
            sql: "SELECT json_get_bool('{\"finished\": true}', 'finished'), \
                json_get_bool('{\"finished\": 1}', 'finished')",
            answer: "true | NULL",
        }],
    ),
    function(
        "json_get_json",
        "json_get_json(json VARCHAR, path…) → VARCHAR",
        "The value at a path as JSON, exactly as written.",
        "A text keeps its quotes. The path is as for json_get.",
        "NULL if the text is NULL, if the part of it that was read is not JSON, or if the path \
         leads nowhere. A JSON null gives the text null.",
        &[Example {
            sql: "SELECT json_get_json('{\"dims\": [[2, 3], []], \"s\": \"x\"}', 'dims'), \
                json_get_json('{\"s\": \"x\"}', 's')",
            answer: "[[2, 3], []] | \"x\"",
        }],
    ),
    function(
        "json_get_array",
        "json_get_array(json VARCHAR, path…) → VARCHAR[]",
        "The list at a path, each element as JSON.",
        "Each element is written as by json_get_json. The path is as for json_get.",
        NULLS,
        &[Example {
            sql: "SELECT array_length(json_get_array('{\"grid\": [8, 1, 1]}', 'grid')), \
                json_get_array('{\"grid\": [8, 1, 1]}', 'grid')[1]",
            answer: "3 | 8",
        }],
    ),
    function(
        "json_get",
        "json_get(json VARCHAR, path…) → UNION",
        "The value at a path, in its own type.",
        "The same as the operator ->. The result is a union of types. Use it in casts, which read \
         the wanted type directly: (args->'bytes')::BIGINT is json_get_int(args, 'bytes'), \
         ::DOUBLE json_get_float, ::BOOLEAN json_get_bool, ::VARCHAR json_as_text. To display a \
         value use ->>. A path is any number of keys (text) and positions in lists (integers from \
         0; negative ones count from the end), or one list of them. If a key occurs twice, the \
         first one counts. A text is read only up to the value, so damage after it goes unnoticed.",
        NULLS,
        &[Example {
            sql: "SELECT json_get('{\"bytes\": 4096}', 'bytes')::BIGINT + 1",
            answer: "4097",
        }],
    ),
    function(
        "json_contains",
        "json_contains(json VARCHAR, path…) → BOOLEAN",
        "Whether there is a value at a path.",
        "Also true for a JSON null. The path is as for json_get. In sessions whose SQL dialect is \
         PostgreSQL the operator ? does the same.",
        "false if the text is NULL or the part of it that was read is not JSON.",
        &[Example {
            sql: "SELECT json_contains('{\"a\": null}', 'a'), json_contains('{\"a\": null}', 'b')",
            answer: "true | false",
        }],
    ),
    function(
        "json_length",
        "json_length(json VARCHAR, path…) → BIGINT UNSIGNED",
        "Number of elements of the list, or of keys of the object, at a path.",
        PATH,
        NULLS,
        &[Example {
            sql: "SELECT json_length('{\"Input Dims\": [[2, 3], [3]]}', 'Input Dims'), \
                json_length('{\"a\": 1}', 'a')",
            answer: "2 | NULL",
        }],
    ),
    function(
        "json_object_keys",
        "json_object_keys(json VARCHAR, path…) → VARCHAR[]",
        "The keys of the object at a path, in the order of the text.",
        PATH,
        NULLS,
        &[Example {
            sql: "SELECT array_to_string(json_object_keys('{\"b\": 1, \"a\": {}}'), ',')",
            answer: "b,a",
        }],
    ),
    function(
        "json_from_scalar",
        "json_from_scalar(value) → UNION",
        "A value as the union type that json_get returns.",
        "For functions that take the union. Texts, integers, decimals and truth values are \
         accepted.",
        "NULL gives a JSON null.",
        &[Example { sql: "SELECT json_union_to_text(json_from_scalar('x'))", answer: "\"x\"" }],
    ),
    function(
        "json_union_to_text",
        "json_union_to_text(value UNION) → VARCHAR",
        "The result of json_get as JSON.",
        "A text gets its quotes back.",
        "NULL for NULL.",
        &[Example {
            sql: "SELECT json_union_to_text(json_get('{\"a\": [1, 2]}', 'a'))",
            answer: "[1, 2]",
        }],
    ),
];

const fn operator(
    name: &'static str,
    signature: &'static str,
    summary: &'static str,
    detail: &'static str,
    examples: &'static [Example],
) -> FunctionDoc {
    FunctionDoc {
        name,
        area: "json",
        signature,
        summary,
        detail,
        nulls: NULLS,
        errors: ERRORS,
        examples,
    }
}

pub(super) const OPERATORS: [FunctionDoc; 4] = [
    operator(
        "->>",
        "json VARCHAR ->> step → VARCHAR",
        "The value under a key, or at a position, as text.",
        "json_as_text with one step. Steps can be chained: args->'a'->>'b'. The operator binds \
         tighter than comparisons and looser than everything else: write (args->>'k')::BIGINT and \
         (args->>'k') || 'x', otherwise the cast or the concatenation applies to the step.",
        &[
            Example {
                sql: "SELECT '{\"Ev Idx\": 7}'->>'Ev Idx', '{\"a\": {\"b\": [5, \
                    6]}}'->'a'->'b'->>1",
                answer: "7 | 6",
            },
            Example {
                sql: "SELECT '{\"a\": \"x\"}'->>'a' = 'x', 'no JSON'->>'a' IS NULL",
                answer: "true | true",
            },
        ],
    ),
    operator(
        "->",
        "json VARCHAR -> step → UNION",
        "The value under a key, or at a position, for another step or a cast.",
        "json_get with one step.",
        &[Example {
            sql: "SELECT ('{\"bytes\": 4096}'->'bytes')::BIGINT, ('{\"gbs\": 1.5}'->'gbs')::DOUBLE",
            answer: "4096 | 1.5",
        }],
    ),
    operator(
        "#>>",
        "json VARCHAR #>> path VARCHAR[] → VARCHAR",
        "The value at a path, given as a list, as text.",
        "json_as_text with the whole path. Positions in lists are written as text: ['a', '0'].",
        &[Example { sql: "SELECT '{\"a\": {\"b\": [5, 6]}}' #>> ['a', 'b', '1']", answer: "6" }],
    ),
    operator(
        "#>",
        "json VARCHAR #> path VARCHAR[] → UNION",
        "The value at a path, given as a list, for another step or a cast.",
        "json_get with the whole path.",
        &[Example {
            sql: "SELECT ('{\"a\": {\"b\": [5, 6]}}' #> ['a', 'b', '0'])::BIGINT",
            answer: "5",
        }],
    ),
];
