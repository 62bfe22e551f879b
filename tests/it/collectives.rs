//! Which work counts as communication: marks of every collective, and kernels that are recognized
//! by their name, by their arguments or by the mark around them.

use crate::support::{TestStore, elements};

fn call(cat: &str, name: &str, start: i64, end: i64, args: &str) -> String {
    format!(
        r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":1,"tid":1,"ts":{start},"dur":{},"args":{{{args}}}}}"#,
        end - start
    )
}

/// A launch and its kernel.
fn launched(name: &str, correlation: i64, launch: i64, start: i64, end: i64, args: &str) -> String {
    let kernel = format!(
        r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":0,"tid":7,"ts":{start},"dur":{},"args":{{"device":0,"stream":7,"correlation":{correlation}{args}}}}}"#,
        end - start
    );
    format!(
        "{},\n{kernel}",
        call(
            "cuda_runtime",
            "cudaLaunchKernel",
            launch,
            launch + 5,
            &format!(r#""correlation":{correlation}"#)
        )
    )
}

#[test]
fn collectives_of_all_kinds_are_communication() {
    let store = elements(
        [
            call("user_annotation", "ProfilerStep#1", 0, 1000, ""),
            call("cpu_op", "aten::mm", 50, 90, ""),
            launched("gemm", 1, 60, 150, 250, ""),
            call("user_annotation", "nccl:all_to_all", 100, 120, ""),
            launched(
                "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
                2,
                105,
                200,
                300,
                "",
            ),
            call("user_annotation", "nccl:all_reduce", 400, 420, ""),
            launched("a kernel that does not say what it is", 3, 405, 500, 560, ""),
            launched("void vllm::cross_device_reduce_1stage<float, 8>(x)", 4, 600, 700, 740, ""),
            launched("another", 5, 780, 800, 830, r#","Collective name":"allgather""#),
        ]
        .join(",\n"),
    );
    let parts = "SELECT total_ns, kernel_ns, communication_ns, runtime_ns, cpu_exec_ns, other_ns \
        FROM step_time";
    assert_eq!(store.lines(parts), ["1000000 100000 180000 25000 35000 660000"]);
    let overlap = "SELECT computation_ns, communication_ns, overlap_ns, exposed_communication_ns \
        FROM step_overlap";
    assert_eq!(store.lines(overlap), ["100000 230000 50000 180000"]);
    // The plugin's rule also counts the marks that launch collectives.
    assert_eq!(
        store.lines("SELECT step, calls, communication_ns, transfer_ns FROM communication_wait"),
        ["1 4 270000 NULL"]
    );
    assert_eq!(
        store.lines("SELECT name, calls, latency_ns FROM collective_operators ORDER BY name"),
        [
            "all_gather 1 30000",
            "all_reduce 1 40000",
            "nccl:all_reduce 1 80000",
            "nccl:all_to_all 1 120000"
        ]
    );
    assert_eq!(store.value("SELECT collectives FROM overview"), "2");
    // Marks other than the plugin's ten do not count as calls in operator tables, and own no
    // launches.
    assert_eq!(store.value("SELECT count(*) FROM operators WHERE name LIKE 'nccl:%'"), "0");
}

#[test]
fn communication_alone_is_all_exposed() {
    let store = elements(
        [
            call("user_annotation", "ProfilerStep#1", 0, 1000, ""),
            call("cpu_op", "record_param_comms", 90, 130, ""),
            call("user_annotation", "nccl:_all_gather_base", 100, 120, ""),
            launched("ncclDevKernel_AllGather_RING_LL(x)", 1, 105, 200, 300, ""),
        ]
        .join(",\n"),
    );
    let overlap = "SELECT computation_ns, communication_ns, overlap_ns, exposed_communication_ns \
        FROM step_overlap";
    assert_eq!(store.lines(overlap), ["0 100000 0 100000"]);
}

/// A store of rank 33 in a job of 64 ranks with these process groups and elements.
fn ranked(pg_config: &str, elements: &[String]) -> TestStore {
    let elements = elements.join(",\n");
    TestStore::of_text(format!(
        r#"{{"distributedInfo":{{"backend":"nccl","rank":33,"world_size":64,"pg_config":{pg_config}}},"traceEvents":[{elements}]}}"#
    ))
    .0
}

const GROUPS_OF: &str =
    "SELECT group_name, group_ranks, group_size, seq, src_rank, dst_rank FROM collectives";
const NCCL: &str = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";

#[test]
fn kernels_take_what_they_lack_from_the_record_around_their_launch() {
    let record = r#""Collective name":"recv","dtype":"Float","In msg nelems":6,"Out msg nelems":6,"Group size":2,
        "Process Group Name":"7","Process Group Ranks":"[1, 33]","Rank":0,"Seq":5,"Comms Id":18446744073709551615"#;
    let store = ranked(
        "[]",
        &[
            call("cpu_op", "record_param_comms", 90, 190, record),
            call("user_annotation", "nccl:recv 1<-0", 100, 130, ""),
            launched(NCCL, 1, 105, 200, 300, ""),
        ],
    );
    assert_eq!(store.rows(GROUPS_OF), [["7", "[1, 33]", "2", "5", "1", "33"]]);
    assert_eq!(
        store.lines("SELECT collective, comms_id, size_bytes, launch_ns FROM collectives"),
        ["send_recv 18446744073709551615 24 105000"]
    );
}

#[test]
fn lists_of_ranks_that_were_cut_are_completed_from_the_configuration() {
    let args = r#","Collective name":"allreduce","Process Group Name":"0","Process Group Ranks":"[1, 3, ..., 63, ...]","Group size":32"#;
    let odd: Vec<String> = (0..32).map(|n| (2 * n + 1).to_string()).collect();
    let list = odd.join(", ");
    let all = format!(r#"[{{"pg_name":"0","pg_size":32,"ranks":[{list}]}}]"#);
    let as_text = format!("{:?}", all);
    let by_name = format!(r#"{{"0":{{"ranks":[{list}]}}}}"#);
    for config in [&all, &as_text, &by_name] {
        let store = ranked(config, &[launched("ncclDevKernel_X", 1, 105, 200, 300, args)]);
        assert_eq!(store.value("SELECT group_ranks FROM collectives"), format!("[{list}]"));
    }
    // Else from the operator's first rank and stride; else the list stays cut.
    let strided = r#""Collective name":"allreduce","Global rank start":1,"Global rank stride":2"#;
    let elements = [
        call("cpu_op", "record_param_comms", 90, 190, strided),
        launched("ncclDevKernel_X", 1, 105, 200, 300, args),
    ];
    let store = ranked("[]", &elements);
    assert_eq!(store.value("SELECT group_ranks FROM collectives"), format!("[{list}]"));
    let store = ranked("[]", &elements[1..]);
    assert_eq!(store.value("SELECT group_ranks FROM collectives"), "[1, 3, ..., 63, ...]");
}

#[test]
fn a_group_that_was_not_recorded_is_not_guessed() {
    let elements = [
        call("user_annotation", "nccl:send 0->1", 100, 130, ""),
        launched(NCCL, 1, 105, 200, 300, ""),
    ];
    let one = r#"[{"pg_name":"0","ranks":[33, 34]},{"pg_name":"1","ranks":[33, 34]},{"pg_name":"2","ranks":[33]}]"#;
    let two = r#"[{"pg_name":"0","ranks":[33, 34]},{"pg_name":"1","ranks":[33, 35]}]"#;
    assert_eq!(
        ranked(one, &elements).rows(GROUPS_OF),
        [["NULL", "[33, 34]", "2", "NULL", "33", "34"]]
    );
    assert_eq!(ranked(two, &elements).lines(GROUPS_OF), ["NULL NULL NULL NULL 33 NULL"]);
    assert_eq!(ranked("[]", &elements).lines(GROUPS_OF), ["NULL NULL 64 NULL 33 NULL"]);
}
