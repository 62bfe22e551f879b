//! Warnings about samples: one line at most, and none if nothing is lost.

use super::{samples, written};
use crate::support::{TestStore, elements, fixture, texts, tracesql};
use tracesql::stacks::Request;

#[test]
fn anomalies_that_cost_nothing_are_comments_and_no_warnings() {
    // The trace has events that overlap others, device work without a launch and the profiler's own
    // span. All of them together concern less than a hundredth of the time.
    let (store, _) = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz"));
    let root = store.store.root().to_string_lossy().into_owned();
    let file = store.folder.path().join("x").to_string_lossy().into_owned();
    for command in ["pprof", "folded", "flamegraph", "speedscope"] {
        let out = tracesql(&[command, &root, "-o", &file]);
        assert!(out.status.success());
        assert_eq!(texts(&out).1, "", "{command}");
    }
    let comments = samples(&store.store, &Request::default()).header.comments;
    assert!(
        comments.contains(
            &"1 device activity has no launch in the trace; such stacks begin with (launch not in \
              trace)"
                .to_owned()
        ),
        "{comments:?}"
    );
    assert!(
        comments.contains(
            &"1 event on no thread is left out (async events, the profiler's own rows)".to_owned()
        ),
        "{comments:?}"
    );
}

#[test]
fn anomalies_that_matter_are_one_line_after_everything_else() {
    let store = elements(
        r#"{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":100},
{"ph":"X","name":"b","pid":1,"tid":1,"ts":50,"dur":100},
{"ph":"X","name":"c","pid":1,"tid":1,"ts":120,"dur":100},
{"ph":"X","name":"negative","pid":1,"tid":2,"ts":5,"dur":-1},
{"ph":"b","id":1,"cat":"async","name":"waits","pid":1,"tid":1,"ts":0},
{"ph":"e","id":1,"cat":"async","name":"waits","pid":1,"tid":1,"ts":90}"#,
    );
    let root = store.store.root().to_string_lossy().into_owned();
    let out = tracesql(&["folded", &root]);
    let warning = "warning: 2 events overlap others partly; 1 event with a negative duration is \
        left out; 1 event on no thread is left out\n";
    assert_eq!(texts(&out).1, warning);
    // An error comes alone.
    let out = tracesql(&["folded", &root, "--measure", "gpu"]);
    assert_eq!(out.status.code(), Some(2));
    let (_, errors) = texts(&out);
    assert!(errors.starts_with("error: ") && !errors.contains("warning"), "{errors}");
    let comments = samples(&store.store, &Request::default()).header.comments;
    let overlap = "2 events overlap others partly: self times add up to more than the busy time \
        by 80 µs";
    assert!(comments.contains(&overlap.to_owned()), "{comments:?}");
}

#[test]
fn the_title_names_the_traces_that_have_samples() {
    let store = TestStore::new();
    for name in ["rank0", "rank1", "rank2"] {
        let path = store.folder.path().join(format!("{name}.json"));
        let event = format!(r#"{{"ph":"X","name":"{name} op","pid":1,"tid":1,"ts":0,"dur":9}}"#);
        std::fs::write(&path, format!("[{event}]")).expect("write a trace");
        store.ingest(&path).expect("the trace is read");
    }
    let root = store.store.root().to_string_lossy().into_owned();
    let title = |args: &[&str]| {
        let svg = written(&[&["flamegraph", &root], args].concat(), &store.folder.path().join("f"));
        let svg = String::from_utf8(svg).expect("UTF-8");
        let (_, rest) = svg.split_once("<text class=\"title\"").expect("a title");
        let text = rest.split_once('>').and_then(|(_, rest)| rest.split_once('<'));
        text.expect("the title has an end").0.to_owned()
    };
    assert_eq!(title(&[]), "3 traces");
    assert_eq!(title(&["--where", "trace_id LIKE 'rank1%'"]), "rank1.json");
    assert_eq!(title(&["--where", "trace_id NOT LIKE 'rank1%'"]), "2 traces");
    for rule in ["self", "flat", "inclusive"] {
        let only = ["--rule", rule, "--where", "name LIKE 'rank2%'"];
        assert_eq!(title(&only), "rank2.json", "{rule}");
    }
    let sql = "SELECT stack, cpu_ns, trace_id FROM stack_samples WHERE name = 'rank0 op'";
    assert_eq!(title(&["-c", sql]), "rank0.json");
    assert_eq!(title(&["--base", &root]), "3 traces compared with 3 traces");
}

#[test]
fn a_profile_is_not_written_to_a_terminal() {
    let Some(script) = crate::support::needs::script() else { return };
    let (store, _) = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz"));
    let command =
        format!("{} pprof {}", env!("CARGO_BIN_EXE_tracesql"), store.store.root().display());
    let out = std::process::Command::new(script)
        .args(["-qec", &command, "/dev/null"])
        .stdin(std::process::Stdio::null())
        .output()
        .expect("script runs");
    let text = texts(&out).0;
    assert!(text.trim_end().ends_with(": a pprof profile is binary; use -o FILE"), "{text}");
    assert_eq!(text.trim_end().lines().count(), 1, "{text}");
}
