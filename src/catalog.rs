//! The names that SQL can use in a session, with their documentation. Completion, descriptions and
//! suggestions use them.

use std::collections::BTreeMap;

use datafusion::logical_expr::Documentation;
use tokio::runtime::Runtime;

use crate::engine::{self, Engine, documented};
use crate::library::{self, View, sql_type};

/// Names of tables, views and functions.
#[derive(Debug, Default)]
pub struct Catalog {
    /// Tables, then views.
    pub relations: Vec<Relation>,
    /// Functions, by name: first those for traces, then those of the engine.
    pub functions: Vec<Function>,
}

/// A table or view.
#[derive(Debug, Clone, Default)]
pub struct Relation {
    /// Name.
    pub name: String,
    /// `table`, `view`, or `session view` for a view that a CREATE VIEW statement made.
    pub kind: &'static str,
    /// Whether the program defines it, and not the user.
    pub is_built_in: bool,
    /// The area of the library that it belongs to.
    pub area: String,
    /// A summary of one sentence.
    pub summary: String,
    /// A longer description.
    pub detail: String,
    /// The origin of its formula.
    pub source: String,
    /// A statement that uses it as an example.
    pub example: String,
    /// Conditions that its rows satisfy, one per line.
    pub truths: String,
    /// Columns in order.
    pub columns: Vec<Column>,
}

/// A column.
#[derive(Debug, Clone, Default)]
pub struct Column {
    /// Name.
    pub name: String,
    /// The name of its type in SQL.
    pub data_type: String,
    /// Unit.
    pub unit: String,
    /// Meaning.
    pub description: String,
}

/// A function.
#[derive(Debug, Clone, Default)]
pub struct Function {
    /// Name.
    pub name: String,
    /// scalar, aggregate, window, relation or table.
    pub kind: &'static str,
    /// Its area; empty for functions of the engine.
    pub area: String,
    /// Its arguments and the type of its result.
    pub signature: String,
    /// A summary of one sentence.
    pub summary: String,
    /// Further lines for the function's own page.
    pub detail: Vec<String>,
}

impl Catalog {
    /// All names that a session knows.
    pub fn of(engine: &Engine, runtime: &Runtime) -> Self {
        let mut relations: Vec<Relation> = documented(engine.library())
            .into_iter()
            .map(|(kind, view)| of_view(kind, view))
            .collect();
        relations.sort_by(|a, b| order(a).cmp(&order(b)));
        relations.extend(of_session(engine, runtime, &relations));
        Self { relations, functions: functions(engine) }
    }

    /// A table or view by name.
    pub fn relation(&self, name: &str) -> Option<&Relation> {
        self.relations
            .iter()
            .find(|r| r.name == name)
            .or_else(|| self.relations.iter().find(|r| r.name.eq_ignore_ascii_case(name)))
    }

    /// A function by name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|f| f.name.eq_ignore_ascii_case(name))
    }
}

/// The sort key. Tables come first, in the order in which they are documented. Views follow by area
/// and name.
fn order(relation: &Relation) -> (&str, &str, &str) {
    if relation.kind == "view" {
        (relation.kind, &relation.area, &relation.name)
    } else {
        (relation.kind, "", "")
    }
}

fn of_view(kind: &'static str, view: View) -> Relation {
    let column = |c: library::Column| Column {
        name: c.name,
        data_type: c.data_type,
        unit: c.unit,
        description: c.description,
    };
    Relation {
        name: view.name,
        kind,
        is_built_in: view.file.is_empty() || view.file.starts_with("sql/"),
        area: view.area,
        summary: view.summary,
        detail: view.detail,
        source: view.source,
        example: view.example,
        truths: view.truths.lines().join("\n"),
        columns: view.columns.into_iter().map(column).collect(),
    }
}

/// The tables and views that CREATE statements added to the session.
fn of_session(engine: &Engine, runtime: &Runtime, known: &[Relation]) -> Vec<Relation> {
    let Some(schema) = engine.context().catalog("tracesql").and_then(|c| c.schema("main")) else {
        return Vec::new();
    };
    let mut names = schema.table_names();
    names.retain(|n| !known.iter().any(|r| r.name == *n) && !n.starts_with('_'));
    names.sort();
    let made = names.into_iter().filter_map(|name| {
        let table = runtime.block_on(schema.table(&name)).ok()??;
        let column = |f: &arrow::datatypes::FieldRef| Column {
            name: f.name().clone(),
            data_type: sql_type(f.data_type()).to_string(),
            ..Column::default()
        };
        let columns = table.schema().fields().iter().map(column).collect();
        Some(Relation {
            name,
            kind: "session view",
            summary: "Made in this session.".to_owned(),
            columns,
            ..Relation::default()
        })
    });
    made.collect()
}

fn functions(engine: &Engine) -> Vec<Function> {
    let own = engine::functions();
    let mut functions: Vec<Function> =
        own.iter().filter(|f| f.call.kind() != "operator").map(of_function).collect();
    let state = engine.context().state();
    let mut others = BTreeMap::new();
    let mut add = |name: &String, kind, doc: Option<&Documentation>| {
        others.entry(name.clone()).or_insert_with(|| of_engine(name, kind, doc));
    };
    state
        .aggregate_functions()
        .iter()
        .for_each(|(name, f)| add(name, "aggregate", f.documentation()));
    state.scalar_functions().iter().for_each(|(name, f)| add(name, "scalar", f.documentation()));
    state.window_functions().iter().for_each(|(name, f)| add(name, "window", f.documentation()));
    state.table_functions().keys().for_each(|name| add(name, "table", None));
    others.retain(|name, _| !functions.iter().any(|f| f.name == *name));
    functions.extend(others.into_values());
    functions
}

fn of_function(function: &tracesql_udfs::Function) -> Function {
    let doc = &function.doc;
    let mut detail = vec![
        doc.detail.to_owned(),
        format!("NULL: {}", doc.nulls),
        format!("Errors: {}", doc.errors),
    ];
    detail.extend(doc.examples.iter().map(|e| format!("Example: {}\n  → {}", e.sql, e.answer)));
    detail.retain(|text| !text.is_empty());
    Function {
        name: doc.name.to_owned(),
        kind: function.call.kind(),
        area: doc.area.to_owned(),
        signature: doc.signature.to_owned(),
        summary: doc.summary.to_owned(),
        detail,
    }
}

fn of_engine(name: &str, kind: &'static str, doc: Option<&Documentation>) -> Function {
    let signature = doc.map_or_else(
        || format!("{name}(…)"),
        |d| d.syntax_example.lines().next().unwrap_or_default().trim().to_owned(),
    );
    let description = doc.map_or("", |d| d.description.trim());
    let summary = description
        .split_inclusive(". ")
        .next()
        .unwrap_or_default()
        .lines()
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned();
    let mut detail = vec![description.to_owned()];
    let arguments = doc.and_then(|d| d.arguments.as_ref()).into_iter().flatten();
    detail.extend(arguments.map(|(name, about)| format!("{name}: {about}")));
    detail.retain(|text| !text.is_empty() && *text != summary);
    Function { name: name.to_owned(), kind, area: String::new(), signature, summary, detail }
}
