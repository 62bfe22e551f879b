//! Changes to the text of catalogue queries, in addition to those of the crate
//! datafusion-pg-catalog: forms that the engine does not plan, and names of columns.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, BinaryOperator, CastKind, DataType, Expr, Function, FunctionArg,
    FunctionArgExpr, FunctionArgumentList, FunctionArguments, GroupByExpr, Ident, ObjectName,
    Query, SelectItem, SetExpr, Statement, TableFactor, Value, ValueWithSpan, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;

use super::names::REGCLASS;

/// Columns that hold the number of a function in PostgreSQL, and its name here. Instead of 0, there
/// is a `-`.
const FUNCTION_COLUMNS: &[&str] = &[
    "typinput", "typoutput", "typreceive", "typsend", "typmodin", "typmodout", "typanalyze",
    "typsubscript",
];

/// Columns with lists of numbers that are texts here.
const UNKNOWN_LISTS: &[&str] = &[
    "indclass", "indcollation", "indkey", "indoption", "polroles", "proallargtypes", "proargtypes",
];

/// What asyncpg asks about types, as a query that the engine plans. There are no composite types,
/// ranges or domains.
const TYPES: &str = include_str!("types.sql");

/// Rewrites a statement.
pub fn rewrite(statement: &mut Statement) {
    if let Statement::Query(query) = statement
        && let Some(with) = &query.with
        && with.cte_tables.iter().any(|cte| cte.alias.name.value == "typeinfo_tree")
        && let Ok(types) = Parser::parse_sql(&PostgreSqlDialect {}, TYPES)
        && let Some(types) = types.into_iter().next()
    {
        *statement = types;
        return;
    }
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
                if is_function_column(left) =>
            {
                let name = if is_zero(right) { Some("-".to_owned()) } else { function_name(right) };
                if let Some(name) = name {
                    **right = Expr::Value(Value::SingleQuotedString(name).into());
                }
            }
            // Rows of a list that is not known: none.
            Expr::Function(Function { name, args: FunctionArguments::List(list), .. })
                if is_named(name, "generate_subscripts") && has_null_list(list) =>
            {
                *expr = call("unnest", vec![null_numbers()]);
            }
            // The name of a type. The engine would give the text of its number.
            Expr::Cast { expr: number, data_type: DataType::Text, .. } => {
                if let Expr::Cast { expr: number, data_type, .. } = &**number
                    && is_regtype(data_type)
                {
                    *expr = call("format_type", vec![*number.clone(), null(DataType::Int(None))]);
                }
            }
            // PostgreSQL 17 renamed it.
            Expr::CompoundIdentifier(parts)
                if parts.last().is_some_and(|p| p.value.eq_ignore_ascii_case("colliculocale")) =>
            {
                if let Some(name) = parts.last_mut() {
                    name.value = "colllocale".to_owned();
                }
            }
            // A list that is not known, compared with the text of another one.
            Expr::BinaryOp { left, right, .. } if is_null_list(left) && is_text(right) => {
                *expr = null(DataType::Boolean);
            }
            // Columns whose lists are not known are NULL.
            Expr::Identifier(ident) if is_unknown_list(ident) => *expr = null_numbers(),
            Expr::CompoundIdentifier(parts) if parts.last().is_some_and(is_unknown_list) => {
                *expr = null_numbers();
            }
            Expr::Function(Function { name, args: FunctionArguments::Subquery(query), .. })
                if is_named(name, "array") =>
            {
                *expr = array_of(query).unwrap_or_else(null_array);
            }
            // Columns of rights and options are NULL, as texts.
            Expr::Function(Function { name, args: FunctionArguments::List(list), .. })
                if is_named(name, "array_to_string") && is_options(list) =>
            {
                *expr = null(DataType::Text);
            }
            Expr::Like { pattern, escape_char, .. } | Expr::ILike { pattern, escape_char, .. } => {
                if let Some(escape) = escape_char.take() {
                    **pattern = with_backslash(pattern.as_ref().clone(), escape);
                }
            }
            // The look-up that the crate makes of `'name'::regclass`. It would find NULL for a name
            // that does not exist.
            Expr::Subquery(query) => match (name_of_relation(query), null_of(query)) {
                (Some(name), _) => *expr = call(REGCLASS, vec![name]),
                (None, Some(null)) => *expr = null,
                (None, None) => one_value(query),
            },
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
    let aggregate = call("array_agg", vec![item.clone()]);
    select.projection = vec![SelectItem::UnnamedExpr(aggregate)];
    Some(Expr::Subquery(Box::new(query)))
}

/// The name in an expression such as `'pg_catalog.array_in'::regproc`, or in the look-up that stands
/// for it.
fn function_name(expr: &Expr) -> Option<String> {
    let text = expr.to_string();
    let literal = text.split('\'').nth(1)?;
    literal.rsplit('.').next().map(str::to_owned)
}

fn is_null_list(expr: &Expr) -> bool {
    matches!(expr, Expr::Cast { data_type: DataType::Array(_), expr, .. }
        if matches!(&**expr, Expr::Value(value) if value.value == Value::Null))
}

fn has_null_list(list: &FunctionArgumentList) -> bool {
    let first = list.args.first();
    matches!(first, Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))) if is_null_list(expr))
}

/// The name in the look-up that the crate makes of `'name'::regclass`; `None` for other queries.
fn name_of_relation(query: &Query) -> Option<Expr> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let condition = select.selection.as_ref()?.to_string();
    if !condition.starts_with("array_length(parts, 1) IN (1, 2) AND ") {
        return None;
    }
    let join = select.from.first()?.joins.last()?;
    let TableFactor::Derived { subquery, .. } = &join.relation else { return None };
    let SetExpr::Select(parts) = subquery.body.as_ref() else { return None };
    let SelectItem::ExprWithAlias { expr: Expr::Function(function), .. } =
        parts.projection.first()?
    else {
        return None;
    };
    match &function.args {
        FunctionArguments::List(list) if is_named(&function.name, "parse_ident") => {
            match list.args.first()? {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(name)) => Some(name.clone()),
                _ => None,
            }
        }
        _ => None,
    }
}

fn is_regtype(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Custom(name, _) if is_named(name, "regtype"))
}

fn is_text(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if matches!(value.value, Value::SingleQuotedString(_)))
}

fn is_unknown_list(ident: &Ident) -> bool {
    UNKNOWN_LISTS.iter().any(|column| ident.value.eq_ignore_ascii_case(column))
}

/// NULL in place of a subquery that finds nothing here: there are no defaults of columns, no
/// sequences and no composite types. The engine could not plan it within a CASE.
fn null_of(query: &Query) -> Option<Expr> {
    let text = query.body.to_string().to_lowercase();
    let is_about = |name: &str| text.contains(name);
    if is_about("pg_attrdef") || is_about("pg_sequence") {
        return Some(null(DataType::Text));
    }
    None
}

fn null_numbers() -> Expr {
    null(DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(DataType::Int(None)), None)))
}

fn null_array() -> Expr {
    null(DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(DataType::Text), None)))
}

fn null(data_type: DataType) -> Expr {
    Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(Expr::Value(Value::Null.into())),
        data_type,
        array: false,
        format: None,
    }
}

/// A call of a function.
fn call(name: &str, args: Vec<Expr>) -> Expr {
    let argument = |expr| FunctionArg::Unnamed(FunctionArgExpr::Expr(expr));
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: args.into_iter().map(argument).collect(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

/// Whether the first argument is a column of rights or options.
fn is_options(list: &FunctionArgumentList) -> bool {
    let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))) = list.args.first() else {
        return false;
    };
    let name = match expr {
        Expr::Identifier(ident) => Some(ident),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    };
    let ends = ["acl", "options", "config"];
    name.is_some_and(|name| ends.iter().any(|end| name.value.to_lowercase().ends_with(end)))
}

/// A pattern whose escape character becomes the backslash, the only one that the engine takes.
fn with_backslash(pattern: Expr, escape: ValueWithSpan) -> Expr {
    let text = |text: &str| Expr::Value(Value::SingleQuotedString(text.to_owned()).into());
    match &escape.value {
        Value::SingleQuotedString(c) if c == "\\" => pattern,
        _ => call("replace", vec![pattern, Expr::Value(escape), text("\\")]),
    }
}

/// Has a subquery that looks one value up take an aggregate, because the engine does not know that
/// it finds one row.
fn one_value(query: &mut Query) {
    let has_limit = query.limit_clause.is_some();
    let SetExpr::Select(select) = query.body.as_mut() else { return };
    let is_grouped = !matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
    if has_limit || is_grouped || select.distinct.is_some() || select.selection.is_none() {
        return;
    }
    let [SelectItem::UnnamedExpr(item) | SelectItem::ExprWithAlias { expr: item, .. }] =
        &mut select.projection[..]
    else {
        return;
    };
    let is_lookup = match item {
        Expr::Function(function) => {
            let name = function.name.to_string().to_lowercase();
            let aggregates = ["agg", "count", "max", "min", "sum", "bool_or", "bool_and", "every"];
            !aggregates.iter().any(|part| name.contains(part)) && !name.contains("array")
        }
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::BinaryOp { .. } => true,
        _ => false,
    };
    if is_lookup {
        *item = call("min", vec![item.clone()]);
        query.order_by = None;
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
            rewritten(
                "SELECT (SELECT b FROM u WHERE u.c = t.c) FROM t WHERE a LIKE 'x/_%' ESCAPE '/'"
            ),
            "SELECT (SELECT min(b) FROM u WHERE u.c = t.c) AS \"?column?\" FROM t \
             WHERE a LIKE replace('x/_%', '/', '\\')"
        );
        assert_eq!(
            rewritten("SELECT array_to_string(c.relacl, ',') AS a FROM pg_class c"),
            "SELECT CAST(NULL AS TEXT) AS a FROM pg_class c"
        );
        assert_eq!(
            rewritten("SELECT oid FROM t WHERE typreceive != 0"),
            "SELECT oid FROM t WHERE typreceive <> '-'"
        );
    }
}
