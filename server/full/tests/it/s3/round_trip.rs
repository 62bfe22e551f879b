//! Commands and views give the same answers for a store in a folder and for its copy on object
//! storage.

use std::path::Path;

use serde_json::Value;

use super::{call, done, large_trace, text};
use crate::support::moto::bucket;
use crate::support::{Program, fixture, tools};

const RANKS: [&str; 2] = ["synthetic_gpu_rank0.json.gz", "synthetic_gpu_rank1.json.gz"];

fn inputs() -> Vec<String> {
    RANKS.iter().map(|name| text(&fixture(name)).to_owned()).collect()
}

/// The lines of an answer, in order.
fn sorted(answer: &str) -> Vec<String> {
    let mut lines: Vec<String> = answer.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Whether two values are equal but for the last digits of numbers, which depend on the order in
/// which they were added.
fn are_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => {
            let (x, y) = (x.as_f64().unwrap_or_default(), y.as_f64().unwrap_or_default());
            (x - y).abs() <= 1e-12 * x.abs().max(y.abs())
        }
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len()
                && x.iter().all(|(k, v)| y.get(k).is_some_and(|other| are_equal(v, other)))
        }
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(v, other)| are_equal(v, other))
        }
        _ => a == b,
    }
}

#[test]
fn every_command_takes_a_url() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (at, url) = (folder.path(), bucket.url("job/run"));
    let inputs = inputs();
    let ids = done(at, &bucket, &["ingest", "-q", &inputs[0], &inputs[1], "-o", &url]);
    assert_eq!(ids.lines().count(), 2, "{ids}");
    let again = call(at, &bucket, &["ingest", &inputs[0], "-o", &url]);
    assert!(again.stderr.contains("already"), "{}", again.stderr);
    let local = at.join("run");
    done(at, &bucket, &["copy", &url, text(&local)]);
    for arguments in [
        &["list", "STORE"][..],
        &["query", "STORE", "-c", "SELECT count(*) FROM kernels"],
        &["STORE", "-c", "SELECT 1"],
        &["report", "STORE", "--format", "markdown"],
        &["check", "STORE"],
        &["folded", "STORE", "--trace", "synthetic_gpu_rank0"],
        &["compare", "STORE", "STORE", "--by", "step"],
    ] {
        let answer = |store: &str| {
            let arguments: Vec<&str> =
                arguments.iter().map(|text| if *text == "STORE" { store } else { text }).collect();
            let finished = call(at, &bucket, &arguments);
            (finished.code, finished.stdout.replace(store, "STORE"), finished.stderr)
        };
        let (here, there) = (answer(text(&local)), answer(&url));
        assert_eq!((here.0, &here.1), (there.0, &there.1), "{arguments:?}: {}", there.2);
        // Only a comparison and a check may find something.
        let may_find = ["compare", "check"].contains(&arguments[0]);
        assert!(here.0 == Some(0) || (may_find && here.0 == Some(1)), "{arguments:?}: {here:?}");
    }
    assert!(done(at, &bucket, &["doctor", &url]).contains("sound; 2 traces"));
    let other = bucket.url("job/other");
    done(at, &bucket, &["copy", &url, &other, "--trace", "synthetic_gpu_rank0"]);
    let compared = done(at, &bucket, &["compare", &url, &other, "--by", "step"]);
    assert!(compared.contains("2 traces") && compared.contains("1 trace,"), "{compared}");
    done(at, &bucket, &["remove", &url, "synthetic_gpu_rank1"]);
    let listed = done(at, &bucket, &["list", &url]);
    assert!(listed.contains("rank0") && !listed.contains("rank1"), "{listed}");
    let wrong = call(at, &bucket, &["remove", &url, "nothing"]).failure(2);
    assert!(wrong.contains("there is no trace \"nothing\""), "{wrong}");
}

/// The names of all documented tables, views and rules.
fn views(at: &Path) -> Vec<String> {
    let docs = Program::new(at).args(["docs", "--format", "json"]).run().success();
    let docs: Value = serde_json::from_str(&docs).expect("JSON");
    let of = |kind: &str| docs[kind].as_array().expect("a list").iter();
    let all = of("tables").chain(of("views")).chain(of("rules"));
    all.map(|item| item["name"].as_str().expect("a name").to_owned()).collect()
}

/// The rows of every view of a store, a text for each view.
fn rows(program: Program, store: &str, views: &[String]) -> Vec<Vec<String>> {
    let script: Vec<String> = views
        .iter()
        .map(|view| format!("SELECT '-- {view}' AS mark; SELECT * FROM {view};"))
        .collect();
    let answer = program
        .args(["query", store, "--format", "jsonl", "-c", &script.join("\n")])
        .run_within(std::time::Duration::from_secs(900))
        .success();
    let mut all = Vec::new();
    for line in answer.lines() {
        match line.contains("\"mark\":\"-- ") {
            true => all.push(Vec::new()),
            false => all.last_mut().expect("a mark").push(line.to_owned()),
        }
    }
    all.iter_mut().for_each(|rows| rows.sort());
    all
}

#[test]
fn every_view_has_the_same_rows() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (at, url) = (folder.path(), bucket.url("run"));
    let local = at.join("store");
    let inputs = inputs();
    let local_name = text(&local);
    done(at, &bucket, &["ingest", "-q", &inputs[0], &inputs[1], "-o", local_name]);
    done(at, &bucket, &["copy", local_name, &url]);
    let views = views(at);
    assert!(views.len() > 140, "{}", views.len());
    let (here, there) = std::thread::scope(|scope| {
        let here = scope.spawn(|| rows(Program::new(at), local_name, &views));
        let there = rows(Program::new(at).envs(bucket.environment()), &url, &views);
        (here.join().expect("no panic"), there)
    });
    assert_eq!((here.len(), there.len()), (views.len(), views.len()));
    for ((view, here), there) in views.iter().zip(&here).zip(&there) {
        assert_eq!(here.len(), there.len(), "{view}");
        for (a, b) in here.iter().zip(there) {
            let parse = |line| serde_json::from_str::<Value>(line).expect("JSON");
            assert!(a == b || are_equal(&parse(a), &parse(b)), "{view}:\n{a}\n{b}");
        }
    }
}

#[test]
fn a_store_goes_to_a_bucket_and_back_unchanged() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (at, url) = (folder.path(), bucket.url("run"));
    let large = large_trace(at, "large.json");
    let (first, second) = (at.join("first"), at.join("second"));
    let (first, second) = (text(&first), text(&second));
    done(at, &bucket, &["ingest", "-q", text(&large), &inputs()[0], "-o", first]);
    let copied = done(at, &bucket, &["copy", first, &url]);
    assert_eq!(copied.matches("copied").count(), 2, "{copied}");
    let data = bucket.keys("run");
    let events = data.iter().filter(|key| key.ends_with("/events.parquet")).count();
    assert_eq!(events, 1 + usize::from(data.len() > 4), "{data:?}");
    assert_eq!(done(at, &bucket, &["copy", first, &url]).matches("was there").count(), 2);
    done(at, &bucket, &["copy", &url, second]);
    assert!(done(at, &bucket, &["doctor", second]).contains("sound; 2 traces"));
    let hashes = "SELECT trace_id, content_hash, path FROM traces";
    let of = |store| sorted(&done(at, &bucket, &["query", store, "-c", hashes]));
    assert_eq!(of(first), of(second));
    assert_eq!(of(first), of(&url));
    let texts = "SELECT count(*), sum(length(args)) FROM events";
    let of = |store| done(at, &bucket, &["query", store, "-c", texts]);
    assert_eq!(of(first), of(&url));
}

/// Reads the kernels of a store on S3, and prints the sum of their durations.
const PYARROW: &str = r#"
import os, sys
import pyarrow.dataset as ds
from pyarrow import fs
host = os.environ["AWS_ENDPOINT"].removeprefix("http://")
s3 = fs.S3FileSystem(access_key="key", secret_key="secret", endpoint_override=host, scheme="http")
found = s3.get_file_info(fs.FileSelector(sys.argv[1], recursive=True))
files = [file.path for file in found if file.path.endswith("/kernels.parquet")]
print(len(files), sum(ds.dataset(files, filesystem=s3).to_table()["dur_ns"].to_pylist()))
"#;

#[test]
fn separate_tables_are_objects_that_other_programs_read() {
    let Some(bucket) = bucket() else { return };
    let Some(python) = tools::server_python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (at, url) = (folder.path(), bucket.url("run"));
    let (local, inputs) = (at.join("store"), inputs());
    let local = text(&local);
    done(at, &bucket, &["ingest", "-q", &inputs[0], &inputs[1], "-o", local]);
    done(at, &bucket, &["copy", local, &url, "--separate"]);
    let tables = std::fs::read_dir(Path::new(local))
        .expect("a store")
        .flatten()
        .filter_map(|entry| std::fs::read_dir(entry.path()).ok())
        .flat_map(|files| files.flatten())
        .filter(|file| file.path().extension().is_some_and(|ending| ending == "parquet"))
        .count();
    let objects = bucket.keys("run").iter().filter(|key| key.ends_with(".parquet")).count();
    assert_eq!(objects, tables);
    assert!(done(at, &bucket, &["doctor", &url]).contains("sound; 2 traces"));
    let sum = "SELECT sum(dur_ns) AS sum FROM kernels";
    let ours = done(at, &bucket, &["query", &url, "-c", sum, "--format", "csv"]);
    let theirs = std::process::Command::new(python)
        .args(["-c", PYARROW, &format!("{}/run", bucket.name())])
        .envs(bucket.environment())
        .output()
        .expect("Python runs");
    let theirs = String::from_utf8_lossy(&theirs.stdout).into_owned();
    assert_eq!(theirs.trim(), format!("2 {}", ours.lines().last().unwrap_or_default()));
    let wrong = call(at, &bucket, &["copy", &url, text(&at.join("x")), "--separate"]).failure(2);
    assert!(wrong.contains("on object storage"), "{wrong}");
}

#[test]
fn a_file_url_is_a_store_of_the_same_layout() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let url = format!("file://{}", at.join("shared folder/run").display()).replace(' ', "%20");
    let missing = call(at, &bucket, &["list", &url]).failure(3);
    assert!(missing.contains("no such store"), "{missing}");
    let inputs = inputs();
    done(at, &bucket, &["ingest", "-q", &inputs[0], "-o", &url]);
    done(at, &bucket, &["ingest", "-q", &inputs[0], "-o", &url, "--replace"]);
    assert!(at.join("shared folder/run/manifests").is_dir());
    let counted = done(at, &bucket, &["query", &url, "-c", "SELECT count(*) FROM events"]);
    assert!(counted.contains("3518"), "{counted}");
    assert!(done(at, &bucket, &["doctor", &url]).contains("sound; 1 trace,"));
    let plain = at.join("shared folder/run");
    let refused = call(at, &bucket, &["copy", text(&plain), &bucket.url("x")]);
    assert_ne!(refused.code, Some(0), "its layout is not that of a store in a folder");
    done(at, &bucket, &["remove", &url, "synthetic_gpu_rank0"]);
    let empty = done(at, &bucket, &["query", &url, "-c", "SELECT count(*) FROM events"]);
    assert!(empty.contains("0 "), "{empty}");
}
