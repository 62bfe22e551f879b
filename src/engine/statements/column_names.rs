//! Names the columns of a result by their source text.
//!
//! DataFusion names a column without an alias after its internal expression, such as
//! `approx_percentile_cont(kernels.dur_ns,Float64(0.9))`. Here it gets the text of the statement as
//! its alias. Only the outermost query gets these names, because other queries may refer to the
//! columns of views and subqueries by DataFusion's names.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectNamePart, SelectItem, SetExpr, SetQuantifier, Statement as SqlStatement,
    Visit, VisitMut, Visitor, VisitorMut,
};

/// Gives names to the columns of a query that have none. Other statements stay as they are.
pub fn name_columns(statement: &mut Statement) {
    if let Statement::Statement(statement) = statement
        && let SqlStatement::Query(query) = statement.as_mut()
    {
        name_first(&mut query.body);
    }
}

/// Names the columns of the query that gives the result its names, which is the first of a union.
fn name_first(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => name_items(&mut select.projection),
        SetExpr::Query(query) => name_first(&mut query.body),
        SetExpr::SetOperation { left, set_quantifier, .. } => match set_quantifier {
            // The names decide which columns belong together.
            SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName => {}
            _ => name_first(left),
        },
        _ => {}
    }
}

fn name_items(items: &mut [SelectItem]) {
    let mut used: HashSet<String> = items.iter().filter_map(given_name).collect();
    // The next number for a text, so that many equal items do not count up from 1 each.
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for item in items {
        let SelectItem::UnnamedExpr(expr) = item else { continue };
        if is_column(expr) || unnests(expr) {
            continue;
        }
        let text = text(expr);
        let number = numbers.entry(text.clone()).or_default();
        let mut name = text.clone();
        while !used.insert(name.clone()) {
            *number += 1;
            name = format!("{text}_{number}");
        }
        let alias = Ident::with_quote('"', name);
        *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
    }
}

/// The name that an item has without our help.
fn given_name(item: &SelectItem) -> Option<String> {
    let name = |ident: &Ident| match ident.quote_style {
        None => ident.value.to_lowercase(),
        Some(_) => ident.value.clone(),
    };
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(name(alias)),
        SelectItem::UnnamedExpr(Expr::Identifier(ident)) => Some(name(ident)),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(idents)) => idents.last().map(name),
        _ => None,
    }
}

fn is_column(expr: &Expr) -> bool {
    match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => true,
        Expr::Nested(inner) => is_column(inner),
        _ => false,
    }
}

/// Whether an expression calls `unnest`, which can become several columns.
fn unnests(expr: &Expr) -> bool {
    struct Finder;
    impl Visitor for Finder {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            match expr {
                Expr::Function(f) if f.name.to_string().eq_ignore_ascii_case("unnest") => {
                    ControlFlow::Break(())
                }
                _ => ControlFlow::Continue(()),
            }
        }
    }
    expr.visit(&mut Finder).is_break()
}

/// The text of an expression, with names in lower case unless they are quoted.
fn text(expr: &Expr) -> String {
    struct LowerCase;
    impl LowerCase {
        fn ident(ident: &mut Ident) {
            if ident.quote_style.is_none() {
                ident.value = ident.value.to_lowercase();
            }
        }
    }
    impl VisitorMut for LowerCase {
        type Break = ();

        fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            match expr {
                Expr::Identifier(ident) => Self::ident(ident),
                Expr::CompoundIdentifier(idents) => idents.iter_mut().for_each(Self::ident),
                Expr::Function(function) => {
                    for part in &mut function.name.0 {
                        if let ObjectNamePart::Identifier(ident) = part {
                            Self::ident(ident);
                        }
                    }
                }
                _ => {}
            }
            ControlFlow::Continue(())
        }
    }
    let mut expr = match expr {
        Expr::Nested(inner) => inner.as_ref().clone(),
        other => other.clone(),
    };
    let _ = VisitMut::visit(&mut expr, &mut LowerCase);
    expr.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::statements::parse;

    fn named(sql: &str) -> String {
        let mut statement = parse(sql).expect("SQL").pop_front().expect("a statement");
        name_columns(&mut statement);
        statement.to_string()
    }

    #[test]
    fn unnamed_columns_are_named_by_their_text() {
        assert_eq!(
            named("SELECT a, t.b, COUNT(*), Avg(Dur_ns), 1, 'x', f(\"A\", 0.9) AS y FROM t"),
            "SELECT a, t.b, COUNT(*) AS \"count(*)\", Avg(Dur_ns) AS \"avg(dur_ns)\", 1 AS \"1\", \
             'x' AS \"'x'\", f(\"A\", 0.9) AS y FROM t"
        );
        assert_eq!(
            named("SELECT 1, 2 AS \"1_1\", 1"),
            "SELECT 1 AS \"1\", 2 AS \"1_1\", 1 AS \"1_2\""
        );
        assert_eq!(named("SELECT 1, 1, 1"), "SELECT 1 AS \"1\", 1 AS \"1_1\", 1 AS \"1_2\"");
    }

    #[test]
    fn many_equal_columns_are_named_in_linear_time() {
        // Counting up from 1 for each column would take minutes.
        let sql = format!("SELECT {}1", "1,".repeat(100_000));
        assert!(named(&sql).ends_with("1 AS \"1_100000\""));
    }

    #[test]
    fn inner_queries_and_other_statements_keep_their_names() {
        for sql in [
            "CREATE VIEW v AS SELECT 1",
            "SELECT * FROM (SELECT 1)",
            "SELECT unnest(a) FROM t",
            "SELECT 1 UNION ALL BY NAME SELECT 2",
            "EXPLAIN SELECT 1",
        ] {
            assert_eq!(named(sql), sql);
        }
        assert_eq!(named("SELECT 1 UNION SELECT 2"), "SELECT 1 AS \"1\" UNION SELECT 2");
    }
}
