//! Scopes of views: every file states one, no view claims less than it needs, and the rows over a
//! store of several traces are those over each of its traces.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use tracesql::engine::{Engine, EngineOptions};
use tracesql::library::{Body, JOB_RANKS, Library, RULES_OF_A_TRACE, Scope, View};

use super::rows::{Rows, batches_of, rows_of_all};
use super::{library, short};
use crate::support::{TestStore, fixture, root, rows_of};

/// Ranks of a job and a trace without a rank.
const THREE: &[&str] =
    &["synthetic_gpu_rank0.json.gz", "synthetic_gpu_rank1.json.gz", "resnet_cpu.pt.trace.json.gz"];

/// Ranks of two jobs, traces without a rank, a recording of MLLM, and memory snapshots.
const MANY: &[&str] = &[
    "beside/samples.folded",
    "beside/timeline.json",
    "beside/timeline.raw.json.gz",
    "ddp_rank0.pt.trace.json.gz",
    "ddp_rank1.pt.trace.json.gz",
    "bottlenecks/skewed/skewed_rank0.json.gz",
    "bottlenecks/skewed/skewed_rank1.json.gz",
    "bottlenecks/inefficient.json.gz",
    "bottlenecks/slow_steps.json.gz",
    "kernels/checkpointed.json.gz",
    "kernels/moving.json.gz",
    "kernels/own_kernels.json.gz",
    "kernels/profiler_ranges.json.gz",
    "kernels/serving.json.gz",
    "old_kineto.json.gz",
    "perf.json",
    "protobufs/gpu.xplane.pb",
    "protobufs/rocprof.pftrace",
    "protobufs/tpu.xplane.pb",
    "snapshots/oom.pickle",
    "snapshots/steps.pickle",
];

fn store_of(names: &[&str]) -> TestStore {
    let store = TestStore::new();
    for name in names {
        store.ingest(&fixture(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    store
}

/// A session over a single trace, with the rows of `job_ranks` that all traces give it.
fn alone(store: &TestStore, all: &Engine, trace_id: &str) -> Engine {
    let sql = format!("SELECT * FROM {JOB_RANKS} WHERE trace_id = '{trace_id}'");
    let (schema, batches) = batches_of(all, &sql);
    let given: Arc<dyn TableProvider> =
        Arc::new(MemTable::try_new(schema, vec![batches]).expect("a table"));
    let options = EngineOptions {
        relations: vec![(JOB_RANKS.to_owned(), given)],
        ..EngineOptions::default()
    };
    Engine::open(&store.store, Some(&[trace_id.to_owned()]), &options).expect("the store opens")
}

/// Compares the rows of views over a store with those over each of its traces. Returns the names
/// of the views that have rows, or the differences.
fn compare<'v>(
    views: &[&'v View],
    names: &[&str],
    merge: impl Fn(Rows) -> Rows,
) -> Result<BTreeSet<&'v str>, String> {
    let queries: Vec<String> =
        views.iter().map(|view| format!("SELECT * FROM {}", view.name)).collect();
    let store = store_of(names);
    let all = store.engine();
    assert_eq!(all.traces().len(), names.len());
    let mut over_each: Vec<Rows> = views.iter().map(|_| Rows::default()).collect();
    for trace in all.traces() {
        let rows = rows_of_all(&alone(&store, &all, &trace.trace_id), &queries);
        over_each.iter_mut().zip(rows).for_each(|(sum, rows)| sum.extend(rows));
    }
    let (mut problems, mut filled) = (Vec::new(), BTreeSet::new());
    let over_all = rows_of_all(&all, &queries);
    for ((view, over_all), over_each) in views.iter().zip(over_all).zip(over_each) {
        if !over_all.is_empty() {
            filled.insert(view.name.as_str());
        }
        if let Some(difference) = over_all.difference(merge(over_each)) {
            problems.push(format!("{} ({}): {difference}", view.file, view.scope().word()));
        }
    }
    if problems.is_empty() { Ok(filled) } else { Err(problems.join("\n")) }
}

/// Views of single traces and their jobs.
fn narrow(library: &Library) -> Vec<&View> {
    library.views().filter(|view| view.scope() < Scope::Store).collect()
}

#[test]
fn rows_over_three_traces_are_the_rows_over_each() {
    let library = library();
    let views = narrow(&library);
    assert!(views.len() > 140, "{} views", views.len());
    let filled = compare(&views, THREE, |rows| rows).unwrap_or_else(|e| panic!("{e}"));
    let empty = views.iter().map(|v| v.name.as_str()).filter(|name| !filled.contains(name));
    let other = empty.filter(|name| !ONLY_OF_MANY.contains(name)).collect::<Vec<_>>();
    assert_eq!(other, [""; 0], "views without rows prove nothing");
}

#[test]
fn rows_over_many_traces_are_the_rows_over_each() {
    let library = library();
    let views: Vec<&View> = narrow(&library)
        .into_iter()
        .filter(|view| !view.is_private() || ONLY_OF_MANY.contains(&view.name.as_str()))
        .collect();
    assert!(views.len() > 95, "{} views", views.len());
    let filled = compare(&views, MANY, |rows| rows).unwrap_or_else(|e| panic!("{e}"));
    let empty: Vec<&&str> = ONLY_OF_MANY.iter().filter(|name| !filled.contains(*name)).collect();
    assert_eq!(empty, [&""; 0], "views without rows prove nothing");
}

#[test]
fn views_that_need_several_traces_are_found() {
    let library = library();
    let names = ["stragglers", "compare_pairs", "rule_rank_skew", "kernel_names"];
    let views = names.map(|name| library.view(name).expect("a view"));
    let error = compare(&views, THREE, |rows| rows).expect_err("differences");
    for view in views {
        assert!(error.contains(&view.file), "{}: {error}", view.file);
    }
}

/// Views that have rows for [`MANY`] but not for [`THREE`].
const ONLY_OF_MANY: &[&str] = &[
    "_call_sites",
    "_hlo_events",
    "_host_communication",
    "_lost_causes",
    "_memory_categories",
    "_mllm_blobs",
    "_recomputed_calls",
    "_snapshot_frames",
    "_special_calls",
    "bandwidth_points",
    "counters_by_operator",
    "framework_operators",
    "hlo_operators",
    "kernel_counters",
    "lost_time",
    "memory_categories",
    "memory_category_timeline",
    "mllm_alive_blobs",
    "mllm_blobs",
    "mllm_memory_curve",
    "mllm_operation_totals",
    "mllm_operations",
    "mllm_peak_blobs",
    "mllm_summary",
    "operators_by_input_stack",
    "operators_by_stack",
    "profile_samples",
    "roofline_points",
    "roofline_roofs",
    "slow_steps",
    "snapshot_allocations",
    "snapshot_leaks",
    "snapshot_live_at_peak",
    "snapshot_ooms",
    "snapshot_peak_by_category",
    "snapshot_peak_by_size",
    "snapshot_peak_by_stack",
    "snapshot_peaks",
    "snapshot_pools",
    "snapshot_segments",
    "snapshot_settings",
    "snapshot_stacks",
    "snapshot_timeline",
    "tb_operators_by_input_stack",
    "tb_operators_by_stack",
    "unclassified_kernels",
    "unclear_matrix_units",
];

/// Rows that are looked up by a key depend on the key only, so each trace has some of the rows that
/// all traces have.
#[test]
fn rows_that_are_looked_up_depend_on_their_key_only() {
    let library = library();
    let views: Vec<&View> = library.views().filter(|view| !view.lookup.is_empty()).collect();
    assert!(views.len() >= 4, "{} views", views.len());
    let filled = compare(&views, THREE, Rows::distinct).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(filled.len(), views.len(), "{filled:?}");
    let store = store_of(MANY);
    let all = store.engine();
    for view in views {
        let keys = view.lookup.join(", ");
        let sql = format!("SELECT 1 FROM {} GROUP BY {keys} HAVING count(*) > 1", view.name);
        let twice = rows_of(&all, &sql).unwrap_or_else(|e| panic!("{sql}: {}", short(&e)));
        assert!(twice.is_empty(), "{}: two rows have the same {keys}", view.name);
    }
}

#[test]
fn every_file_of_the_library_states_its_scope_once() {
    let mut wrong = Vec::new();
    each_sql_file(&root().join("sql"), &mut |path, text| {
        let header: Vec<&str> = text.lines().filter(|l| l.starts_with("--")).collect();
        let lines = |tag: &str| header.iter().filter(|l| l.starts_with(tag)).count();
        let (scopes, data) = (lines("-- @scope "), lines("-- @data "));
        if scopes + data != 1 {
            wrong.push(format!("{}: {scopes} lines @scope, {data} lines @data", path.display()));
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn each_sql_file(folder: &Path, found: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            each_sql_file(&path, found);
        } else if path.extension().is_some_and(|e| e == "sql") {
            found(&path, &fs::read_to_string(&path).expect("a text"));
        }
    }
}

#[test]
fn programs_can_ask_for_scopes() {
    let library = library();
    let scope = |name: &str| library.view(name).expect("a view").scope();
    assert_eq!(scope("kernel_classes"), Scope::Trace);
    assert_eq!(scope("collectives"), Scope::Job);
    assert_eq!(scope("stragglers"), Scope::Store);
    assert_eq!(scope("settings"), Scope::Store);
    let of_the_store: Vec<&str> = library.store_views().map(|v| v.name.as_str()).collect();
    assert!(of_the_store.contains(&"job_ranks") && of_the_store.contains(&"findings"));
    assert!(!of_the_store.contains(&"settings") && !of_the_store.contains(&"overview"));
}

#[test]
fn the_scope_is_a_column_of_the_table_of_views() {
    let engine = Engine::without_store(&EngineOptions::default()).expect("a session");
    let sql = "SELECT name, scope FROM tracesql_views WHERE name IN \
        ('collectives', 'events', 'job_ranks', 'operators', 'settings', 'tracesql_views') \
        ORDER BY name";
    let rows: Vec<String> =
        rows_of(&engine, sql).expect("rows").into_iter().map(|row| row.join(" ")).collect();
    assert_eq!(
        rows,
        [
            "collectives job",
            "events trace",
            "job_ranks store",
            "operators trace",
            "settings NULL",
            "tracesql_views NULL"
        ]
    );
}

/// A user's folder with views `own/NAME.sql`.
fn user(views: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in views {
        let path = folder.path().join(format!("{name}.sql"));
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

fn own(scope: &str, from: &str) -> String {
    format!(
        "-- Traces.\n--\n{scope}-- @column trace_id VARCHAR text The trace.\n\
         SELECT trace_id FROM {from}\n"
    )
}

fn session(folder: &tempfile::TempDir) -> Engine {
    let sql = vec![folder.path().to_owned()];
    Engine::without_store(&EngineOptions { sql, ..EngineOptions::default() }).expect("a session")
}

#[test]
fn a_wrong_scope_is_reported_with_file_and_line() {
    let folder = user(&[
        (
            "own/amount",
            "-- Data.\n-- @scope trace\n-- @column n BIGINT count N.\n-- @data amount.csv\n",
        ),
        ("own/keys", &own("-- @scope store by name\n", "events")),
        ("own/twice", &own("-- @scope trace\n-- @scope trace\n", "events")),
        ("own/word", &own("-- @scope rank\n", "events")),
    ]);
    fs::write(folder.path().join("own/amount.csv"), "n\n1\n").expect("a file");
    let engine = session(&folder);
    let problems: Vec<String> = engine
        .library()
        .problems()
        .iter()
        .map(|p| p.to_string().replace(&format!("{}/", folder.path().display()), ""))
        .collect();
    assert_eq!(
        problems,
        [
            "own/amount.sql:2: a data table has no scope: its rows belong to no trace",
            "own/keys.sql:3: @scope store by name: no such column",
            "own/twice.sql:4: @scope is there twice",
            "own/word.sql:3: \"rank\" is not a scope; write @scope trace, @scope job, @scope store \
             or @scope store by COLUMN, …",
        ]
    );
}

#[test]
fn a_view_cannot_claim_less_than_the_views_that_it_reads() {
    let folder = user(&[
        ("own/silent", &own("", "stragglers")),
        ("own/job", &own("-- @scope job\n", "job_ranks JOIN collectives USING (trace_id)")),
        (
            "own/named",
            &own(
                "-- @scope trace\n",
                "(SELECT trace_id FROM kernels JOIN kernel_names \
            USING (name))",
            ),
        ),
        ("own/trace", &own("-- @scope trace\n", "collectives")),
        ("own/ranks", &own("-- @scope trace\n", "job_ranks")),
        ("own/waits", &own("-- @scope job\n", "(SELECT trace_id FROM silent)")),
    ]);
    let engine = session(&folder);
    assert_eq!(engine.library().problems(), []);
    assert_eq!(engine.library().view("silent").map(View::scope), Some(Scope::Store));
    let error = |name: &str| {
        let sql = format!("SELECT * FROM {name}");
        rows_of(&engine, &sql).err().map(|e| e.to_string()).unwrap_or_default()
    };
    for fine in ["silent", "job", "named"] {
        assert_eq!(error(fine), "", "{fine}");
    }
    for (name, message) in [
        (
            "trace",
            "own/trace.sql:3: @scope trace, but the view reads collectives, whose rows need more \
             than one trace; write @scope job",
        ),
        ("ranks", "own/ranks.sql:3: @scope trace, but the view reads job_ranks"),
        (
            "waits",
            "own/waits.sql:3: @scope job, but the view reads silent, whose rows need more than one \
             trace; write @scope store",
        ),
    ] {
        assert!(error(name).contains(message), "{}", error(name));
    }
}

/// A user's view that replaces one of the library may read any trace, and so may its readers.
#[test]
fn a_replaced_view_widens_the_scope_of_its_readers() {
    let names = library();
    let Some(Body::Query(text)) = names.view("_waiting_calls").map(|v| v.body.clone()) else {
        panic!("a query")
    };
    let silent: String =
        text.lines().filter(|l| !l.contains("@scope")).map(|l| format!("{l}\n")).collect();
    let folder = user(&[("timeline/_waiting_calls", &silent)]);
    let library = Library::load(&[folder.path().to_owned()]).expect("a library");
    let scope = |name: &str| library.view(name).expect("a view").scope();
    for name in ["_waiting_calls", "_device_syncs", "device_syncs", "rule_cpu_gpu_sync"] {
        assert_eq!(scope(name), Scope::Store, "{name}");
    }
    assert_eq!(scope("kernel_classes"), Scope::Trace);
    let Body::Query(rules) = &library.view(RULES_OF_A_TRACE).expect("a view").body else {
        panic!("a query")
    };
    assert!(rules.contains("FROM rule_memcpy") && !rules.contains("FROM rule_cpu_gpu_sync"));
    rows_of(&session(&folder), "SELECT * FROM findings").expect("rows");
    // With its scope, nothing changes.
    let folder = user(&[("timeline/_waiting_calls", &text)]);
    let library = Library::load(&[folder.path().to_owned()]).expect("a library");
    assert_eq!(library.view("device_syncs").map(View::scope), Some(Scope::Trace));
}
