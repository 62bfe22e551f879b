//! Compares the views of operators, kernels and steps with torch-tb-profiler's own figures, cell by
//! cell.
//!
//! The expected figures are outputs of the published package (`tests/expected/tb/README.md`). Those
//! of our fixtures are in the project, and those of public traces are next to the corpus. Integers
//! must be equal, and floats must be within 1e-9 of each other. Every difference is listed in
//! `tests/expected/tb/differences.tsv` with its reason. The test fails if a difference is not
//! listed, has changed or no longer exists. Figures without a trace are named and skipped.

mod cells;
mod checks;
mod differences;
mod expected;
mod key_averages;
mod rows;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{TestStore, elements, fixture, needs, root, texts};
use cells::{Tally, compare};
use checks::CHECKS;
use differences::Differences;
use expected::Expected;

/// Compares all views with the expected figures of one set of traces.
fn check(set: &str, expected: Vec<Expected>) {
    let mut known = Differences::read(set);
    let mut wrong = Vec::new();
    let mut report: BTreeMap<String, Vec<(&str, Tally)>> = BTreeMap::new();
    for e in expected {
        let (store, _) = TestStore::with(&e.trace);
        let checks: Vec<_> = CHECKS.iter().filter(|c| c.mode == e.mode).collect();
        let queries: Vec<&str> = checks.iter().map(|c| c.sql).collect();
        for (c, rows) in checks.iter().zip(store.rows_of_each(&queries)) {
            let want = (c.want)(&e.figures);
            let tally = compare(c, want, rows);
            wrong.extend(known.accept(&e.name(), c.view, &tally));
            report.entry(e.name()).or_default().push((c.view, tally));
        }
    }
    wrong.extend(known.left());
    let table = table(&report);
    println!("{table}");
    if wrong.is_empty() {
        wrong.extend(in_docs(set, &table));
    }
    assert!(
        wrong.is_empty(),
        "{} differences from what is documented:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(
        report.values().flatten().map(|(_, t)| t.total).sum::<usize>() > 1000,
        "hardly anything was compared"
    );
}

/// A table of all traces and views with the number of equal cells.
fn table(report: &BTreeMap<String, Vec<(&str, Tally)>>) -> String {
    let mut lines = vec![
        "| trace | view | cells equal / all | rows only here |".to_owned(),
        "| --- | --- | ---: | ---: |".to_owned(),
    ];
    for (trace, views) in report {
        for (view, tally) in views.iter().filter(|(_, t)| t.total + t.extra.len() > 0) {
            lines.push(format!(
                "| {trace} | `{view}` | {} / {} | {} |",
                tally.equal,
                tally.total,
                tally.extra.len()
            ));
        }
    }
    lines.join("\n")
}

/// The page for developers must contain the table, so that it stays up to date.
fn in_docs(set: &str, table: &str) -> Option<String> {
    let path = root().join("docs/evidence/tensorboard.md");
    let text = std::fs::read_to_string(&path).expect("docs/evidence/tensorboard.md");
    if text.contains(table) {
        return None;
    }
    let fresh = std::env::temp_dir().join(format!("tracesql-tensorboard-{set}.md"));
    std::fs::write(&fresh, table).expect("a temporary file");
    Some(format!(
        "docs/evidence/tensorboard.md does not have the table of the {set}; it was written to {}",
        fresh.display()
    ))
}

#[test]
fn fixtures_equal_the_plugin() {
    let folder = root().join("tests/expected/tb");
    let traces = [
        ("resnet_cpu", "resnet_cpu.pt.trace.json.gz"),
        ("ddp_rank0", "ddp_rank0.pt.trace.json.gz"),
        ("ddp_rank1", "ddp_rank1.pt.trace.json.gz"),
        ("synthetic_gpu_rank0", "synthetic_gpu_rank0.json.gz"),
        ("synthetic_gpu_rank1", "synthetic_gpu_rank1.json.gz"),
        ("old_kineto", "old_kineto.json.gz"),
    ];
    let modes = ["plain", "relink"];
    let all = traces.iter().flat_map(|(name, file)| {
        modes.map(|mode| Expected::read(&folder, name, mode, "*", fixture(file)))
    });
    check("fixtures", all.map(|e| e.expect("the expected figures of every fixture")).collect());
}

/// How the plugin builds its tree: modules between operators, IDs that are 0 or missing, and
/// threads written as text (`fixtures/make/plugin_trees.py`).
#[test]
fn trees_equal_the_plugin() {
    let folder = root().join("tests/expected/tb");
    let traces = [
        "modules_torch1.8",
        "modules_torch1.11",
        "modules_torch2",
        "ids_torch1.8",
        "ids_torch1.11",
        "late_ids_torch1.11",
        "crossing_torch1.11",
    ];
    let read = |name: &str| {
        Expected::read(
            &folder,
            name,
            "plain",
            "*",
            root().join(format!("tests/data/plugin/{name}.json")),
        )
    };
    check(
        "trees",
        traces.iter().map(|name| read(name).expect("the expected figures of every tree")).collect(),
    );
}

#[test]
fn public_traces_equal_the_plugin() {
    let Some(corpus) = needs::corpus() else { return };
    let Some(folder) = needs::in_corpus("../oracle/expected/tb") else { return };
    let mut all = Vec::new();
    let mut used = Vec::new();
    for (name, worker, trace) in expected::traces() {
        for mode in ["plain", "relink"] {
            if let Some(e) = Expected::read(&folder, &name, mode, &worker, corpus.join(&trace)) {
                assert!(e.trace.is_file(), "{} is not in the corpus", e.trace.display());
                used.push(format!("{name}.{mode}.json.gz"));
                all.push(e);
            }
        }
    }
    // All figures must be used, except one file of the diff view, which has the traces of another.
    let files = std::fs::read_dir(&folder)
        .expect("a folder")
        .flatten()
        .map(|f| f.file_name().to_string_lossy().into_owned());
    let unused: Vec<String> =
        files.filter(|f| f.ends_with(".json.gz") && !used.contains(f)).collect();
    assert_eq!(unused, ["kineto.diff_w0_w4.plain.json.gz"]);
    check("public traces", all);
}

/// Compares memory, modules, jobs, comparisons, advice and perf.json. A script contains the rules
/// that match their rows with those of the references. It fails on any cell that deviates from
/// `tests/expected/tb/torch_differences.tsv` and the documentation.
fn compare_torch(of: &[&Path]) {
    let script = root().join("tests/oracle/compare_torch.py");
    let out = Command::new("python3")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_tracesql"))
        .args(of)
        .output()
        .expect("python3 runs");
    let (stdout, stderr) = texts(&out);
    println!("{stdout}");
    assert!(out.status.success(), "{stderr}");
}

/// Compares ranks, collectives and GPU use over time with a second count from the JSON of the
/// fixtures.
#[test]
fn comparisons_and_collectives_equal_a_recount() {
    let script = root().join("tests/oracle/compare_recount.py");
    let out = Command::new("python3")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_tracesql"))
        .output()
        .expect("python3 runs");
    let (stdout, stderr) = texts(&out);
    assert!(out.status.success(), "{stderr}");
    assert!(stdout.contains("operator_diff: 3822 values"), "{stdout}");
}

#[test]
fn memory_modules_jobs_and_advice_of_fixtures_equal_the_plugin() {
    compare_torch(&[Path::new("fixtures")]);
}

#[test]
fn memory_modules_jobs_and_advice_of_public_traces_equal_the_references() {
    let Some(corpus) = needs::corpus() else { return };
    let Some(tb) = needs::in_corpus("../oracle/expected/tb") else { return };
    compare_torch(&[&corpus, tb.parent().expect("a folder")]);
}

#[test]
fn key_averages_of_fixtures_equal_pytorch() {
    let compared = key_averages::compare(
        &fixture("resnet_cpu.pt.trace.json.gz"),
        &fixture("resnet_cpu.key_averages.json"),
    );
    assert!(compared.wrong.is_empty(), "{}", compared.wrong.join("\n"));
    assert!(
        compared.memory > 80 && compared.flops == 4,
        "{} values of memory, {} of operations",
        compared.memory,
        compared.flops
    );
}

/// Memory counts for all rows that are running. If none is running, the memory has a separate row,
/// as in PyTorch.
#[test]
fn key_averages_hold_all_memory() {
    let memory = |ts: i64, bytes: i64, device: i64| {
        format!(
            r#"{{"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":2,"ts":{ts},"args":{{"Bytes":{bytes},"Device Type":{device},"Device Id":-1,"Addr":1}}}}"#
        )
    };
    let store = elements(
        [
            r#"{"ph":"X","cat":"cpu_op","name":"outer","pid":1,"tid":1,"ts":0,"dur":100}"#
                .to_owned(),
            r#"{"ph":"X","cat":"cpu_op","name":"inner","pid":1,"tid":1,"ts":20,"dur":30}"#
                .to_owned(),
            memory(20, 8, 0),
            memory(50, 16, 1),
            memory(51, 32, 0),
            memory(101, -40, 0),
            memory(102, -16, 1),
        ]
        .join(",\n"),
    );
    let sql = "SELECT name, calls, cpu_mem_bytes, self_cpu_mem_bytes, device_mem_bytes, \
        self_device_mem_bytes FROM key_averages ORDER BY name";
    assert_eq!(
        store.lines(sql),
        ["[memory] 2 -40 -40 -16 -16", "inner 1 8 8 16 16", "outer 1 40 32 16 0"]
    );
}

/// Profiler frames lie half within the annotation that they begin and end. The time that two of
/// them share is subtracted from the enclosing row once. PyTorch subtracts each of them in full: 30
/// for `outer` (docs/tensorboard.md).
#[test]
fn key_averages_take_shared_time_off_once() {
    let row = |cat: &str, name: &str, ts: i64, dur: i64| {
        format!(
            r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":1,"tid":1,"ts":{ts},"dur":{dur},"args":{{"CallFrom":"run.py"}}}}"#
        )
    };
    let store = elements(
        [
            row("python_function", "run.py(1): step", 0, 200),
            row("user_annotation", "outer", 10, 100),
            row("python_function", "torch/autograd/profiler.py(941): __enter__", 20, 10),
            row("user_annotation", "inner", 25, 45),
            row("python_function", "torch/autograd/profiler.py(955): __exit__", 65, 15),
        ]
        .join(",\n"),
    );
    assert_eq!(
        store.lines("SELECT name, cpu_total_ns, self_cpu_ns FROM key_averages ORDER BY name"),
        ["inner 45000 45000", "outer 100000 40000"]
    );
}

#[test]
fn key_averages_of_made_traces_equal_pytorch() {
    let Some(corpus) = needs::corpus() else { return };
    let mut wrong = Vec::new();
    let (mut compared, mut memory, mut flops) = (0, 0, 0);
    let files =
        std::fs::read_dir(corpus.join("made")).expect("a folder").flatten().map(|f| f.path());
    let mut files: Vec<PathBuf> =
        files.filter(|f| f.to_string_lossy().ends_with(".key_averages.json")).collect();
    files.sort();
    for table in files {
        let trace = PathBuf::from(
            table.to_string_lossy().replace(".key_averages.json", ".pt.trace.json.gz"),
        );
        let found = key_averages::compare(&trace, &table);
        wrong.extend(found.wrong);
        compared += 1;
        memory += found.memory;
        flops += found.flops;
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    println!("{compared} tables, {memory} values of memory and {flops} of operations other than 0");
    assert!(
        compared > 20 && memory > 400 && flops > 10,
        "only {compared} tables, {memory} values of memory and {flops} of operations were found"
    );
}
