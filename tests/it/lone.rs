//! A rank without the others, files without a folder, work without a launch: what is not known is
//! not zero.

use std::path::Path;

use tempfile::TempDir;

use crate::support::{TestStore, fixture, texts, tracesql_in};

#[test]
fn a_rank_alone_is_not_all_waiting() {
    let store = TestStore::new();
    store.ingest(&fixture("ddp_rank0.pt.trace.json.gz")).expect("it is read");
    assert_eq!(
        store.value("SELECT count(*) FROM communication_wait WHERE communication_ns > 0 AND (transfer_ns IS NOT NULL OR wait_ns IS NOT NULL)"),
        "0"
    );
    assert_eq!(store.value("SELECT count(*) FROM collective_operators WHERE transfer_ns IS NOT NULL OR mean_transfer_ns IS NOT NULL"), "0");
    assert!(store.ints("SELECT count(*) FROM communication_wait")[0] > 0);
}

#[test]
fn files_without_a_folder_are_of_one_job() {
    let folder = TempDir::new().expect("a folder");
    let names = ["synthetic_gpu_rank0.json.gz", "synthetic_gpu_rank1.json.gz"];
    for name in names {
        std::fs::copy(fixture(name), folder.path().join(name)).expect("a copy");
    }
    let run = |inputs: [&str; 2], sql: &str| {
        let cache = folder.path().join(format!("cache-{}", inputs[0].replace('/', "_")));
        let out = tracesql_in(
            folder.path(),
            &["-q", inputs[0], inputs[1], "--format", "csv", "-c", sql],
            &[("TRACESQL_CACHE", Path::new(&cache))],
        );
        texts(&out).0
    };
    let sql = "SELECT count(DISTINCT job), min(ranks), (SELECT sum(wait_ns) FROM stragglers) AS wait_ns FROM job_ranks";
    let bare = run(names, sql);
    assert!(bare.ends_with("1,2,5488932\n"), "{bare}");
    assert_eq!(bare, run(["./synthetic_gpu_rank0.json.gz", "./synthetic_gpu_rank1.json.gz"], sql));
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
    let parts = "SELECT after_name, cause, host_late_ns, launch_call_ns, queued_ns, unlinked_ns FROM gpu_idle_gaps ORDER BY start_ns";
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
    // Lower-case categories are those of old profilers; waits are no work.
    assert_eq!(
        store.lines("SELECT kernels, linked_pct, linked_time_pct FROM trace_summary"),
        ["1 100.0 100.0"]
    );
}

#[test]
fn marks_of_lightning_are_modules() {
    let store = crate::support::elements(
        r#"{"ph":"X","cat":"user_annotation","name":"[pl][module]torch.nn.modules.linear.Linear: model.head","pid":1,"tid":1,"ts":0,"dur":5}"#,
    );
    assert_eq!(store.lines("SELECT path FROM module_tree WHERE path IS NOT NULL"), ["model.head"]);
    assert_eq!(
        store.lines("SELECT status, events FROM coverage WHERE information = 'modules'"),
        ["present 1"]
    );
}

#[test]
fn groups_by_trace_over_unnested_lists_have_a_row_each() {
    let (store, _) = TestStore::of_text(
        r#"{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]}"#,
    );
    let sql = "SELECT trace_id IS NOT NULL, count(*), sum(o) FROM (SELECT trace_id, unnest(make_array(1, 2, 3)) AS o FROM events GROUP BY trace_id) GROUP BY trace_id";
    assert_eq!(store.lines(sql), ["true 3 6"]);
}
