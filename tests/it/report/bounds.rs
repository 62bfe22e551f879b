//! Reports on large stores: remainders with exact sums, pages that stay small, and traces that are
//! left out and named.

use std::fmt::Write;

use serde_json::Value;

use super::{job, json, page, report, rows, store, total};
use crate::support::{TestStore, elements, texts, tracesql};

/// A trace with this number of operators, which have different names and durations of 1, 2, 3, …
/// microseconds.
fn many_operators(count: usize, name: impl Fn(usize) -> String) -> TestStore {
    let mut text = String::new();
    for i in 0..count {
        let comma = if i > 0 { ",\n" } else { "" };
        let _ = write!(
            text,
            r#"{comma}{{"ph":"X","cat":"cpu_op","name":"{}","pid":1,"tid":1,"ts":{},"dur":{}}}"#,
            name(i),
            i * 100_000,
            i + 1
        );
    }
    elements(text)
}

#[test]
fn rows_beyond_the_bound_become_a_rest() {
    let store = many_operators(5100, |i| format!("op{i}"));
    let report = json(&store, &[]);
    let rest = &report["sections"]["operators"]["rest"][0];
    assert_eq!((rows(&report, "operators").len(), rest["rows"].as_u64()), (5000, Some(100)));
    // The remainder contains the shortest operators: 1 to 100 us.
    assert_eq!(
        (rest["sums"]["calls"].as_i64(), rest["sums"]["host_self_ns"].as_i64()),
        (Some(100), Some(5_050_000))
    );
    assert_eq!(total(&report, "operators", "host_self_ns"), 5100 * 5101 / 2 * 1000);
    assert_eq!(
        total(&report, "flame", "host_ns"),
        5100 * 5101 / 2 * 1000,
        "merged frames keep the sum"
    );
    assert!(
        rows(&report, "flame")
            .iter()
            .any(|r| r["name"] == "(other)" && r["merged"].as_i64() > Some(0))
            || rows(&report, "flame").len() > 5100
    );
}

#[test]
fn pages_stay_below_5_mb_and_comments_below_their_limit() {
    let long = "x".repeat(3000);
    let store = many_operators(4000, |i| format!("op{i}_{long}"));
    let size = std::fs::metadata(page(&store)).expect("the page").len();
    assert!(size < 5_000_000, "{size} bytes");
    let comment = report(&store, "markdown", &[]);
    assert!(comment.len() < 65_536, "{} bytes", comment.len());
}

#[test]
fn pages_of_fixtures_stay_below_400_kb_and_their_scripts_below_170() {
    let fixtures: [&[&str]; 5] = [
        &["synthetic_gpu_rank0.json.gz", "synthetic_gpu_rank1.json.gz"],
        &["ddp_rank0.pt.trace.json.gz", "ddp_rank1.pt.trace.json.gz"],
        &["resnet_cpu.pt.trace.json.gz"],
        &["moe/moe_training.json.gz"],
        &["perf.json"],
    ];
    for names in fixtures {
        let html = std::fs::read_to_string(page(&store(names))).expect("the page");
        let data = html
            .split("id=\"data\">")
            .nth(1)
            .and_then(|rest| rest.split("</script>").next())
            .map_or(0, str::len);
        assert!(html.len() < 400_000, "{names:?}: {} bytes", html.len());
        assert!(html.len() - data < 170_000, "{names:?}: {} bytes of ours", html.len() - data);
    }
}

#[test]
fn a_comment_on_all_fixtures_stays_below_its_limit() {
    let comment = report(&crate::support::fixtures(), "markdown", &[]);
    assert!(comment.len() < 65_536, "{} bytes", comment.len());
}

#[test]
fn traces_beyond_the_bound_are_named() {
    let store = job();
    let found = json(&store, &["--max-traces", "1"]);
    assert_eq!(
        (
            found["traces"].as_array().map(Vec::len),
            found["traces_left_out"].as_array().map(Vec::len)
        ),
        (Some(1), Some(1))
    );
    let found = json(&store, &["--trace", "synthetic_gpu_rank1.json.gz"]);
    assert_eq!(
        (found["traces"].as_array().map(Vec::len), found["traces"][0]["rank"].as_i64()),
        (Some(1), Some(1))
    );
    assert!(report(&store, "text", &["--max-traces", "1"]).contains("left out: 1 more trace"));
}

/// Steps with two kernels on each device: one of 3 us and, 1 us later, another of 5 us.
fn many_steps(steps: usize, devices: usize) -> TestStore {
    let mut all = Vec::new();
    for step in 0..steps {
        let at = step * 20;
        all.push(format!(r#"{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{step}","pid":1,"tid":1,"ts":{at},"dur":19}}"#));
        for device in 0..devices {
            for (i, (name, start, dur)) in
                [("ampere_sgemm_64x64_nn", 4, 3), ("void softmax_warp_forward<float>()", 8, 5)]
                    .into_iter()
                    .enumerate()
            {
                let (correlation, launch) = (1 + 2 * (step * devices + device) + i, at + 1 + i);
                let ids = format!(r#""correlation":{correlation}"#);
                all.push(format!(
                    r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{launch},"dur":0.5,"args":{{{ids}}}}}"#
                ));
                all.push(format!(
                    r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":{device},"tid":7,"ts":{},"dur":{dur},"args":{{{ids},"device":{device},"stream":7}}}}"#,
                    at + start
                ));
            }
        }
    }
    elements(all.join(",\n"))
}

#[test]
fn neighbouring_steps_are_added_up_by_class() {
    for (steps, devices, bars) in [(900, 1, 300), (3, 2, 3), (50, 40, 17)] {
        let report = json(&many_steps(steps, devices), &[]);
        let classes = rows(&report, "device_classes_by_step");
        assert_eq!(classes.len(), bars * devices * 2, "{steps} steps, {devices} devices");
        assert_eq!(
            total(&report, "device_classes_by_step", "time_ns"),
            (steps * devices * 8 * 1000) as i64
        );
        let ends: Vec<i64> = classes.iter().filter_map(|r| r["last_step"].as_i64()).collect();
        assert_eq!((ends.len(), ends.iter().max()), (classes.len(), Some(&(steps as i64 - 1))));
        for row in classes {
            let (first, last) = (
                row["first_step"].as_i64().expect("a step"),
                row["last_step"].as_i64().expect("a step"),
            );
            let own = if row["class"] == "gemm" { 3000 } else { 5000 };
            assert_eq!(row["time_ns"].as_i64(), Some((last - first + 1) * own), "{row}");
            assert_eq!(row["busy_ns"].as_i64(), Some((last - first + 1) * 8000), "{row}");
        }
    }
}

#[test]
fn an_unknown_trace_is_an_error() {
    let store = job();
    let out = tracesql(&["report", &store.store.root().to_string_lossy(), "--trace", "nobody"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(texts(&out).1.contains("there is no trace \"nobody\""), "{}", texts(&out).1);
}

#[test]
fn an_empty_store_is_reported_as_empty() {
    let store = TestStore::new();
    assert!(report(&store, "text", &[]).contains("The store holds no trace."));
    assert!(report(&store, "markdown", &[]).contains("The store holds no trace."));
    assert_eq!(json(&store, &[])["traces"], serde_json::json!([]));
}

#[test]
fn equal_stores_give_equal_bytes() {
    let (a, b) = (job(), job());
    for format in ["text", "markdown", "json", "html"] {
        assert!(
            report(&a, format, &[]) == report(&b, format, &[]),
            "{format} differs from run to run"
        );
    }
}

#[test]
fn ranks_are_judged_beside_those_that_are_not_shown() {
    let store = job();
    let all = json(&store, &[]);
    let waits = |report: &Value| -> Vec<Value> {
        rows(report, "ranks")
            .iter()
            .map(|r| Value::from(vec![r["rank"].clone(), r["wait_ns"].clone()]))
            .collect()
    };
    for more in [&["--max-traces", "1"][..], &["--trace", "synthetic_gpu_rank0.json.gz"]] {
        let one = json(&store, more);
        assert_eq!(one["traces"].as_array().expect("traces").len(), 1);
        assert_eq!(waits(&one), waits(&all)[..1]);
        let text = one.to_string();
        assert!(!text.contains("has no other rank"), "the other rank is there");
    }
}
