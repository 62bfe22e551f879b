//! Views of the library: what builds on what, and plans that keep what their comments promise.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::sql::parser::{DFParser, Statement};

use super::shared;
use crate::library::{Body, Library, View, matches, sql_type};

/// A view that is to be planned, with its statement; data tables have none.
pub type Unplanned<'a> = (&'a View, Option<Statement>);

/// Views with those that they build on and that are not planned yet, in groups that build on the
/// groups before.
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
    /// The number of the first group that can build on a relation.
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

/// The one query of a view. The whole file is parsed, comments too, so that places in errors are
/// those of the file.
fn parse(view: &View, text: &str) -> Result<Statement> {
    let mut statements = DFParser::parse_sql(text).map_err(|e| in_file(view, e))?;
    match (statements.pop_front(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        _ => Err(DataFusionError::Plan(format!("{}: a view's file holds one query", view.file))),
    }
}

/// Plans a view; the views that it builds on are planned already.
pub async fn plan(
    view: &View,
    statement: &Statement,
    state: &SessionState,
) -> Result<Arc<dyn TableProvider>> {
    let plan = state.statement_to_plan(statement.clone()).await.map_err(|e| in_file(view, e))?;
    let plan = state
        .analyzer()
        .execute_and_check(plan, state.config_options(), |_, _| {})
        .map_err(|e| in_file(view, e))?;
    let plan = shared::with_named_parts(plan).map_err(|e| in_file(view, e))?;
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
    Ok(Arc::new(PlannedView::new(&view.name, plan)))
}

/// A view whose query is planned. Plans of queries name it; [`super::shared`] puts the query in its
/// place.
#[derive(Debug, Clone)]
pub struct PlannedView {
    name: String,
    schema: SchemaRef,
    body: Arc<LogicalPlan>,
    is_branch: bool,
}

impl PlannedView {
    /// A view of a query that is analyzed.
    pub fn new(name: &str, query: LogicalPlan) -> Self {
        Self {
            name: name.to_owned(),
            schema: query.schema().inner().clone(),
            body: Arc::new(query),
            is_branch: false,
        }
    }

    /// A branch of a union as a view of its own.
    pub fn branch(name: &str, query: LogicalPlan) -> Self {
        Self { is_branch: true, ..Self::new(name, query) }
    }

    /// Whether it is a branch of a union, planned by itself.
    pub fn is_branch(&self) -> bool {
        self.is_branch
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its query; views below it are named.
    pub fn body(&self) -> &Arc<LogicalPlan> {
        &self.body
    }
}

#[async_trait]
impl TableProvider for PlannedView {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    // For plans that come another way than through `shared::prepare`.
    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut body =
            LogicalPlanBuilder::from(shared::written_out_alone(self.body.as_ref().clone())?);
        if let Some(columns) = projection {
            body = body.select(columns.iter().copied())?;
        }
        state.create_physical_plan(&body.build()?).await
    }
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
