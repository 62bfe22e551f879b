//! Reading an exported Chrome trace of one whole trace gives the same rows in every table. The same
//! holds for a perf.json.

use std::path::{Path, PathBuf};
use std::process::Command;

use tracesql::export::Selection;
use tracesql_ingest::schema::TABLES;

use super::{again, perf_again};
use crate::support::{TestStore, needs, root, rows_of, tracesql_in};

/// Columns with the position of an element in the file. The export does not contain skipped
/// elements, so positions after them change.
const POSITIONS: &[&str] = &[
    "event_id",
    "parent_id",
    "launch_id",
    "op_id",
    "src_event_id",
    "dst_event_id",
    "src_flow_event_id",
    "dst_flow_event_id",
];

/// Columns that describe the bytes of the input and not the content of the trace.
const OF_THE_INPUT: &[&str] = &[
    "trace_id", "path", "content_hash", "input_bytes", "text_bytes", "element_count",
    "skipped_count", "metadata",
];

/// Issues of the JSON text, which do not occur again because the export is clean JSON.
const OF_THE_TEXT: &str = "'malformed_event', 'not_an_object', 'no_phase', 'no_timestamp', \
    'timestamp_out_of_range', 'too_deep', 'event_too_large', \
    'truncated_input', 'damaged_compression', 'checksum_mismatch', 'trailing_data', \
    'repeated_event_list', 'missing_comma', 'extra_comma', \
    'name_type', 'time_rounded', 'invalid_utf8', 'bad_escape', 'lone_surrogate', \
    'control_character', 'non_json_value', 'duplicate_key', \
    'string_cut', 'args_cut', 'top_level_value', 'blob_no_start'";

/// The queries for which two stores of one trace must have the same result, in any order of rows.
fn queries() -> Vec<String> {
    let mut all = Vec::new();
    for table in TABLES.iter().filter(|t| t.name != "ingest_issues") {
        let (mut columns, mut joins) = (Vec::new(), String::new());
        for name in table.columns.iter().map(|c| c.name) {
            if name == "trace_id" || (table.name == "traces" && OF_THE_INPUT.contains(&name)) {
                continue;
            }
            if POSITIONS.contains(&name) {
                joins += &format!(" LEFT JOIN places p_{name} ON p_{name}.event_id = t.{name}");
                columns.push(format!("p_{name}.n AS {name}"));
            } else {
                columns.push(format!("t.\"{name}\""));
            }
        }
        all.push(format!(
            "WITH places AS (SELECT event_id, row_number() OVER (ORDER BY event_id) - 1 AS n \
                FROM events) SELECT {} FROM {} t{joins}",
            columns.join(", "),
            table.name
        ));
    }
    all.push(format!(
        "SELECT severity, code, count FROM ingest_issues WHERE code NOT IN ({OF_THE_TEXT})"
    ));
    all
}

/// The differences after a round trip.
fn differences(path: &Path) -> Vec<String> {
    let store = TestStore::new();
    if store.ingest(path).is_err() {
        return Vec::new();
    }
    let facts = store.rows("SELECT format, event_count, skipped_count FROM traces").remove(0);
    // Other formats are exported as Chrome JSON, which has no place for what is their own.
    if !["kineto", "chrome", "mllm_perf"].contains(&facts[0].as_str()) {
        return Vec::new();
    }
    let again = if facts[0] == "mllm_perf" { perf_again } else { again };
    let (other, exported, written) = again(&store, Selection::default());
    let (before, after) = (store.engine(), other.engine());
    let mut differences = Vec::new();
    if written.elements.to_string() != facts[1] || written.skipped.to_string() != facts[2] {
        differences.push(format!(
            "{} elements, {} skipped, not {facts:?}",
            written.elements, written.skipped
        ));
    }
    for sql in queries() {
        let rows = |engine| rows_of(engine, &sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        let (mut want, mut got) = (rows(&before), rows(&after));
        want.sort_unstable();
        got.sort_unstable();
        if want != got {
            let first = want.iter().zip(&got).find(|(a, b)| a != b);
            let text: String = format!("{first:?}").chars().take(1500).collect();
            let table = sql.split(" FROM ").last().unwrap_or_default();
            differences.push(format!("{table}: {} rows, {} after; {text}", want.len(), got.len()));
        }
    }
    let without_own = |store: &TestStore| {
        let mut value: serde_json::Value =
            serde_json::from_str(&store.value("SELECT metadata FROM traces")).expect("JSON");
        value.as_object_mut().map(|keys| keys.remove("tracesqlExport"));
        value
    };
    if without_own(&store) != without_own(&other) {
        differences.push("metadata".into());
    }
    if facts[2] == "0" {
        let (_, twice, _) = again(&other, Selection::default());
        if std::fs::read(&exported).expect("a file") != std::fs::read(twice).expect("a file") {
            differences.push("the export of the export has other bytes".into());
        }
    }
    differences
}

fn check(paths: &[PathBuf]) {
    let of = |path: &PathBuf| {
        differences(path)
            .into_iter()
            .map(|d| format!("{}: {d}", path.display()))
            .collect::<Vec<_>>()
    };
    let failures: Vec<String> = paths.iter().flat_map(of).collect();
    assert!(failures.is_empty(), "{} differences:\n{}", failures.len(), failures.join("\n"));
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()) {
        if path.is_dir() {
            files(&path, out);
        } else if path.to_string_lossy().contains(".json") {
            out.push(path);
        }
    }
    out.sort();
}

#[test]
fn fixtures_come_back_whole() {
    let mut paths = Vec::new();
    files(&root().join("fixtures"), &mut paths);
    assert!(paths.len() >= 10);
    check(&paths);
}

#[test]
fn public_and_made_traces_come_back_whole() {
    let Some(corpus) = needs::corpus() else { return };
    let mut paths = Vec::new();
    files(&corpus.join("public"), &mut paths);
    files(&corpus.join("made"), &mut paths);
    // A run over all traces takes many minutes.
    if std::env::var_os("TRACESQL_ALL_TRACES").is_none() {
        let before = paths.len();
        paths.retain(|p| std::fs::metadata(p).is_ok_and(|m| m.len() < 600_000));
        eprintln!(
            "{} traces of 600 kB and more are not tried; TRACESQL_ALL_TRACES=1 tries all",
            before - paths.len()
        );
    }
    check(&paths);
}

#[test]
fn random_traces_come_back_whole() {
    let number =
        std::env::var("TRACESQL_RANDOM_TRACES").ok().and_then(|n| n.parse().ok()).unwrap_or(24);
    let folder = tempfile::tempdir().expect("a folder");
    let made = Command::new("python3")
        .arg(root().join("tests/oracle/random_traces.py"))
        .arg(folder.path())
        .arg(number.to_string())
        .status();
    assert!(made.expect("python3 runs").success());
    check(&(0..number).map(|i| folder.path().join(format!("{i}.json"))).collect::<Vec<_>>());
}

#[test]
fn odd_forms_of_perf_json_come_back_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let memory = r#"{"uuid":1,"memory_usage":64,"device_type":"CPU","start_time":12,"end_time":0,"more":[1, {"a":null}]}"#;
    let op = r#"{"op_name":"a\u0022b\/","device_type":"CPU","start_time":13.125,"end_time":14,"op_name2":"é"}"#;
    let texts = [
        format!(
            r#"{{"init_time":10,"op_blobs":[{op}],"memory_blobs":[{memory}],"model":"m","n":1e3}}"#
        ),
        // Lists that occur twice, in sequence or interleaved, and lists that are missing or null.
        format!(
            r#"{{"memory_blobs":[{memory}],"op_blobs":[{op},{op}],"memory_blobs":[{memory}],"init_time":10}}"#
        ),
        format!(r#"{{"memory_blobs":[{memory}]}}"#),
        format!(
            r#"{{"memory_blobs":null,"op_blobs":[{op}],"deviceProperties":[{{"id":0,"name":"x"}}]}}"#
        ),
        r#"{"init_time":7,"memory_blobs":[],"op_blobs":[]}"#.to_owned(),
        // Unreadable elements are missing. Elements without an end or a size, or with an unusable
        // size, are kept.
        format!(
            r#"{{"memory_blobs":[7,{{"start_time":0}},{memory},{{"uuid":1,"memory_usage":-5,"start_time":"11","end_time":3}},{{"start_time":5}}],"op_blobs":[{{"start_time":6}}]}}"#
        ),
    ];
    let paths: Vec<PathBuf> =
        (0..texts.len()).map(|i| folder.path().join(format!("{i}.json"))).collect();
    for (path, text) in paths.iter().zip(&texts) {
        std::fs::write(path, text).expect("a perf.json");
        assert_eq!(
            TestStore::with(path).0.value("SELECT format FROM traces"),
            "mllm_perf",
            "{text}"
        );
    }
    check(&paths);
}

#[test]
fn a_perf_json_is_made_of_one_only() {
    let (store, _) = TestStore::with(&root().join("fixtures/chrome_mixed.json"));
    let path = store.folder.path().join("out.json");
    let in_store = store.folder.path().join("store");
    let (folder, to) = (in_store.to_str().expect("a path"), path.to_str().expect("a path"));
    let args = ["export", folder, "--format", "perf-json", "-o", to];
    let output = tracesql_in(root(), &args, &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("is no perf.json but of format chrome") && !path.exists(), "{said}");
    store.ingest(&root().join("fixtures/perf.json")).expect("a perf.json");
    let output =
        tracesql_in(root(), &[&args[..], &["--trace", "perf", "--step", "3"]].concat(), &[]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&tracesql_in(root(), &args, &[]).stderr).into_owned();
    assert!(said.contains("a perf.json holds one trace; choose one with --trace: "), "{said}");
    let output = tracesql_in(
        root(),
        &[&args[..], &["--trace", "perf", "--where", "cat = 'op_blob'"]].concat(),
        &[],
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&path).expect("a file")).expect("JSON");
    let source: serde_json::Value = serde_json::from_str(
        &std::fs::read_to_string(root().join("fixtures/perf.json")).expect("a file"),
    )
    .expect("JSON");
    assert_eq!(
        (&json["op_blobs"], &json["memory_blobs"]),
        (&source["op_blobs"], &serde_json::json!([]))
    );
    assert_eq!(json["tracesqlExport"]["selection"], "cat = 'op_blob'");
}

#[test]
fn odd_forms_come_back_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("odd.json");
    let elements = [
        // IDs that differ only in their quotes, white space or escapes.
        r#"{"ph":"b","name":"n","cat":"c","id":7,"pid":1,"tid":1,"ts":1}"#,
        r#"{"ph":"b","name":"q","cat":"c","id":"7","pid":1,"tid":1,"ts":2}"#,
        r#"{"ph":"e","name":"n","cat":"c","id":7,"pid":1,"tid":1,"ts":3}"#,
        r#"{"ph":"e","name":"q","cat":"c","id":"7","pid":1,"tid":1,"ts":4}"#,
        r#"{"ph":"b","name":"l","cat":"c","id2": { "local" : "0x1" },"pid":1,"tid":1,"ts":5}"#,
        r#"{"ph":"e","name":"l","cat":"c","id2":{"local":"0x\u0031"},"pid":1,"tid":1,"ts":6}"#,
        r#"{"ph":"s","name":"f","cat":"c","id":"8","pid":1,"tid":1,"ts":1}"#,
        r#"{"ph":"s","name":"f","cat":"c","id":8,"pid":1,"tid":1,"ts":2}"#,
        r#"{"ph":"f","name":"f","cat":"c","id":"8","pid":1,"tid":2,"ts":3}"#,
        r#"{"ph":"f","name":"f","cat":"c","id":8,"pid":1,"tid":2,"ts":4}"#,
        r#"{"ph":"s","name":"t","cat":"c","id":"a\"b","pid":1,"tid":1,"ts":2}"#,
        r#"{"ph":"f","name":"t","cat":"c","id":"a\u0022b","pid":1,"tid":1,"ts":3}"#,
        r#"{"ph":"b","name":"v","cat":"c","id":[1, 2],"pid":1,"tid":1,"ts":5}"#,
        r#"{"ph":"b","name":"v","cat":"c","id":"[1,2]","pid":1,"tid":1,"ts":5}"#,
        r#"{"ph":"n","name":"v","cat":"c","id":NaN,"pid":1,"tid":1,"ts":5}"#,
        r#"{"ph":"n","name":"v","cat":"c","id":null,"pid":1,"tid":1,"ts":5}"#,
        r#"{"ph":"n","name":"v","cat":"c","id":true,"pid":1,"tid":1,"ts":5}"#,
        // Args of begin and end events.
        r#"{"ph":"B","name":"a","pid":1,"tid":1,"ts":10,"args":null}"#,
        r#"{"ph":"E","pid":1,"tid":1,"ts":11,"args":{"end":1}}"#,
        r#"{"ph":"B","name":"a","pid":1,"tid":1,"ts":12}"#,
        r#"{"ph":"E","pid":1,"tid":1,"ts":13,"args":null}"#,
        r#"{"ph":"B","name":"a","pid":1,"tid":1,"ts":14,"args":{"k":1,"b":2}}"#,
        r#"{"ph":"E","pid":1,"tid":1,"ts":15,"args":{"k":2}}"#,
        r#"{"ph":"B","name":"a","pid":1,"tid":1,"ts":16}"#,
        r#"{"ph":"E","pid":1,"tid":1,"ts":17,"args":[1]}"#,
        r#"{"ph":"B","name":"a","pid":1,"tid":1,"ts":18,"dur":5,"args":[2]}"#,
        r#"{"ph":"E","pid":1,"tid":1,"ts":19,"args":{"x":1}}"#,
        // Processes and threads.
        r#"{"ph":"C","name":"c","pid":1.0,"tid":2.0,"ts":1,"args":{"v":1}}"#,
        r#"{"ph":"C","name":"c","pid":"1","ts":1,"args":{"v":"2"}}"#,
        r#"{"ph":"C","name":"c","pid":18446744073709551615,"ts":1,"args":{"v":1e3}}"#,
        r#"{"ph":"b","name":"g","cat":"c","id2":{"global":"1"},"pid":"p","tid":"t","ts":1}"#,
        r#"{"ph":"X","name":"x","pid":18446744073709551615,"tid":1.5,"ts":1,"dur":1}"#,
        r#"{"ph":"X","name":"x","pid":null,"tid":true,"ts":1,"dur":1}"#,
        r#"{"ph":"X","name":"x","ts":-0.001,"dur":-0.002}"#,
        r#"{"ph":"X","name":"x","ts":9223372036854775.8,"dur":0.007}"#,
        r#"{"ph":"X","name":"x","ts":9223372036854775.8,"dur":0.008}"#,
        r#"{"ph":"X","name":"x","ts":1,"dur":"soon"}"#,
        r#"{"ph":"X","name":null,"cat":5,"ts":1,"dur":1,"tts":2,"bind_id":"0x1","flow_out":true}"#,
        r#"{"ph":"X","name":7,"cat":"","ts":1,"dur":1,"bind_id":"0x1","flow_in":true,"args":"text"}"#,
        r#"{"ph":"M","name":"process_name","pid":1,"args":{"name":"p\u0000q"}}"#,
        r#"{"ph":"M","name":"other","pid":1,"ts":"never","args":7}"#,
        r#"{"ph":"MM","name":"long phase","ts":1}"#,
        r#"{"ph":"","name":"no phase","ts":1}"#,
        r#"{"ph":"é","name":"odd phase","ts":1}"#,
        r#"{"ph":"X","name":"twice","name":"last","pid":1,"pid":2,"ts":1,"ts":2,"dur":1,"bp":"x","bp":"e"}"#,
        r#"{"ph":"X","name":"a\/b\tc\u0001\ud83d\ude80\ud83d","pid":1,"tid":1,"ts":100,"dur":1,"args":{"a\/b":"\/","\u0041":NaN,"n":007}}"#,
    ];
    std::fs::write(
        &path,
        format!(
            "{{\"a\\\"b\":1,\"traceEvents\":null,\"x\":NaN,\"traceEvents\":[{}]}}",
            elements.join(",\n")
        ),
    )
    .expect("a trace");
    check(&[path]);
}
