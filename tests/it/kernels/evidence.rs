//! Which evidence decides the class of a kernel, on small traces: category, arguments, name, mark,
//! operator and its types, device.

use crate::support::{TestStore, elements};

/// A launch within an operator, and its kernel on a device with a compute capability.
struct Case<'a> {
    kernel: &'a str,
    operator: &'a str,
    types: &'a str,
    capability: (i64, i64),
    device_name: &'a str,
}

fn trace(case: &Case, kernel_args: &str, around: &str) -> TestStore {
    let Case { kernel, operator, types, capability: (major, minor), device_name } = case;
    let text = format!(
        r#"{{"deviceProperties":[{{"id":0,"name":"{device_name}","computeMajor":{major},"computeMinor":{minor},"warpSize":32}}],
"traceEvents":[
{{"ph":"X","cat":"cpu_op","name":"{operator}","pid":1,"tid":1,"ts":100,"dur":50,"args":{{"Input type":[{types}]}}}},
{around}
{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":110,"dur":5,"args":{{"correlation":1}}}},
{{"ph":"X","cat":"kernel","name":"{kernel}","pid":0,"tid":7,"ts":200,"dur":10,"args":{{"device":0,"stream":7,"correlation":1{kernel_args}}}}}
]}}"#
    );
    TestStore::of_text(text).0
}

fn said(case: &Case) -> String {
    trace(case, "", "").value(
        "SELECT concat(class, ' ', coalesce(class_evidence, '-'), ' ', matrix_unit, ' ', \
            coalesce(matrix_unit_evidence, '-')) FROM kernel_classes",
    )
}

const OPEN: Case = Case {
    kernel: "my_product",
    operator: "aten::mm",
    types: "",
    capability: (9, 0),
    device_name: "NVIDIA H100",
};

#[test]
fn types_and_the_device_decide_what_the_name_leaves_open() {
    let half = r#""c10::Half","c10::Half""#;
    let bfloat = r#""c10::BFloat16","c10::BFloat16""#;
    let float8 = r#""c10::Float8_e4m3fn","c10::Float8_e4m3fn""#;
    let float = r#""float","float""#;
    let double = r#""double","double""#;
    let cases = [
        (half, (7, 0), "gemm operator yes operator"),
        (bfloat, (7, 5), "gemm operator unclear -"),
        (bfloat, (8, 0), "gemm operator yes operator"),
        (float8, (8, 0), "gemm operator unclear -"),
        (float8, (8, 9), "gemm operator yes operator"),
        (float, (7, 0), "gemm operator no operator"),
        (float, (8, 0), "gemm operator unclear -"),
        (double, (7, 0), "gemm operator no operator"),
        (double, (9, 0), "gemm operator unclear -"),
        (half, (6, 1), "gemm operator no device"),
        (r#""c10::Half","float""#, (8, 0), "gemm operator unclear -"),
        ("", (9, 0), "gemm operator unclear -"),
    ];
    for (types, capability, expected) in cases {
        assert_eq!(said(&Case { types, capability, ..OPEN }), expected, "{types} {capability:?}");
    }
    // Facts about NVIDIA devices are not applied to other devices.
    assert_eq!(
        said(&Case { types: half, capability: (9, 4), device_name: "AMD Instinct MI300X", ..OPEN }),
        "gemm operator unclear -"
    );
    // The name takes precedence over the operator if it is certain.
    assert_eq!(
        said(&Case { kernel: "ampere_sgemm_128x64_nn", types: float, capability: (8, 0), ..OPEN }),
        "gemm name no name"
    );
    assert_eq!(
        said(&Case { kernel: "nvjet_hsh_128x64", capability: (9, 0), ..OPEN }),
        "gemm name yes name"
    );
    assert_eq!(
        said(&Case { kernel: "splitKreduce_kernel<32, 16, int>", types: half, ..OPEN }),
        "reduction name no class"
    );
    assert_eq!(
        said(&Case { operator: "mine::thing", types: half, ..OPEN }),
        "unclassified - unclear -"
    );
}

#[test]
fn marks_and_arguments_make_communication() {
    let classes = "SELECT concat(class, ' ', class_evidence, ' ', coalesce(collective, '-')) \
        FROM kernel_classes";
    let case = Case { operator: "aten::mul", kernel: "exchange_17", ..OPEN };
    let args = r#","Collective name":"allgather""#;
    assert_eq!(trace(&case, args, "").value(classes), "communication arguments all_gather");
    let mark = r#"{"ph":"X","cat":"user_annotation","name":"nccl:all_reduce","pid":1,"tid":1,"ts":105,"dur":20},"#;
    assert_eq!(trace(&case, "", mark).value(classes), "communication mark all_reduce");
    // A copy into a bucket is launched within a mark too, but its name identifies it as a copy.
    let copy = Case {
        kernel: "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float> \
            >(int)",
        ..case
    };
    assert_eq!(trace(&copy, "", mark).value(classes), "elementwise name -");
    assert_eq!(
        trace(&Case { operator: "c10d::allreduce_", ..case }, "", "").value(classes),
        "communication operator -"
    );
}

/// If a trace describes a device twice, the device's work must not count twice.
#[test]
fn a_device_that_is_described_twice_is_one_device() {
    let device = |name: &str, major: i64| {
        format!(
            r#"{{"id":0,"name":"{name}","totalGlobalMem":1000,"computeMajor":{major},"computeMinor":0,"warpSize":32}}"#
        )
    };
    let store = TestStore::of_text(format!(
        r#"{{"deviceProperties":[{},{}],"traceEvents":[
{{"ph":"X","cat":"kernel","name":"my_product","pid":0,"tid":7,"ts":200,"dur":10,"args":{{"device":0,"stream":7}}}},
{{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":210,"s":"t","args":{{"Total Reserved":100,"Total Allocated":100,"Bytes":100,"Addr":1,"Device Id":0,"Device Type":1}}}}]}}"#,
        device("NVIDIA H100", 9),
        device("NVIDIA A100", 8)
    ))
    .0;
    assert_eq!(store.value("SELECT count(*) FROM devices"), "2");
    for view in
        ["kernel_classes", "gpu_timeline", "rule_tensor_cores", "gpu_summary", "memory_peak"]
    {
        assert_eq!(store.value(&format!("SELECT count(*) FROM {view}")), "1", "{view}");
    }
    assert_eq!(store.lines("SELECT gpu_events, busy_time_ns FROM gpu_timeline"), ["1 10000"]);
    assert_eq!(
        store.lines("SELECT name, compute_capability, total_memory_bytes FROM gpu_summary"),
        ["NULL NULL 1000"]
    );
}

#[test]
fn unclassified_work_widens_the_answer() {
    let kernel = |name: &str, start: i64, end: i64| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":0,"tid":7,"ts":{start},"dur":{},"args":{{"device":0,"stream":7}}}}"#,
            end - start
        )
    };
    let store = elements(
        [
            kernel("nvjet_hsh_128x64", 0, 40),
            kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 30, 60),
            kernel("what_is_this", 60, 75),
        ]
        .join(",\n"),
    );
    let sql = "SELECT computation_time_ns, exposed_comm_time_ns, unclassified_time_ns, \
        exposed_comm_max_ns FROM gpu_timeline";
    assert_eq!(store.lines(sql), ["55000 20000 15000 35000"]);
    let shares =
        "SELECT class, part, time_ns, busy_ns FROM gpu_time_by_class ORDER BY time_ns DESC, class";
    assert_eq!(
        store.lines(shares),
        [
            "gemm computation 40000 75000",
            "communication communication 20000 75000",
            "unclassified computation 15000 75000"
        ]
    );
}

#[test]
fn names_that_are_long_or_strange_are_classified_within_bounds() {
    let long = format!("void nvjet_{}", "a".repeat(3_000_000));
    let kernel = |name: &str, at: i64| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":0,"tid":7,"ts":{at},"dur":1,"args":{{"device":0,"stream":7}}}}"#
        )
    };
    let slow = format!("_Z1fDT{}", "dl".repeat(200));
    let store = elements(
        [kernel(&long, 0), kernel(r"gemm\ud800\u0000kernel", 2), kernel(&slow, 4), kernel("", 6)]
            .join(",\n"),
    );
    let sql = "SELECT class, name_bytes FROM kernel_names ORDER BY name_bytes";
    assert_eq!(store.lines(sql).len(), 4, "{:?}", store.lines(sql));
    // Ingest keeps the first MiB of a text, and reports that it was cut.
    assert_eq!(
        store.lines("SELECT class, name_bytes FROM kernel_names WHERE name_bytes > 4096"),
        ["gemm 1048576"]
    );
}
