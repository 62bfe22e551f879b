//! Changes to the text of catalogue queries, in addition to those of the crate
//! datafusion-pg-catalog: forms that the engine does not plan, and names of columns.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg,
    FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, ObjectName, Query, SelectItem,
    SetExpr, Statement, TableFactor, Value, VisitMut, VisitorMut,
};

/// Columns that hold the number of a function in PostgreSQL, and its name here. Instead of 0, there
/// is a `-`.
const FUNCTION_COLUMNS: &[&str] = &[
    "typinput", "typoutput", "typreceive", "typsend", "typmodin", "typmodout", "typanalyze",
    "typsubscript",
];

/// Rewrites a statement.
pub fn rewrite(statement: &mut Statement) {
    let _ = VisitMut::visit(statement, &mut Forms);
    if let Statement::Query(query) = statement {
        name_columns(&mut query.body);
    }
}

struct Forms;

impl VisitorMut for Forms {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::BinaryOp { left, op: BinaryOperator::Eq | BinaryOperator::NotEq, right }
                if is_function_column(left) && is_zero(right) =>
            {
                **right = Expr::Value(Value::SingleQuotedString("-".to_owned()).into());
            }
            Expr::Function(Function { name, args: FunctionArguments::Subquery(query), .. })
                if is_named(name, "array") =>
            {
                *expr = array_of(query).unwrap_or_else(null_array);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn is_named(name: &ObjectName, wanted: &str) -> bool {
    name.0
        .last()
        .and_then(|part| part.as_ident())
        .is_some_and(|ident| ident.value.eq_ignore_ascii_case(wanted))
}

fn is_function_column(expr: &Expr) -> bool {
    let name = match expr {
        Expr::Identifier(ident) => &ident.value,
        Expr::CompoundIdentifier(parts) => match parts.last() {
            Some(ident) => &ident.value,
            None => return false,
        },
        _ => return false,
    };
    FUNCTION_COLUMNS.iter().any(|column| name.eq_ignore_ascii_case(column))
}

fn is_zero(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if matches!(&value.value, Value::Number(n, _) if n == "0"))
}

/// `(SELECT array_agg(x) FROM …)` for `array(SELECT x FROM …)`. `None` if its rows come from a
/// function: such queries take the items of a list that is always NULL here.
fn array_of(query: &Query) -> Option<Expr> {
    let mut query = query.clone();
    query.order_by = None;
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    let is_table = |factor: &TableFactor| matches!(factor, TableFactor::Table { args: None, .. });
    if select.from.is_empty() || !select.from.iter().all(|from| is_table(&from.relation)) {
        return None;
    }
    let [SelectItem::UnnamedExpr(item) | SelectItem::ExprWithAlias { expr: item, .. }] =
        &select.projection[..]
    else {
        return None;
    };
    let argument = FunctionArg::Unnamed(FunctionArgExpr::Expr(item.clone()));
    let call = Function {
        name: ObjectName::from(vec![Ident::new("array_agg")]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: vec![argument],
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    };
    select.projection = vec![SelectItem::UnnamedExpr(Expr::Function(call))];
    Some(Expr::Subquery(Box::new(query)))
}

fn null_array() -> Expr {
    Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(Expr::Value(Value::Null.into())),
        data_type: DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(DataType::Text), None)),
        array: false,
        format: None,
    }
}

/// Names columns without a name as PostgreSQL does: after their function, or `?column?`.
fn name_columns(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => {
            let mut used: Vec<String> = Vec::new();
            for item in &mut select.projection {
                let SelectItem::UnnamedExpr(expr) = item else { continue };
                if matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_)) {
                    continue;
                }
                let name = name_of(expr).unwrap_or_else(|| "?column?".to_owned());
                // The engine wants each name once.
                let mut unique = name.clone();
                while used.contains(&unique) {
                    unique.push('_');
                }
                used.push(unique.clone());
                let alias = Ident::with_quote('"', unique);
                *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
            }
        }
        SetExpr::SetOperation { left, .. } => name_columns(left),
        SetExpr::Query(query) => name_columns(&mut query.body),
        _ => {}
    }
}

fn name_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Function(function) => {
            let ident = function.name.0.last()?.as_ident()?;
            Some(ident.value.to_lowercase())
        }
        Expr::Cast { expr, .. } | Expr::Nested(expr) | Expr::Collate { expr, .. } => {
            match &**expr {
                Expr::Identifier(ident) => Some(ident.value.clone()),
                Expr::CompoundIdentifier(parts) => parts.last().map(|ident| ident.value.clone()),
                inner => name_of(inner),
            }
        }
        Expr::Case { .. } => Some("case".to_owned()),
        Expr::Exists { .. } => Some("exists".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;

    fn rewritten(sql: &str) -> String {
        let mut statements = Parser::parse_sql(&PostgreSqlDialect {}, sql).expect("SQL");
        rewrite(&mut statements[0]);
        statements[0].to_string()
    }

    #[test]
    fn columns_are_named_as_by_postgresql() {
        assert_eq!(
            rewritten("SELECT f(1), a.b, c::text, 1 + 1, f(2)"),
            "SELECT f(1) AS \"f\", a.b, c::TEXT AS \"c\", 1 + 1 AS \"?column?\", f(2) AS \"f_\""
        );
    }

    #[test]
    fn arrays_of_queries_become_aggregates() {
        assert_eq!(
            rewritten("SELECT array(SELECT a FROM t WHERE t.b = u.b ORDER BY 1) AS x FROM u"),
            "SELECT (SELECT array_agg(a) FROM t WHERE t.b = u.b) AS x FROM u"
        );
        assert_eq!(
            rewritten("SELECT array(SELECT x FROM unnest(u.y) x) AS x FROM u"),
            "SELECT CAST(NULL AS TEXT[]) AS x FROM u"
        );
        assert_eq!(
            rewritten("SELECT oid FROM t WHERE typreceive != 0"),
            "SELECT oid FROM t WHERE typreceive <> '-'"
        );
    }
}
