//! The pages in a real browser, with the scripts of `tests/browser/ui`.

use std::path::PathBuf;
use std::process::Command;

use super::{Ui, pages, store};
use crate::report::injection;
use crate::support::{fixture, needs, root};

/// Runs a script of `tests/browser/ui` against the pages; its output must begin with "ok: …".
fn drive(ui: &Ui, script: &str, more: &[&str]) {
    drive_all(std::slice::from_ref(ui), script, more);
}

/// The same with several servers, one after the other in one browser.
fn drive_all(servers: &[Ui], script: &str, more: &[&str]) {
    let (Some(python), Some(chromium)) = (needs::python(), needs::chromium()) else { return };
    if needs::package(&python, "playwright").is_none() {
        return;
    }
    let address = |ui: &Ui| format!("http://127.0.0.1:{}/#token={}", ui.port, ui.token);
    let out = Command::new(&python)
        .arg(root().join("tests/browser/ui").join(script))
        .args(servers.iter().map(address))
        .args(more)
        .arg("--chromium")
        .arg(&chromium)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python runs");
    let (stdout, stderr) = crate::support::texts(&out);
    assert!(out.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.starts_with("ok: "), "{stdout}");
}

const JOB: &[&str] = &["synthetic_gpu_rank0.json.gz", "synthetic_gpu_rank1.json.gz"];

#[test]
fn every_page_of_a_job_fits_its_window_and_stays_here() {
    let store = store(JOB);
    drive(&pages(&store), "pages.py", &[]);
}

#[test]
fn every_page_shows_hostile_names_as_text() {
    let store = injection::store();
    drive(&pages(&store), "pages.py", &[]);
}

#[test]
fn every_page_says_what_an_odd_trace_lacks() {
    let store = store(&["nasty.json"]);
    drive(&pages(&store), "pages.py", &[]);
}

#[test]
fn statements_run_complete_and_lead_to_the_timeline() {
    let store = store(JOB);
    drive(&pages(&store), "sql.py", &[]);
}

#[test]
fn the_timeline_of_a_job_is_what_its_rows_say() {
    let store = store(JOB);
    drive(&pages(&store), "timeline.py", &[]);
}

#[test]
fn the_timeline_of_a_recording_is_what_its_rows_say() {
    let store = store(&["resnet_cpu.pt.trace.json.gz"]);
    drive(&pages(&store), "timeline.py", &[]);
}

#[test]
fn the_sandwich_view_follows_the_address() {
    let store = store(&["resnet_cpu.pt.trace.json.gz", "synthetic_gpu_rank0.json.gz"]);
    drive(&pages(&store), "stacks.py", &[]);
}

/// Draws the timelines of these inputs, eight servers at a time, and compares them with rows.
fn draw(inputs: &[PathBuf]) {
    for some in inputs.chunks(8) {
        let paths = some.iter().map(|path| path.to_str().expect("a path in UTF-8"));
        let servers: Vec<Ui> = paths.map(|path| Ui::start(&[path])).collect();
        drive_all(&servers, "timeline.py", &["--pictures-only"]);
    }
}

/// The traces in a folder of fixtures, without those in folders below it.
fn traces_in(folder: &str) -> Vec<PathBuf> {
    let is_trace = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let known = [".json.gz", ".json", ".pb", ".pftrace", ".rpd", "rocpd.db", "nsys.sqlite"];
        // Expected figures, and a trace whose events have no times.
        let is_other = name.contains(".truth.") || name.contains("key_averages");
        known.iter().any(|end| name.ends_with(end)) && !is_other && !name.starts_with("perf_edge")
    };
    let files = std::fs::read_dir(fixture(folder)).expect("a folder").flatten();
    let mut found: Vec<PathBuf> = files.map(|file| file.path()).filter(is_trace).collect();
    found.sort();
    found
}

#[test]
fn timelines_of_fixtures_are_what_their_rows_say() {
    draw(&traces_in(""));
    draw(&traces_in("kernels"));
    draw(&traces_in("moe"));
    draw(&[fixture("pipeline")]);
}

#[test]
fn timelines_of_bottlenecks_are_what_their_rows_say() {
    draw(&traces_in("bottlenecks"));
    draw(&[fixture("bottlenecks/balanced"), fixture("bottlenecks/skewed")]);
}

#[test]
fn timelines_of_other_profilers_are_what_their_rows_say() {
    draw(&traces_in("databases"));
    draw(&traces_in("protobufs"));
}

#[test]
fn timelines_of_public_traces_are_what_their_rows_say() {
    let names = [
        "TraceLens/tests/traces/h100/gaunernst_bert-small-uncased__1016001.json.gz",
        "TraceLens/tests/traces/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
        "TraceLens/tests/traces/inference/vllm_prefilldecode_piecewise/graph_execution.json.gz",
        "TraceLens/tests/traces/perf_model/normalization/normalization_layer_test.json.gz",
        "bazel_invocation_analyzer/analyzer/javatests/com/engflow/bazel/invocation/analyzer/\
         profiles/local-jobs-4.json.gz",
        "catapult/tracing/test_data/main_thread_has_unclosed_slices.json.gz",
        "catapult/tracing/test_data/nestable_async.json",
        "kineto/tb_plugin/samples/resnet50_num_workers_4/worker0.1623213129365.pt.trace.json.gz",
        "param/dlrm_kineto",
        "particle_transformer/cpu_tensorboard_logs/\
         hmoss-6a49xb_4025559.1732704788383329918.pt.trace.json.gz",
        "zoology/trace.json.gz",
    ];
    let Some(corpus) = needs::corpus() else { return };
    draw(&names.map(|name| corpus.join("public").join(name)));
}

#[test]
fn findings_lead_into_the_timeline() {
    let mut inputs = traces_in("bottlenecks");
    inputs.extend([fixture("bottlenecks/balanced"), fixture("bottlenecks/skewed")]);
    let paths = inputs.iter().map(|path| path.to_str().expect("a path in UTF-8"));
    let servers: Vec<Ui> = paths.map(|path| Ui::start(&[path])).collect();
    drive_all(&servers, "findings.py", &[]);
}

#[test]
fn foreign_pages_read_nothing() {
    let store = store(&["chrome_mixed.json"]);
    drive(&pages(&store), "foreign.py", &[]);
}
