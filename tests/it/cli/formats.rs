//! Formats of results.

use std::fs::File;
use std::io::Cursor;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Float64Type, Int64Type};
use arrow::ipc::reader::StreamReader;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

use super::Place;
use crate::support::texts;

/// Two rows with all the values that formats must handle.
const SQL: &str = "SELECT * FROM (VALUES (1, 'a,\"b\"', 1.5, true), (2, NULL, NULL, false)) AS \
    t(n, t, f, b) ORDER BY n";

fn query(format: &str, sql: &str) -> Vec<u8> {
    let output = Place::new().run(&["query", "s", "--format", format, "-c", sql]);
    assert!(output.status.success(), "{}", texts(&output).1);
    output.stdout
}

fn text(format: &str, sql: &str) -> String {
    String::from_utf8(query(format, sql)).expect("UTF-8")
}

/// Checks that the batches contain the rows of [`SQL`].
fn holds_the_rows(batches: &[RecordBatch]) {
    let batch = arrow::compute::concat_batches(&batches[0].schema(), batches).expect("one batch");
    let names: Vec<String> = batch.schema().fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(names, ["n", "t", "f", "b"]);
    assert_eq!(batch.column(0).as_primitive::<Int64Type>().values(), &[1, 2]);
    let t = arrow::compute::cast(batch.column(1), &arrow::datatypes::DataType::Utf8).expect("text");
    assert_eq!((t.as_string::<i32>().value(0), t.is_null(1)), ("a,\"b\"", true));
    let f = batch.column(2).as_primitive::<Float64Type>();
    assert_eq!((f.value(0), f.is_null(1)), (1.5, true));
    let b = batch.column(3).as_boolean();
    assert_eq!((b.value(0), b.value(1)), (true, false));
}

#[test]
fn csv_is_written_as_expected() {
    assert_eq!(text("csv", SQL), "n,t,f,b\n1,\"a,\"\"b\"\"\",1.5,true\n2,,,false\n");
    assert_eq!(
        text("csv", "SELECT E'two\\nlines' AS t, '=1+1' AS u"),
        "t,u\n\"two\nlines\",=1+1\n"
    );
}

#[test]
fn lists_and_objects_are_text_in_csv() {
    for format in ["csv", "tsv"] {
        let out = text(format, "SELECT [1, 2] AS l, {a: 1} AS s");
        assert_eq!(out.lines().count(), 2, "{out}");
        assert!(out.contains('2') && out.contains('a'), "{out}");
    }
}

#[test]
fn tsv_is_written_as_expected() {
    assert_eq!(text("tsv", SQL), "n\tt\tf\tb\n1\t\"a,\"\"b\"\"\"\t1.5\ttrue\n2\t\t\tfalse\n");
}

#[test]
fn json_is_written_as_expected() {
    let rows: Value = serde_json::from_slice(&query("json", SQL)).expect("JSON");
    assert_eq!(
        rows,
        json!([
            {"n": 1, "t": "a,\"b\"", "f": 1.5, "b": true},
            {"n": 2, "t": null, "f": null, "b": false}
        ])
    );
}

#[test]
fn json_keeps_large_integers_and_any_text() {
    let rows = text("json", "SELECT 7234567890123456789 AS n, E'\\u001b[31m\"\\\\ 🚀' AS t");
    assert!(rows.contains("7234567890123456789"), "{rows}");
    let rows: Value = serde_json::from_str(&rows).expect("JSON");
    assert_eq!(rows[0]["t"], "\u{1b}[31m\"\\ 🚀");
}

#[test]
fn ndjson_is_written_as_expected() {
    let lines: Vec<Value> =
        text("ndjson", SQL).lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    assert_eq!(
        lines,
        [
            json!({"n": 1, "t": "a,\"b\"", "f": 1.5, "b": true}),
            json!({"n": 2, "t": null, "f": null, "b": false})
        ]
    );
}

#[test]
fn markdown_is_written_as_expected() {
    assert_eq!(
        text("markdown", "SELECT 1 AS n, 'a|b <i>' AS t, NULL AS z"),
        "| n | t | z |\n| ---: | --- | --- |\n| 1 | a\\|b &lt;i> |  |\n"
    );
}

#[test]
fn table_is_written_as_expected() {
    let out = text("table", SQL);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 6, "{out}");
    let cells: Vec<&str> = lines[3].split(['│', '┆']).map(str::trim).collect();
    assert_eq!(cells, ["", "1", "a,\"b\"", "1.5", "true", ""]);
    assert_eq!(lines[4].matches("NULL").count(), 2);
}

#[test]
fn the_table_is_the_default() {
    let place = Place::new();
    assert_eq!(place.ok(&["query", "s", "-c", SQL]), text("table", SQL));
}

#[test]
fn vertical_is_written_as_expected() {
    assert_eq!(
        text("vertical", "SELECT * FROM (VALUES (1, NULL), (22, 'x')) AS t(n, name) ORDER BY n"),
        "─── row 1 ───\n   n │ 1\nname │ NULL\n─── row 2 ───\n   n │ 22\nname │ x\n"
    );
}

#[test]
fn parquet_holds_the_rows() {
    let place = Place::new();
    place.ok(&["query", "s", "-c", SQL, "-o", "r.parquet"]);
    let piped = place.write("piped.parquet", query("parquet", SQL));
    for path in [place.path("r.parquet"), piped] {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).expect("a file"))
            .expect("Parquet")
            .build()
            .expect("a reader");
        holds_the_rows(&reader.map(|b| b.expect("a batch")).collect::<Vec<_>>());
    }
}

#[test]
fn arrow_holds_the_rows() {
    let reader =
        StreamReader::try_new(Cursor::new(query("arrow", SQL)), None).expect("an IPC stream");
    holds_the_rows(&reader.map(|b| b.expect("a batch")).collect::<Vec<_>>());
}

#[test]
fn results_without_rows_have_columns_all_the_same() {
    let sql = "SELECT name, dur_ns FROM events WHERE false";
    assert_eq!(text("csv", sql), "name,dur_ns\n");
    assert_eq!(text("tsv", sql), "name\tdur_ns\n");
    assert_eq!(serde_json::from_str::<Value>(&text("json", sql)).expect("JSON"), json!([]));
    assert_eq!(text("ndjson", sql), "");
    assert_eq!(text("markdown", sql), "| name | dur_ns |\n| --- | ---: |\n");
    assert!(text("table", sql).contains("dur_ns"));
    let reader =
        StreamReader::try_new(Cursor::new(query("arrow", sql)), None).expect("an IPC stream");
    assert_eq!(reader.schema().fields().len(), 2);
}

#[test]
fn many_batches_have_one_header() {
    let sql = "SELECT e.event_id AS n FROM events e, events f, events g ORDER BY 1";
    let out = text("csv", sql);
    assert_eq!((out.lines().count(), out.matches('n').count()), (98 * 98 * 98 + 1, 1));
    let rows: Vec<Value> = serde_json::from_str(&text("json", sql)).expect("JSON");
    assert_eq!(rows.len(), 98 * 98 * 98);
}

#[test]
fn the_name_of_the_output_file_says_the_format() {
    let place = Place::new();
    let written = |name: &str, more: &[&str]| {
        let stdout = place.ok(&[&["query", "s", "-c", SQL, "-o", name], more].concat());
        assert_eq!(stdout, "", "the result is in the file");
        std::fs::read(place.path(name)).expect("the file")
    };
    for (name, format) in [
        ("r.csv", "csv"),
        ("r.tsv", "tsv"),
        ("r.json", "json"),
        ("r.ndjson", "ndjson"),
        ("r.jsonl", "ndjson"),
        ("r.md", "markdown"),
        ("r.txt", "table"),
        ("r.arrow", "arrow"),
        ("no_ending", "table"),
    ] {
        assert_eq!(written(name, &[]), query(format, SQL), "{name}");
    }
    assert_eq!(written("odd.csv", &["--format", "json"]), query("json", SQL), "--format decides");
}

#[test]
fn an_output_file_is_replaced_only_by_a_whole_result() {
    let place = Place::new();
    place.write("r.csv", "old\n");
    place.fails(4, &["query", "s", "-o", "r.csv", "-c", "SELECT CAST(name AS BIGINT) FROM events"]);
    assert_eq!(std::fs::read_to_string(place.path("r.csv")).expect("the file"), "old\n");
    std::fs::create_dir(place.path("folder")).expect("a folder");
    place.fails(4, &["query", "s", "-o", "folder", "-c", "SELECT 1 AS n"]);
    place.ok(&["query", "s", "-o", "r.csv", "-c", "SELECT 1 AS n"]);
    assert_eq!(std::fs::read_to_string(place.path("r.csv")).expect("the file"), "n\n1\n");
    let names: Vec<_> = std::fs::read_dir(place.folder.path())
        .expect("a folder")
        .flatten()
        .map(|e| e.file_name())
        .collect();
    assert!(!names.iter().any(|n| n.to_string_lossy().contains("partial")), "{names:?}");
}

#[test]
fn nothing_of_a_trace_reaches_a_terminal_raw() {
    let place = Place::empty();
    let name = r"\u001b[31mred\u0007 \u009b2J \u202egnp";
    place.write(
        "t.json",
        format!(r#"{{"traceEvents":[{{"ph":"i","name":"{name}","ts":1,"args":{{"k":"{name}"}}}}, {{"ph":"i","name":"\u001b]0;x"}}]}}"#),
    );
    place.ok(&["ingest", "t.json", "-o", "s"]);
    for format in ["table", "vertical", "markdown"] {
        for sql in [
            "SELECT name, args FROM events",
            "SELECT name AS \"\u{1b}[31mcolumn\" FROM events",
            "SELECT * FROM ingest_issues",
        ] {
            let out = place.ok(&["query", "s", "--format", format, "-c", sql]);
            assert!(!out.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{format}: {out:?}");
        }
    }
    let error = place.fails(4, &["query", "s", "-c", "SELECT CAST(name AS BIGINT) FROM events"]);
    assert!(!error.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{error:?}");
}

#[test]
fn nothing_of_a_file_name_reaches_a_terminal_raw() {
    let place = Place::empty();
    let good = "\u{1b}[31mgood\u{7}.json";
    place.write(good, r#"{"traceEvents":[{"ph":"i","name":"a","ts":1}, 7]}"#);
    place.write("\u{1b}[31mbad.json", "<html>");
    let (_, first) = texts(&place.run(&["ingest", good, "-o", "s"]));
    let (_, again) = texts(&place.run(&["ingest", good, "-o", "s"]));
    let (_, bad) = texts(&place.run(&["ingest", "\u{1b}[31mbad.json", "-o", "s"]));
    let list = place.ok(&["list", "s"]);
    for out in [first, again, bad, list] {
        assert!(!out.contains(['\u{1b}', '\u{7}']), "{out:?}");
    }
}
