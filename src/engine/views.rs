//! Plans views of the library in the order in which they build on each other. It also checks that
//! their columns match those that their comments declare, and that no view claims a smaller scope
//! than the views which it reads.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use arrow::datatypes::{Field, Schema};
use datafusion::catalog::TableProvider;
use datafusion::common::ToDFSchema;
use datafusion::datasource::MemTable;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{EmptyRelation, LogicalPlan};
use datafusion::sql::parser::Statement;
use parking_lot::Mutex;
use tokio::runtime::Handle;

use super::planned_view::PlannedView;
use super::rules::{analyze, naming};
use super::{planner_threads, statements};
use crate::library::{self, Body, Library, View, arrow_type, matches, sql_type};

/// Plans the named views and those that they build on, except views that are already planned. Views
/// that do not build on each other are planned in parallel. If `is_of_one`, the store has one trace.
/// `keep` receives each view as soon as it is planned, and makes it known to its readers.
pub fn plan_all<'l>(
    names: &[&str],
    library: &'l Library,
    state: &SessionState,
    is_of_one: bool,
    is_planned: impl Fn(&str) -> bool + Sync,
    keep: impl Fn(&View, Arc<dyn TableProvider>) + Sync,
) -> Result<()> {
    let runtime = Handle::try_current().map_err(|e| DataFusionError::External(Box::new(e)))?;
    let unplanned = |name: &str| library.view(name).filter(|view| !is_planned(&view.name));
    let graph = Mutex::new(Graph::default());
    let first: Vec<&'l View> = names.iter().filter_map(|name| unplanned(name)).collect();
    let tasks = first.iter().rev().filter_map(|view| graph.lock().read(view)).collect();
    planner_threads::all(tasks, |task| match task {
        Task::Read(view) => {
            let read = match &view.body {
                Body::Query(text) if !(is_of_one && is_left_out(view)) => parse(view, text)
                    .and_then(|statement| {
                        let read = views_read(view, &statement, library, state)?;
                        Ok((Some(statement), read))
                    }),
                _ => Ok((None, Vec::new())),
            };
            let read = read.map(|(statement, names)| {
                (statement, names.iter().filter_map(|name| unplanned(name)).collect())
            });
            graph.lock().was_read(view, read)
        }
        Task::Plan(view, statement) => {
            let planned = match (statement, &view.body) {
                (Some(statement), _) => runtime.block_on(plan(view, statement, state)),
                (None, Body::Query(_)) => without_rows(view),
                (None, Body::Data(_)) => library::rows(view)
                    .map_err(|problem| DataFusionError::Plan(problem.to_string()))
                    .and_then(|(schema, rows)| {
                        Ok(Arc::new(MemTable::try_new(schema, vec![rows])?) as Arc<_>)
                    }),
            };
            let planned = planned.map(|provider| keep(view, provider));
            graph.lock().was_planned(view, planned)
        }
    })?;
    graph.into_inner().result(&first)
}

/// What is to be done for a view.
enum Task<'l> {
    /// To parse its query, if it has one.
    Read(&'l View),
    /// To plan it. All views that it builds on are planned.
    Plan(&'l View, Option<Statement>),
}

/// Views and the views that they build on.
#[derive(Default)]
struct Graph<'l> {
    views: HashMap<&'l str, Node<'l>>,
}

#[derive(Default)]
struct Node<'l> {
    /// The views that it builds on and that were not planned, sorted by name.
    builds_on: Vec<&'l View>,
    /// How many of them are not planned.
    missing: usize,
    readers: Vec<&'l View>,
    statement: Option<Statement>,
    end: Option<Result<()>>,
}

impl<'l> Graph<'l> {
    /// The task to read a view, unless there is one.
    fn read(&mut self, view: &'l View) -> Option<Task<'l>> {
        match self.views.entry(&view.name) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => {
                place.insert(Node::default());
                Some(Task::Read(view))
            }
        }
    }

    /// Keeps the statement of a view and the views that it builds on. Returns further tasks.
    fn was_read(
        &mut self,
        view: &'l View,
        read: Result<(Option<Statement>, Vec<&'l View>)>,
    ) -> Vec<Task<'l>> {
        let (statement, builds_on) = match read {
            Ok(read) => read,
            Err(error) => return self.was_planned(view, Err(error)),
        };
        let (mut tasks, mut missing) = (Vec::new(), 0);
        for read in builds_on.iter().rev() {
            tasks.extend(self.read(read));
            let node = self.views.entry(&read.name).or_default();
            if !matches!(node.end, Some(Ok(()))) {
                node.readers.push(view);
                missing += 1;
            }
        }
        let node = self.views.entry(&view.name).or_default();
        (node.statement, node.builds_on, node.missing) = (statement, builds_on, missing);
        if missing == 0 {
            tasks.push(Task::Plan(view, node.statement.take()));
        }
        tasks
    }

    /// Keeps how planning a view ended. Returns the readers that can be planned now.
    fn was_planned(&mut self, view: &'l View, end: Result<()>) -> Vec<Task<'l>> {
        let is_planned = end.is_ok();
        let node = self.views.entry(&view.name).or_default();
        node.end = Some(end);
        let readers = if is_planned { std::mem::take(&mut node.readers) } else { Vec::new() };
        let mut tasks = Vec::new();
        for reader in readers {
            let node = self.views.entry(&reader.name).or_default();
            node.missing -= 1;
            if node.missing == 0 {
                tasks.push(Task::Plan(reader, node.statement.take()));
            }
        }
        tasks
    }

    /// Fails with the first error of a view, or if views build on themselves. The views that a query
    /// names are sorted, so that the first error is the same for any number of threads.
    fn result(mut self, first: &[&'l View]) -> Result<()> {
        first.iter().try_for_each(|view| self.visit(view, &mut Vec::new()))
    }

    fn visit(&mut self, view: &'l View, path: &mut Vec<&'l str>) -> Result<()> {
        if let Some(at) = path.iter().position(|name| *name == view.name) {
            let circle = path[at..].iter().map(|p| format!("{p} → ")).collect::<String>();
            return Err(DataFusionError::Plan(format!(
                "{}: the view builds on itself ({circle}{})",
                view.file, view.name
            )));
        }
        let node = self.views.entry(&view.name).or_default();
        match node.end.take() {
            // A view that is planned builds on views that are planned.
            Some(Ok(())) => node.end = Some(Ok(())),
            Some(Err(error)) => return Err(error),
            None => {
                path.push(&view.name);
                let builds_on = std::mem::take(&mut node.builds_on);
                builds_on.iter().try_for_each(|read| self.visit(read, path))?;
                path.pop();
            }
        }
        Ok(())
    }
}

/// The names of what a query reads. Fails if the view claims a smaller scope.
fn views_read(
    view: &View,
    statement: &Statement,
    library: &Library,
    state: &SessionState,
) -> Result<Vec<String>> {
    let references = state.resolve_table_references(statement)?;
    let names: Vec<String> = references.iter().map(|read| read.table().to_owned()).collect();
    match names.iter().find_map(|name| library.scope_error(view, name)) {
        Some(error) => Err(DataFusionError::Plan(error)),
        None => Ok(names),
    }
}

/// Whether a view that has no rows for one trace can be replaced by an empty one, without planning
/// what it builds on. Its comment must declare its columns.
fn is_left_out(view: &View) -> bool {
    view.is_of_several
        && !view.columns.is_empty()
        && view.columns.iter().all(|column| arrow_type(&column.data_type).is_some())
}

/// A view without rows that has the declared columns.
fn without_rows(view: &View) -> Result<Arc<dyn TableProvider>> {
    let fields = view.columns.iter().filter_map(|column| {
        arrow_type(&column.data_type).map(|kind| Field::new(&column.name, kind, true))
    });
    let schema = Schema::new(fields.collect::<Vec<_>>()).to_dfschema_ref()?;
    let query = LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row: false, schema });
    Ok(Arc::new(PlannedView::new(&view.name, query).of_several(true)))
}

/// The only query of a view. The whole file is parsed with its comments, so that errors contain
/// line numbers of the file.
fn parse(view: &View, text: &str) -> Result<Statement> {
    let mut statements = statements::parse(text).map_err(|e| in_file(view, e))?;
    match (statements.pop_front(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        _ => Err(DataFusionError::Plan(format!("{}: a view's file holds one query", view.file))),
    }
}

/// Plans a view that builds only on planned views. Fails if its columns are not the declared ones.
async fn plan(
    view: &View,
    statement: Statement,
    state: &SessionState,
) -> Result<Arc<dyn TableProvider>> {
    let plan = state.statement_to_plan(statement).await.map_err(|e| in_file(view, e))?;
    let plan =
        analyze(&naming(state), plan, state.config_options()).map_err(|e| in_file(view, e))?;
    let fields = plan.schema().fields();
    if !view.columns.is_empty() {
        let declared: Vec<String> =
            view.columns.iter().map(|c| format!("{} {}", c.name, c.data_type)).collect();
        let actual: Vec<String> =
            fields.iter().map(|f| format!("{} {}", f.name(), sql_type(f.data_type()))).collect();
        let same = view.columns.len() == fields.len()
            && view
                .columns
                .iter()
                .zip(fields)
                .all(|(c, f)| c.name == *f.name() && matches(&c.data_type, f.data_type()));
        if !same {
            let (declared, actual) = first_difference(&declared, &actual);
            return Err(DataFusionError::Plan(format!(
                "{}: its comment declares column {declared}, its query gives {actual}",
                view.file
            )));
        }
    }
    Ok(Arc::new(PlannedView::new(&view.name, plan).of_several(view.is_of_several)))
}

fn first_difference<'t>(declared: &'t [String], actual: &'t [String]) -> (&'t str, &'t str) {
    let at = declared
        .iter()
        .zip(actual)
        .position(|(d, a)| d != a)
        .unwrap_or(declared.len().min(actual.len()));
    let or_none = |list: &'t [String]| list.get(at).map_or("none", String::as_str);
    (or_none(declared), or_none(actual))
}

fn in_file(view: &View, e: DataFusionError) -> DataFusionError {
    e.context(format!("in view {} ({})", view.name, view.file))
}
