//! Prepares SQL from Python for the engine: parameters without names, lists as parameters, and data
//! frames that are named as tables.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    Array, Expr, Ident, ObjectName, ObjectNamePart, Query, Statement as Sql, TableAlias,
    TableFactor, Value, Visit, VisitMut, Visitor, VisitorMut,
};
use tracesql::sql_text::lex::{self, Kind};
use tracesql::{Error, Result};

use crate::values::Parameters;

/// Replaces each `?` by `$1`, `$2`, …, and `IN $list` by `IN ($list)`, which the parser understands.
/// Fails if the number of `?` is not that of the values without names.
pub fn rewritten<'t>(text: &'t str, parameters: &Parameters) -> Result<Cow<'t, str>> {
    let tokens = lex::tokens(text);
    let has_marks = tokens.iter().any(|t| is_mark(t));
    if !has_marks && parameters.lists.is_empty() {
        return Ok(Cow::Borrowed(text));
    }
    let (mut sql, mut marks, mut after_in) = (String::with_capacity(text.len() + 8), 0, false);
    for token in &tokens {
        if is_mark(token) {
            marks += 1;
        }
        let name = match token.kind {
            _ if is_mark(token) => Some(marks.to_string()),
            Kind::Parameter => Some(token.text[1..].to_owned()),
            _ => None,
        };
        match name {
            Some(name) if after_in && parameters.lists.contains_key(&name) => {
                sql.push_str(&format!("(${name})"));
            }
            Some(name) => sql.push_str(&format!("${name}")),
            None => sql.push_str(token.text),
        }
        after_in =
            token.is_word("in") || (after_in && matches!(token.kind, Kind::Space | Kind::Comment));
    }
    if marks > 0 && marks != parameters.unnamed {
        return Err(Error::Usage(format!(
            "the query has {marks} × ?, but {} values are given for them; \
             pass them in a list, as in sql(query, [1, 2])",
            parameters.unnamed
        )));
    }
    Ok(Cow::Owned(sql))
}

fn is_mark(token: &lex::Token<'_>) -> bool {
    token.kind == Kind::Parameter && token.text == "?"
}

/// Replaces parameters that are lists: in `IN ($list)` by their elements, elsewhere by an array.
pub fn expand_lists(statement: &mut Statement, lists: &HashMap<String, usize>) {
    if let Some(sql) = inner_mut(statement)
        && !lists.is_empty()
    {
        let _ = sql.visit(&mut Lists(lists));
    }
}

/// The name of an element of a list. The parser accepts no such name, so users cannot give it.
pub fn element(name: &str, at: usize) -> String {
    format!("{name}[{at}]")
}

struct Lists<'a>(&'a HashMap<String, usize>);

impl Lists<'_> {
    /// The elements of the list that an expression stands for.
    fn elements(&self, expr: &Expr) -> Option<Vec<Expr>> {
        let Expr::Value(value) = expr else { return None };
        let Value::Placeholder(name) = &value.value else { return None };
        let name = name.strip_prefix('$')?;
        let len = *self.0.get(name)?;
        let placeholder = |at| {
            let mut value = value.clone();
            value.value = Value::Placeholder(format!("${}", element(name, at)));
            Expr::Value(value)
        };
        Some((0..len).map(placeholder).collect())
    }
}

impl VisitorMut for Lists<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::InList { list, negated, .. } = expr
            && let [only] = list.as_slice()
            && let Some(elements) = self.elements(only)
        {
            // SQL has no empty list. Nothing is in it, NULL neither.
            if elements.is_empty() {
                *expr = Expr::Value(Value::Boolean(*negated).into());
            } else {
                *list = elements;
            }
        } else if let Some(elem) = self.elements(expr) {
            *expr = Expr::Array(Array { elem, named: false });
        }
        ControlFlow::Continue(())
    }
}

/// The names in a query that may stand for data frames: tables of one word that no `WITH` defines.
/// Other statements have none, because what they create lives longer than the call.
pub fn table_names(statement: &Statement) -> BTreeSet<Name> {
    let mut names = Names::default();
    if let Some(sql) = inner(statement)
        && matches!(sql, Sql::Query(_) | Sql::Explain { .. })
    {
        let _ = sql.visit(&mut names);
    }
    names.tables.retain(|name| !names.defined.contains(&name.normal));
    names.tables
}

/// The name of a table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// As it is written, without quotes.
    pub written: String,
    /// As SQL reads it: in lower case unless it is quoted.
    pub normal: String,
}

impl Name {
    fn of(ident: &Ident) -> Self {
        let written = ident.value.clone();
        let normal =
            if ident.quote_style.is_some() { written.clone() } else { written.to_lowercase() };
        Self { written, normal }
    }
}

#[derive(Default)]
struct Names {
    tables: BTreeSet<Name>,
    defined: BTreeSet<String>,
}

impl Visitor for Names {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let tables = query.with.iter().flat_map(|with| &with.cte_tables);
        self.defined.extend(tables.map(|t| Name::of(&t.alias.name).normal));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, args: None, .. } = factor
            && let [ObjectNamePart::Identifier(ident)] = name.0.as_slice()
        {
            self.tables.insert(Name::of(ident));
        }
        ControlFlow::Continue(())
    }
}

/// Lets names of tables in a query stand for other tables. The names remain as aliases.
pub fn rename_tables(statement: &mut Statement, tables: &HashMap<String, String>) {
    if let Some(sql) = inner_mut(statement)
        && !tables.is_empty()
    {
        let _ = sql.visit(&mut Renaming(tables));
    }
}

struct Renaming<'a>(&'a HashMap<String, String>);

impl VisitorMut for Renaming<'_> {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, alias, args: None, .. } = factor
            && let [ObjectNamePart::Identifier(ident)] = name.0.as_slice()
            && let Some(table) = self.0.get(&Name::of(ident).normal)
        {
            if alias.is_none() {
                *alias = Some(TableAlias {
                    explicit: false,
                    name: ident.clone(),
                    columns: Vec::new(),
                    at: None,
                });
            }
            *name = ObjectName::from(vec![Ident::with_quote('"', table)]);
        }
        ControlFlow::Continue(())
    }
}

fn inner(statement: &Statement) -> Option<&Sql> {
    match statement {
        Statement::Statement(sql) => Some(sql),
        Statement::Explain(explain) => inner(&explain.statement),
        _ => None,
    }
}

fn inner_mut(statement: &mut Statement) -> Option<&mut Sql> {
    match statement {
        Statement::Statement(sql) => Some(sql),
        Statement::Explain(explain) => inner_mut(&mut explain.statement),
        _ => None,
    }
}
