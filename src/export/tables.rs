//! Writes tables, views and queries to files.

use std::path::{Path, PathBuf};

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast;

use super::select::{Selection, without_end};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::output::{Format, Target, write};

/// The tables to write, and their format.
pub struct TablesRequest {
    /// Names of tables and views. If the list is empty, all tables are exported, unless the
    /// selection has a query.
    pub views: Vec<String>,
    /// The selected rows. If the selection has a query, the result of that query is exported.
    pub selection: Selection,
    /// The format of the files.
    pub format: Format,
    /// The extension of the file names.
    pub ending: &'static str,
}

/// Writes the tables; returns the name and the number of rows of each file.
pub async fn tables(
    engine: &Engine,
    request: &TablesRequest,
    target: &Target,
) -> Result<Vec<(String, usize)>> {
    if let Some(query) = &request.selection.query {
        // A subquery would lose its order.
        let sql = match request.selection.conditions() {
            None => without_end(query).to_owned(),
            Some(_) => {
                with_conditions(&format!("(\n{}\n) AS query", without_end(query)), request, "*")
            }
        };
        let rows = one(engine, &sql, request.format, target).await?;
        return Ok(vec![(name(target), rows)]);
    }
    let all: Vec<String> =
        tracesql_ingest::schema::TABLES.iter().map(|t| t.name.to_owned()).collect();
    let views = if request.views.is_empty() { &all } else { &request.views };
    let mut done = Vec::new();
    let is_folder =
        |path: &Path| path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/");
    let folder = match target {
        Target::File(path) if views.len() > 1 || is_folder(path) => Some(path),
        Target::Stdout if views.len() > 1 => {
            return Err(Error::Usage(format!(
                "{} tables go to a folder; name one with -o",
                views.len()
            )));
        }
        _ => None,
    };
    if let Some(folder) = folder {
        if !is_folder(folder) && Format::of_file(folder).is_some() {
            return Err(Error::Usage(format!(
                "{} looks like a file, and {} tables go to a folder; name it {}, or choose one \
                 table with --view",
                folder.display(),
                views.len(),
                folder.with_extension("").display()
            )));
        }
        std::fs::create_dir_all(folder)
            .map_err(|e| Error::Output(folder.display().to_string(), e))?;
    }
    for view in views {
        check(engine, view, request).await?;
    }
    for view in views {
        let target = match folder {
            Some(folder) => Target::File(folder.join(format!("{view}.{}", request.ending))),
            None => target.clone(),
        };
        let sql = with_conditions(&format!("\"{}\"", view.replace('"', "\"\"")), request, "*");
        let rows = one(engine, &sql, request.format, &target).await?;
        done.push((name(&target), rows));
    }
    Ok(done)
}

fn name(target: &Target) -> String {
    match target {
        Target::File(path) => path.display().to_string(),
        Target::Stdout => "standard output".to_owned(),
    }
}

/// Checks that a table or view exists and that it has the columns that the selection needs.
async fn check(engine: &Engine, view: &str, request: &TablesRequest) -> Result<()> {
    // The name is also used as the name of a file.
    if view.is_empty()
        || view.contains(['/', '\\', '\0'])
        || Path::new(view) != PathBuf::from(view).file_name().map(PathBuf::from).unwrap_or_default()
    {
        return Err(Error::Usage(format!("{view:?} is not the name of a table or view")));
    }
    let missing =
        |_| Error::Usage(format!("there is no table or view {view}; `tracesql docs` lists them"));
    let frame = match engine.context().table(datafusion::common::TableReference::bare(view)).await {
        Ok(frame) => frame,
        Err(e) if engine.library().view(view).is_some() => return Err(e.into()),
        Err(e) => return Err(missing(e)),
    };
    if request.selection.steps.is_some()
        && frame.schema().field_with_unqualified_name("step").is_err()
    {
        return Err(Error::Usage(format!(
            "{view} has no column step; name tables and views that have it with --view"
        )));
    }
    Ok(())
}

fn with_conditions(from: &str, request: &TablesRequest, columns: &str) -> String {
    let conditions =
        request.selection.conditions().map(|c| format!(" WHERE {c}")).unwrap_or_default();
    format!("SELECT {columns} FROM {from}{conditions}")
}

async fn one(engine: &Engine, sql: &str, format: Format, target: &Target) -> Result<usize> {
    let mut statements = engine.parse(sql)?;
    if statements.len() != 1 {
        return Err(Error::Usage(format!("give one query, not {}", statements.len())));
    }
    let statement = statements.remove(0);
    if !matches!(&statement, Statement::Statement(s) if matches!(**s, ast::Statement::Query(_))) {
        return Err(Error::Usage("only the rows of a query can be exported".into()));
    }
    write(engine.run(statement, &[]).await?, format, target).await
}
