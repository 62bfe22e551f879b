//! The resources: the reference, and the report on the traces.

use serde_json::{Map, Value, json};

use super::MAX_ANSWER_BYTES;
use super::era::{Era, Kept};
use super::state::Server;
use super::wire::{Fault, code};
use crate::docs::{Style, tables_page};
use crate::error::Error;
use crate::report::{self, Format};
use crate::requests::Call;

const INDEX: &str = "tracesql://docs/index";
const TABLES: &str = "tracesql://docs/tables";
const SQL: &str = "tracesql://docs/sql";
const REPORT: &str = "tracesql://report";
/// The beginning of the resource of a view.
const VIEW: &str = "tracesql://docs/view/";

/// Dialect, units, joins and traps.
pub const SQL_PAGE: &str = include_str!("../../skills/tracesql/sql.md");

/// The width of a report in characters. Markdown does not use it.
const WIDTH: usize = 100;

/// The answer to `resources/list`.
pub fn list() -> Value {
    let resource = |(uri, name, about, kind): (&str, &str, &str, &str)| json!({"uri": uri, "name": name, "description": about, "mimeType": kind});
    let all = [
        (INDEX, "index", "A map of all tables, views, functions and settings", "text/plain"),
        (TABLES, "tables", "The tables of a store and their columns", "text/markdown"),
        (SQL, "sql", "Writing SQL here: dialect, units, joins, traps", "text/markdown"),
        (REPORT, "report", "The report on the open traces", "text/markdown"),
    ];
    json!({"resources": all.map(resource)})
}

/// The answer to `resources/templates/list`.
pub fn templates() -> Value {
    json!({"resourceTemplates": [{
        "uriTemplate": format!("{VIEW}{{name}}"),
        "name": "view",
        "description": "A table, view, function or setting: columns, units, source, example",
        "mimeType": "text/markdown",
    }]})
}

/// The answer to `resources/read`, and how long it may be kept.
pub async fn read(
    server: &Server,
    era: Era,
    params: &Map<String, Value>,
    call: &Call,
) -> Result<(Value, Kept), Fault> {
    let uri = params
        .get("uri")
        .and_then(Value::as_str)
        .ok_or_else(|| Fault::new(code::INVALID_PARAMS, "uri is missing"))?;
    let (text, kind, kept) = match uri {
        INDEX => (server.reference().write(Style::Text, true), "text/plain", Kept::Long),
        TABLES => (tables_page(), "text/markdown", Kept::Long),
        SQL => (SQL_PAGE.to_owned(), "text/markdown", Kept::Long),
        REPORT => (report(server, call).await?, "text/markdown", Kept::Never),
        _ => {
            let name = uri.strip_prefix(VIEW).ok_or_else(|| era.no_resource(uri))?;
            // Exactly this name: an area of the same name would be many views.
            let mut found = server.reference().named(name).map_err(|_| era.no_resource(uri))?;
            found.tables.retain(|table| table.name == name);
            found.views.retain(|view| view.name == name);
            found.functions.retain(|function| function.doc.name == name);
            if found.tables.len() + found.views.len() + found.functions.len() == 0
                && found.settings.is_empty()
            {
                return Err(era.no_resource(uri));
            }
            found.topics.clear();
            (found.write(Style::Markdown, false), "text/markdown", Kept::Long)
        }
    };
    let contents = json!([{"uri": uri, "mimeType": kind, "text": cut(text)}]);
    Ok((json!({"contents": contents}), kept))
}

async fn report(server: &Server, call: &Call) -> Result<String, Fault> {
    let failed = |e: Error| Fault::new(code::INTERNAL_ERROR, e.to_string());
    let open = server.traces(call).await.map_err(failed)?;
    let work = async move {
        let report = report::collect(&open.engine, Vec::new(), Format::Markdown).await?;
        Ok(report.write(Format::Markdown, WIDTH))
    };
    server.requests.run(call, work).await.map_err(failed)
}

/// As many lines as an answer may have. The last line says if there were more.
fn cut(text: String) -> String {
    const NOTE: &str = "\n\n(cut here: the rest is too long for an answer)\n";
    if text.len() <= MAX_ANSWER_BYTES {
        return text;
    }
    let room = text.floor_char_boundary(MAX_ANSWER_BYTES - NOTE.len());
    let end = text[..room].rfind('\n').unwrap_or(room);
    format!("{}{NOTE}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_documents_are_cut_at_a_line() {
        assert_eq!(cut("short".to_owned()), "short");
        let long = cut("a line of text\n".repeat(10_000));
        assert!(long.len() <= MAX_ANSWER_BYTES, "{}", long.len());
        assert!(long.contains("text\n\n(cut here"), "{}", &long[long.len() - 80..]);
        assert!(cut("é".repeat(MAX_ANSWER_BYTES)).len() <= MAX_ANSWER_BYTES);
    }
}
