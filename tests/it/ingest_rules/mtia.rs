//! MTIA: kernels, copies and waits of the device have a single category, and some kinds of them
//! have no correlation.

use crate::support::{TestStore, elements};

/// A launched kernel, and other activities of a device's command processors.
fn trace(others: &str) -> TestStore {
    elements(format!(
        r#"{{"ph":"X","cat":"mtia_runtime","name":"runFunction - job_prep_and_submit_for_execution","pid":1,"tid":1,"ts":10,"dur":5,"args":{{"correlation":5}}}},
           {{"ph":"X","cat":"mtia_ccp_events","name":"fc-dtype_Float","pid":9,"tid":4,"ts":20,"dur":50,"args":{{"correlation":5,"stream":1}}}}{others}"#
    ))
}

fn row(name: &str, ts: i64, args: &str) -> String {
    format!(
        r#", {{"ph":"X","cat":"mtia_ccp_events","name":"{name}","pid":9,"tid":5,"ts":{ts},"dur":5,"args":{{{args}}}}}"#
    )
}

#[test]
fn requests_are_copies_and_event_commands_are_waits() {
    let names = [
        "batch_matmul-dtype_Float",
        "dma_request",
        "event_record",
        "event_wait",
        "pe_exe",
        "dma_requests",
    ];
    let store =
        trace(&names.iter().zip(1..).map(|(name, i)| row(name, 100 * i, "")).collect::<String>());
    assert_eq!(
        store.lines("SELECT kind, name FROM kernels ORDER BY ts_ns"),
        [
            "kernel fc-dtype_Float",
            "kernel batch_matmul-dtype_Float",
            "memcpy dma_request",
            "sync event_record",
            "sync event_wait",
            "kernel pe_exe",
            "kernel dma_requests"
        ]
    );
}

#[test]
fn copies_are_not_computation() {
    let store = trace(&row("dma_request", 100, r#""direction":"HOST_TO_DEVICE","size":1852"#));
    assert_eq!(
        store.lines("SELECT computation_time_ns, exposed_memcpy_time_ns FROM gpu_timeline"),
        ["50000 5000"]
    );
}

#[test]
fn work_of_a_kind_without_any_correlation_has_the_reason_never_correlated() {
    let copies: String = (0..20).map(|i| row("dma_request", 100 + 10 * i, "")).collect();
    let store = trace(&copies);
    let reasons = "SELECT kind, link, link_reason, count(*) FROM kernels GROUP BY ALL ORDER BY 1";
    assert_eq!(
        store.lines(reasons),
        ["kernel correlation NULL 1", "memcpy none never_correlated 20"]
    );
    assert_eq!(
        store.lines("SELECT status, value, numerator, denominator FROM rule_unlinked_work"),
        ["ok 0.0 0 1"]
    );
    let message = store.value("SELECT message FROM rule_unlinked_work");
    assert!(message.ends_with(" 20 more are of a kind that never carries a correlation in this trace, and not counted."), "{message}");
    assert_eq!(
        store.lines("SELECT kernels, linked_kernels, unlinkable_kernels, linked_pct, linked_time_pct FROM trace_summary"),
        ["21 1 20 100.0 100.0"]
    );
    assert_eq!(
        store.lines("SELECT status, events, candidates FROM coverage WHERE information = 'links'"),
        ["present 1 1"]
    );
}

#[test]
fn work_without_a_correlation_is_unlinked_if_others_of_its_kind_have_one() {
    // Eight copies have a correlation and four have none. That is enough to judge shares.
    let copies: Vec<String> = (1..=12)
        .map(|at| row("dma_request", 100 * at, if at <= 8 { r#""correlation":5"# } else { "" }))
        .collect();
    let store = trace(&copies.concat());
    assert_eq!(
        store.lines("SELECT link, link_reason, count(*) FROM kernels WHERE kind = 'memcpy' GROUP BY link, link_reason ORDER BY link"),
        ["correlation NULL 8", "none no_correlation 4"]
    );
    assert_eq!(
        store.lines("SELECT status, severity, numerator, denominator FROM rule_unlinked_work"),
        ["finding medium 4 13"]
    );
    let advice = store.value("SELECT advice FROM rule_unlinked_work");
    assert!(advice.starts_with("Most of it carries no correlation with a call"), "{advice}");
}

#[test]
fn without_any_correlation_no_kind_is_special() {
    let store = elements(format!(
        r#"{{"ph":"M","name":"process_name","pid":9,"args":{{"name":"MTIA"}}}}{}"#,
        row("dma_request", 100, "")
    ));
    assert_eq!(store.lines("SELECT link, link_reason FROM kernels"), ["none no_correlation"]);
}
