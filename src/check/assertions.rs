//! Assertions: named queries that must return no rows.
//!
//! A file holds queries that end with `;`. A line `-- name: …` comes before each of them. All
//! queries are parsed before the first one runs.

use std::path::Path;

use arrow::array::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast;
use futures::StreamExt;

use super::{Item, Kind, Status, brief, read};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::output::units::plural;
use crate::sql_text::{Part, Piece, split};

/// A query that must return no rows.
#[derive(Debug, Clone)]
pub struct Assertion {
    name: String,
    file: String,
    line: usize,
    statement: Statement,
    sql: String,
}

/// The start of a line that names an assertion, after the `--`.
const NAME: &str = "name:";

impl Assertion {
    /// Reads the assertions of a file.
    pub fn read(path: &Path, engine: &Engine) -> Result<Vec<Self>> {
        Self::parse(&path.display().to_string(), &read(path)?, engine)
    }

    fn parse(file: &str, text: &str, engine: &Engine) -> Result<Vec<Self>> {
        let mut all: Vec<Self> = Vec::new();
        let mut named: Option<(String, usize)> = None;
        for part in split(text) {
            let line = 1 + text[..part.start].matches('\n').count();
            let wrong = |at: usize, what: &str| Err(Error::Usage(format!("{file}:{at}: {what}")));
            for (name, offset) in names_in(part) {
                if let Some((before, at)) = named.replace((name, line + offset)) {
                    let at = at.max(line + offset);
                    return wrong(
                        at,
                        &format!("the query has two names, {before:?} before this one"),
                    );
                }
            }
            match part.piece {
                Piece::Gap => continue,
                Piece::Command => {
                    return wrong(
                        line,
                        "commands of the shell do not belong into a file of assertions",
                    );
                }
                Piece::Statement | Piece::Unfinished => {}
            }
            let Some((name, at)) = named.take() else {
                return wrong(line, "write a line `-- name: what must hold` before each query");
            };
            if name.is_empty() {
                return wrong(at, "the name is empty; write what must hold");
            }
            if let Some(first) = all.iter().find(|a| a.name == name) {
                return wrong(
                    at,
                    &format!("line {} has an assertion of this name already: {name}", first.line),
                );
            }
            let mut statements =
                engine.parse(part.text).map_err(|e| Error::Usage(parse_error(file, line, &e)))?;
            match (statements.pop(), statements.is_empty()) {
                (Some(statement), true) if is_query(&statement) => {
                    all.push(Self {
                        name,
                        file: file.to_owned(),
                        line: at,
                        statement,
                        sql: part.text.trim().to_owned(),
                    });
                }
                _ => {
                    return wrong(
                        line,
                        "an assertion is a query, which begins with SELECT, WITH or VALUES",
                    );
                }
            }
        }
        if let Some((name, at)) = named {
            return Err(Error::Usage(format!(
                "{file}:{at}: there is no query after `-- name: {name}`"
            )));
        }
        if all.is_empty() {
            return Err(Error::Usage(format!("{file}: there is no assertion in it")));
        }
        Ok(all)
    }

    /// Runs the query. The item keeps at most `max_rows` of the rows that the query should not have
    /// returned.
    pub async fn run(&self, engine: &Engine, max_rows: usize) -> Item {
        let (status, message, rows) = match self.violations(engine, max_rows).await {
            Ok((0, _)) => (Status::Passed, "no rows".to_owned(), Vec::new()),
            Ok((count, rows)) => (
                Status::Failed,
                format!("the query returned {count} {}", plural(count, "row")),
                rows,
            ),
            Err(e) => (Status::Error, format!("the query failed: {}", brief(&e)), Vec::new()),
        };
        let mut item = Item::new(Kind::Assertion, &self.name, status, message);
        item.place = Some((self.file.clone(), self.line));
        item.rows = rows;
        item.evidence = Some(self.sql.clone());
        item
    }

    async fn violations(
        &self,
        engine: &Engine,
        max_rows: usize,
    ) -> Result<(usize, Vec<Vec<String>>)> {
        let mut stream = engine.run(self.statement.clone(), &[]).await?;
        let mut rows = vec![stream.schema().fields().iter().map(|f| f.name().clone()).collect()];
        let mut count = 0;
        while let Some(batch) = stream.next().await {
            let batch = batch?;
            count += batch.num_rows();
            let wanted = batch.num_rows().min((max_rows + 1).saturating_sub(rows.len()));
            rows.extend(cells(&batch.slice(0, wanted))?);
        }
        Ok((count, rows))
    }
}

/// The names in the comments between queries, each with its line, counted from the start of the
/// part.
fn names_in(part: Part<'_>) -> Vec<(String, usize)> {
    if part.piece != Piece::Gap {
        return Vec::new();
    }
    let name = |line: &str| {
        Some(line.trim().strip_prefix("--")?.trim_start().strip_prefix(NAME)?.trim().to_owned())
    };
    part.text.lines().enumerate().filter_map(|(i, line)| Some((name(line)?, i))).collect()
}

fn is_query(statement: &Statement) -> bool {
    match statement {
        Statement::Statement(inner) => matches!(inner.as_ref(), ast::Statement::Query(_)),
        _ => false,
    }
}

/// The parser's message, with a line number of the file instead of one of the statement.
fn parse_error(file: &str, first_line: usize, error: &Error) -> String {
    let text = brief(error);
    let place = text
        .rfind("Line: ")
        .map(|at| &text[at + 6..])
        .and_then(|rest| rest.split(',').next()?.trim().parse::<usize>().ok());
    let line = place.map_or(first_line, |line| first_line + line.saturating_sub(1));
    let what = text.split(" at Line: ").next().unwrap_or(&text);
    format!("{file}:{line}: {what}")
}

fn cells(batch: &RecordBatch) -> Result<Vec<Vec<String>>> {
    let options = FormatOptions::new().with_null("NULL");
    let columns: Result<Vec<_>, _> =
        batch.columns().iter().map(|c| ArrayFormatter::try_new(c.as_ref(), &options)).collect();
    let columns = columns.map_err(|e| Error::Query(e.to_string()))?;
    Ok((0..batch.num_rows())
        .map(|i| columns.iter().map(|c| c.value(i).to_string()).collect())
        .collect())
}
