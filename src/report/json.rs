//! Writes the report for programs: every section with its query, columns and rows. docs/report.md
//! specifies the format.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::answer::{Answer, Rest, trace_of};
use super::sections::Shape;
use super::{Report, Trace};

/// The version of the document. It increases when a name is removed or changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;
/// The maximum length of a text in JSON, in characters.
const MAX_TEXT_CHARS: usize = 10_000;
/// The largest integer up to which JavaScript represents all integers exactly.
const MAX_EXACT: i64 = (1 << 53) - 1;

pub fn write(report: &Report) -> String {
    let mut sections = Map::new();
    for answer in &report.answers {
        let mut section = head(answer, &report.traces);
        let object = |row: &Vec<Value>| {
            Value::Object(
                answer
                    .columns
                    .iter()
                    .zip(row)
                    .map(|(c, v)| (c.name.clone(), cut(v, MAX_TEXT_CHARS)))
                    .collect(),
            )
        };
        section.insert("rows".into(), answer.rows.iter().map(object).collect());
        sections.insert(answer.section.key.into(), Value::Object(section));
    }
    let mut text = serde_json::to_string_pretty(&document(report, sections)).unwrap_or_default();
    text.push('\n');
    text
}

/// A shorter form for the page: rows are lists, and traces have numbers. Integers that JavaScript
/// cannot represent exactly are texts. Frames of stacks have numbers of names, because names repeat.
pub fn compact(report: &Report, max_chars: usize) -> String {
    let number = |id: &str| report.traces.iter().position(|t| t.trace_id == id);
    let mut sections = Map::new();
    for answer in &report.answers {
        let mut section = head(answer, &report.traces);
        let mut names = Names::default();
        let name_at = match answer.section.shape {
            Shape::Stacks { .. } => answer.column("name"),
            Shape::Rows { .. } => None,
        };
        let mut rows = Vec::with_capacity(answer.rows.len());
        for row in &answer.rows {
            let trace = trace_of(row).and_then(number).map_or(Value::Null, Value::from);
            let others = row.iter().enumerate().skip(1).map(|(at, v)| match v {
                Value::String(name) if Some(at) == name_at => names.number(name).into(),
                _ => script_safe(cut(v, max_chars)),
            });
            rows.push(Value::Array(std::iter::once(trace).chain(others).collect()));
        }
        section.insert("rows".into(), rows.into());
        if name_at.is_some() {
            let texts = names.in_order.iter().map(|name| cut(&Value::from(*name), max_chars));
            section.insert("names".into(), texts.collect());
        }
        sections.insert(answer.section.key.into(), Value::Object(section));
    }
    serde_json::to_string(&document(report, sections)).unwrap_or_default()
}

/// Names in the order of their numbers.
#[derive(Debug, Default)]
struct Names<'a> {
    numbers: HashMap<&'a str, usize>,
    in_order: Vec<&'a str>,
}

impl<'a> Names<'a> {
    fn number(&mut self, name: &'a str) -> usize {
        *self.numbers.entry(name).or_insert_with(|| {
            self.in_order.push(name);
            self.in_order.len() - 1
        })
    }
}

fn document(report: &Report, sections: Map<String, Value>) -> Value {
    let trace = |t: &Trace| {
        let path = cut(&json!(t.path), MAX_TEXT_CHARS);
        json!({"trace_id": t.trace_id, "path": path, "rank": t.rank, "format": t.format})
    };
    let setting =
        |s: &super::ChangedSetting| json!({"name": s.name, "value": s.value, "default": s.default});
    json!({
        "schema": "tracesql.report",
        "schema_version": SCHEMA_VERSION,
        "tracesql_version": env!("CARGO_PKG_VERSION"),
        "traces": report.traces.iter().map(trace).collect::<Vec<_>>(),
        "traces_left_out": report.left_out,
        "settings_changed": report.settings.iter().map(setting).collect::<Vec<_>>(),
        "sections": sections,
    })
}

/// A section without its rows.
fn head(answer: &Answer, traces: &[Trace]) -> Map<String, Value> {
    let status = match (&answer.error, answer.rows.is_empty()) {
        (Some(_), _) => "failed",
        (None, false) => "ok",
        (None, true) => answer
            .missing
            .iter()
            .map(|m| m.status)
            .find(|s| *s == "not_recorded")
            .unwrap_or_else(|| match answer.missing.first() {
                Some(m) if answer.missing.iter().all(|x| x.status == "not_applicable") => m.status,
                _ => "empty",
            }),
    };
    let rest = |r: &Rest| {
        let sums: Map<String, Value> = r
            .sums
            .iter()
            .filter_map(|(at, v)| Some((answer.columns.get(*at)?.name.clone(), v.clone())))
            .collect();
        json!({"trace_id": r.trace_id, "rows": r.rows, "sums": sums})
    };
    let known = |id: &str| traces.iter().any(|t| t.trace_id == id);
    let mut head = Map::new();
    head.insert("title".into(), answer.section.title.into());
    head.insert("about".into(), answer.section.about.into());
    head.insert("status".into(), status.into());
    head.insert("error".into(), answer.error.as_deref().map_or(Value::Null, Value::from));
    head.insert("sql".into(), answer.section.sql.into());
    head.insert(
        "columns".into(),
        answer
            .columns
            .iter()
            .map(|c| json!({"name": c.name, "type": c.kind, "unit": c.unit}))
            .collect(),
    );
    head.insert("rest".into(), answer.rests.iter().map(rest).collect());
    let missing = |m: &super::Missing| json!({"trace_id": m.trace_id, "status": m.status, "reason": m.reason});
    head.insert(
        "missing".into(),
        answer.missing.iter().filter(|m| known(&m.trace_id)).map(missing).collect(),
    );
    head
}

/// Cuts a long text and appends its original length.
fn cut(value: &Value, max_chars: usize) -> Value {
    match value {
        // A text has at least as many bytes as characters.
        Value::String(text) if text.len() > max_chars => {
            let all = text.chars().count();
            if all <= max_chars {
                return value.clone();
            }
            let kept: String = text.chars().take(max_chars).collect();
            Value::String(format!("{kept}… [{all} characters]"))
        }
        other => other.clone(),
    }
}

fn script_safe(value: Value) -> Value {
    match value.as_i64() {
        Some(whole) if whole.abs_diff(0) > MAX_EXACT as u64 => Value::String(whole.to_string()),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_say_so() {
        assert_eq!(cut(&json!("ééé"), 3), json!("ééé"));
        assert_eq!(cut(&json!("éééé"), 3), json!("ééé… [4 characters]"));
    }

    #[test]
    fn numbers_beyond_doubles_become_texts() {
        assert_eq!(script_safe(json!(MAX_EXACT)), json!(MAX_EXACT));
        assert_eq!(script_safe(json!(MAX_EXACT + 1)), json!("9007199254740992"));
        assert_eq!(script_safe(json!(i64::MIN)), json!("-9223372036854775808"));
    }
}
