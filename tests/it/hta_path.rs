//! The graph and critical path of HTA: on the fixtures against an independent restatement
//! (`tests/expected/hta_critical_path.tsv`), on public traces against HTA's own results.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{TestStore, fixture, needs, root};

/// Figures of a path by name; `edges_by_type` and the like have one entry for each key.
type Figures = BTreeMap<String, i64>;

fn figures(store: &TestStore, annotation: &str, instance: i64, events: &str) -> Figures {
    let text = annotation.replace('\'', "''");
    let rows = store.rows(&format!(
        "SELECT type, bound_by, on_path, count(*), sum(weight_us), max(graph_events),
            max(graph_nodes)
         FROM hta_graph(({events}), by => trace_id, annotation => '{text}', instance => {instance})
         GROUP BY type, bound_by, on_path"
    ));
    let mut found = Figures::new();
    let mut add = |key: String, value: i64| *found.entry(key).or_default() += value;
    for row in &rows {
        let number = |i: usize| row[i].parse::<i64>().expect("a number");
        add(format!("edges_by_type {}", row[0]), number(3));
        add(format!("weight_by_type {}", row[0]), number(4));
        add("edges".into(), number(3));
        if row[2] == "true" {
            add(format!("bound_by_us {}", row[1]), number(4));
            add("path_weight".into(), number(4));
        }
    }
    if let Some(row) = rows.first() {
        add("clipped_events".into(), row[5].parse().expect("a number"));
        add("nodes".into(), row[6].parse().expect("a number"));
    }
    found.retain(|key, value| *value != 0 || !key.contains(' '));
    found
}

/// Adds up the two kinds of delays before kernels. Which of them an edge is depends on the order of
/// events within a microsecond, which HTA leaves open.
fn merged(figures: &Figures) -> Figures {
    let mut merged = Figures::new();
    for (key, value) in figures.iter().filter(|(key, _)| !key.starts_with("weight_by_type kernel"))
    {
        let key =
            key.replace("kernel_kernel_delay", "delay").replace("kernel_launch_delay", "delay");
        *merged.entry(key).or_default() += value;
    }
    merged
}

fn expected_of_fixtures() -> Vec<(String, String, i64, Figures)> {
    let path = root().join("tests/expected/hta_critical_path.tsv");
    let text = std::fs::read_to_string(path).expect("the expected figures");
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let names: Vec<&str> = lines.next().expect("a header").split('\t').collect();
    let case = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let mut figures = Figures::new();
        for (name, cell) in names.iter().zip(&cells).skip(3) {
            if let Ok(number) = cell.parse() {
                figures.insert((*name).into(), number);
            } else if *cell != "-" {
                for part in cell.split(", ") {
                    let (key, value) = part.split_once('=').expect("key=value");
                    figures.insert(format!("{name} {key}"), value.parse().expect("a number"));
                }
            }
        }
        let annotation = if cells[1] == "-" { "" } else { cells[1] };
        (cells[0].to_owned(), annotation.to_owned(), cells[2].parse().expect("a number"), figures)
    };
    lines.map(case).collect()
}

#[test]
fn paths_of_the_fixtures_equal_the_restatement() {
    let mut stores: BTreeMap<String, TestStore> = BTreeMap::new();
    let cases = expected_of_fixtures();
    assert!(cases.len() > 40, "only {} cases", cases.len());
    for (name, annotation, instance, want) in cases {
        let store =
            stores.entry(name.clone()).or_insert_with(|| TestStore::with(&fixture(&name)).0);
        let found = figures(store, &annotation, instance, "SELECT * FROM hta_events");
        assert_eq!(found, want, "{name}, window {annotation:?} {instance}");
    }
}

#[test]
fn the_settings_choose_the_window() {
    let (store, _) = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz"));
    let sum = "SELECT bound_by, bound_us, path_us, graph_events FROM hta_critical_path_summary \
        ORDER BY bound_us DESC, bound_by LIMIT 1";
    let whole = store.rows(sum);
    let wanted = figures(&store, "", 0, "SELECT * FROM hta_events");
    assert_eq!(whole[0][2], wanted["path_weight"].to_string());
    assert_eq!(whole[0][3], wanted["clipped_events"].to_string());
}

#[test]
fn an_annotation_that_no_event_has_gives_no_rows() {
    let (store, _) = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz"));
    assert_eq!(figures(&store, "no such mark", 0, "SELECT * FROM hta_events"), Figures::new());
}

/// The folder with HTA's results, if it is next to the corpus.
fn results() -> Option<PathBuf> {
    needs::in_corpus("../oracle/expected/hta-0.6.1")
}

/// The traces of the corpus with HTA's results, by the folder of the results and the rank.
const TRACES: &[(&str, i64, &str)] = &[
    ("amd_trace", 0, "HolisticTraceAnalysis/tests/data/amd_trace"),
    ("critical_path_alexnet", 0, "HolisticTraceAnalysis/tests/data/critical_path/alexnet"),
    (
        "critical_path_cuda_event_sync",
        0,
        "HolisticTraceAnalysis/tests/data/critical_path/cuda_event_sync",
    ),
    (
        "critical_path_cuda_event_sync_multi_stream",
        0,
        "HolisticTraceAnalysis/tests/data/critical_path/cuda_event_sync_multi_stream",
    ),
    (
        "critical_path_simple_add",
        0,
        "HolisticTraceAnalysis/tests/data/critical_path/end_to_end/simple_add/input",
    ),
    ("nccl_parser_config", 0, "HolisticTraceAnalysis/tests/data/nccl_parser_config"),
    ("ns_resolution_trace", 0, "HolisticTraceAnalysis/tests/data/ns_resolution_trace"),
    ("tl_b200_eager_trace", 0, "TraceLens/tests/traces/b200"),
    (
        "tl_h100_gaunernst_bert-small-uncased__1016001",
        0,
        "TraceLens/tests/traces/h100/gaunernst_bert-small-uncased__1016001.json.gz",
    ),
    (
        "tl_mi300_gaunernst_bert-small-uncased__1016001",
        0,
        "TraceLens/tests/traces/mi300/gaunernst_bert-small-uncased__1016001.json.gz",
    ),
    ("trace_compare", 1, "HolisticTraceAnalysis/tests/data/trace_compare/test"),
    ("trace_filter", 0, "HolisticTraceAnalysis/tests/data/timeline_analysis"),
    ("triton_example", 0, "HolisticTraceAnalysis/tests/data/triton_example"),
    ("dlrm8", 0, "param/dlrm_kineto/worker0_step_12.1694128201545.pt.trace.json.gz"),
    ("dlrm8", 1, "param/dlrm_kineto/worker1_step_12.1694128201556.pt.trace.json.gz"),
    ("dlrm8", 2, "param/dlrm_kineto/worker2_step_12.1694128201554.pt.trace.json.gz"),
    ("dlrm8", 3, "param/dlrm_kineto/worker3_step_12.1694128201557.pt.trace.json.gz"),
    ("dlrm8", 4, "param/dlrm_kineto/worker4_step_12.1694128201547.pt.trace.json.gz"),
    ("dlrm8", 5, "param/dlrm_kineto/worker5_step_12.1694128201549.pt.trace.json.gz"),
    ("dlrm8", 6, "param/dlrm_kineto/worker6_step_12.1694128201553.pt.trace.json.gz"),
    ("dlrm8", 7, "param/dlrm_kineto/worker7_step_12.1694128201553.pt.trace.json.gz"),
];

fn only_file(path: PathBuf) -> PathBuf {
    if path.is_file() {
        return path;
    }
    let mut files = std::fs::read_dir(&path).expect("a folder").flatten().map(|e| e.path());
    files.next().expect("a trace")
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("a file")).expect("JSON")
}

/// HTA's queue lengths as a relation, if its results include them. HTA sorts launches and starts of
/// one microsecond in an order that it leaves open.
fn events_with_queue(folder: &Path, rank: i64) -> Option<String> {
    let path = folder.join("queue_length_time_series.json");
    let rows = path.is_file().then(|| json(&path))?;
    let lengths: Vec<String> = rows["rows"]
        .as_array()?
        .iter()
        .filter(|row| row[0] == rank)
        .map(|row| format!("({}, {})", row[1], row[6]))
        .collect();
    (!lengths.is_empty()).then(|| {
        format!(
            "SELECT e.*, q.queue_length FROM hta_events e LEFT JOIN (VALUES {}) \
                AS q(id, queue_length) ON q.id = e.event_id",
            lengths.join(", ")
        )
    })
}

fn expected(result: &Value) -> Figures {
    let mut figures = Figures::new();
    for name in ["clipped_events", "nodes", "edges", "path_weight"] {
        figures.insert(name.into(), result[name].as_i64().expect("a number"));
    }
    for name in ["edges_by_type", "weight_by_type", "bound_by_us"] {
        for (key, value) in result[name].as_object().expect("an object") {
            let value = value.as_i64().expect("a number");
            figures.extend((value != 0).then(|| (format!("{name} {key}"), value)));
        }
    }
    figures
}

/// The results of HTA for a rank: the file, and the figures of each path here and there.
fn compared(
    store: &TestStore,
    rank: i64,
    folder: &Path,
    events: &str,
) -> Vec<(PathBuf, Figures, Figures)> {
    let prefix = format!("critical_path_r{rank}_");
    let files = std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path());
    let is_path =
        |path: &PathBuf| path.file_name().is_some_and(|f| f.to_string_lossy().starts_with(&prefix));
    files
        .filter(is_path)
        .map(|path| {
            let result = json(&path);
            let window = &result["window"];
            let annotation = window["annotation"].as_str().expect("text");
            let instance = window["instance"].as_i64().expect("a number");
            let found = figures(store, annotation, instance, events);
            (path, found, expected(&result))
        })
        .collect()
}

#[test]
fn paths_of_public_traces_equal_htas() {
    let (Some(corpus), Some(results)) = (needs::corpus(), results()) else { return };
    let (mut paths, mut exact) = (0, 0);
    for (name, rank, trace) in TRACES {
        let (store, _) = TestStore::with(&only_file(corpus.join("public").join(trace)));
        let folder = results.join(name);
        // The queue lengths of trace_compare number the events of another file.
        let queue = events_with_queue(&folder, *rank).filter(|_| *name != "trace_compare");
        let events = queue.as_deref().unwrap_or("SELECT * FROM hta_events");
        for (path, found, want) in compared(&store, *rank, &folder, events) {
            assert_eq!(merged(&found), merged(&want), "{}", path.display());
            if queue.is_some() {
                assert_eq!(found, want, "{}", path.display());
            }
            paths += 1;
            exact += usize::from(found == want);
        }
    }
    assert_eq!(paths, 39);
    assert!(exact >= 20, "only {exact} paths have the same delays before kernels");
}

#[test]
fn paths_of_a_generated_job_equal_htas() {
    let Some(script) = needs::in_corpus("../ranks/make_job.py") else { return };
    let Some(results) = needs::in_corpus("../ranks/expected/hta-0.6.1/job8_hta") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let made = std::process::Command::new("python3")
        .arg(script)
        .arg("--out")
        .arg(folder.path())
        .args("--hta --ranks 8 --tp 2 --pp 2 --steps 4 --seed 1 --moe --zero --flows".split(' '))
        .args("--nccl-args seq --slow 5:-1:1.2 --slow-load 2:4:6000 --pause 0:5:5000".split(' '))
        .stdout(std::process::Stdio::null())
        .status()
        .expect("python3 runs");
    assert!(made.success());
    let mut paths = 0;
    for rank in 0..8 {
        let trace = folder.path().join(format!("rank{rank}.pt.trace.json.gz"));
        let (store, _) = TestStore::with(&trace);
        for (path, found, want) in compared(&store, rank, &results, "SELECT * FROM hta_events") {
            assert_eq!(found, want, "{}", path.display());
            paths += 1;
        }
    }
    assert_eq!(paths, 24);
}
