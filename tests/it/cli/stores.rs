//! Ingesting into a store, listing and removing.

use std::os::unix::fs::MetadataExt;

use super::Place;
use crate::support::archives::gzip;
use crate::support::texts;

fn event(name: &str) -> String {
    format!(r#"{{"traceEvents":[{{"ph":"i","name":"{name}","ts":1}}]}}"#)
}

/// The inode of a trace's folder. It changes whenever the folder is written again.
fn inode(place: &Place, trace: &str) -> u64 {
    place.path("s").join(trace).metadata().expect("the trace").ino()
}

#[test]
fn a_store_is_a_folder_per_trace_with_a_file_per_table() {
    let place = Place::empty();
    place.write("a.json", event("a"));
    let name = place.ok(&["ingest", "a.json", "-o", "s"]).trim().to_owned();
    let mut files: Vec<String> = std::fs::read_dir(place.path("s").join(&name))
        .expect("the trace")
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    let mut wanted: Vec<String> =
        tracesql_ingest::schema::TABLES.iter().map(|t| format!("{}.parquet", t.name)).collect();
    wanted.push("manifest.json".to_owned());
    wanted.sort();
    assert_eq!(files, wanted);
    let hidden: Vec<_> = std::fs::read_dir(place.path("s"))
        .expect("the store")
        .flatten()
        .map(|e| e.file_name())
        .filter(|n| n.to_string_lossy().starts_with(".tmp"))
        .collect();
    assert!(hidden.is_empty(), "{hidden:?}");
}

#[test]
fn the_manifest_tells_rows_sizes_and_hashes() {
    let place = Place::empty();
    place.write("a.json", event("a"));
    let name = place.ok(&["ingest", "a.json", "-o", "s"]).trim().to_owned();
    let folder = place.path("s").join(&name);
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("manifest.json")).expect("a manifest"))
            .expect("JSON");
    assert_eq!(manifest["trace_id"], name.as_str());
    assert_eq!(manifest["path"], "a.json");
    assert_eq!(manifest["input_bytes"], event("a").len());
    assert_eq!(manifest["tables"]["events"]["rows"], 1);
    for (table, facts) in manifest["tables"].as_object().expect("tables") {
        let size = folder.join(format!("{table}.parquet")).metadata().expect("a file").len();
        assert_eq!(facts["bytes"], size, "{table}");
        assert_eq!(facts["blake3"].as_str().map(str::len), Some(64), "{table}");
    }
}

#[test]
fn the_same_bytes_are_not_read_again() {
    let place = Place::empty();
    place.write("a.json", event("a"));
    place.write("copy.json", event("a"));
    let name = place.ok(&["ingest", "a.json", "-o", "s"]);
    let before = inode(&place, name.trim());
    for file in ["a.json", "copy.json"] {
        let output = place.run(&["ingest", file, "-o", "s"]);
        assert_eq!(texts(&output).0, name, "{file}: it has the name that it has");
        assert!(texts(&output).1.contains("holds these bytes already"), "{}", texts(&output).1);
    }
    assert_eq!(inode(&place, name.trim()), before);
    assert_eq!(place.csv("SELECT path FROM traces"), "path\na.json\n");
}

#[test]
fn replace_reads_them_again() {
    let place = Place::empty();
    place.write("a.json", event("a"));
    let name = place.ok(&["ingest", "a.json", "-o", "s"]);
    let before = inode(&place, name.trim());
    assert_eq!(place.ok(&["ingest", "--replace", "a.json", "-o", "s"]), name);
    assert_ne!(inode(&place, name.trim()), before);
    assert_eq!(place.csv("SELECT count(*) AS n FROM events"), "n\n1\n");
}

#[test]
fn changed_bytes_are_another_trace() {
    let place = Place::empty();
    for name in ["a", "b"] {
        place.write("t.json", event(name));
        place.ok(&["ingest", "t.json", "-o", "s"]);
    }
    assert_eq!(place.csv("SELECT name FROM events ORDER BY 1"), "name\na\nb\n");
}

#[test]
fn many_inputs_print_their_names_in_order() {
    let place = Place::empty();
    for name in ["b", "a", "c"] {
        place.write(&format!("{name}.json"), event(name));
    }
    let out = place.ok(&["ingest", "c.json", "a.json", "b.json", "-o", "s"]);
    let slugs: Vec<&str> = out.lines().map(|l| l.split('-').next().unwrap_or_default()).collect();
    assert_eq!(slugs, ["c", "a", "b"]);
}

#[test]
fn one_bad_input_of_several_leaves_the_others() {
    let place = Place::empty();
    place.write("a.json", event("a"));
    place.write("bad.json", "<html>");
    place.write("c.json", event("c"));
    let output = place.run(&["ingest", "a.json", "bad.json", "c.json", "-o", "s"]);
    let (stdout, stderr) = texts(&output);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(stdout.lines().count(), 2);
    assert!(
        stderr.contains("error: bad.json: this is an HTML page")
            && stderr.contains("error: 1 of 3 inputs could not be read"),
        "{stderr}"
    );
    assert_eq!(place.csv("SELECT name FROM events ORDER BY 1"), "name\na\nc\n");
}

#[test]
fn one_missing_input_of_several_leaves_the_others() {
    let place = Place::empty();
    place.write("a.json", event("a"));
    let output = place.run(&["ingest", "missing.json", "a.json", "-o", "s"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(texts(&output).1.contains("missing.json"));
    assert_eq!(place.csv("SELECT name FROM events"), "name\na\n");
}

#[test]
fn strict_refuses_what_is_not_clean() {
    let place = Place::empty();
    place.write("clean.json", event("a"));
    place.write("odd.json", r#"{"traceEvents":[{"ph":"i","name":"b","ts":1}, 7]}"#);
    place.write("rounded.json", r#"{"traceEvents":[{"ph":"i","name":"c","ts":0.0005}]}"#);
    let error = place.fails(3, &["ingest", "--strict", "odd.json", "-o", "s"]);
    assert!(error.contains("odd.json: not clean (1 × not_an_object)"), "{error}");
    place.ok(&["ingest", "--strict", "clean.json", "rounded.json", "-o", "s"]);
    assert_eq!(place.csv("SELECT name FROM events ORDER BY 1"), "name\na\nc\n");
}

#[test]
fn list_shows_what_the_store_holds() {
    let place = Place::empty();
    place.write("a.json", event("a"));
    place.write("b.json.gz", gzip(event("b").as_bytes()));
    let names = place.ok(&["ingest", "a.json", "b.json.gz", "-o", "s"]);
    let list = place.ok(&["list", "s", "--format", "csv"]);
    let rows: Vec<Vec<&str>> = list.lines().map(|l| l.split(',').collect()).collect();
    assert_eq!(rows[0], ["trace_id", "path", "events", "kernels", "input_bytes", "store_bytes"]);
    for (row, (name, path)) in rows[1..].iter().zip(names.lines().zip(["a.json", "b.json.gz"])) {
        let size = place.path(path).metadata().expect("a file").len().to_string();
        assert_eq!(row[..5], [name, path, "1", "0", &size]);
    }
    assert_eq!(rows.len(), 3);
}

#[test]
fn the_short_list_answers_what_people_ask() {
    let place = Place::empty();
    for rank in 0..2 {
        let name = format!("synthetic_gpu_rank{rank}.json.gz");
        std::fs::copy(crate::support::fixture(&name), place.path(&name)).expect("a copy");
    }
    place.ok(&["ingest", "-q", "synthetic_gpu_rank0.json.gz", "-o", "s"]);
    place.ok(&["ingest", "-q", "synthetic_gpu_rank1.json.gz", "-o", "s"]);
    let list = place.ok(&["list", "s"]);
    for text in ["trace", "rank", "world_size", "duration", "steps", "events", "recorded", " ms"] {
        assert!(list.contains(text), "{text}: {list}");
    }
    assert!(list.contains(" synthetic_gpu_rank1 "), "the shortest unique name: {list}");
    assert!(list.lines().all(|line| line.chars().count() <= 100), "{list}");
    let full = place.ok(&["list", "s", "-v"]);
    for text in ["synthetic_gpu_rank1-", "synthetic_gpu_rank1.json.gz", "store_bytes"] {
        assert!(full.contains(text), "{text}: {full}");
    }
}

#[test]
fn traces_with_the_same_short_name_are_listed_by_their_ids() {
    let place = Place::empty();
    for folder in ["x", "y"] {
        std::fs::create_dir(place.path(folder)).expect("a folder");
        place.write(&format!("{folder}/t.json"), event(folder));
    }
    let ids = place.ok(&["ingest", "-q", "x/t.json", "y/t.json", "-o", "s"]);
    let list = place.ok(&["list", "s"]);
    assert!(ids.lines().count() == 2 && ids.lines().all(|id| list.contains(id)), "{list}");
}

#[test]
fn remove_takes_a_trace_away() {
    let place = Place::empty();
    place.write("a.json", event("a"));
    place.write("b.json", event("b"));
    let names = place.ok(&["ingest", "a.json", "b.json", "-o", "s"]);
    let (a, b) = names.trim().split_once('\n').expect("two names");
    place.ok(&["remove", "s", a]);
    assert_eq!(place.csv("SELECT name FROM events"), "name\nb\n");
    assert!(!place.path("s").join(a).exists());
    let error = place.fails(2, &["remove", "s", a]);
    assert!(error.contains(b), "it says what there is: {error}");
    for name in ["", ".", "..", "../s", ".lock"] {
        place.fails(2, &["remove", "s", name]);
    }
    place.ok(&["remove", "s", b]);
    assert_eq!(place.csv("SELECT count(*) AS n FROM events"), "n\n0\n");
    assert!(place.path("a.json").exists(), "inputs stay");
}

#[test]
fn an_empty_store_answers_queries() {
    let place = Place::empty();
    place.write("bad.json", "<html>");
    place.fails(3, &["ingest", "bad.json", "-o", "s"]);
    assert_eq!(
        place
            .csv("SELECT count(*) AS n, sum(dur_ns) AS d FROM events JOIN traces USING (trace_id)"),
        "n,d\n0,\n"
    );
    assert_eq!(place.ok(&["list", "s", "--format", "csv"]).lines().count(), 1);
}

#[test]
fn a_damaged_store_says_so() {
    let place = Place::new();
    let trace = place
        .ok(&["list", "s", "--format", "csv"])
        .lines()
        .nth(1)
        .and_then(|l| l.split(',').next())
        .expect("a trace")
        .to_owned();
    let events = place.path("s").join(&trace).join("events.parquet");
    std::fs::write(&events, b"PAR1").expect("damage");
    place.fails(4, &["query", "s", "-c", "SELECT count(*) FROM events"]);
    std::fs::write(place.path("s").join(&trace).join("manifest.json"), b"{").expect("damage");
    assert!(place.fails(3, &["query", "s", "-c", "SELECT 1"]).contains("manifest is damaged"));
    std::fs::write(place.path("s/tracesql-store.json"), br#"{"schema_version":999}"#)
        .expect("damage");
    assert!(place.fails(3, &["query", "s", "-c", "SELECT 1"]).contains("schema version 999"));
}

#[test]
fn a_trace_with_other_steps_is_read_again() {
    let place = Place::empty();
    let range = |name: &str, ts: u32| {
        format!(r#"{{"ph":"X","name":"{name}","pid":1,"tid":1,"ts":{ts},"dur":5}}"#)
    };
    let list = [range("iteration 4", 0), range("batch 5", 10)].join(",");
    place.write("a.json", format!(r#"{{"traceEvents":[{list}]}}"#));
    let steps = |more: &[&str]| {
        let ingest = [&["ingest", "a.json", "-o", "s"], more].concat();
        let trace = place.ok(&ingest).trim().to_owned();
        let found = place.ok(&["s", "--format", "csv", "-c", "SELECT step, name FROM steps"]);
        (trace, found)
    };
    let (trace, found) = steps(&[]);
    assert_eq!(found, "step,name\n");
    assert_eq!(
        steps(&["--steps-from", r"iteration \d+"]),
        (trace.clone(), "step,name\n4,iteration 4\n".to_owned())
    );
    assert_eq!(
        steps(&["--steps-from", "batch .*"]),
        (trace.clone(), "step,name\n5,batch 5\n".to_owned())
    );
    // Without the option, the trace stays as it is.
    let before = inode(&place, &trace);
    assert_eq!(steps(&[]), (trace.clone(), "step,name\n5,batch 5\n".to_owned()));
    assert_eq!(steps(&["--steps-from", "batch .*"]).0, trace);
    assert_eq!(inode(&place, &trace), before);
    let error = place.fails(2, &["ingest", "a.json", "-o", "s", "--steps-from", "("]);
    assert!(error.contains("not a regular expression"), "{error}");
}
