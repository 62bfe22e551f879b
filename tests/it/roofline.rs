//! Which call owns device work, what devices could do, and what odd input leads to.

use tempfile::TempDir;
use tracesql::engine::{Engine, EngineOptions};

use crate::support::{TestStore, fixture, rows_of, texts, tracesql_in};

/// An H100, whose peaks are 989.4 TFLOP/s in bfloat16 and 3,350 GB/s.
pub const H100: &str = r#"{"id":0,"name":"NVIDIA H100 80GB HBM3","totalGlobalMem":85018279936,"computeMajor":9,"computeMinor":0,"numSms":132,"warpSize":32}"#;

/// A trace under construction. Times are in microseconds.
#[derive(Default)]
pub struct Trace {
    events: Vec<String>,
    calls: u32,
}

impl Trace {
    pub fn host(&mut self, cat: &str, name: &str, ts: i64, dur: i64, args: &str) -> &mut Self {
        self.events.push(format!(
            r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":1,"tid":1,"ts":{ts},"dur":{dur},"args":{{{args}}}}}"#
        ));
        self
    }

    /// An operator with tensors of one type.
    pub fn op(&mut self, name: &str, ts: i64, dur: i64, shapes: &str, kind: &str) -> &mut Self {
        let count = shapes.matches('[').count().saturating_sub(1).max(1);
        let types = vec![format!("\"{kind}\""); count].join(",");
        let args = format!(r#""Input Dims":{shapes},"Input type":[{types}]"#);
        self.host("cpu_op", name, ts, dur, &args)
    }

    /// A kernel of a device, launched at the same time on the host.
    pub fn kernel_on(&mut self, device: i64, name: &str, ts: i64, dur: i64) -> &mut Self {
        self.calls += 1;
        let number = self.calls;
        self.host("cuda_runtime", "cudaLaunchKernel", ts, 1, &format!(r#""correlation":{number}"#));
        self.events.push(format!(
            r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":{device},"tid":{stream},"ts":{ts},"dur":{dur},"args":{{"device":{device},"stream":{stream},"correlation":{number}}}}}"#,
            stream = 7 + number
        ));
        self
    }

    pub fn kernel(&mut self, name: &str, ts: i64, dur: i64) -> &mut Self {
        self.kernel_on(0, name, ts, dur)
    }

    pub fn text(&self, devices: &str) -> String {
        format!(
            r#"{{"schemaVersion":1,"deviceProperties":[{devices}],"traceEvents":[{}]}}"#,
            self.events.join(",\n")
        )
    }

    pub fn store(&self, devices: &str) -> TestStore {
        TestStore::of_text(self.text(devices)).0
    }
}

const OWNERS: &str = "SELECT name, kernel, device_ns / 1000 FROM operator_roofline ORDER BY 1, 2";

#[test]
fn the_outermost_call_with_figures_owns_the_work() {
    let mut trace = Trace::default();
    let half = "c10::Half";
    // The wrapper owns nothing, and the layer norm stands for what it calls.
    trace
        .op("aten::linear", 0, 20, "[[4,8],[6,8]]", half)
        .op("aten::mm", 2, 10, "[[4,8],[8,6]]", half);
    trace.kernel("gemm", 4, 3);
    trace.op("aten::layer_norm", 30, 20, "[[4,8]]", half);
    trace.op("aten::native_layer_norm", 32, 10, "[[4,8]]", half).kernel("norm", 34, 5);
    // Autocast: the inner call of the same name has the types that ran, the cast owns itself.
    trace.op("aten::bmm", 60, 30, "[[2,4,8],[2,8,6]]", "float");
    trace.op("aten::copy_", 62, 5, "[[2,4,8],[2,4,8]]", half).kernel("cast", 63, 1);
    trace.op("aten::bmm", 70, 10, "[[2,4,8],[2,8,6]]", half).kernel("gemm", 72, 2);
    // An outer call without figures leaves the work to an inner one with figures.
    trace.op("vllm::moe_forward", 100, 30, "[[4,8],[4,2]]", half);
    trace.op("aten::add", 102, 5, "[[4,8],[4,8]]", half).kernel("add", 103, 1);
    trace.kernel("experts", 110, 7);
    // A wrapper that launches work itself owns that.
    trace.op("aten::var", 140, 10, "[[4,8]]", half).kernel("variance", 142, 2);
    trace.op("own::op", 160, 10, "[[4,8]]", half).kernel("own", 162, 4);
    trace.kernel("alone", 180, 6);
    trace.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL()", 190, 9);
    let store = trace.store(H100);
    let expected = [
        "(communication) ncclDevKernel_AllReduce_Sum_f32_RING_LL() 9",
        "(host) alone 6",
        "aten::add NULL 1",
        "aten::bmm NULL 2",
        "aten::copy_ NULL 1",
        "aten::layer_norm NULL 5",
        "aten::mm NULL 3",
        "aten::var NULL 2",
        "own::op NULL 4",
        "vllm::moe_forward NULL 7",
    ];
    assert_eq!(store.lines(OWNERS), expected);
    assert_eq!(
        store.lines("SELECT dtype FROM operator_roofline WHERE name = 'aten::bmm'"),
        ["fp16"]
    );
    let parts = "SELECT sum(device_ns) - (SELECT sum(dur_ns) FROM kernels) FROM operator_roofline";
    assert_eq!(store.ints(parts), [0]);
}

#[test]
fn a_call_takes_the_union_of_its_activities_and_the_overlap_is_a_row() {
    let mut trace = Trace::default();
    trace.op("aten::mm", 0, 50, "[[64,64],[64,64]]", "c10::BFloat16");
    trace.kernel("gemm", 2, 10).kernel("gemm_part", 8, 10);
    assert_eq!(trace.store(H100).lines(OWNERS), ["(overlap) NULL 4", "aten::mm NULL 16"]);
}

#[test]
fn rates_and_bounds_are_those_of_the_device() {
    let mut trace = Trace::default();
    // 2 * 4096^3 operations take 138.911 us at 989.4 TFLOP/s; the sum of 2^24 floats moves
    // 3 * 2^26 bytes, which take 60.097 us at 3,350 GB/s.
    trace.op("aten::mm", 0, 10, "[[4096,4096],[4096,4096]]", "c10::BFloat16");
    trace.kernel("gemm", 2, 200);
    trace.op("aten::add", 300, 10, "[[4096,4096],[4096,4096]]", "float").kernel("add", 302, 50);
    let found = trace.store(H100).lines(
        "SELECT name, bound, round(roofline_ns), round(roofline_pct, 3), round(lost_ns), dtype,
             round(tflop_s, 3), is_small, over
         FROM operator_roofline ORDER BY name",
    );
    assert_eq!(
        found,
        [
            "aten::add memory 60097.0 120.195 -10097.0 fp32 0.336 false an input may be given \
                twice, or be used in part",
            "aten::mm compute 138911.0 69.456 61089.0 bf16 687.195 false NULL"
        ]
    );
}

#[test]
fn devices_are_recognised_or_have_a_reason() {
    let described = [
        // By name and units, with the ending of a virtual function, as a slice, and by its
        // properties.
        r#"{"id":0,"name":"AMD Instinct MI300X VF","numSms":304,"totalGlobalMem":205577519104}"#,
        r#"{"id":1,"name":"NVIDIA H100 80GB HBM3","numSms":66,"totalGlobalMem":42509139968}"#,
        r#"{"id":2,"name":"NVIDIA H100 80GB HBM3","numSms":66,"totalGlobalMem":85018279936}"#,
        r#"{"id":3,"name":"","numSms":304,"totalGlobalMem":206141390848,"computeMajor":9,"computeMinor":4,"warpSize":64}"#,
        r#"{"id":4,"name":"Unheard of","numSms":1000}"#,
        r#"{"id":5,"name":"AMD Radeon Graphics","numSms":12}"#,
    ];
    let mut trace = Trace::default();
    trace.kernel_on(6, "k", 0, 5);
    let store = trace.store(&described.join(","));
    let sql = "SELECT device, matched_device, match, round(bandwidth_gb_s), \
               round(bf16_tflop_s, 1), reason FROM device_roofline ORDER BY device";
    assert_eq!(
        store.lines(sql),
        [
            "0 mi300x name and units 5300.0 1307.4 NULL",
            "1 h100-sxm scaled 1658.0 494.7 NULL",
            "2 h100-sxm scaled NULL 494.7 NULL",
            "3 mi300x properties 5300.0 1307.4 NULL",
            "4 NULL NULL NULL NULL no peaks for Unheard of with 1000 units: set roofline_device or \
                add a row to device_peaks",
            "5 NULL NULL NULL NULL no peaks for AMD Radeon Graphics with 12 units: set \
                roofline_device or add a row to device_peaks",
            "6 NULL NULL NULL NULL the trace does not describe the device: set roofline_device",
        ]
    );
}

/// Peaks that a user adds come before those of the library; a peak of zero counts as unknown.
#[test]
fn peaks_of_the_user_come_first() {
    let folder = TempDir::new().expect("a folder");
    std::fs::create_dir(folder.path().join("roofline")).expect("a folder");
    let header =
        include_str!("../../sql/roofline/device_peaks.csv").lines().next().expect("a line");
    let row = "own,NVIDIA,NVIDIA H100 80GB HBM3,9.0,132,,80,1000,,,,0,,,,500,,,,user,measured,";
    std::fs::write(folder.path().join("roofline/device_peaks.csv"), format!("{header}\n{row}\n"))
        .expect("the peaks");
    let mut trace = Trace::default();
    trace.op("aten::mm", 0, 10, "[[64,64],[64,64]]", "c10::BFloat16").kernel("gemm", 2, 20);
    trace.op("aten::add", 30, 10, "[[64,64],[64,64]]", "float").kernel("add", 32, 5);
    let store = trace.store(H100);
    let options = EngineOptions { sql: vec![folder.path().to_owned()], ..EngineOptions::default() };
    let engine = Engine::open(&store.store, None, &options).expect("the store opens");
    let rows = rows_of(
        &engine,
        "SELECT name, peak_tflop_s, peak_gb_s, roofline_ns IS NULL, reason FROM operator_roofline
         ORDER BY name",
    )
    .expect("the rows");
    assert_eq!(
        rows,
        [
            ["aten::add", "NULL", "1000.0", "true", "no peak of the device for fp32"],
            ["aten::mm", "500.0", "1000.0", "false", "NULL"],
        ]
    );
}

#[test]
fn odd_input_has_reasons_and_no_figures() {
    let mut trace = Trace::default();
    trace.op("aten::mm", 0, 10, "[[64,64],[65,64]]", "float").kernel("gemm", 2, 0);
    trace.op("aten::mm", 20, 10, "[[-1,64],[64,64]]", "float").kernel("gemm", 22, 5);
    trace.op("aten::mm", 40, 10, "[[64,64],[64,64]]", "odd type").kernel("gemm", 42, 5);
    let huge = "[[9223372036854775807,64],[64,64]]";
    trace.op("aten::mm", 60, 10, huge, "float").kernel("gemm", 62, 5);
    trace.host("cpu_op", "aten::mm", 80, 10, "").kernel("gemm", 82, 5);
    let store = trace.store(H100);
    let figures = "SELECT count(*), count(flop), count(read_bytes), count(roofline_pct), \
                   count(reason) FROM operator_roofline";
    assert_eq!(store.ints(figures), [4, 0, 0, 0, 4]);
    for view in ["step_mfu", "kernel_roofline", "module_roofline", "roofline_by_class", "lost_time"]
    {
        let rows = store.rows(&format!("SELECT * FROM {view}"));
        assert!(rows.len() < 10, "{view}: {rows:?}");
    }
}

#[test]
fn work_of_one_call_on_two_devices_has_no_figures() {
    let second = r#"{"id":1,"name":"Tesla T4","numSms":40}"#;
    let mut trace = Trace::default();
    trace.op("aten::mm", 0, 10, "[[64,64],[64,64]]", "float");
    trace.kernel_on(0, "gemm", 2, 5).kernel_on(1, "gemm", 4, 5);
    trace.op("aten::add", 20, 10, "[[64,64],[64,64]]", "float").kernel_on(1, "add", 22, 5);
    let found = trace.store(&format!("{H100},{second}")).lines(
        "SELECT device, name, flop, read_bytes, reason FROM operator_roofline ORDER BY 1, 2",
    );
    assert_eq!(
        found,
        [
            "0 aten::mm NULL NULL its work ran on several devices",
            "1 aten::add 4096 32768 NULL",
            "1 aten::mm NULL NULL its work ran on several devices",
        ]
    );
}

#[test]
fn utilisation_counts_recomputed_products_once() {
    let mut trace = Trace::default();
    let (shapes, half) = ("[[4096,4096],[4096,4096]]", "c10::BFloat16");
    trace.host("user_annotation", "ProfilerStep#1", 0, 1000, "");
    trace.host("python_function", "train.py(1): main", 1, 900, r#""Python id":1"#);
    trace.op("aten::mm", 10, 10, shapes, half).kernel("gemm", 12, 200);
    let frame = "torch/utils/checkpoint.py(1117): recompute_fn";
    trace.host("python_function", frame, 300, 50, r#""Python id":2"#);
    trace.op("aten::mm", 310, 10, shapes, half).kernel("gemm", 312, 200);
    // Each product takes 138.911 us at the peak, and the step 1,000 us.
    let found = trace.store(H100).lines(
        "SELECT step, step_ns, round(matrix_flop / 1e9, 3), round(recompute_flop / 1e9, 3), \
            round(hfu_pct, 4), round(mfu_pct, 4), peak_dtype, modelled_pct, reason FROM step_mfu",
    );
    assert_eq!(found, ["1 1000000 274.878 137.439 27.7823 13.8911 bf16 100.0 NULL"]);
}

#[test]
fn a_device_that_is_not_described_is_one_of_its_kind_if_there_are_no_others() {
    let mut trace = Trace::default();
    trace.op("aten::mm", 0, 10, "[[64,64],[64,64]]", "c10::BFloat16").kernel_on(3, "gemm", 2, 5);
    let sql = "SELECT matched_device, match FROM device_roofline WHERE device = 3";
    assert_eq!(trace.store(H100).lines(sql), ["h100-sxm only kind"]);
    let second = r#"{"id":1,"name":"Tesla T4","numSms":40}"#;
    assert_eq!(trace.store(&format!("{H100},{second}")).lines(sql), ["NULL NULL"]);
}

#[test]
fn work_above_the_roofline_and_little_use_of_the_peak_are_findings() {
    // A product takes 138.911 us at the peak: 100 us are too few, and in a step of 1 ms it is 14 %.
    let findings = |time: i64| {
        let mut trace = Trace::default();
        for n in 0..12 {
            let at = 1000 * n;
            trace.host("user_annotation", &format!("ProfilerStep#{n}"), at, 999, "");
            trace.op("aten::mm", at + 1, 10, "[[4096,4096],[4096,4096]]", "c10::BFloat16");
            trace.kernel("gemm", at + 2, time);
        }
        trace.store(H100).lines(
            "SELECT rule, status, severity, numerator FROM rule_roofline_check
             UNION ALL SELECT rule, status, severity, numerator FROM rule_low_mfu ORDER BY 1",
        )
    };
    assert_eq!(findings(200), ["low_mfu finding medium 1666937", "roofline_check ok NULL 0"]);
    assert_eq!(
        findings(100),
        ["low_mfu finding medium 1666937", "roofline_check finding low 1200000"]
    );
}

#[test]
fn bandwidth_of_collectives_is_compared_with_a_link_that_the_user_names() {
    let store = crate::support::bottlenecks();
    let settings = vec![("link_gb_s".to_owned(), "450".to_owned())];
    let options = EngineOptions { settings, ..EngineOptions::default() };
    let engine = Engine::open(&store.store, None, &options).expect("the store opens");
    let share = "SELECT DISTINCT round(bus_bandwidth_gb_s, 3), round(link_pct, 3) FROM \
                 collective_roofline \
                 WHERE trace_id LIKE 'balanced_rank1%'";
    assert_eq!(rows_of(&engine, share).expect("the rows"), [["83.928", "18.651"]]);
}

#[test]
fn lengths_of_a_serving_step_and_recorded_figures_count() {
    let store = TestStore::with(&fixture("kernels/serving.json.gz")).0;
    // Queries and results have 4 * 32 * 128 numbers of 2 bytes; the cache has 2,048 tokens with keys
    // and values of 8 * 128 numbers.
    let sql = "SELECT name, calls, flop, read_bytes, written_bytes, quality FROM operator_roofline";
    assert_eq!(
        store.lines(&format!("{sql} ORDER BY name")),
        [
            "triton_poi_fused_add_mul_0 2 1000000 2000000 0 recorded",
            "vllm::unified_attention_with_output 2 33554432 8421376 32768 estimate"
        ]
    );
}

/// Kernels of Triton compute elements, except for templates of products.
#[test]
fn templates_of_products_run_on_matrix_units() {
    let mut trace = Trace::default();
    let shapes = "[[8192,8192],[8192,8192],[8192,8192]]";
    trace.op("triton_tem_fused_mm_0", 0, 10, shapes, "c10::BFloat16");
    trace.kernel("triton_tem_fused_mm_0", 2, 1500);
    trace.op("triton_poi_fused_add_1", 3000, 10, shapes, "c10::BFloat16");
    trace.kernel("triton_poi_fused_add_1", 3002, 200);
    // 2 * 8192^3 operations take 1,111.29 us at 989.4 TFLOP/s, and three tensors 120.19 us.
    let found = trace.store(H100).lines(
        "SELECT name, family, unit, dtype, bound, round(roofline_ns / 1e3, 2), quality
         FROM operator_roofline ORDER BY name",
    );
    assert_eq!(
        found,
        [
            "triton_poi_fused_add_1 fused vector fp32 memory 120.19 bounds",
            "triton_tem_fused_mm_0 gemm matrix bf16 compute 1111.29 estimate",
        ]
    );
}

#[test]
fn a_comparison_states_the_utilization_of_both_sides() {
    let folder = TempDir::new().expect("a folder");
    for (name, length) in [("base.json", 1000), ("cand.json", 2000)] {
        let mut trace = Trace::default();
        for n in 0..4 {
            let at = length * n;
            trace.host("user_annotation", &format!("ProfilerStep#{n}"), at, length, "");
            trace.op("aten::mm", at + 1, 10, "[[4096,4096],[4096,4096]]", "c10::BFloat16");
            trace.kernel("gemm", at + 2, 400);
        }
        std::fs::write(folder.path().join(name), trace.text(H100)).expect("the trace is written");
    }
    let output = tracesql_in(folder.path(), &["compare", "base.json", "cand.json"], &[]);
    // A product needs 138.911 us at the peak, of steps of 1 ms and 2 ms.
    let expected = "note: hardware FLOPs utilization (HFU): 13.9 % in the base, 6.9 % in the \
                    candidate, -6.9 points";
    let (out, errors) = texts(&output);
    assert!(out.contains(expected), "{out}\n{errors}");
}
