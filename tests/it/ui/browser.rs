//! The pages in a real browser, with the scripts of `tests/browser/ui`.

use std::process::Command;

use super::{Ui, pages, store};
use crate::report::injection;
use crate::support::{needs, root};

/// Runs a script of `tests/browser/ui` against the pages; its output must begin with "ok: …".
fn drive(ui: &Ui, script: &str, more: &[&str]) {
    let (Some(python), Some(chromium)) = (needs::python(), needs::chromium()) else { return };
    if needs::package(&python, "playwright").is_none() {
        return;
    }
    let address = format!("http://127.0.0.1:{}/#token={}", ui.port, ui.token);
    let out = Command::new(&python)
        .arg(root().join("tests/browser/ui").join(script))
        .arg(address)
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
fn timelines_of_odd_traces_are_what_their_rows_say() {
    for name in ["nasty.json", "chrome_mixed.json", "perf.json", "kernels/checkpointed.json.gz"] {
        let store = store(&[name]);
        drive(&pages(&store), "timeline.py", &["--pictures-only"]);
    }
}

#[test]
fn foreign_pages_read_nothing() {
    let store = store(&["chrome_mixed.json"]);
    drive(&pages(&store), "foreign.py", &[]);
}
