//! Reads profiles with the real pprof.

use std::path::Path;
use std::process::Command;

use super::written;
use crate::support::{TestStore, elements, fixture, needs, texts, tracesql, within};

/// The output of `go tool pprof`; `None` without Go.
fn pprof(args: &[&str], files: &[&Path]) -> Option<String> {
    let go = needs::go()?;
    let mut command = Command::new(go);
    // Go builds the tool once. It needs a folder for its cache.
    if std::env::var_os("HOME").is_none() {
        command.env("GOCACHE", std::env::temp_dir().join("go-cache"));
    }
    command
        .args(["tool", "pprof"])
        .args(args)
        .args(files)
        .env("PPROF_TMPDIR", std::env::temp_dir())
        .env_remove("GOFLAGS");
    // The first call compiles pprof.
    let out = within(300, command.stdin(std::process::Stdio::null()));
    let (stdout, stderr) = texts(&out);
    assert!(out.status.success(), "{args:?}: {stderr}");
    Some(stdout)
}

/// The rows of a `-top` report as (flat, cum, name).
fn top(report: &str) -> Vec<(String, String, String)> {
    let rows = report.lines().skip_while(|l| !l.contains("flat%")).skip(1);
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        (words[0].to_owned(), words[3].to_owned(), words[5..].join(" "))
    };
    rows.map(row).collect()
}

fn gpu_store() -> TestStore {
    TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0
}

#[test]
fn the_time_inside_of_a_step_is_its_duration() {
    let store = gpu_store();
    let (root, file) =
        (store.store.root().to_string_lossy().into_owned(), store.folder.path().join("gpu.pb.gz"));
    written(&["pprof", &root, "--no-merge-steps"], &file);
    let Some(report) =
        pprof(&["-top", "-unit=ns", "-nodefraction=0", "-nodecount=100000"], &[&file])
    else {
        return;
    };
    let found = top(&report);
    for step in store.rows(
        "SELECT e.name, e.dur_ns FROM steps s \
        JOIN events e ON e.trace_id = s.trace_id AND e.event_id = s.event_id",
    ) {
        let cum = found
            .iter()
            .find(|row| row.2 == step[0])
            .unwrap_or_else(|| panic!("{} is not in\n{report}", step[0]));
        assert_eq!(cum.1, format!("{}ns", step[1]), "{}", step[0]);
    }
    let total: i64 =
        found.iter().map(|row| row.0.trim_end_matches("ns").parse::<i64>().expect("ns")).sum();
    assert_eq!(total, store.ints("SELECT sum(self_ns) FROM event_stacks")[0], "{report}");
}

#[test]
fn every_measure_label_and_report_is_read() {
    let store = gpu_store();
    let (root, file) =
        (store.store.root().to_string_lossy().into_owned(), store.folder.path().join("gpu.pb.gz"));
    written(&["pprof", &root], &file);
    let Some(raw) = pprof(&["-raw"], &[&file]) else { return };
    assert!(
        raw.contains(
            "samples/count cpu/nanoseconds[dflt] gpu/nanoseconds kernels/count \
        alloc_space/bytes alloc_objects/count"
        ),
        "{raw}"
    );
    // The profiler's total device times at the stacks that launched them.
    let report = pprof(
        &["-top", "-unit=ns", "-sample_index=gpu", "-nodefraction=0", "-nodecount=100000"],
        &[&file],
    )
    .expect("Go is there");
    let gpu: i64 = top(&report)
        .iter()
        .map(|row| row.0.trim_end_matches("ns").parse::<i64>().unwrap_or(0))
        .sum();
    assert_eq!(
        gpu,
        store.ints("SELECT sum(dur_ns) FROM kernels WHERE kind <> 'sync'")[0],
        "{report}"
    );
    // Python frames are functions with files. Kernels have short names.
    let names: Vec<String> = top(&report).into_iter().map(|row| row.2).collect();
    assert!(
        names.iter().any(|n| n == "train.main")
            && names.iter().any(|n| n == "ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
        "{names:?}"
    );
    let lines = pprof(&["-top", "-lines", "-nodecount=100000", "-nodefraction=0"], &[&file])
        .expect("Go is there");
    assert!(lines.contains("train.py:"), "{lines}");
    // A label selects samples.
    let step = pprof(
        &["-top", "-unit=ns", "-tagfocus=step=11", "-nodefraction=0", "-nodecount=100000"],
        &[&file],
    )
    .expect("Go is there");
    let of_step: i64 =
        top(&step).iter().map(|row| row.0.trim_end_matches("ns").parse::<i64>().unwrap_or(0)).sum();
    assert_eq!(of_step, store.ints("SELECT sum(cpu_ns) FROM stack_samples WHERE step = 11")[0]);
    let tags = pprof(&["-tags"], &[&file]).expect("Go is there");
    for label in ["pid", "tid", "thread", "rank", "device", "stream", "step", "trace"] {
        assert!(tags.contains(&format!(" {label}: Total")), "{label}: {tags}");
    }
    let tree = pprof(&["-tree", "-focus=aten::mm"], &[&file]).expect("Go is there");
    assert!(tree.contains("cudaLaunchKernel"), "{tree}");
    if needs::graphviz().is_some() {
        let svg = store.folder.path().join("graph.svg");
        pprof(&["-svg", "-output", &svg.to_string_lossy()], &[&file]).expect("Go is there");
        assert!(std::fs::read_to_string(&svg).expect("the graph").contains("</svg>"));
    }
}

#[test]
fn a_difference_is_that_of_pprof_itself() {
    let (base, other) = (
        TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0,
        TestStore::with(&fixture("synthetic_gpu_rank1.json.gz")).0,
    );
    let (b, o) = (
        base.store.root().to_string_lossy().into_owned(),
        other.store.root().to_string_lossy().into_owned(),
    );
    let file = |name: &str| base.folder.path().join(name);
    written(&["pprof", &b], &file("base.pb.gz"));
    written(&["pprof", &o], &file("other.pb.gz"));
    written(&["pprof", &o, "--base", &b], &file("diff.pb.gz"));
    let show = ["-top", "-unit=ns", "-nodefraction=0", "-nodecount=100000"];
    let Some(ours) = pprof(&show, &[&file("diff.pb.gz")]) else { return };
    let with_base = format!("-diff_base={}", file("base.pb.gz").display());
    let theirs =
        pprof(&[&show[..], &[&with_base]].concat(), &[&file("other.pb.gz")]).expect("Go is there");
    let (ours, theirs) = (top(&ours), top(&theirs));
    assert!(ours.len() > 20);
    let sorted = |mut rows: Vec<(String, String, String)>| {
        rows.sort();
        rows
    };
    assert_eq!(sorted(ours), sorted(theirs));
}

#[test]
fn equal_samples_give_equal_bytes() {
    let (a, b) = (gpu_store(), gpu_store());
    let bytes = |store: &TestStore, threads: &str| {
        written(
            &["pprof", &store.store.root().to_string_lossy(), "--threads", threads],
            &store.folder.path().join("x.pb.gz"),
        )
    };
    let first = bytes(&a, "1");
    assert!(first.starts_with(b"\x1f\x8b"));
    assert_eq!(first, bytes(&b, "4"));
    assert_eq!(first, bytes(&a, "2"));
}

#[test]
fn odd_names_and_times_make_a_right_profile() {
    let long = "x".repeat(2_000_000);
    let events = [
        r#"{"ph":"X","name":"a;b\nc\u0000d","pid":1,"tid":1,"ts":0,"dur":100}"#.to_owned(),
        r#"{"ph":"X","name":"","pid":1,"tid":1,"ts":10,"dur":20}"#.to_owned(),
        format!(r#"{{"ph":"X","name":"{long}","pid":1,"tid":1,"ts":40,"dur":20}}"#),
        r#"{"ph":"X","name":"overlaps","pid":1,"tid":1,"ts":90,"dur":20}"#.to_owned(),
        r#"{"ph":"X","name":"<built-in method f>","pid":1,"tid":1,"ts":120,"dur":5}"#.to_owned(),
        r#"{"ph":"B","name":"no end","pid":1,"tid":2,"ts":0}"#.to_owned(),
        r#"{"ph":"X","name":"negative","pid":1,"tid":2,"ts":5,"dur":-1}"#.to_owned(),
    ];
    let store = elements(events.join(",\n"));
    let (root, file) =
        (store.store.root().to_string_lossy().into_owned(), store.folder.path().join("odd.pb.gz"));
    let out = tracesql(&["pprof", &root, "-o", &file.to_string_lossy()]);
    let (_, notes) = texts(&out);
    assert!(out.status.success(), "{notes}");
    assert!(
        notes.contains(
            "warning: 1 event overlaps others partly; 1 event with a negative duration is left out"
        ),
        "{notes}"
    );
    let Some(report) = pprof(&["-top", "-unit=ns", "-nodefraction=0", "-nodecount=100"], &[&file])
    else {
        return;
    };
    assert!(
        report.contains("60000ns")
            && report.contains("<built-in method f>")
            && report.contains("(empty)"),
        "{report:.2000}"
    );
    assert!(report.contains("Total samples = 125000ns"), "{report:.2000}");
}

#[test]
fn samples_come_from_any_query() {
    let store = gpu_store();
    let (root, file) =
        (store.store.root().to_string_lossy().into_owned(), store.folder.path().join("q.pb.gz"));
    let sql = "SELECT unfold_stack(concat(kind, ';', name)) AS stack, dur_ns AS device_ns, bytes \
        AS moved_bytes, step FROM kernels; ";
    written(&["pprof", &root, "-c", sql, "--where", "stack_root(stack) <> 'sync'"], &file);
    if let Some(raw) = pprof(&["-raw"], &[&file]) {
        assert!(raw.contains("device/nanoseconds[dflt] moved/bytes"), "{raw}");
    }
    for (sql, error) in [
        ("SELECT 1 AS n", "one column that is a stack"),
        ("SELECT ['a'] AS stack", "a column of whole numbers"),
        ("SELECT ['a'] AS stack, 1.5 AS n", "must be a whole number"),
        ("SELECT ['a'] AS stack, 1 AS n; SELECT 2", "give one query"),
    ] {
        let out = tracesql(&["pprof", &root, "-c", sql, "-o", &file.to_string_lossy()]);
        assert!(!out.status.success() && texts(&out).1.contains(error), "{sql}: {}", texts(&out).1);
    }
}
