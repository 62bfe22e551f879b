//! Tests the page in a real browser with the scripts of `tests/browser`.

use std::ffi::OsStr;
use std::process::Command;

use serde_json::{Value, json};

use super::{TestStore, injection, job, page, store};
use crate::support::{fixture, needs, root};

/// Runs a script of `tests/browser` with these arguments; its output must begin with "ok: …".
/// `package` is the Python package that it needs.
fn drive(script: &str, package: &str, arguments: &[&OsStr]) {
    let (Some(python), Some(chromium)) = (needs::python(), needs::chromium()) else { return };
    if needs::package(&python, package).is_none() {
        return;
    }
    let out = Command::new(&python)
        .arg(root().join("tests/browser").join(script))
        .args(arguments)
        .arg("--chromium")
        .arg(&chromium)
        .output()
        .expect("python runs");
    let (stdout, stderr) = crate::support::texts(&out);
    assert!(out.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.starts_with("ok: "), "{stdout}");
}

fn drive_report(store: &TestStore) {
    let sums = flame_sums(store).to_string();
    drive("report.py", "playwright", &[page(store).as_os_str(), "--sums".as_ref(), sums.as_ref()]);
}

/// The host and device time of the stacks of the first trace that contain each of some texts, by
/// SQL, and of all its stacks.
fn flame_sums(store: &TestStore) -> Value {
    let first = store.lines("SELECT trace_id FROM traces ORDER BY rank NULLS LAST, path LIMIT 1");
    let texts = ["", "aten::", "linear", "train", "kernel", "mm"];
    let sum = |text: &&str| {
        let is_shown = format!("FILTER (WHERE names LIKE '%{text}%')");
        format!("sum(cpu_ns) {is_shown}, sum(gpu_ns) {is_shown}")
    };
    let found = store.ints(&format!(
        "SELECT {} FROM (SELECT *, lower(array_to_string(stack, chr(10))) AS names \
         FROM stack_samples WHERE trace_id = '{}')",
        texts.iter().map(sum).collect::<Vec<_>>().join(", "),
        first[0]
    ));
    let sums: serde_json::Map<String, Value> = texts
        .iter()
        .zip(found.chunks_exact(2))
        .map(|(text, of)| (text.to_string(), json!({"host_ns": of[0], "device_ns": of[1]})))
        .collect();
    sums.into()
}

#[test]
fn axe_finds_nothing_serious() {
    for store in [job(), store(&["perf.json"]), store(&["nasty.json"])] {
        drive("accessibility.py", "axe_playwright_python", &[page(&store).as_os_str()]);
    }
}

#[test]
fn axe_finds_nothing_serious_in_a_comparison() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("comparison.html");
    let rank = |n: u8| fixture(&format!("synthetic_gpu_rank{n}.json.gz")).display().to_string();
    let output = path.display().to_string();
    let made = crate::support::tracesql(&["compare", &rank(0), &rank(1), "-o", &output]);
    assert!(made.status.success(), "{made:?}");
    drive("accessibility.py", "axe_playwright_python", &[path.as_os_str()]);
}

#[test]
fn charts_of_100_000_points_stay_fluid_and_exact() {
    drive("charts.py", "playwright", &[]);
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
