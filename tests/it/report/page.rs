//! The page in a real browser: `tests/browser/report.py` reads it as people do.

use std::process::Command;

use super::{TestStore, injection, job, page, store};
use crate::support::{needs, root};

fn drive(store: &TestStore) {
    let (Some(python), Some(chromium)) = (needs::python(), needs::chromium()) else { return };
    if needs::package(&python, "playwright").is_none() {
        return;
    }
    let script = root().join("tests/browser/report.py");
    let out = Command::new(&python)
        .arg(script)
        .arg(page(store))
        .arg("--chromium")
        .arg(&chromium)
        .output()
        .expect("python runs");
    let (stdout, stderr) = crate::support::texts(&out);
    assert!(out.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.starts_with("ok: "), "{stdout}");
}

#[test]
fn two_ranks_in_a_browser() {
    drive(&job());
}

#[test]
fn a_trace_without_gpu_in_a_browser() {
    drive(&store(&["resnet_cpu.pt.trace.json.gz"]));
}

#[test]
fn perf_json_in_a_browser() {
    drive(&store(&["perf.json"]));
}

#[test]
fn hostile_names_in_a_browser() {
    drive(&injection::store());
}

#[test]
fn a_broken_trace_in_a_browser() {
    drive(&store(&["nasty.json"]));
}

#[test]
fn every_class_has_one_colour_in_light_and_in_dark() {
    let page = std::fs::read_to_string(page(&store(&["perf.json"]))).expect("the page");
    let order = TestStore::new().lines("SELECT class FROM _kernel_class_order ORDER BY rank");
    assert!(order.len() > 10, "{order:?}");
    let list: Vec<String> = order.iter().map(|class| format!("\"{class}\"")).collect();
    assert!(
        page.contains(&format!("const CLASSES = [{}];", list.join(", "))),
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
    // No two classes share one.
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
