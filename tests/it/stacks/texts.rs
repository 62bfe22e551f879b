//! Folded stacks, flame graphs and speedscope profiles.

use serde_json::Value;

use super::written;
use crate::support::{TestStore, elements, fixture, spans, texts, tracesql};

fn folded(store: &TestStore, args: &[&str]) -> String {
    let out = tracesql(&[&["folded", &store.store.root().to_string_lossy(), "-q"], args].concat());
    assert!(out.status.success(), "{}", texts(&out).1);
    texts(&out).0
}

#[test]
fn each_stack_is_a_line() {
    let store = spans(&[("step", 0, 100), ("mm", 10, 30), ("gemm", 15, 10), ("mm", 50, 20)]);
    assert_eq!(folded(&store, &[]), "step 50000\nstep;mm 40000\nstep;mm;gemm 10000\n");
    assert_eq!(folded(&store, &["--measure", "samples"]), "step 1\nstep;mm 2\nstep;mm;gemm 1\n");
    assert_eq!(
        folded(&store, &["--by-thread", "--where", "stack_contains(stack, 'gemm')"]),
        "thread 1;step;mm;gemm 10000\n"
    );
    assert_eq!(folded(&store, &["--rule", "flat"]), "gemm 10000\nmm 50000\nstep 100000\n");
    assert_eq!(
        folded(&store, &["--rule", "inclusive"]),
        "step 100000\nstep;mm 50000\nstep;mm;gemm 10000\n"
    );
}

#[test]
fn steps_and_ranks_select() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank1.json.gz")).0;
    let sum = |args: &[&str]| {
        folded(&store, args)
            .lines()
            .map(|l| l.rsplit(' ').next().expect("a value").parse::<i64>().expect("ns"))
            .sum::<i64>()
    };
    assert_eq!(
        sum(&["--step", "11"]),
        store.ints("SELECT sum(self_ns) FROM event_stacks WHERE step = 11")[0]
    );
    assert_eq!(
        sum(&["--rank", "1", "--measure", "gpu"]),
        store.ints("SELECT sum(dur_ns) FROM kernels WHERE kind <> 'sync'")[0]
    );
    let out = tracesql(&["folded", &store.store.root().to_string_lossy(), "--rank", "7"]);
    assert!(
        out.status.success()
            && texts(&out).0.is_empty()
            && texts(&out).1.contains("there are no samples"),
        "{:?}",
        texts(&out)
    );
}

#[test]
fn a_base_gives_two_values() {
    let (base, other) = (
        spans(&[("step", 0, 100), ("mm", 10, 30)]),
        spans(&[("step", 0, 120), ("mm", 10, 60), ("new", 80, 5)]),
    );
    assert_eq!(
        folded(&other, &["--base", &base.store.root().to_string_lossy()]),
        "step 70000 55000\nstep;mm 30000 60000\nstep;new 0 5000\n"
    );
}

#[test]
fn addresses_of_objects_make_no_difference() {
    let (base, other) =
        (spans(&[("<method f at 0x7f01>", 0, 100)]), spans(&[("<method f at 0x7fa2>", 0, 120)]));
    assert_eq!(
        folded(&other, &["--base", &base.store.root().to_string_lossy()]),
        "<method f> 100000 120000\n"
    );
    assert_eq!(folded(&other, &[]), "<method f at 0x7fa2> 120000\n");
}

#[test]
fn measures_that_are_not_there_are_named() {
    let store = spans(&[("step", 0, 100)]);
    let out = tracesql(&["folded", &store.store.root().to_string_lossy(), "--measure", "gpu"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(
        texts(&out).1.contains(
            "there is no measure \"gpu\" with values in these samples; there is samples, cpu"
        ),
        "{}",
        texts(&out).1
    );
}

#[test]
fn call_stack_texts_of_old_traces_stand_before_operators() {
    let store = elements(
        r#"{"ph":"X","cat":"Operator","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":100,"args":{"Call stack":"p.py(9): step;train.py(2): <module>"}},
{"ph":"X","cat":"Operator","name":"aten::conv2d","pid":1,"tid":1,"ts":10,"dur":50,"args":{"Call stack":"net.py(5): forward;train.py(3): <module>"}},
{"ph":"X","cat":"Operator","name":"aten::conv","pid":1,"tid":1,"ts":20,"dur":20,"args":{"Call stack":"net.py(5): forward;train.py(3): <module>"}},
{"ph":"X","cat":"Operator","name":"aten::add","pid":1,"tid":1,"ts":70,"dur":10,"args":{"Call stack":""}}"#,
    );
    let expected = "ProfilerStep* 40000\n\
        ProfilerStep*;aten::add 10000\n\
        ProfilerStep*;train.py(3): <module>;net.py(5): forward;aten::conv2d 30000\n\
        ProfilerStep*;train.py(3): <module>;net.py(5): forward;aten::conv2d;aten::conv 20000\n";
    assert_eq!(folded(&store, &[]), expected);
}

#[test]
fn flame_graphs_are_xml_and_do_not_change() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    let other = TestStore::with(&fixture("synthetic_gpu_rank1.json.gz")).0;
    let (root, base) = (
        store.store.root().to_string_lossy().into_owned(),
        other.store.root().to_string_lossy().into_owned(),
    );
    for args in [
        &["--measure", "cpu"][..],
        &["--measure", "gpu"],
        &["--measure", "alloc_space", "--direction", "flame"],
        &["--base", &base],
    ] {
        let draw = || {
            written(
                &[&["flamegraph", &root], args].concat(),
                &store.folder.path().join("flame.svg"),
            )
        };
        let svg = draw();
        let text = String::from_utf8(svg.clone()).expect("UTF-8");
        assert!(
            text.starts_with("<?xml")
                && text.trim_end().ends_with("</svg>")
                && text.contains("aten::"),
            "{args:?}"
        );
        assert_eq!(svg, draw(), "{args:?}");
    }
}

#[test]
fn speedscope_profiles_add_up() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    let bytes = written(
        &["speedscope", &store.store.root().to_string_lossy()],
        &store.folder.path().join("x.speedscope.json"),
    );
    let document: Value = serde_json::from_slice(&bytes).expect("JSON");
    assert_eq!(document["$schema"], "https://www.speedscope.app/file-format-schema.json");
    // It opens on host time, not on the number of samples.
    let active = document["activeProfileIndex"].as_u64().expect("a number") as usize;
    assert_eq!(document["profiles"][active]["name"], "cpu");
    let frames = document["shared"]["frames"].as_array().expect("frames").len() as u64;
    let profiles = document["profiles"].as_array().expect("profiles");
    let cpu = profiles.iter().find(|p| p["name"] == "cpu").expect("cpu");
    let weights: i64 =
        cpu["weights"].as_array().expect("weights").iter().map(|w| w.as_i64().expect("ns")).sum();
    assert_eq!(weights, store.ints("SELECT sum(self_ns) FROM event_stacks")[0]);
    assert_eq!(cpu["endValue"], weights);
    assert_eq!(cpu["unit"], "nanoseconds");
    for profile in profiles {
        let samples = profile["samples"].as_array().expect("samples");
        assert_eq!(samples.len(), profile["weights"].as_array().expect("weights").len());
        assert!(
            samples
                .iter()
                .flat_map(|s| s.as_array().expect("a stack"))
                .all(|f| f.as_u64().expect("a frame") < frames)
        );
    }
}
