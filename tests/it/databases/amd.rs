//! AMD's files of several nodes and processes.

use serde_json::{Value, json};

use super::made;
use crate::support::TestStore;

const DEVICES: &str = "SELECT k.device, k.ts_ns, d.name FROM kernels k \
    JOIN devices d ON d.device = k.device ORDER BY k.ts_ns";

/// One of several outputs of rocprofv3: a kernel on the GPU that it calls 0, and its call.
fn output(host: &str, pid: i64, gpu: &Value, start: i64) -> Value {
    let record = |kind: i64, start: i64| {
        json!({
            "kind": kind, "operation": 1, "thread_id": 7, "start_timestamp": start,
            "end_timestamp": start + 20, "correlation_id": { "internal": 1, "external": 0 },
            "stream_id": { "handle": 3 },
        })
    };
    let mut kernel = record(1, start + 50);
    kernel["dispatch_info"] = json!({ "agent_id": { "handle": 900 }, "kernel_id": 1 });
    let mut allocation = record(2, start + 70);
    allocation["agent_id"] = json!({ "handle": 900 });
    allocation["allocation_size"] = 64.into();
    let mut agent = json!({ "id": { "handle": 900 }, "type": 2, "logical_node_type_id": 0 });
    for (key, value) in gpu.as_object().expect("marks") {
        agent[key] = value.clone();
    }
    json!({
        "metadata": { "node": { "hostname": host }, "pid": pid, "command": ["train.py"] },
        "agents": [agent],
        "strings": { "buffer_records": [
            { "kind": "HIP_RUNTIME_API", "operations": ["NONE", "hipLaunchKernel"] },
            { "kind": "KERNEL_DISPATCH", "operations": [] },
            { "kind": "MEMORY_ALLOCATION", "operations": ["NONE", "MEMORY_ALLOCATION_ALLOCATE"] },
        ] },
        "kernel_symbols": [{ "kernel_id": 1, "formatted_kernel_name": "gemm" }],
        "buffer_records": {
            "kernel_dispatch": [kernel], "hip_api": [record(0, start)],
            "memory_allocation": [allocation],
        },
    })
}

fn read(outputs: &[Value]) -> TestStore {
    TestStore::of_text(json!({ "rocprofiler-sdk-tool": outputs }).to_string()).0
}

#[test]
fn gpus_of_two_nodes_in_json_are_two_devices() {
    let gpu = json!({ "product_name": "MI300X", "node_id": 2 });
    let outputs = [output("node1", 40, &gpu, 1_000), output("node2", 40, &gpu, 1_000)];
    let store = read(&outputs);
    let kernels = "SELECT device, count(*) FROM kernels GROUP BY 1 ORDER BY 1";
    assert_eq!(store.lines(kernels), ["0 1", "1 1"]);
    assert_eq!(store.lines("SELECT device, name FROM devices"), ["0 MI300X", "1 MI300X"]);
    let threads = "SELECT pid_text, tid, process_name FROM tracks WHERE kind = 'cpu_thread' \
        ORDER BY pid_text";
    assert_eq!(store.lines(threads), ["40 7 train.py", "40 (node2) 7 train.py"]);
    assert_eq!(store.issues(), [""; 0]);
}

#[test]
fn processes_that_see_other_gpus_have_other_devices() {
    let gpu = |node: i64, uuid: &str| json!({ "name": "gfx942", "node_id": node, "uuid": uuid });
    let (first, second) = (gpu(2, "GPU-a"), gpu(5, "GPU-b"));
    let store = read(&[
        output("node1", 40, &first, 1_000),
        output("node1", 41, &second, 2_000),
        output("node1", 42, &first, 3_000),
    ]);
    assert_eq!(store.lines(DEVICES), ["0 1050 gfx942", "1 2050 gfx942", "0 3050 gfx942"]);
    let streams = "SELECT thread_name FROM tracks WHERE kind = 'gpu_stream' ORDER BY 1";
    assert_eq!(store.lines(streams), ["stream 3", "stream 3", "stream 3 (process 42)"]);
    assert_eq!(store.lines("SELECT DISTINCT device_type FROM memory"), ["hip"]);
}

#[test]
fn gpus_that_nothing_tells_apart_are_reported() {
    let gpu = json!({});
    let store = read(&[output("node1", 40, &gpu, 1_000), output("node1", 41, &gpu, 2_000)]);
    assert_eq!(store.lines("SELECT DISTINCT device FROM kernels"), ["0"]);
    let shared = "SELECT code, count, example FROM ingest_issues";
    assert_eq!(store.lines(shared), ["shared_device 1 device 0"]);
}

#[test]
fn samples_of_program_counters_are_counted_and_not_damaged() {
    let mut tool = output("node1", 40, &json!({ "name": "gfx942" }), 1_000);
    let sample = json!({ "record": { "timestamp": 1_010 }, "inst_index": 0 });
    tool["buffer_records"]["pc_sample_host_trap"] = json!([sample, sample]);
    let store = read(&[tool]);
    assert_eq!(store.issues(), [""; 0]);
    let metadata = store.value("SELECT metadata FROM traces");
    assert!(metadata.contains(r#""pc_sample_host_trap":2"#), "{metadata}");
}

/// Replaces the last place of a text by one of the same length.
fn replace_last(bytes: &mut [u8], text: &[u8], by: &[u8]) {
    let at = bytes.windows(text.len()).rposition(|part| part == text).expect("the text");
    bytes[at..at + text.len()].copy_from_slice(by);
}

/// Both nodes call their GPU 1 and have a process 4001 with a thread 4011.
#[test]
fn gpus_and_processes_of_two_nodes_in_a_database_are_told_apart() {
    let mut bytes = std::fs::read(made("rocpd.db")).expect("a file");
    replace_last(&mut bytes, b"mnode7", b"mnode8");
    replace_last(&mut bytes, b"\x0f\xa2/usr/bin/python3", b"\x0f\xa1/usr/bin/python3");
    replace_last(&mut bytes, b"\x0f\xacmain", b"\x0f\xabmain");
    let store = TestStore::new();
    let path = store.folder.path().join("nodes.db");
    std::fs::write(&path, bytes).expect("a file");
    store.ingest(&path).unwrap_or_else(|e| panic!("{e}"));
    let kernels = "SELECT device, count(*) FROM kernels GROUP BY 1 ORDER BY 1";
    let (known, _) = TestStore::with(&made("rocpd.db"));
    assert_eq!(known.lines(kernels), ["1 18", "NULL 2"]);
    let devices = store.lines("SELECT device, name FROM devices ORDER BY 1");
    assert_eq!(devices, ["1 Test MI", "2 Test MI"]);
    assert_eq!(store.lines(kernels), ["1 9", "2 9", "NULL 2"]);
    let threads = "SELECT pid_text, tid, process_name FROM tracks WHERE kind = 'cpu_thread' \
        ORDER BY pid_text";
    assert_eq!(store.lines(threads), ["4001 4011 python3", "4001 (node8) 4011 python3"]);
    assert_eq!(store.issues(), known.issues());
}

#[test]
fn processes_in_one_set_of_tables_link_to_their_own_calls() {
    let (store, _) = TestStore::with(&made("rocpd_processes.db"));
    let launches = "SELECT k.device, k.ts_ns, l.ts_ns, l.name FROM kernels k \
        JOIN events l ON l.event_id = k.launch_id ORDER BY k.ts_ns";
    assert_eq!(
        store.lines(launches),
        [
            "0 2000 1000 hipLaunchKernel",
            "0 2050 1050 hipMemcpyAsync",
            "0 2100 1100 hipLaunchKernel",
            "0 2150 1150 hipMemcpyAsync",
        ]
    );
    assert_eq!(
        store.lines("SELECT action, bytes, device_type FROM memory ORDER BY ts_ns"),
        ["alloc 4096 hip", "alloc 8192 hip", "free -4096 hip", "free -8192 hip"]
    );
    let streams = "SELECT thread_name FROM tracks WHERE kind = 'gpu_stream' ORDER BY 1";
    assert_eq!(store.lines(streams), ["stream 1", "stream 1 (process 4002)"]);
}
