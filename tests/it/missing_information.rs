//! Information that a trace did not record is NULL or reported as missing. It is never zero.

use crate::support::{TestStore, elements, fixture};

#[test]
fn what_was_not_recorded_is_not_zero() {
    let event = |cat: &str, name: &str, ts: i64, args: &str| {
        format!(
            r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":1,"tid":1,"ts":{ts},"dur":10,"args":{{{args}}}}}"#
        )
    };
    let list = [
        event("operator", "aten::mm", 0, r#""Input Dims":[]"#),
        event("runtime", "cudaLaunchKernel", 2, r#""correlation":1"#),
        event("kernel", "k", 5, r#""device":0,"stream":7,"correlation":1"#),
        event("cuda_sync", "Stream Sync", 30, r#""device":0,"stream":7"#),
    ];
    let (store, _) =
        TestStore::of_text(format!(r#"{{"schemaVersion":1,"traceEvents":[{}]}}"#, list.join(",")));
    assert_eq!(
        store.lines("SELECT status, events FROM coverage WHERE information = 'shapes'"),
        ["missing 0"]
    );
    assert_eq!(store.value("SELECT count(sm_efficiency_pct) FROM gpu_utilization_over_time"), "0");
    // Lower-case categories come from old profilers. Waits do not count as work.
    assert_eq!(
        store.lines("SELECT kernels, linked_pct, linked_time_pct FROM trace_summary"),
        ["1 100.0 100.0"]
    );
}

#[test]
fn marks_of_lightning_are_modules() {
    let store = elements(
        r#"{"ph":"X","cat":"user_annotation","name":"[pl][module]torch.nn.modules.linear.Linear: model.head","pid":1,"tid":1,"ts":0,"dur":5}"#,
    );
    assert_eq!(store.lines("SELECT path FROM module_tree WHERE path IS NOT NULL"), ["model.head"]);
    assert_eq!(
        store.lines("SELECT status, events FROM coverage WHERE information = 'modules'"),
        ["present 1"]
    );
}

#[test]
fn gaps_before_work_without_a_launch_are_unlinked() {
    let kernel = |name: &str, ts: i64, more: &str| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":0,"tid":7,"ts":{ts},"dur":10,"args":{{"device":0,"stream":7{more}}}}}"#
        )
    };
    let text = format!(
        r#"{{"schemaVersion":1,"traceEvents":[{},{},{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":150,"dur":5,"args":{{"correlation":9}}}},{}]}}"#,
        kernel("a", 0, ""),
        kernel("b", 100, ""),
        kernel("c", 200, r#","correlation":9"#)
    );
    let (store, _) = TestStore::of_text(text);
    let parts = "SELECT after_name, cause, host_late_ns, launch_call_ns, queued_ns, unlinked_ns \
        FROM gpu_idle_gaps ORDER BY start_ns";
    assert_eq!(store.lines(parts), ["b unlinked 0 0 0 90000", "c queued 40000 5000 45000 0"]);
}

#[test]
fn memory_of_a_thread_with_two_spellings_has_stacks() {
    let store = TestStore::new();
    store.ingest(&fixture("old_kineto.json.gz")).expect("it is read");
    assert_eq!(
        store.value(
            "SELECT count(*) FROM alloc_stacks WHERE stack_leaf(stack) = '(outside of events)'"
        ),
        "0"
    );
    assert_eq!(
        store.lines("SELECT stack_leaf(stack), count(*) FROM alloc_stacks GROUP BY 1 ORDER BY 1"),
        ["aten::stack 5", "cudaLaunchKernel 5"]
    );
}

/// Without operators, the time of a trace is that of its device work, all of it.
#[test]
fn the_first_work_of_a_trace_without_operators_counts() {
    let mut list = Vec::new();
    for (no, (ts, dur)) in
        [(0, 900_000), (910_000, 1_000), (920_000, 1_000)].into_iter().enumerate()
    {
        let call = ts - 1;
        list.push(format!(
            r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{call},"dur":1,"args":{{"correlation":{no}1}}}},
               {{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{ts},"dur":{dur},"args":{{"device":0,"stream":7,"correlation":{no}1}}}}"#
        ));
    }
    let (store, _) =
        TestStore::of_text(format!(r#"{{"schemaVersion":1,"traceEvents":[{}]}}"#, list.join(",")));
    assert_eq!(store.lines("SELECT total_ns, kernel_ns FROM step_time"), ["921000000 902000000"]);
    let window = "SELECT end_ns - start_ns, denominator_name FROM _step_shares";
    assert_eq!(store.lines(window), ["921000000 from the first to the last device work, ns"]);
    // No operations are known, so that there is no share of the peak.
    assert_eq!(
        store.lines("SELECT flop, tflop_s, hfu_pct, bytes FROM step_mfu"),
        ["NULL NULL NULL NULL"]
    );
}
