//! The interface that programs rely on: the names in the JSON, and figures that equal those of the
//! views.

use serde_json::Value;

use super::{job, json, rows, store, total};

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn columns<'a>(report: &'a Value, section: &str) -> Vec<&'a str> {
    report["sections"][section]["columns"]
        .as_array()
        .expect("columns")
        .iter()
        .filter_map(|c| c["name"].as_str())
        .collect()
}

const SECTIONS: [&str; 44] = [
    "traces",
    "overview",
    "findings",
    "device_time",
    "device_classes",
    "device_classes_by_step",
    "device_timeline",
    "devices",
    "steps",
    "operators",
    "kernels",
    "copies",
    "mfu",
    "roofline",
    "roofline_points",
    "bandwidth_points",
    "roofline_roofs",
    "memory_peaks",
    "memory_curve",
    "memory_at_peak",
    "modules",
    "flame",
    "call_graph",
    "blame",
    "rank_lost_time",
    "ranks",
    "stragglers",
    "collectives",
    "categories",
    "mllm_summary",
    "mllm_memory_curve",
    "mllm_blobs",
    "mllm_operations",
    "mllm_operation_totals",
    "snapshot_ooms",
    "snapshot_devices",
    "snapshot_curve",
    "snapshot_at_peak",
    "snapshot_categories",
    "snapshot_pools",
    "snapshot_flame",
    "flight_hangs",
    "coverage",
    "issues",
];

#[test]
fn names_are_stable() {
    let report = json(&job(), &[]);
    assert_eq!(
        keys(&report),
        [
            "schema",
            "schema_version",
            "tracesql_version",
            "traces",
            "traces_left_out",
            "settings_changed",
            "sections"
        ]
    );
    assert_eq!(report["schema"], "tracesql.report");
    assert_eq!(
        report["schema_version"], 1,
        "a change of the document raises it, and docs/report.md says so"
    );
    assert_eq!(keys(&report["traces"][0]), ["trace_id", "path", "rank", "format"]);
    assert_eq!(keys(&report["sections"]), SECTIONS);
    for (name, section) in report["sections"].as_object().expect("sections") {
        assert_eq!(
            keys(section),
            ["title", "about", "status", "error", "sql", "columns", "rest", "missing", "rows"],
            "{name}"
        );
        assert_ne!(section["status"], "failed", "{name}: {}", section["error"]);
        for row in section["rows"].as_array().expect("rows") {
            assert_eq!(keys(row), columns(&report, name), "{name}");
            assert_eq!(keys(row)[0], "trace_id", "{name}");
        }
    }
    let operators = [
        "trace_id",
        "name",
        "calls",
        "host_self_ns",
        "host_self_pct",
        "host_total_ns",
        "device_self_ns",
        "device_self_pct",
    ];
    assert_eq!(columns(&report, "operators")[..8], operators);
    let kernels =
        ["trace_id", "name", "class", "matrix_unit", "device", "calls", "total_ns", "total_pct"];
    assert_eq!(columns(&report, "kernels")[..8], kernels);
    let classes = [
        "trace_id", "device", "class", "part", "activities", "names", "time_ns", "time_pct",
        "busy_ns",
    ];
    assert_eq!(columns(&report, "device_classes")[..9], classes);
    let findings = [
        "trace_id", "rule", "status", "severity", "rank", "device", "step", "subject", "value",
        "unit", "threshold", "numerator",
    ];
    assert_eq!(columns(&report, "findings")[..12], findings);
    assert_eq!(
        columns(&report, "flame"),
        ["trace_id", "node", "parent", "name", "merged", "host_ns", "device_ns", "allocated_bytes"]
    );
}

#[test]
fn traces_come_in_the_order_of_ranks() {
    let report = json(&job(), &[]);
    let ranks: Vec<_> =
        report["traces"].as_array().expect("traces").iter().map(|t| t["rank"].as_i64()).collect();
    assert_eq!(ranks, [Some(0), Some(1)]);
}

#[test]
fn figures_are_those_of_the_views() {
    let store = job();
    let report = json(&store, &[]);
    for (section, column, sql) in [
        ("operators", "host_self_ns", "SELECT sum(host_self_ns) FROM operators"),
        ("operators", "device_self_ns", "SELECT sum(device_self_ns) FROM operators"),
        ("kernels", "total_ns", "SELECT sum(dur_ns) FROM kernels WHERE kind = 'kernel'"),
        ("flame", "device_ns", "SELECT sum(gpu_ns) FROM stack_samples"),
        ("flame", "host_ns", "SELECT sum(cpu_ns) FROM stack_samples"),
        ("flame", "allocated_bytes", "SELECT sum(alloc_space_bytes) FROM stack_samples"),
        ("call_graph", "device_ns", "SELECT sum(device_self_ns) FROM call_graph"),
        (
            "copies",
            "total_ns",
            "SELECT sum(dur_ns) FROM kernels WHERE kind IN ('memcpy', 'memset')",
        ),
        ("device_classes", "time_ns", "SELECT sum(busy_time_ns) FROM gpu_timeline_by_device"),
        ("device_classes", "total_ns", "SELECT sum(dur_ns) FROM kernels WHERE kind <> 'sync'"),
        (
            "device_classes_by_step",
            "time_ns",
            "SELECT sum(time_ns) FROM gpu_time_by_class_and_step",
        ),
        (
            "device_classes_by_step",
            "total_ns",
            "SELECT sum(dur_ns) FROM kernels WHERE kind <> 'sync'",
        ),
        ("device_timeline", "busy_time_ns", "SELECT sum(busy_time_ns) FROM gpu_timeline_by_device"),
        ("device_timeline", "idle_time_ns", "SELECT sum(idle_time_ns) FROM gpu_timeline_by_device"),
        ("steps", "total_ns", "SELECT sum(total_ns) FROM step_time"),
        ("memory_curve", "records", "SELECT count(*) FROM memory_curve"),
    ] {
        assert_eq!(total(&report, section, column), store.ints(sql)[0], "{section}.{column}");
    }
    let peak = rows(&report, "memory_peaks")
        .iter()
        .filter_map(|r| r["peak_allocated_bytes"].as_i64())
        .max();
    assert_eq!(peak, Some(219_278_848), "the peak that README names");
}

#[test]
fn the_query_of_a_section_can_be_asked() {
    let store = job();
    let report = json(&store, &[]);
    for name in [
        "device_time",
        "device_classes",
        "device_classes_by_step",
        "kernels",
        "copies",
        "steps",
        "issues",
    ] {
        let section = &report["sections"][name];
        let answer = store.rows(section["sql"].as_str().expect("SQL"));
        assert_eq!(answer.len(), section["rows"].as_array().expect("rows").len(), "{name}");
    }
}

#[test]
fn what_is_missing_is_reported() {
    let report = json(&store(&["resnet_cpu.pt.trace.json.gz"]), &[]);
    let kernels = &report["sections"]["kernels"];
    assert_eq!(kernels["status"], "not_recorded");
    assert_eq!(kernels["missing"][0]["status"], "not_recorded");
    let reason = kernels["missing"][0]["reason"].as_str().expect("a reason");
    assert!(
        reason.starts_with("not recorded: device") && reason.contains("ProfilerActivity.CUDA"),
        "{reason}"
    );
    assert_eq!(report["sections"]["ranks"]["status"], "not_applicable");
    assert_eq!(report["sections"]["operators"]["status"], "ok");

    let report = json(&store(&["perf.json"]), &[]);
    assert_eq!(report["sections"]["operators"]["status"], "not_applicable");
    assert_eq!(report["sections"]["mllm_summary"]["rows"][0]["peak_bytes"], 51_499_008);
    assert_eq!(
        total(&report, "mllm_blobs", "bytes"),
        rows(&report, "mllm_blobs").iter().filter_map(|b| b["bytes"].as_i64()).sum::<i64>()
    );
}

#[test]
fn every_trace_has_rows_or_a_reason_in_every_section() {
    let report = json(&crate::support::fixtures(), &[]);
    let traces = report["traces"].as_array().expect("traces");
    assert!(traces.len() >= 9, "all fixtures");
    for (name, section) in report["sections"].as_object().expect("sections") {
        assert_ne!(section["status"], "failed", "{name}: {}", section["error"]);
        for trace in traces {
            let id = &trace["trace_id"];
            let has_rows =
                section["rows"].as_array().expect("rows").iter().any(|r| r["trace_id"] == *id);
            let reasons: Vec<_> = section["missing"]
                .as_array()
                .expect("missing")
                .iter()
                .filter(|m| m["trace_id"] == *id)
                .collect();
            assert_eq!(reasons.len(), usize::from(!has_rows), "{name} of {id}");
            for reason in reasons {
                assert!(
                    !reason["reason"].as_str().unwrap_or("").is_empty(),
                    "{name} of {id} has a reason"
                );
            }
        }
    }
}

#[test]
fn changed_settings_are_named() {
    let report = json(&store(&["perf.json"]), &["--set", "time_buckets=7"]);
    assert_eq!(
        report["settings_changed"],
        serde_json::json!([{"name": "time_buckets", "value": "7", "default": "100"}])
    );
}
