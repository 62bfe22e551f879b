//! Views that queries name more than once, directly or through other views, are computed once.
//!
//! The engine by itself writes the text of a view into each place that names it: a query over views
//! that build on views then reads the same events dozens of times, and is planned as long as that.
//! Here the places are counted first. A view with one place is written into it, as the engine
//! would; one with more becomes a table that is computed at the first reading, with the columns
//! that anybody needs, and kept until the queries end. Branches of larger unions are planned like
//! views with many places, for the sake of planning side by side, and read where they are named.

mod branches;
mod ctes;
mod exec;
mod part;
mod table;

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, TableScan, TableScanBuilder,
};

use super::constants::{self, Constants};
use super::parallel;
use super::tables::StoreTable;
use super::views::PlannedView;
pub use exec::planned_apart;
pub use table::Part;
use table::{Columns, Filters, SharedView};

/// Queries that are ready for physical planning, and what they share.
pub struct Prepared {
    /// The queries.
    pub queries: Vec<LogicalPlan>,
    /// What they read of shared views, each part before those that read it.
    pub parts: Vec<Arc<Part>>,
}

/// A plan that names what it repeats, and the branches of its larger unions.
pub fn with_named_parts(plan: LogicalPlan) -> Result<LogicalPlan> {
    branches::named(ctes::named(plan)?)
}

/// Plans of queries over views as plans of queries that say what they share.
pub fn prepare(
    queries: Vec<LogicalPlan>,
    state: &SessionState,
    trace: Option<&ScalarValue>,
    share: bool,
) -> Result<Prepared> {
    let named = |query| {
        with_named_parts(state.analyzer().execute_and_check(
            query,
            state.config_options(),
            |_, _| {},
        )?)
    };
    let queries = queries.into_iter().map(named).collect::<Result<Vec<_>>>()?;
    let mut views = Views::default();
    for query in &queries {
        views.count(query)?;
    }
    let shared = views.shared(share, trace)?;
    let prepared = parallel::each(&queries, |query| {
        let (query, _) = folded(written_out(query.clone(), &shared, trace)?, trace)?;
        state.optimize(&query)
    })?;
    let (mut needs, mut planned) = (Needs::default(), Vec::new());
    for query in &prepared {
        needs.collect(query)?;
    }
    // Whoever reads a view comes before it, so that all that is needed of it is known.
    for views in levels(views.readers_first().filter_map(|view| shared.get(&view)))? {
        let parts: Vec<_> = views
            .iter()
            .flat_map(|view| needs.of(view).into_iter().map(move |need| (view, need)))
            .collect();
        let bodies = parallel::each(&parts, |(view, need)| {
            state.optimize(&view.body_with(&need.filters, &need.columns)?)
        })?;
        for ((view, need), body) in parts.into_iter().zip(bodies) {
            needs.collect(&body)?;
            planned.push(view.plan_part(need, body));
        }
    }
    planned.reverse();
    Ok(Prepared { queries: prepared, parts: planned })
}

/// A plan with views written out, each place for itself.
pub fn written_out_alone(plan: LogicalPlan) -> Result<LogicalPlan> {
    written_out(plan, &Shared::new(), None)
}

/// A plan without what has one value in all of the store, and the columns that show it.
fn folded(plan: LogicalPlan, trace: Option<&ScalarValue>) -> Result<(LogicalPlan, Constants)> {
    match trace {
        Some(trace) => constants::fold(plan, trace),
        None => Ok((plan, Constants::new())),
    }
}

type Key = usize;
type Shared = HashMap<Key, Arc<SharedView>>;

fn key(view: &PlannedView) -> Key {
    Arc::as_ptr(view.body()) as Key
}

/// The view that a scan reads.
fn view_of(scan: &TableScan) -> Option<PlannedView> {
    if !scan.filters.is_empty() {
        return None;
    }
    source_as_provider(&scan.source).ok()?.downcast_ref::<PlannedView>().cloned()
}

/// Views below some queries.
#[derive(Default)]
struct Views {
    found: HashMap<Key, (PlannedView, usize)>,
    /// Each after those that it builds on.
    order: Vec<Key>,
}

impl Views {
    fn count(&mut self, plan: &LogicalPlan) -> Result<()> {
        let mut named = Vec::new();
        plan.apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node {
                named.extend(view_of(scan));
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        for view in named {
            let key = key(&view);
            let body = view.body().clone();
            let places = &mut self.found.entry(key).or_insert((view, 0)).1;
            *places += 1;
            if *places == 1 {
                self.count(&body)?;
                self.order.push(key);
            }
        }
        Ok(())
    }

    fn shared(&self, share: bool, trace: Option<&ScalarValue>) -> Result<Shared> {
        let mut shared = Shared::new();
        if share {
            for key in &self.order {
                let (view, places) = &self.found[key];
                if *places > 1 || view.is_branch() {
                    let (body, constants) =
                        folded(written_out(view.body().as_ref().clone(), &shared, trace)?, trace)?;
                    shared.insert(*key, Arc::new(SharedView::new(view, body, constants)));
                }
            }
        }
        Ok(shared)
    }

    fn readers_first(&self) -> impl Iterator<Item = Key> {
        self.order.iter().rev().copied()
    }
}

/// A plan with views in place of their names, and the trace in place of its column where there is
/// only one.
fn written_out(
    plan: LogicalPlan,
    shared: &Shared,
    trace: Option<&ScalarValue>,
) -> Result<LogicalPlan> {
    let written = plan.transform_down_with_subqueries(|node| {
        let LogicalPlan::TableScan(scan) = &node else { return Ok(Transformed::no(node)) };
        let replaced = match view_of(scan) {
            Some(view) => match shared.get(&key(&view)) {
                Some(table) => {
                    let source = provider_as_source(table.clone());
                    let scan = TableScanBuilder::new(scan.table_name.clone(), source)
                        .with_projection(scan.projection.clone())
                        .with_fetch(scan.fetch);
                    with_trace(LogicalPlan::TableScan(scan.build()?), trace, |column| {
                        table.is_constant(column)
                    })?
                }
                None => {
                    let body = LogicalPlanBuilder::from(written_out(
                        view.body().as_ref().clone(),
                        shared,
                        trace,
                    )?);
                    let body = match &scan.projection {
                        Some(columns) => body.select(columns.iter().copied())?,
                        None => body,
                    };
                    body.alias(scan.table_name.clone())?.build()?
                }
            },
            None if source_as_provider(&scan.source)
                .is_ok_and(|table| table.is::<StoreTable>()) =>
            {
                with_trace(node.clone(), trace, |column| column == "trace_id")?
            }
            None => return Ok(Transformed::no(node)),
        };
        Ok(Transformed::new(replaced, true, TreeNodeRecursion::Jump))
    })?;
    Ok(written.data)
}

/// A scan that says the trace as a literal in the columns that hold nothing else.
fn with_trace(
    scan: LogicalPlan,
    trace: Option<&ScalarValue>,
    is_trace: impl Fn(&str) -> bool,
) -> Result<LogicalPlan> {
    let Some(trace) = trace else { return Ok(scan) };
    if !scan.schema().fields().iter().any(|field| is_trace(field.name())) {
        return Ok(scan);
    }
    let columns = scan.schema().columns().into_iter().map(|column| match is_trace(&column.name) {
        true => Expr::Literal(trace.clone(), None).alias_qualified(column.relation, column.name),
        false => Expr::Column(column),
    });
    let columns: Vec<Expr> = columns.collect();
    LogicalPlanBuilder::from(scan).project(columns)?.build()
}

/// What plans read of a shared view.
struct Need {
    filters: Filters,
    columns: Columns,
    readers: usize,
}

/// What plans read of shared views.
#[derive(Default)]
struct Needs(HashMap<usize, Vec<Need>>);

impl Needs {
    fn collect(&mut self, plan: &LogicalPlan) -> Result<()> {
        each_shared(plan, |view, scan| {
            let all = || (0..scan.source.schema().fields().len()).collect();
            let columns: Columns =
                scan.projection.as_ref().map_or_else(all, |p| p.iter().copied().collect());
            let filters = table::filters(&scan.filters)?;
            let needs = self.0.entry(view).or_default();
            match needs.iter_mut().find(|need| need.filters == filters) {
                Some(need) => {
                    need.columns.extend(columns);
                    need.readers += 1;
                }
                None => needs.push(Need { filters, columns, readers: 1 }),
            }
            Ok(())
        })
    }

    fn of(&mut self, view: &Arc<SharedView>) -> Vec<Need> {
        self.0.remove(&place(view)).unwrap_or_default()
    }
}

/// Views, those who read others first, in groups that read nothing of each other.
fn levels<'v>(
    readers_first: impl Iterator<Item = &'v Arc<SharedView>>,
) -> Result<Vec<Vec<&'v Arc<SharedView>>>> {
    let (mut levels, mut level_of) = (Vec::<Vec<_>>::new(), HashMap::new());
    for view in readers_first {
        let level = level_of.get(&place(view)).copied().unwrap_or(0);
        each_shared(view.body(), |read, _| {
            let behind = level_of.entry(read).or_insert(0);
            *behind = (level + 1).max(*behind);
            Ok(())
        })?;
        levels.resize_with(levels.len().max(level + 1), Vec::new);
        levels[level].push(view);
    }
    Ok(levels)
}

/// Which shared view something is.
fn place(view: &Arc<SharedView>) -> usize {
    Arc::as_ptr(view).cast::<()>() as usize
}

/// Calls `f` with each scan of a shared view.
fn each_shared(
    plan: &LogicalPlan,
    mut f: impl FnMut(usize, &TableScan) -> Result<()>,
) -> Result<()> {
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && let Ok(provider) = source_as_provider(&scan.source)
            && provider.is::<SharedView>()
        {
            f(Arc::as_ptr(&provider).cast::<()>() as usize, scan)?;
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}
