//! Writes `docs/tables.md`: the tables of a store with their columns, and the codes of issues. It
//! is made from the definitions in `tracesql-ingest`.

use std::fmt::Write;

use tracesql_ingest::Code;
use tracesql_ingest::schema::{Column, Kind, SCHEMA_VERSION, TABLES, Table};

/// The maximum length of a line, in characters.
const WIDTH: usize = 100;

const HOW_TO_READ_IT: &str = "\
## How to read it

- A trace has all tables; those that it has no data for are empty. The file of a table is
  `STORE/<trace_id>/<table>.parquet`.
- Every table begins with `trace_id`. Ids of events, tracks and modules are unique within a trace
  only, so join on `trace_id` and the id.
- `event_id` is the position of an element in the event list of the input, from 0; skipped elements
  have one too.
- Times and durations (`_ns`) are whole nanoseconds, read from the decimal text.
  `traces.base_time_ns + ts_ns` is Unix time where the trace gives its zero.
- A column is listed as `name` TYPE (unit). Types are those of SQL: BIGINT has 64 bits, DOUBLE is
  floating point. JSON columns are VARCHAR with compact JSON. In Parquet and Arrow the types are
  Int64, Float64, Utf8 and Boolean.
- NULL means that the input does not give the value, or not in a form that fits the column; the
  input's own text is then in `args`, `extra` or a text column. A column marked *never NULL* has a
  value in each row.
- Values that profilers write for \"no id\" (0, -1, 2^32-1) are NULL in `correlation` and
  `external_id`.

";

const JOINS: &str = "\
## Joins worth knowing

| from | to | on (and on `trace_id`) |
| --- | --- | --- |
| an event | its parent | `e.parent_id = p.event_id` |
| an event | all that it encloses | `d.pre > e.pre AND d.pre <= e.post` |
| a device activity | its event | `k.event_id = e.event_id` |
| a device activity | the call that launched it | `k.launch_id = e.event_id` |
| a device activity | the operator around that call | `k.op_id = e.event_id` |
| a forward operator | its backward operator | `src_event_id`, `dst_event_id` of a flow (below) |
| an event, activity or allocation | its step | `x.step = s.step` |
| an event | its thread or stream | `e.track_id = t.track_id` |
| a module | its calls | `e.name = 'nn.Module: ' \\|\\| m.name` (where `source` is `python`) |

Forward and backward operators are joined by rows of `flows` with `kind = 'fwdbwd'`.

";

const CODES: &str = "\
## Issue codes

Rows of `ingest_issues`. A code's text is stable. A code is listed as `code` (severity). Each count
of a code that *skips* is an element that has no row in `events`: their sum is
`traces.skipped_count`. `--strict` refuses an input with anything worse than `info`.

";

/// The whole page.
pub fn tables_page() -> String {
    let mut out = String::from("# Tables, columns and issue codes\n\n");
    let head = format!(
        "This page is written from the definitions in `ingest/src`; do not edit it by hand. It \
         describes schema version {SCHEMA_VERSION}, which every file of a store carries as \
         `tracesql.schema_version`."
    );
    wrap(&mut out, "", &head);
    out.push('\n');
    out.push_str(HOW_TO_READ_IT);
    let _ = writeln!(out, "## Tables\n");
    for table in TABLES {
        wrap(&mut out, "- ", &format!("[`{0}`](#{0}): {1}", table.name, table.about));
    }
    TABLES.iter().for_each(|table| section(&mut out, table));
    out.push('\n');
    out.push_str(JOINS);
    out.push_str(CODES);
    for code in Code::ALL {
        let skips = if code.skips() { ", *skips*" } else { "" };
        let (name, severity) = (code.as_str(), code.severity().as_str());
        wrap(&mut out, "- ", &format!("`{name}` ({severity}{skips}): {}", code.meaning()));
    }
    out
}

fn section(out: &mut String, table: &Table) {
    let _ = writeln!(out, "\n### {}\n", table.name);
    wrap(out, "", table.about);
    out.push('\n');
    for Column { name, kind, unit, about, required, .. } in table.columns {
        let never = if *required { " *Never NULL.*" } else { "" };
        wrap(out, "- ", &format!("`{name}` {} ({unit}): {about}{never}", sql_type(*kind)));
    }
}

fn sql_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Int => "BIGINT",
        Kind::Float => "DOUBLE",
        Kind::Text => "VARCHAR",
        Kind::Bool => "BOOLEAN",
    }
}

/// Writes a paragraph after a mark. Its other lines are indented to align with the text of the
/// first line.
fn wrap(out: &mut String, mark: &str, text: &str) {
    let mut line = mark.to_owned();
    let mut words = text.split_whitespace().peekable();
    let mut is_empty = true;
    while let Some(word) = words.next() {
        // Some words would begin a list, a heading or a quotation at the start of a line.
        let mut unit = word.to_owned();
        while let Some(next) = words.next_if(|next| is_mark(next)) {
            unit = format!("{unit} {next}");
        }
        if !is_empty && line.chars().count() + 1 + unit.chars().count() > WIDTH {
            let _ = writeln!(out, "{line}");
            line = " ".repeat(mark.len());
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(&unit);
        is_empty = false;
    }
    let _ = writeln!(out, "{line}");
}

/// Whether Markdown would treat a word at the start of a line as markup.
fn is_mark(word: &str) -> bool {
    let number = word.trim_end_matches(['.', ')']);
    let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    matches!(word, "-" | "+" | "*" | ">" | "=") || word.starts_with('#') || is_number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_wrapped_and_no_line_begins_a_list() {
        let mut out = String::new();
        wrap(&mut out, "- ", &format!("{} - b", "a".repeat(94)));
        assert_eq!(out, format!("- {} - b\n", "a".repeat(94)));
        out.clear();
        wrap(&mut out, "- ", &format!("{} c - b", "a".repeat(95)));
        assert_eq!(out, format!("- {}\n  c - b\n", "a".repeat(95)));
    }
}
