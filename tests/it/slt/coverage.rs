//! Which views and functions the files of `tests/slt` use.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use datafusion::sql::parser::{DFParser, Statement};
use datafusion::sql::sqlparser::ast::{Expr, ObjectName, visit_expressions, visit_relations};
use sqllogictest::{QueryExpect, Record};

use super::session::Letter;
use super::{files, folder};

/// The relations and functions of queries whose results have rows.
#[derive(Default)]
struct Asked {
    relations: BTreeSet<String>,
    functions: BTreeSet<String>,
}

impl Asked {
    fn add(&mut self, sql: &str) {
        for statement in DFParser::parse_sql(sql).expect("a query with an answer is SQL") {
            let statement = match statement {
                Statement::Statement(statement) => statement,
                Statement::Explain(explain) => match *explain.statement {
                    Statement::Statement(statement) => statement,
                    _ => continue,
                },
                _ => continue,
            };
            let _ = visit_relations(&statement, |name| {
                // A table function is a relation too.
                self.relations.insert(last(name));
                self.functions.insert(last(name));
                ControlFlow::<()>::Continue(())
            });
            let _ = visit_expressions(&statement, |expression| {
                let name = match expression {
                    Expr::Function(function) => last(&function.name),
                    // JSON operators are functions too.
                    Expr::BinaryOp { op, .. } => op.to_string(),
                    _ => return ControlFlow::<()>::Continue(()),
                };
                self.functions.insert(name);
                ControlFlow::<()>::Continue(())
            });
        }
    }
}

/// The name without its catalog and schema.
fn last(name: &ObjectName) -> String {
    name.to_string().rsplit('.').next().unwrap_or_default().to_ascii_lowercase()
}

/// Views that only other views read do not count, and neither do names in texts and comments. A
/// reviewer must judge whether the rows test enough of a view.
#[test]
fn every_view_is_read_and_every_function_called_by_a_query_with_rows() {
    let mut asked = Asked::default();
    for file in files() {
        let records = sqllogictest::parse_file::<Letter>(folder().join(&file))
            .unwrap_or_else(|e| panic!("{file}: {e}"));
        for record in records {
            if let Record::Query { sql, expected: QueryExpect::Results { results, .. }, .. } =
                record
                && !results.is_empty()
            {
                asked.add(&sql);
            }
        }
    }
    let library = tracesql::library::Library::load(&[]).expect("the library loads");
    let views = library.public_views().map(|view| view.name.clone());
    let mut missing: Vec<String> = views.filter(|name| !asked.relations.contains(name)).collect();
    let functions = tracesql::engine::functions();
    let names = functions.iter().map(|function| function.doc.name.to_owned());
    missing.extend(names.filter(|name| !asked.functions.contains(name)));
    assert!(missing.is_empty(), "no query with rows asks for {}", missing.join(", "));
}
