//! Plans views of the library in the order in which they build on each other. It also checks that
//! their columns match those that their comments declare, and that no view claims a smaller scope
//! than the views which it reads.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionState;
use datafusion::sql::parser::Statement;

use super::planned_view::PlannedView;
use super::rules::{analyze, naming};
use super::statements;
use crate::library::{Body, Library, View, matches, sql_type};

/// A view that is not yet planned, and its statement. A data table has no statement.
pub type Unplanned<'a> = (&'a View, Option<Statement>);

/// The named views and those that they build on, except views that are already planned. They are in
/// groups, and a group builds only on the groups before it.
pub fn levels<'a>(
    names: &[&str],
    library: &'a Library,
    state: &SessionState,
    is_planned: impl Fn(&str) -> bool,
) -> Result<Vec<Vec<Unplanned<'a>>>> {
    let mut levels = Levels {
        library,
        state,
        is_planned,
        path: Vec::new(),
        level_of: HashMap::new(),
        found: Vec::new(),
    };
    for name in names {
        levels.visit(name)?;
    }
    Ok(levels.found)
}

struct Levels<'a, 's, P> {
    library: &'a Library,
    state: &'s SessionState,
    is_planned: P,
    path: Vec<&'a str>,
    level_of: HashMap<&'a str, usize>,
    found: Vec<Vec<Unplanned<'a>>>,
}

impl<P: Fn(&str) -> bool> Levels<'_, '_, P> {
    /// Puts a relation into its group, and returns the first group that can build on it.
    fn visit(&mut self, name: &str) -> Result<usize> {
        let Some(view) = self.library.view(name).filter(|_| !(self.is_planned)(name)) else {
            return Ok(0);
        };
        if let Some(level) = self.level_of.get(name) {
            return Ok(level + 1);
        }
        if let Some(at) = self.path.iter().position(|&p| p == name) {
            let circle =
                self.path[at..].iter().map(|p| format!("{p} → ")).collect::<String>() + name;
            return Err(DataFusionError::Plan(format!(
                "{}: the view builds on itself ({circle})",
                view.file
            )));
        }
        self.path.push(&view.name);
        let mut level = 0;
        let statement = match &view.body {
            Body::Data(_) => None,
            Body::Query(text) => {
                let statement = parse(view, text)?;
                for reference in self.state.resolve_table_references(&statement)? {
                    if let Some(error) = self.library.scope_error(view, reference.table()) {
                        return Err(DataFusionError::Plan(error));
                    }
                    level = level.max(self.visit(reference.table())?);
                }
                Some(statement)
            }
        };
        self.path.pop();
        self.level_of.insert(&view.name, level);
        self.found.resize_with(self.found.len().max(level + 1), Vec::new);
        self.found[level].push((view, statement));
        Ok(level + 1)
    }
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
pub async fn plan(
    view: &View,
    statement: &Statement,
    state: &SessionState,
) -> Result<Arc<dyn TableProvider>> {
    let plan = state.statement_to_plan(statement.clone()).await.map_err(|e| in_file(view, e))?;
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
