//! Makes physical plans for statements that start together.
//!
//! DataFusion copies the query of a view into each place that names the view. A query over views
//! that build on views then reads the same events dozens of times, and planning takes
//! correspondingly long. Here the places are counted first. A view with one place is inlined, as
//! DataFusion would do. A view with more places becomes a table that is computed once, with the
//! columns that any reader needs, and its rows are kept until the queries end. Branches of larger
//! unions are treated like views with several places so that they are planned in parallel, but
//! their rows go to their only reader and are not kept.
//!
//! If nothing is to be shared, because there is little memory for rows, a view is still computed
//! once if its query would be copied to many places: copies multiply along views on views, and
//! plans of millions of nodes take more memory than rows.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::source_as_provider;
use datafusion::error::Result;
use datafusion::execution::{SessionState, TaskContext};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use tokio::runtime::Handle;

use super::materialize::{Needs, Part, SharedView, each_scan};
use super::planned_view::{PlannedView, ViewKey};
use super::planner_threads;
use super::rules::constant_trace_id::ConstantTraceId;
use super::rules::empty_tables::{has_no_rows, without_empty_tables};
use super::rules::inline_views::InlineViews;
use super::rules::{self, analyze, inlining, naming};
use super::run_ahead::RunAhead;
use super::store_scan::planning as planning_of;
use super::store_tables::StoreTable;

/// The most copies of a view's query in plans that share nothing. With 32, queries over a dozen
/// levels of views took minutes to plan.
const MAX_COPIES: usize = 8;

/// Returns a physical plan for each query. `trace_id` is given for a store with a single trace. If
/// `share` is false, each reader of a view computes the view, up to [`MAX_COPIES`] readers. With
/// `context`, shared views are run as soon as they are planned, if all queries will be run.
pub fn physical_plans(
    queries: Vec<LogicalPlan>,
    state: &SessionState,
    trace_id: Option<ConstantTraceId>,
    share: bool,
    context: Option<Arc<TaskContext>>,
) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
    let will_run = !queries.iter().any(|query| matches!(query, LogicalPlan::Explain(_)));
    let ahead = context.filter(|_| will_run).map(RunAhead::new);
    let optimized = optimize(queries, state, trace_id.map(Arc::new), share)?;
    let (runtime, parts) = (Handle::current(), optimized.parts.len());
    let places: Vec<usize> = (0..parts + optimized.queries.len()).collect();
    // Parts are planned before their readers. A reader waits if it needs a part that is not ready.
    let plans = planner_threads::each(&places, |&place| {
        runtime.block_on(async {
            match place.checked_sub(parts) {
                None => {
                    let part = &optimized.parts[place];
                    part.plan(state).await?;
                    if let Some(ahead) = &ahead {
                        ahead.add(part.clone());
                    }
                    Ok(None)
                }
                Some(query) => state
                    .query_planner()
                    .create_physical_plan(&optimized.queries[query], state)
                    .await
                    .map(Some),
            }
        })
    })?;
    Ok(plans.into_iter().flatten().collect())
}

/// Optimized queries, and the parts of shared views that they read.
struct Optimized {
    queries: Vec<LogicalPlan>,
    /// The parts. Each part comes before those that read it.
    parts: Vec<Arc<Part>>,
}

fn optimize(
    queries: Vec<LogicalPlan>,
    state: &SessionState,
    trace_id: Option<Arc<ConstantTraceId>>,
    share: bool,
) -> Result<Optimized> {
    let (naming, options) = (naming(state), state.config_options());
    let queries = queries.into_iter().map(|query| analyze(&naming, query, options));
    let queries = queries.collect::<Result<Vec<_>>>()?;
    let mut places = Places { is_of_one: trace_id.is_some(), ..Places::default() };
    for query in &queries {
        places.count(query, None)?;
    }
    let views = match share {
        true => places
            .shared_views(trace_id.as_deref(), |view, places| places > 1 || view.is_branch())?,
        false => {
            let often = places.copied_often();
            places.shared_views(trace_id.as_deref(), |view, _| often.contains(&view.key()))?
        }
    };
    let views = Arc::new(views);
    let inlining = inlining(views.clone(), trace_id);
    let queries = planner_threads::each(&queries, |query| {
        rules::optimize(analyze(&inlining, query.clone(), options)?, state)
    })?;
    let (mut needs, mut planned) = (Needs::default(), Vec::new());
    for query in &queries {
        needs.collect(query)?;
    }
    // Readers come before the views that they read, so that all needs of a view are known when it
    // is planned.
    for level in levels(places.readers_first().filter_map(|view| views.shared(view)))? {
        let parts: Vec<_> = level
            .iter()
            .flat_map(|view| needs.take(view).into_iter().map(move |need| (view, need)))
            .collect();
        let queries = planner_threads::each(&parts, |(view, need)| view.query(need, state))?;
        for ((view, need), query) in parts.into_iter().zip(queries) {
            needs.collect(&query)?;
            planned.push(view.add_part(need, query));
        }
    }
    planned.reverse();
    let plans = planned.iter().map(|part| part.query()).chain(&queries);
    announce_scans(plans, state)?;
    Ok(Optimized { queries, parts: planned })
}

/// Tells the tables of the store which scans of them will be planned.
fn announce_scans<'p>(
    plans: impl Iterator<Item = &'p LogicalPlan>,
    state: &SessionState,
) -> Result<()> {
    let Some(planning) = planning_of(state) else { return Ok(()) };
    for plan in plans {
        plan.apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node
                && let Ok(provider) = source_as_provider(&scan.source)
                && let Some(table) = provider.downcast_ref::<StoreTable>()
            {
                table.announce(planning, scan);
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    Ok(())
}

/// The views that some queries read, with the number of places that name each view.
#[derive(Default)]
struct Places {
    found: HashMap<ViewKey, (PlannedView, usize)>,
    /// The views. Each view comes after those that it reads.
    order: Vec<ViewKey>,
    /// How often a view, or `None` for the queries, names another one.
    reads: HashMap<Option<ViewKey>, HashMap<ViewKey, usize>>,
    /// Whether there is one trace. Views of several traces have no rows then.
    is_of_one: bool,
}

impl Places {
    fn count(&mut self, plan: &LogicalPlan, reader: Option<ViewKey>) -> Result<()> {
        let mut named = Vec::new();
        plan.apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node {
                named.extend(PlannedView::read_by(scan));
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        for view in named {
            let key = view.key();
            let body = view.body().clone();
            *self.reads.entry(reader).or_default().entry(key).or_default() += 1;
            let places = &mut self.found.entry(key).or_insert((view.clone(), 0)).1;
            *places += 1;
            if *places == 1 {
                if !self.has_no_traces(&view) {
                    self.count(&body, Some(key))?;
                }
                self.order.push(key);
            }
        }
        Ok(())
    }

    fn has_no_traces(&self, view: &PlannedView) -> bool {
        self.is_of_one && view.is_of_several()
    }

    /// The views whose queries would be copied to more than [`MAX_COPIES`] places, if only these
    /// are computed once.
    fn copied_often(&self) -> HashSet<ViewKey> {
        let mut copies: HashMap<ViewKey, usize> = HashMap::new();
        let mut often = HashSet::new();
        for reader in std::iter::once(None).chain(self.readers_first().map(Some)) {
            let mut own = reader.map_or(1, |view| copies.get(&view).copied().unwrap_or(0));
            if let Some(view) = reader
                && own > MAX_COPIES
            {
                often.insert(view);
                own = 1;
            }
            for (view, places) in self.reads.get(&reader).into_iter().flatten() {
                *copies.entry(*view).or_default() += own * places;
            }
        }
        often
    }

    /// The views that are computed separately from their readers: those that are chosen, by their
    /// number of places.
    fn shared_views(
        &self,
        trace_id: Option<&ConstantTraceId>,
        chosen: impl Fn(&PlannedView, usize) -> bool,
    ) -> Result<InlineViews> {
        let mut views = InlineViews::default();
        for key in &self.order {
            let (view, places) = &self.found[key];
            if self.has_no_traces(view) {
                views.leave_out(view);
                continue;
            }
            if chosen(view, *places) {
                let body = views.inline(view.body().as_ref().clone())?;
                let body = without_empty_tables(body)?;
                if has_no_rows(&body) {
                    views.leave_out(view);
                    continue;
                }
                let (body, constants) = match trace_id {
                    Some(trace_id) => trace_id.fold(body)?,
                    None => (body, Default::default()),
                };
                let constants = constants.into_iter().map(|column| column.name).collect();
                views.share(view, Arc::new(SharedView::new(view, body, constants)));
            }
        }
        Ok(views)
    }

    fn readers_first(&self) -> impl Iterator<Item = ViewKey> {
        self.order.iter().rev().copied()
    }
}

/// Shared views in groups. Each view comes after its readers, and the views of a group do not read
/// each other.
fn levels<'v>(
    readers_first: impl Iterator<Item = &'v Arc<SharedView>>,
) -> Result<Vec<Vec<&'v Arc<SharedView>>>> {
    let (mut levels, mut level_of) = (Vec::<Vec<_>>::new(), HashMap::new());
    for view in readers_first {
        let level = level_of.get(&view.id()).copied().unwrap_or(0);
        each_scan(view.body(), |read, _| {
            let below = level_of.entry(read).or_insert(0);
            *below = (level + 1).max(*below);
            Ok(())
        })?;
        levels.resize_with(levels.len().max(level + 1), Vec::new);
        levels[level].push(view);
    }
    Ok(levels)
}
