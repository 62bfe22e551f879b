//! Tests the page in a real browser with the scripts of `tests/browser`.

use std::path::Path;
use std::process::Command;

use super::{TestStore, injection, job, page, store};
use crate::support::{needs, root};

/// Runs a script of `tests/browser`, whose output must end with "ok: …".
fn drive(script: &str, page: Option<&Path>) {
    let (Some(python), Some(chromium)) = (needs::python(), needs::chromium()) else { return };
    if needs::package(&python, "playwright").is_none() {
        return;
    }
    let out = Command::new(&python)
        .arg(root().join("tests/browser").join(script))
        .args(page)
        .arg("--chromium")
        .arg(&chromium)
        .output()
        .expect("python runs");
    let (stdout, stderr) = crate::support::texts(&out);
    assert!(out.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.starts_with("ok: "), "{stdout}");
}

fn drive_report(store: &TestStore) {
    drive("report.py", Some(&page(store)));
}

#[test]
fn charts_of_100_000_points_stay_fluid_and_exact() {
    drive("charts.py", None);
}

#[test]
fn two_ranks_in_a_browser() {
    drive_report(&job());
}

#[test]
fn a_trace_without_gpu_in_a_browser() {
    drive_report(&store(&["resnet_cpu.pt.trace.json.gz"]));
}

#[test]
fn perf_json_in_a_browser() {
    drive_report(&store(&["perf.json"]));
}

#[test]
fn hostile_names_in_a_browser() {
    drive_report(&injection::store());
}

#[test]
fn a_broken_trace_in_a_browser() {
    drive_report(&store(&["nasty.json"]));
}

#[test]
fn every_class_has_one_colour_in_light_and_in_dark() {
    let page = std::fs::read_to_string(page(&store(&["perf.json"]))).expect("the page");
    let order = TestStore::new().lines("SELECT class FROM _kernel_class_order ORDER BY rank");
    assert!(order.len() > 10, "{order:?}");
    let list: String = order.iter().map(|class| format!("\"{class}\",\n")).collect();
    assert!(
        page.contains(&format!("const CLASSES = [\n{list}];")),
        "the order of the page is that of the views"
    );
    for class in order.iter().map(String::as_str).chain(["mixed"]) {
        let name = format!("--class-{class}: ");
        let colours: Vec<&str> = page
            .match_indices(&name)
            .filter_map(|(at, _)| page[at + name.len()..].split(';').next())
            .collect();
        assert_eq!(colours.len(), 2, "{class}: {colours:?}");
    }
    // No two classes share a colour.
    for theme in 0..2 {
        let colour = |class: &String| {
            let name = format!("--class-{class}: ");
            page.match_indices(&name)
                .nth(theme)
                .and_then(|(at, _)| page[at + name.len()..].split(';').next())
                .unwrap_or_default()
                .to_owned()
        };
        let mut colours: Vec<String> = order.iter().map(colour).collect();
        colours.sort();
        colours.dedup();
        assert_eq!(colours.len(), order.len());
    }
}
