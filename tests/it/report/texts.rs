//! Reports for people: the content of the text and the Markdown, the width, and the format for the
//! extension of a file name.

use std::path::Path;

use super::{job, report, store};
use crate::support::{elements, fixture, texts, tracesql_in};

#[test]
fn a_text_fits_the_terminal_and_says_what_matters() {
    let text = report(&job(), "text", &[]);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
    for part in [
        "synthetic_gpu_rank0.json.gz · rank 0 · kineto",
        "4 steps of",
        "busy 89.0 % (17.3 ms of 19.5 ms)",
        "0: gemm 26.8 %, attention 0.0 %, exposed communication 44.8 %,",
        "Device 0 by class, shares of 17.3 ms busy\n",
        "  communication          13      3  7.76 ms  44.8 %  10.2 ms  █████▍\n",
        "cuda:0: 209 MiB allocated",
        "3,518 rows, 0 elements skipped",
        "Findings: ",
        "aten::mm",
        "ncclDevKernel_AllReduce",
        "\nRanks\n",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn what_is_missing_fits_too() {
    let text = report(&store(&["resnet_cpu.pt.trace.json.gz", "old_kineto.json.gz"]), "text", &[]);
    assert!(text.contains("Not recorded: "), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn a_text_on_perf_json_names_its_memory() {
    let text = report(&store(&["perf.json"]), "text", &[]);
    for part in
        ["perf.json · mllm_perf", "49.1 MiB in 17 blobs; 4 alive at the end (48.5 MiB)", "Linear"]
    {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn markdown_has_tables_and_details() {
    let text = report(&job(), "markdown", &[]);
    for part in [
        "## tracesql report",
        "### `synthetic_gpu_rank0.json.gz · rank 0 · kineto`",
        "<details><summary>Operators (10 of 87)</summary>",
        "| `aten::mm` | 40 |",
        "| `gemm` | 60 | 6 | 4.65 ms | 26.8 % | 4.65 ms | ███▎ |",
        "| kernel | class | tensor or matrix cores |",
        "### Ranks",
        "BLAKE3 `3ce5ad15",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
}

#[test]
fn what_is_unclassified_is_said_with_the_interval() {
    let kernel = |name: &str, device: i64, ts: i64, dur: i64| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":{device},"tid":7,"ts":{ts},"dur":{dur},"args":{{"device":{device},"stream":7}}}}"#
        )
    };
    // There are 30 us of communication, 20 us of which overlap a kernel of unknown class. That
    // kernel runs for 40 us.
    let mut all = vec![
        kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 0, 30),
        kernel("zqx", 0, 10, 40),
        kernel("ampere_sgemm_64x64_nn", 0, 60, 10),
    ];
    all.extend((1..7).map(|device| kernel("ampere_sgemm_64x64_nn", device, 0, 10)));
    let store = elements(all.join(",\n"));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = report(&store, "text", &[]);
    for part in [
        "computation holds 40 µs of kernels of no known class, so exposed communication is 10 µs \
            to 50 µs",
        "0: gemm 16.7 %, attention 0.0 %, exposed communication 16.7 %, unclassified 66.7 % of 60 \
            µs busy;",
        "on tensor or matrix cores 0.0 %, unclear 50.0 %, of 80 µs of kernels",
        "… 3 more devices",
    ] {
        assert!(words(&text).contains(part), "{part} is not in\n{text}");
    }
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
    let comment = report(&store, "markdown", &[]);
    assert!(comment.contains("_3 more devices are in the full report._"), "{comment}");
    assert!(comment.contains("exposed communication is 10 µs to 50 µs"), "{comment}");
    // There is no note if all classes are known.
    assert!(!report(&job(), "text", &[]).contains("no known class"));
}

#[test]
fn the_name_of_the_file_says_the_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = fixture("perf.json");
    for (name, start) in [
        ("a.html", "<!doctype html>"),
        ("a.md", "## tracesql report"),
        ("a.json", "{\n  \"schema\": \"tracesql.report\""),
        ("a.txt", "perf.json"),
    ] {
        let args = ["report", trace.to_str().expect("a name"), "-q", "-o", name];
        let out =
            tracesql_in(folder.path(), &args, &[("TRACESQL_CACHE", &folder.path().join("cache"))]);
        assert!(out.status.success(), "{}", texts(&out).1);
        assert!(texts(&out).0.is_empty(), "nothing goes to standard output");
        let text = std::fs::read_to_string(folder.path().join(name)).expect("the report");
        assert!(text.starts_with(start), "{name}: {}", &text[..60]);
    }
}

#[test]
fn what_is_no_store_and_no_trace_is_an_error() {
    let out = tracesql_in(Path::new("."), &["report", "/nowhere"], &[]);
    assert_eq!(out.status.code(), Some(3), "{}", texts(&out).1);
}
