//! The statements that a session runs.
//!
//! A server only reads. The engine refuses to write and to open files; this list is shorter still,
//! because every statement that is not on it is refused: queries, EXPLAIN, SHOW, DESCRIBE, and
//! CREATE VIEW and DROP VIEW for the views of the connection.

use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    ObjectType, Query, SetExpr, Statement as Sql, Visit, Visitor,
};

use crate::failure::{Failure, code};

/// The largest number of columns in one SELECT, which is that of PostgreSQL. Planning takes time
/// for each column, and it cannot be interrupted.
const MAX_COLUMNS: usize = 1664;

/// Fails if a session does not run a statement.
pub fn check(statement: &Statement) -> Result<(), Failure> {
    let sql = match statement {
        Statement::Statement(sql) => sql.as_ref(),
        Statement::Explain(explain) => return check(&explain.statement),
        Statement::CopyTo(_) => return Err(refused("COPY", "select the rows instead")),
        Statement::CreateExternalTable(_) => {
            return Err(refused("CREATE EXTERNAL TABLE", "it would read files of the server"));
        }
        Statement::Reset(_) => return Err(refused("RESET of the engine's settings", SETTINGS)),
    };
    match sql {
        Sql::Query(query) => readable(query),
        Sql::ExplainTable { .. }
        | Sql::ShowTables { .. }
        | Sql::ShowViews { .. }
        | Sql::ShowColumns { .. }
        | Sql::ShowFunctions { .. }
        | Sql::ShowCreate { .. } => Ok(()),
        Sql::Explain { statement, .. } => {
            check(&Statement::Statement(Box::new(statement.as_ref().clone())))
        }
        Sql::CreateView(create) if !create.materialized => readable(&create.query),
        Sql::Drop { object_type: ObjectType::View, .. } => Ok(()),
        Sql::Insert(_)
        | Sql::Update(_)
        | Sql::Delete(_)
        | Sql::Truncate(_)
        | Sql::Merge(_)
        | Sql::Drop { .. }
        | Sql::AlterTable(_)
        | Sql::CreateTable(_) => Err(Failure::new(
            code::READ_ONLY,
            format!("cannot execute {} in a read-only transaction", verb(sql)),
        )
        .with_hint("the server only reads; CREATE VIEW makes a view for this connection")),
        Sql::Copy { .. } => Err(refused("COPY", "select the rows instead")),
        Sql::Set(_) => Err(refused("SET of the engine's settings", SETTINGS)),
        _ => Err(refused(&verb(sql), "the server runs queries, EXPLAIN, SHOW and CREATE VIEW")),
    }
}

/// Fails if a query writes a table, or has too many columns.
fn readable(query: &Query) -> Result<(), Failure> {
    struct Checker;
    impl Visitor for Checker {
        type Break = Failure;

        fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Failure> {
            match selects(&query.body) {
                Ok(()) => ControlFlow::Continue(()),
                Err(failure) => ControlFlow::Break(failure),
            }
        }
    }
    match query.visit(&mut Checker) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(failure) => Err(failure),
    }
}

/// Checks the SELECTs of a query, but not those of queries inside it.
fn selects(body: &SetExpr) -> Result<(), Failure> {
    match body {
        SetExpr::Select(select) if select.into.is_some() => Err(Failure::new(
            code::READ_ONLY,
            "cannot execute SELECT INTO in a read-only transaction",
        )
        .with_hint("the server only reads; CREATE VIEW makes a view for this connection")),
        SetExpr::Select(select) if select.projection.len() > MAX_COLUMNS => Err(Failure::new(
            code::TOO_MANY_COLUMNS,
            format!("target lists can have at most {MAX_COLUMNS} entries"),
        )),
        SetExpr::SetOperation { left, right, .. } => {
            selects(left)?;
            selects(right)
        }
        _ => Ok(()),
    }
}

const SETTINGS: &str = "SET tracesql.NAME = VALUE changes a setting of the views for this \
                        connection; SELECT * FROM tracesql_settings lists them";

fn refused(what: &str, hint: &str) -> Failure {
    Failure::new(code::INSUFFICIENT_PRIVILEGE, format!("{what} is not allowed on this server"))
        .with_hint(hint)
}

/// The first words of a statement.
fn verb(sql: &Sql) -> String {
    let text = sql.to_string();
    let mut words = text.split_whitespace().map(str::to_uppercase);
    let first = words.next().unwrap_or_default();
    match first.as_str() {
        "CREATE" | "DROP" | "ALTER" => {
            let second = words.next().unwrap_or_default();
            format!("{first} {second}").trim_end().to_owned()
        }
        _ => first,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::parser::DFParser;

    use super::*;

    fn code_of(sql: &str) -> Option<&'static str> {
        let mut statements = DFParser::parse_sql(sql).expect(sql);
        check(&statements.pop_front().expect(sql)).err().map(|failure| failure.code)
    }

    #[test]
    fn queries_and_views_of_the_connection_are_allowed() {
        for sql in [
            "SELECT 1",
            "WITH a AS (SELECT 1 AS x) SELECT * FROM a",
            "EXPLAIN ANALYZE SELECT 1",
            "SHOW TABLES",
            "DESCRIBE events",
            "CREATE VIEW mine AS SELECT 1",
            "CREATE OR REPLACE VIEW mine AS SELECT 1",
            "DROP VIEW mine",
        ] {
            assert_eq!(code_of(sql), None, "{sql}");
        }
    }

    #[test]
    fn statements_that_write_are_refused() {
        for sql in [
            "INSERT INTO events VALUES (1)",
            "UPDATE events SET name = ''",
            "DELETE FROM events",
            "DROP TABLE events",
            "CREATE TABLE t AS SELECT 1",
            "EXPLAIN INSERT INTO events VALUES (1)",
            "SELECT 1 INTO mine",
            "SELECT * FROM (SELECT 1 INTO mine)",
            "WITH a AS (SELECT 1 INTO mine) SELECT * FROM a",
            "SELECT 1 UNION ALL SELECT 2 INTO mine",
            "SELECT 1 WHERE EXISTS (SELECT 1 INTO mine)",
            "EXPLAIN ANALYZE SELECT 1 INTO mine",
            "CREATE VIEW v AS SELECT 1 INTO mine",
        ] {
            assert_eq!(code_of(sql), Some(code::READ_ONLY), "{sql}");
        }
    }

    #[test]
    fn the_number_of_columns_has_a_limit() {
        let of = |columns: usize| format!("SELECT * FROM (SELECT {}1)", "1,".repeat(columns - 1));
        assert_eq!(code_of(&of(MAX_COLUMNS)), None);
        assert_eq!(code_of(&of(MAX_COLUMNS + 1)), Some(code::TOO_MANY_COLUMNS));
    }

    #[test]
    fn files_and_settings_of_the_engine_are_refused() {
        for sql in [
            "COPY (SELECT 1) TO '/tmp/x.csv'",
            "COPY events TO '/tmp/x.parquet'",
            "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '/etc/passwd'",
            "SET datafusion.runtime.memory_limit = '1G'",
            "SET datafusion.execution.target_partitions = 100000",
            "CREATE DATABASE x",
            "CREATE SCHEMA x",
            "CREATE FUNCTION f(x INT) RETURNS INT RETURN x",
            "PREPARE p AS SELECT 1",
            "EXPLAIN ANALYZE COPY (SELECT 1) TO '/tmp/x.csv'",
        ] {
            assert_eq!(code_of(sql), Some(code::INSUFFICIENT_PRIVILEGE), "{sql}");
        }
    }
}
