//! The names of traces: the same ones in every command.

use super::Place;
use crate::support::{fixture, texts};

/// A folder with a store `s` of three traces: two ranks of one job in `job/`, and `other.json`.
fn place() -> Place {
    let place = Place::empty();
    std::fs::create_dir(place.path("job")).expect("a folder");
    for rank in 0..2 {
        let name = format!("synthetic_gpu_rank{rank}.json.gz");
        std::fs::copy(fixture(&name), place.path("job").join(&name)).expect("a copy");
    }
    std::fs::copy(fixture("chrome_mixed.json"), place.path("other.json")).expect("a copy");
    place.ok(&["ingest", "-q", "job", "other.json", "-o", "s"]);
    place
}

/// Every command that takes `--trace`, without that option.
const COMMANDS: [&[&str]; 9] = [
    &["report", "s", "-o", "r.json"],
    &["export", "s", "-o", "x.json"],
    &["pprof", "s", "-o", "x.pb.gz"],
    &["folded", "s", "-o", "x.folded"],
    &["flamegraph", "s", "-o", "x.svg"],
    &["speedscope", "s", "-o", "x.speedscope.json"],
    &["check", "s", "-o", "x.xml"],
    &["compare", "s", "s", "-o", "x.json"],
    &["compare", "s", "s", "--base-trace", "synthetic_gpu_rank0", "-o", "x.json"],
];

#[test]
fn a_trace_has_the_same_names_in_every_command() {
    let place = place();
    let list = place.ok(&["list", "s", "--format", "csv"]);
    let id = list.lines().find_map(|l| l.split(',').find(|f| f.contains("rank1"))).expect("an id");
    let short = &id[..id.len() - 4];
    let path = "job/synthetic_gpu_rank1.json.gz";
    for command in COMMANDS {
        for name in [id, short, "synthetic_gpu_rank1", "synthetic_gpu_rank1.json.gz", path] {
            let output = place.run(&[command, &["--trace", name]].concat());
            // A finding of `check` ends it with 1.
            let code = output.status.code();
            assert!(code == Some(0) || code == Some(1), "{command:?} {name}: {}", texts(&output).1);
        }
        let error = place.fails(2, &[command, &["--trace", "synthetic"]].concat());
        assert!(error.contains("is ambiguous: 2 traces match"), "{command:?}: {error}");
        assert!(!error.contains("other-"), "only those that fit are listed: {error}");
        let error = place.fails(2, &[command, &["--trace", "nobody"]].concat());
        assert!(error.contains("there is no trace \"nobody\"; the traces are"), "{error}");
    }
}

#[test]
fn remove_takes_the_same_names_and_all_or_none() {
    let place = place();
    place.fails(2, &["remove", "s", "other", "nobody"]);
    place.fails(2, &["remove", "s", "synthetic"]);
    assert_eq!(place.ok(&["list", "s", "--format", "csv"]).lines().count(), 4);
    place.ok(&["remove", "s", "other.json", "other", "job/synthetic_gpu_rank0.json.gz"]);
    let list = place.ok(&["list", "s", "--format", "csv"]);
    assert_eq!(list.lines().count(), 2, "{list}");
    assert!(list.contains("rank1"), "{list}");
}

#[test]
fn a_chosen_trace_is_the_only_one_that_a_command_is_about() {
    let place = place();
    place.ok(&["report", "s", "--trace", "synthetic_gpu_rank1", "-o", "r.json"]);
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place.path("r.json")).expect("the report"))
            .expect("JSON");
    assert_eq!(report["traces"].as_array().map(Vec::len), Some(1));
    place.ok(&["folded", "s", "--trace", "other", "-o", "x.folded"]);
    let folded = std::fs::read_to_string(place.path("x.folded")).expect("the stacks");
    place.ok(&["folded", "other.json", "-o", "y.folded"]);
    assert_eq!(folded, std::fs::read_to_string(place.path("y.folded")).expect("the stacks"));
}

#[test]
fn a_report_on_chosen_traces_does_not_mention_the_others() {
    let place = place();
    let output = place.run(&["report", "s", "--trace", "other.json", "-o", "r.html"]);
    assert_eq!(texts(&output).1, "");
    let page = std::fs::read_to_string(place.path("r.html")).expect("the page");
    assert!(!page.contains("synthetic_gpu_rank"), "the page names a trace that is left out");
    // The bound of the report is not the user's choice.
    let both = ["--trace", "synthetic_gpu_rank0", "--trace", "synthetic_gpu_rank1"];
    let one = [&["report", "s", "--max-traces", "1", "-o", "r.json"][..], &both].concat();
    let stderr = texts(&place.run(&one)).1;
    assert!(stderr.contains("1 trace is left out"), "{stderr}");
}

#[test]
fn a_flame_graph_is_titled_by_the_traces_that_are_in_it() {
    let place = place();
    let title = |more: &[&str]| {
        place.ok(&[&["flamegraph", "s", "-o", "x.svg"], more].concat());
        let svg = std::fs::read_to_string(place.path("x.svg")).expect("the picture");
        ["other.json", "synthetic_gpu_rank1.json.gz", "2 traces", "3 traces"]
            .into_iter()
            .filter(|title| svg.contains(&format!(">{title}")))
            .collect::<Vec<_>>()
            .join(" and ")
    };
    assert_eq!(title(&[]), "3 traces");
    assert_eq!(title(&["--trace", "synthetic_gpu_rank1"]), "synthetic_gpu_rank1.json.gz");
    let both = ["--trace", "synthetic_gpu_rank0", "--trace", "synthetic_gpu_rank1"];
    assert_eq!(title(&both), "2 traces");
}
