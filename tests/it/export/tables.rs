//! The `export` command: tables and views as files, compression, errors.

use std::io::Read;
use std::path::Path;

use tracesql_ingest::schema::TABLES;

use crate::support::{TestStore, fixture, texts, tracesql};

fn store() -> (TestStore, String) {
    let store = TestStore::new();
    for name in ["synthetic_gpu_rank0.json.gz", "synthetic_gpu_rank1.json.gz"] {
        store.ingest(&fixture(name)).expect("it is read");
    }
    let path = store.store.root().display().to_string();
    (store, path)
}

fn run(args: &[&str]) -> (String, String) {
    let output = tracesql(args);
    assert!(output.status.success(), "{args:?}: {}", texts(&output).1);
    texts(&output)
}

fn refused(args: &[&str], code: i32, text: &str) {
    let output = tracesql(args);
    let (_, error) = texts(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {error}");
    assert!(error.contains(text), "{args:?}: {error}");
}

#[test]
fn all_tables_are_written_into_a_folder() {
    let (store, path) = store();
    let folder = store.folder.path().join("out");
    for format in ["parquet", "arrow", "csv", "tsv", "ndjson"] {
        let to = folder.join(format);
        run(&["export", &path, "--format", format, "-o", &to.display().to_string()]);
        let mut names: Vec<String> = std::fs::read_dir(&to)
            .expect("a folder")
            .flatten()
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        let mut want: Vec<String> = TABLES.iter().map(|t| format!("{}.{format}", t.name)).collect();
        want.sort();
        assert_eq!(names, want);
    }
    let lines = std::fs::read_to_string(folder.join("ndjson/kernels.ndjson"))
        .expect("a file")
        .lines()
        .count() as i64;
    assert_eq!(lines, store.ints("SELECT count(*) FROM kernels")[0]);
    let csv = std::fs::read_to_string(folder.join("csv/steps.csv")).expect("a file");
    assert!(
        csv.starts_with("trace_id,step,name,event_id,track_id,start_ns,end_ns,dur_ns\n"),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 9);
}

#[test]
fn views_queries_and_selections_are_exported() {
    let (store, path) = store();
    let to = |name: &str| store.folder.path().join(name).display().to_string();
    run(&["export", &path, "--view", "operators", "--rank", "1", "-o", &to("operators.csv")]);
    let csv = std::fs::read_to_string(to("operators.csv")).expect("a file");
    let want = store.ints("SELECT count(*) FROM operators WHERE rank = 1")[0];
    assert_eq!(csv.lines().count() as i64, want + 1);
    run(&[
        "export",
        &path,
        "--format",
        "csv",
        "--view",
        "operators",
        "--view",
        "steps",
        "-o",
        &to("folder"),
    ]);
    assert!(
        Path::new(&to("folder/operators.csv")).is_file()
            && Path::new(&to("folder/steps.csv")).is_file()
    );
    let (out, _) = run(&[
        "export",
        &path,
        "--format",
        "ndjson",
        "-c",
        "SELECT * FROM steps -- all",
        "--step",
        "11..12",
        "--where",
        "step > 11",
        "-o",
        "-",
    ]);
    assert_eq!(out.lines().count(), 2, "{out}");
    assert!(out.lines().all(|l| l.contains("\"step\":12")));
    let (out, _) = run(&[
        "export",
        &path,
        "--format",
        "tsv",
        "--view",
        "steps",
        "--trace",
        "synthetic_gpu_rank0",
        "-o",
        "-",
    ]);
    assert_eq!(out.lines().count(), 5);
}

#[test]
fn stacks_are_those_of_their_commands() {
    let (store, path) = store();
    let to = |name: &str| store.folder.path().join(name).display().to_string();
    let (folded, _) = run(&["folded", &path, "--step", "11", "--rank", "0"]);
    run(&["export", &path, "--step", "11", "--rank", "0", "-o", &to("a.folded")]);
    assert_eq!(std::fs::read_to_string(to("a.folded")).expect("a file"), folded);
    run(&["pprof", &path, "-o", &to("a.pb.gz")]);
    run(&["export", &path, "-o", &to("b.pb.gz")]);
    assert_eq!(
        std::fs::read(to("a.pb.gz")).expect("a file"),
        std::fs::read(to("b.pb.gz")).expect("a file")
    );
}

#[test]
fn a_packed_trace_holds_the_same() {
    let (store, path) = store();
    let to = |name: &str| store.folder.path().join(name).display().to_string();
    run(&["export", &path, "--trace", "synthetic_gpu_rank1", "-o", &to("a.json")]);
    run(&[
        "export",
        &path,
        "--trace",
        "synthetic_gpu_rank1",
        "-o",
        &to("a.json.gz"),
        "--memory-limit",
        "64MB",
    ]);
    let (out, _) =
        run(&["export", &path, "--trace", "synthetic_gpu_rank1", "--format", "chrome", "-o", "-"]);
    let plain = std::fs::read_to_string(to("a.json")).expect("a file");
    let mut packed = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(to("a.json.gz")).expect("a file"))
        .read_to_string(&mut packed)
        .expect("one whole member");
    assert!(plain == packed && plain == out);
    assert!(!Path::new(&to("a.json.partial")).exists());
}

#[test]
fn what_cannot_be_exported_is_reported() {
    let (store, path) = store();
    let to = |name: &str| store.folder.path().join(name).display().to_string();
    refused(&["export", &path, "-o", &to("folder")], 2, "--format");
    refused(&["export", &path, "--trace", "nobody", "-o", &to("x.json")], 2, "synthetic_gpu_rank0");
    refused(&["export", &path, "--trace", "synthetic", "-o", &to("x.json")], 2, "2 traces");
    refused(&["export", &path, "--rank", "7", "-o", &to("x.json")], 2, "no trace has rank 7");
    refused(
        &["export", &path, "--view", "nothing", "-o", &to("x.csv")],
        2,
        "no table or view nothing",
    );
    refused(&["export", &path, "--view", "../escape", "-o", &to("x.csv")], 2, "not the name of");
    refused(&["export", &path, "--format", "csv", "-o", "-"], 2, "folder");
    refused(
        &["export", &path, "--format", "csv", "--step", "3", "-o", &to("f")],
        2,
        "no column step",
    );
    refused(&["export", &path, "--view", "steps", "-o", &to("x.json")], 2, "--view is for");
    refused(&["export", &path, "--counters", "-o", &to("x.csv")], 2, "--format chrome");
    refused(&["export", &path, "--step", "5..3", "-o", &to("x.json")], 2, "comes before");
    refused(&["export", &path, "--where", "no_column > 1", "-o", &to("x.json")], 4, "no_column");
    refused(
        &["export", &path, "--where", "true); DROP TABLE events; --", "-o", &to("x.json")],
        4,
        "",
    );
    refused(&["export", &path, "-c", "SELECT 1 AS one", "-o", &to("x.json")], 4, "trace_id");
    refused(
        &["export", &path, "-c", "CREATE VIEW v AS SELECT 1", "-o", &to("x.csv")],
        2,
        "only the rows of a query",
    );
    refused(&["export", &path, "-o", "/nowhere/x.json"], 4, "/nowhere/x.json");
    assert!(
        !Path::new(&to("x.json")).exists() && !Path::new(&to("x.json.partial")).exists(),
        "nothing is left of what failed"
    );
    assert!(
        !Path::new(&to("f")).exists() || std::fs::read_dir(to("f")).expect("a folder").count() == 0
    );
}

#[test]
fn a_query_keeps_its_order() {
    let (_store, path) = store();
    for query in [
        "SELECT step FROM steps WHERE trace_id LIKE '%rank0%' ORDER BY step DESC",
        "SELECT unnest(make_array(1, 2, 3, 4)) AS step ORDER BY 1 DESC;",
    ] {
        let (csv, _) = run(&["-q", "export", &path, "--format", "csv", "-c", query, "-o", "-"]);
        let steps: Vec<i64> = csv.lines().skip(1).map(|l| l.parse().expect("a step")).collect();
        assert!(steps.len() == 4 && steps.is_sorted_by(|a, b| a > b), "{csv}");
    }
}

#[test]
fn events_are_those_that_the_query_names() {
    let (store, path) = store();
    let to = store.folder.path().join("x.json").display().to_string();
    let picks = "FROM events WHERE name = 'aten::mm' AND trace_id LIKE '%rank0%'";
    run(&["export", &path, "-c", &format!("SELECT trace_id, event_id {picks}"), "-o", &to]);
    let count = store.ints(&format!("SELECT count(*) {picks}"))[0];
    let text = std::fs::read_to_string(&to).expect("a file");
    assert_eq!(text.matches("\"name\":\"aten::mm\"").count() as i64, count);
    // IDs alone could belong to any trace.
    refused(
        &["export", &path, "-c", &format!("SELECT event_id {picks}"), "-o", &to],
        4,
        "trace_id",
    );
}
