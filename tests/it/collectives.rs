//! Which work counts as communication: marks of every collective, and kernels that are recognized
//! by their name, by their arguments or by the mark around them.

use crate::support::elements;

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
