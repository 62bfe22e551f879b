//! Refuses statements that would change the tables of a trace or the views of the library, with
//! advice. DataFusion would report such a table as missing, or succeed without doing anything.

use datafusion::common::{Diagnostic, Span};
use datafusion::error::DataFusionError;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    FromTable, Ident, ObjectName, ObjectNamePart, ObjectType, Statement as SqlStatement,
    TableFactor, TableObject,
};

/// Fails if a statement cannot run in a session. `owner` returns what a name stands for, such as
/// "a table of the trace", if it is not the user's. `queries_only` is whether the session refuses
/// tables of the user too.
pub fn refuse(
    statement: &Statement,
    queries_only: bool,
    owner: impl Fn(&str) -> Option<&'static str>,
) -> Result<(), DataFusionError> {
    let own_table = if queries_only { ONLY_QUERIES } else { OWN_TABLE };
    let statement = match statement {
        Statement::Statement(statement) => statement.as_ref(),
        Statement::CreateExternalTable(create) => {
            return keep(&create.name, "be replaced", CHOOSE, &owner);
        }
        Statement::CopyTo(_) => {
            return Err(error(
                "COPY does not run here",
                None,
                "-o FILE writes the result of a query, and so does \\o FILE in the shell",
            ));
        }
        _ => return Ok(()),
    };
    match statement {
        SqlStatement::Drop { object_type: ObjectType::Table | ObjectType::View, names, .. } => {
            names.iter().try_for_each(|name| keep(name, "be dropped", "", &owner))
        }
        SqlStatement::CreateView(create) => keep(&create.name, "be replaced", CHOOSE, &owner),
        SqlStatement::CreateTable(create) => keep(&create.name, "be replaced", CHOOSE, &owner),
        SqlStatement::AlterTable(alter) => {
            keep(&alter.name, "be changed", own_table, &owner)?;
            Err(error("ALTER TABLE is not supported", place(&alter.name), own_table))
        }
        SqlStatement::AlterView { name, .. } => {
            keep(name, "be changed", own_table, &owner)?;
            Err(error("ALTER VIEW is not supported", place(name), "use CREATE OR REPLACE VIEW"))
        }
        SqlStatement::Insert(insert) => match &insert.table {
            TableObject::TableName(name) => change("INSERT", Some(name), own_table, &owner),
            _ => change("INSERT", None, own_table, &owner),
        },
        SqlStatement::Update(update) => {
            change("UPDATE", named(&update.table.relation), own_table, &owner)
        }
        SqlStatement::Delete(delete) => {
            let (FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables)) =
                &delete.from;
            change("DELETE", tables.first().and_then(|t| named(&t.relation)), own_table, &owner)
        }
        SqlStatement::Truncate(truncate) => {
            change("TRUNCATE", truncate.table_names.first().map(|t| &t.name), own_table, &owner)
        }
        SqlStatement::Merge(merge) => change("MERGE", named(&merge.table), own_table, &owner),
        SqlStatement::Pragma { name, .. } => Err(error(
            "PRAGMA is not supported",
            place(name),
            "DESCRIBE t lists the columns of a table, SHOW TABLES lists the tables, and SELECT * \
             FROM tracesql_settings lists the settings",
        )),
        SqlStatement::AttachDatabase { .. } | SqlStatement::AttachDuckDBDatabase { .. } => {
            Err(error(
                "ATTACH is not supported",
                None,
                "name all traces and stores on the command line",
            ))
        }
        SqlStatement::Install { .. } | SqlStatement::Load { .. } => {
            Err(error("there are no extensions to load", None, "all functions are built in"))
        }
        _ => Ok(()),
    }
}

const CHOOSE: &str = "choose another name";
const ONLY_QUERIES: &str = "only queries, EXPLAIN, SHOW and DESCRIBE are allowed here";
const OWN_TABLE: &str = "CREATE TABLE name AS SELECT … makes a table of your own for this session";

/// Fails if a name is not the user's.
fn keep(
    name: &ObjectName,
    what: &str,
    help: &str,
    owner: impl Fn(&str) -> Option<&'static str>,
) -> Result<(), DataFusionError> {
    let Some(text) = last(name).map(plain) else { return Ok(()) };
    match owner(&text) {
        Some(kind) => Err(error(&format!("{text} is {kind} and cannot {what}"), place(name), help)),
        None => Ok(()),
    }
}

/// The error for a statement that changes rows.
fn change(
    verb: &str,
    table: Option<&ObjectName>,
    help: &str,
    owner: impl Fn(&str) -> Option<&'static str>,
) -> Result<(), DataFusionError> {
    if let Some(table) = table {
        keep(table, "be changed", help, owner)?;
    }
    Err(error(&format!("{verb} is not supported"), table.and_then(place), help))
}

fn named(table: &TableFactor) -> Option<&ObjectName> {
    match table {
        TableFactor::Table { name, .. } => Some(name),
        _ => None,
    }
}

fn last(name: &ObjectName) -> Option<&Ident> {
    name.0.last().and_then(ObjectNamePart::as_ident)
}

fn plain(ident: &Ident) -> String {
    match ident.quote_style {
        None => ident.value.to_lowercase(),
        Some(_) => ident.value.clone(),
    }
}

fn place(name: &ObjectName) -> Option<Span> {
    last(name).and_then(|ident| Span::try_from_sqlparser_span(ident.span))
}

fn error(message: &str, place: Option<Span>, help: &str) -> DataFusionError {
    let mut diagnostic = Diagnostic::new_error(message, place);
    if !help.is_empty() {
        diagnostic.add_help(help, None);
    }
    DataFusionError::Plan(message.to_owned()).with_diagnostic(diagnostic)
}
