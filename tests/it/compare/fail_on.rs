//! Conditions that make a comparison fail, and the exit codes.

use super::{RANK0, RANK1};
use crate::check::Place;
use crate::support::fixture;

#[test]
fn conditions_hold_for_rows_that_are_slower() {
    let place = Place::ranks();
    let run = |code: i32, condition: &str| {
        place.ends(code, &["compare", RANK0, RANK1, "--by", "step", "--fail-on", condition])
    };
    let out = run(1, "op:20%:100us");
    let failures: Vec<&str> = out.lines().filter(|l| l.starts_with("FAIL ")).collect();
    assert_eq!(failures.len(), 2, "{out}");
    assert!(
        failures[0]
            .starts_with("FAIL op:20%:100us: op aten::mm (device): 779 µs → 1.01 ms, +29.6 %"),
        "{out}"
    );
    assert!(failures[1].contains("op aten::addmm (device)"), "{out}");
    run(0, "op:20%:1ms");
    run(0, "step:5%");
    // Faster rows, noise and equal rows are not failures.
    run(0, "kernel:40%");
    run(1, "kernel_type:10%");
    run(1, "class:20%");
    run(0, "class:added");
    run(0, "op:added");
    run(0, "kernel:removed");
    let out =
        place.ends(1, &["compare", RANK1, RANK0, "--by", "step", "--fail-on", "kernel_type:50%"]);
    assert!(
        out.contains(
            "FAIL kernel_type:50%: kernel_type communication (device): 1.17 ms → 2.54 ms, +117.1 %"
        ),
        "{out}"
    );
}

#[test]
fn without_a_verdict_a_difference_is_no_pass() {
    let place = Place::new(&["ddp_rank0.pt.trace.json.gz", "ddp_rank1.pt.trace.json.gz"]);
    let (base, cand) = ("ddp_rank0", "ddp_rank1");
    let out = place.ends(0, &["compare", base, cand, "--by", "step"]);
    assert!(out.contains("not judged: the base has 2 steps, 4 are needed"), "{out}");
    let out = place.ends(1, &["compare", base, cand, "--by", "step", "--fail-on", "op:10%:10us"]);
    assert!(out.contains("not judged: the base has 2 steps, 4 are needed"), "{out}");
    place.ends(0, &["compare", base, base, "--fail-on", "op:0%"]);
    // A condition without matching rows is an error: a CPU trace has no kernels.
    let out = place.ends(4, &["compare", base, cand, "--fail-on", "kernel:5%"]);
    assert!(
        out.contains("--fail-on kernel:5%: nothing compares by kernel: neither side has any"),
        "{out}"
    );
}

#[test]
fn stores_without_common_steps_are_not_judged() {
    let place = Place::new(&["old_kineto.json.gz"]);
    place.write("steps.json", r#"{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5000}]}"#);
    let out = place.ends(0, &["compare", "old_kineto", "steps.json"]);
    assert!(out.contains("times are per trace, because a side has no steps"), "{out}");
    assert!(out.contains("not judged: the candidate has no steps"), "{out}");
    let note = "note: the candidate has no steps, so no difference can be told from noise; call \
        prof.step() at the end of each step";
    assert!(out.split_whitespace().collect::<Vec<_>>().join(" ").contains(note), "{out}");
    // aten::mm takes longer on the host. The difference cannot be distinguished from noise, which
    // does not count as passed.
    let out = place.ends(4, &["compare", "old_kineto", "steps.json", "--fail-on", "op:5%"]);
    assert!(
        out.contains(
            "--fail-on op:5%: op does not compare by device: the candidate has no device work"
        ),
        "{out}"
    );
}

/// Sides that have nothing in common are rejected for every dimension. The result is not an empty
/// table.
#[test]
fn sides_of_different_kinds_do_not_compare() {
    let place = Place::new(&[
        "old_kineto.json.gz",
        "chrome_mixed.json",
        "perf.json",
        "ddp_rank0.pt.trace.json.gz",
    ]);
    for (base, cand) in [
        ("old_kineto", "perf"),
        ("perf", "old_kineto"),
        ("old_kineto", "chrome_mixed"),
        ("chrome_mixed", "perf"),
    ] {
        for more in [
            &["--format", "json"][..],
            &["--by", "op"],
            &["--by", "family"],
            &["--fail-on", "family:5%"],
            &["--fail-on", "op:added"],
        ] {
            let out = place.ends(4, &[&["compare", base, cand], more].concat());
            assert!(
                out.contains("nothing compares: the base is of format "),
                "{base} with {cand} {more:?}: {out}"
            );
        }
    }
    let out = place.ends(4, &["compare", "old_kineto", "perf"]);
    assert!(
        out.contains(
            "nothing compares: the base is of format kineto, the candidate of format \
            mllm_perf; the candidate has no device work, steps"
        ),
        "{out}"
    );
    // A CPU trace has no kernels. A trace of the same kind could have some, so the message names
    // the base as the side that lacks them.
    let out = place.ends(4, &["compare", "old_kineto", "ddp_rank0", "--by", "kernel"]);
    assert!(out.contains("the candidate has no device work"), "{out}");
    // Recordings of one kind can be compared even if no name occurs on both sides.
    place.ends(0, &["compare", "perf", "perf", "--fail-on", "op:5%"]);
    let perf = |op: &str| {
        format!(
            r#"{{"init_time":1,"memory_blobs":[],"op_blobs":[{{"op_name":"{op}","device_type":"CPU","start_time":2,"end_time":5}}]}}"#
        )
    };
    place.write("a.json", &perf("Linear"));
    place.write("b.json", &perf("Attention"));
    let out = place.ends(0, &["compare", "a.json", "b.json"]);
    assert!(
        out.contains("no name is on both sides: all that is shown is added or removed"),
        "{out}"
    );
    let out = place.ends(4, &["compare", "a.json", "b.json", "--fail-on", "op:5%"]);
    assert!(
        out.contains("--fail-on op:5%: nothing compares by op: no name is on both sides"),
        "{out}"
    );
    let out = place.ends(4, &["compare", "a.json", "b.json", "--fail-on", "family:5%"]);
    assert!(out.contains("--fail-on family:5%: nothing compares by family"), "{out}");
}

#[test]
fn inputs_that_do_not_compare_are_errors() {
    let place = Place::ranks();
    place.ends(2, &["compare", RANK0]);
    for condition in ["5%", "step:5", "steps:5%", "op:10%:100", "op:gone"] {
        let out = place.ends(2, &["compare", RANK0, RANK1, "--fail-on", condition]);
        assert!(out.contains("--fail-on <CONDITION>"), "{out}");
    }
    place.ends(2, &["compare", RANK0, RANK1, "--by", "steps"]);
    place.ends(3, &["compare", RANK0, "not-here"]);
    place.write("page.html", "<html>");
    place.ends(3, &["compare", "page.html", RANK0]);
    std::fs::create_dir(place.path("old")).expect("a folder");
    place.write("old/tracesql-store.json", "{\"schema_version\":1}\n");
    let out = place.ends(4, &["compare", "old", RANK0]);
    assert!(out.contains("nothing compares: old: it has schema version 1"), "{out}");
    // Two traces that contain nothing to compare.
    place.write("a.json", r#"{"traceEvents":[{"ph":"i","name":"a","ts":1}]}"#);
    place.write("b.json", r#"{"traceEvents":[{"ph":"i","name":"b","ts":1}]}"#);
    let out = place.ends(4, &["compare", "a.json", "b.json"]);
    assert!(out.contains("neither side has anything to compare"), "{out}");
}

#[test]
fn traces_compare_without_stores_and_ranks_as_one() {
    let place = Place::ranks();
    let path = |name: &str| fixture(name).to_str().expect("a path").to_owned();
    let (rank0, rank1) = (path("synthetic_gpu_rank0.json.gz"), path("synthetic_gpu_rank1.json.gz"));
    let of_traces = super::rows(&place, &[&rank0, &rank1]);
    assert_eq!(of_traces, super::rows(&place, &[RANK0, RANK1]));
    // Both ranks are on both sides. All figures are equal, because they are a mean over two ranks.
    place.ends(0, &["ingest", "-q", &rank0, &rank1, "-o", "both"]);
    let both = super::rows(&place, &["both", "both"]);
    assert!(both.iter().all(|r| r["verdict"] == "same" && r["delta_ns"] == 0.0));
    let step =
        both.iter().find(|r| r["dimension"] == "step" && r["measure"] == "time").expect("the step");
    assert_eq!(
        (step["base_traces"].as_i64(), step["base_step_ns"].as_f64()),
        (Some(2), Some((4_770_122.0 + 4_743_605.5) / 2.0))
    );
    // One rank is compared with both. Each row shows the ranks that have it.
    let one = super::rows(&place, &[RANK0, "both"]);
    let step =
        one.iter().find(|r| r["dimension"] == "step" && r["measure"] == "time").expect("the step");
    assert_eq!((step["base_traces"].as_i64(), step["cand_traces"].as_i64()), (Some(1), Some(2)));
}

#[test]
fn lost_ranks_and_changed_settings_are_said() {
    let place = Place::ranks();
    let [rank0, rank1] =
        [RANK0, RANK1].map(|name| fixture(&format!("{name}.json.gz")).display().to_string());
    place.ends(0, &["ingest", "-q", &rank0, "-o", "both"]);
    place.ends(0, &["ingest", "-q", &rank1, "-o", "both"]);
    let args = ["compare", "both", RANK0, "--by", "step", "--limit", "1"];
    assert!(place.ends(0, &args).contains("the candidate has no trace of rank 1"));
    assert!(place.ends(1, &[&args[..], &["--fail-on", "step:1000%"]].concat()).contains("ranks"));
    let text = place.ends(0, &["compare", RANK0, RANK1, "--by", "step"]);
    let ranks = text.lines().find(|l| l.trim_start().starts_with("Rank ")).unwrap_or_default();
    assert!(ranks.split_whitespace().eq(["Rank", "0", "1"]), "{text}");
    let text =
        place.ends(0, &["compare", RANK0, RANK0, "--by", "step", "--set", "compare_alpha=0.01"]);
    assert!(text.contains("setting compare_alpha is 0.01, by default 0.05"), "{text}");
}
