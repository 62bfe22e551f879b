//! Causes of inefficient operators: made traces with one bad call each among good ones.
//!
//! The times of the good calls are within 60 % of the roofline of an H100; that of the bad call is
//! below, and its sizes, type or kernels give the cause.

use tracesql::engine::{Engine, EngineOptions};

use crate::roofline::{H100, Trace};
use crate::support::rows_of;

const BF16: &str = "c10::BFloat16";

/// A call: operator, shapes, type, values of arguments, kernels with durations in microseconds.
struct Call {
    name: &'static str,
    shapes: &'static str,
    kind: &'static str,
    values: Option<String>,
    kernels: &'static [(&'static str, i64)],
}

fn call(
    name: &'static str,
    shapes: &'static str,
    kind: &'static str,
    kernels: &'static [(&'static str, i64)],
) -> Call {
    Call { name, shapes, kind, values: None, kernels }
}

fn convolution(
    shapes: &'static str,
    [dilation, groups, padding]: [i64; 3],
    kernels: &'static [(&'static str, i64)],
) -> Call {
    let values = format!(
        r#"["","","","[1, 1]","[{padding}, {padding}]","[{dilation}, {dilation}]","False","[0, 0]","{groups}"]"#
    );
    Call { values: Some(values), ..call("aten::convolution", shapes, BF16, kernels) }
}

fn attention(shapes: &'static str, kernels: &'static [(&'static str, i64)]) -> Call {
    let values = r#"["","","","0.","True","False","0.1"]"#.to_owned();
    let name = "aten::_scaled_dot_product_flash_attention";
    Call { values: Some(values), ..call(name, shapes, BF16, kernels) }
}

fn good_calls() -> Vec<Call> {
    vec![
        call("aten::mm", "[[8192,8192],[8192,8192]]", BF16, &[("gemm", 1400)]),
        attention(
            "[[4,32,4096,128],[4,32,4096,128],[4,32,4096,128]]",
            &[("flash_fwd_kernel", 900)],
        ),
        call("aten::add", "[[8192,8192],[8192,8192]]", BF16, &[("add", 140)]),
        // The link to the host limits this copy, and not the memory of the device.
        call(
            "aten::copy_",
            "[[64,1024,1024],[64,1024,1024]]",
            "float",
            &[("Memcpy HtoD (Pinned -> Device)", 500)],
        ),
        convolution("[[64,256,56,56],[256,256,3,3],[]]", [1, 1, 1], &[("conv", 330)]),
    ]
}

fn trace(bad: Option<Call>) -> Trace {
    let mut trace = Trace::default();
    let calls: Vec<Call> = good_calls().into_iter().chain(bad).collect();
    let mut ts = 0;
    for call in calls.iter().cycle().take(3 * calls.len()) {
        let length = 10 + call.kernels.iter().map(|(_, dur)| dur + 2).sum::<i64>();
        let count = call.shapes.matches('[').count() - 1;
        let types = vec![format!("\"{}\"", call.kind); count].join(",");
        let values = call.values.clone().unwrap_or_else(|| "[]".to_owned());
        let args = format!(
            r#""Input Dims":{},"Input type":[{types}],"Concrete Inputs":{values}"#,
            call.shapes
        );
        trace.host("cpu_op", call.name, ts, length, &args);
        let mut at = ts + 2;
        for (name, dur) in call.kernels {
            trace.kernel(name, at, *dur);
            at += dur + 2;
        }
        ts += length + 1;
    }
    trace
}

const FOUND: &str = "SELECT subject, message FROM findings \
    WHERE rule = 'inefficient_operator' AND status = 'finding'";

#[test]
fn a_trace_of_good_calls_names_none() {
    assert_eq!(trace(None).store(H100).lines(FOUND), [""; 0]);
}

#[test]
fn exactly_the_bad_call_is_named_with_its_cause() {
    let moe = "[[16,2048],[64,2048,2048],[64,2048,1024],[16,2],[16,2]]";
    let mm = |shapes, kernels| call("aten::mm", shapes, BF16, kernels);
    let gemm = &[("gemm", 150)];
    let cases = [
        ("too few tiles", mm("[[512,65536],[65536,512]]", &[("gemm", 200)])),
        ("sizes not multiples", mm("[[4096,1023],[1023,4096]]", gemm)),
        ("sizes not multiples", mm("[[3000,3000],[3000,3000]]", gemm)),
        ("tall and skinny", mm("[[1048576,64],[64,64]]", &[("gemm", 200)])),
        ("tall and skinny", mm("[[8192,16],[16,8192]]", &[("gemm", 120)])),
        ("tiny batch", mm("[[8,8192],[8192,8192]]", &[("gemm", 120)])),
        ("last wave of tiles", mm("[[1536,8192],[8192,1536]]", &[("gemm", 90)])),
        (
            "partly filled tiles",
            call("aten::bmm", "[[32,520,4096],[32,4096,520]]", BF16, &[("gemm", 170)]),
        ),
        (
            "reduction of split products",
            mm("[[1024,131072],[131072,1024]]", &[("gemm", 500), ("splitKreduce_kernel", 150)]),
        ),
        (
            "fp32 products",
            call(
                "aten::mm",
                "[[4096,4096],[4096,4096]]",
                "float",
                &[("ampere_sgemm_128x64_nn", 2200)],
            ),
        ),
        (
            "depthwise convolution",
            convolution("[[64,256,56,56],[256,1,3,3],[]]", [1, 256, 1], &[("conv", 400)]),
        ),
        (
            "grouped convolution",
            convolution("[[32,256,56,56],[256,16,3,3],[]]", [1, 16, 1], &[("conv", 120)]),
        ),
        (
            "dilated convolution",
            convolution("[[32,256,56,56],[256,256,3,3],[]]", [2, 1, 2], &[("conv", 400)]),
        ),
        (
            "padded head size",
            attention("[[2,16,4096,80],[2,16,4096,80],[2,16,4096,80]]", &[("flash_fwd", 400)]),
        ),
        (
            "short sequences",
            attention("[[64,16,256,64],[64,16,256,64],[64,16,256,64]]", &[("flash_fwd", 120)]),
        ),
        (
            "few tokens per expert",
            call("vllm::outplace_fused_experts", moe, BF16, &[("fused_moe_kernel", 900)]),
        ),
        (
            "far below the bandwidth",
            call("aten::add", "[[8192,8192],[8192,8192]]", "float", &[("add", 1000)]),
        ),
    ];
    for (cause, bad) in cases {
        let subject = format!("{} {} ", bad.name, bad.shapes);
        let found = trace(Some(bad)).store(H100).lines(FOUND);
        assert_eq!(found.len(), 1, "{cause}: {found:?}");
        assert!(found[0].starts_with(&subject), "{cause}: {found:?}");
        assert!(found[0].contains(&format!("likely cause: {cause} (")), "{cause}: {found:?}");
    }
}

#[test]
fn copies_over_the_link_have_a_reason_and_no_roofline() {
    let found = trace(None).store(H100).lines(
        "SELECT roofline_pct, read_bytes, reason FROM operator_roofline \
         WHERE name = 'aten::copy_'",
    );
    let reason = "a copy from or to the host or another device: the link limits it";
    assert_eq!(found, [format!("NULL {} {reason}", 1 << 28)]);
}

#[test]
fn a_low_utilisation_is_a_finding_where_it_can_be_measured() {
    // 2 * 4096^3 operations take 138.911 us at the peak, of 1,000 us a step; the sum moves little.
    let steps = |busy: i64, shapes: &str| {
        let mut trace = Trace::default();
        for step in 0..4 {
            let ts = 1000 * step;
            trace.host("user_annotation", &format!("ProfilerStep#{step}"), ts, 1000, "");
            for part in 0..3 {
                let at = ts + 10 + 300 * part;
                trace.op("aten::mm", at, 10, shapes, BF16).kernel("gemm", at + 2, busy);
            }
        }
        trace
    };
    let sql = "SELECT status, severity, round(value, 2), numerator, denominator, reason \
               FROM findings WHERE rule = 'low_mfu'";
    let low = steps(60, "[[2048,2048],[2048,2048]]").store(H100);
    // 3 * 2 * 2048^3 operations are 5.21 % of the peak.
    assert_eq!(low.lines(sql), ["finding medium 5.21 208367 4000000 NULL"]);
    let high = steps(200, "[[4096,4096],[4096,4096]]").store(H100);
    assert_eq!(high.lines(sql), ["ok NULL 41.67 1666937 4000000 NULL"]);
    let unknown = low.lines("SELECT count(*) FROM findings WHERE rule = 'roofline_check'");
    assert_eq!(unknown, ["1"]);
    let without = steps(60, "[]").store(H100);
    assert!(without.lines(sql)[0].starts_with("not_measurable"), "{:?}", without.lines(sql));
}

#[test]
fn calls_above_their_roofline_are_reported_with_the_likely_reason() {
    let mut trace = Trace::default();
    for at in 0..4 {
        // At the peak the product takes 138.911 us.
        trace.op("aten::mm", 200 * at, 10, "[[4096,4096],[4096,4096]]", BF16);
        trace.kernel("gemm", 200 * at + 2, 100);
    }
    for at in 4..10 {
        trace.op("aten::add", 200 * at, 10, "[[64,64],[64,64]]", BF16);
        trace.kernel("add", 200 * at + 2, 100);
    }
    let found = trace.store(H100).lines(
        "SELECT status, severity, numerator, denominator, message FROM findings \
         WHERE rule = 'roofline_check'",
    );
    let expected = "finding low 400000 1000000 40.0 % of the time of device 0 (h100-sxm) is in \
                    calls above 105.0 % of their roofline: 400.000 us of 1.000 ms; most of it in \
                    aten::mm at 138.9 %: the clock is above boost, or the device is not the one \
                    it was taken for.";
    assert_eq!(found, [expected]);
}

#[test]
fn kernels_that_save_operations_may_be_above_the_roofline() {
    let mut trace = Trace::default();
    let values = r#""Concrete Inputs":["","","","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1"]"#;
    for at in 0..4 {
        let args = format!(
            r#""Input Dims":[[64,256,56,56],[256,256,3,3],[]],"Input type":["{BF16}","{BF16}",""],{values}"#
        );
        trace.host("cpu_op", "aten::convolution", 1000 * at, 20, &args);
        // At the peak it takes 239 us.
        trace.kernel("winograd_nonfused::winogradForwardOutput4x4", 1000 * at + 2, 120);
    }
    let store = trace.store(H100);
    assert_eq!(
        store.lines("SELECT roofline_pct > 105, over FROM operator_roofline"),
        ["true Winograd kernels need fewer operations than the formula counts"]
    );
    let found = store.lines("SELECT status FROM findings WHERE rule = 'roofline_check'");
    assert_eq!(found, ["ok"]);
}

#[test]
fn without_a_limit_no_call_is_small() {
    let mut trace = Trace::default();
    trace.op("aten::mm", 0, 10, "[[512,8192],[8192,512]]", BF16).kernel("gemm", 2, 22);
    let store = trace.store(H100);
    let settings = vec![("roofline_small_ns".to_owned(), "0".to_owned())];
    let options = EngineOptions { settings, ..EngineOptions::default() };
    let engine = Engine::open(&store.store, None, &options).expect("the store opens");
    let causes = rows_of(&engine, "SELECT cause FROM lost_time").expect("the rows");
    assert_eq!(causes, [["too few tiles"]]);
}

/// FlashAttention has had kernels for heads of 160.
#[test]
fn heads_for_which_there_were_kernels_are_not_padded() {
    let heads = "[[8,16,4096,160],[8,16,4096,160],[8,16,4096,160]]";
    let call = attention(heads, &[("flash_fwd_kernel", 4000)]);
    let found = trace(Some(call))
        .store(H100)
        .lines("SELECT roofline_pct < 60, cause FROM lost_time WHERE input_shapes LIKE '%,160]%'");
    assert_eq!(found, ["true NULL"]);
}

/// The units of a device count for tiles, whether the trace reports them or device_peaks has them.
#[test]
fn units_of_slices_and_of_devices_that_are_not_described() {
    let described = |name: &str, units: u64, memory: u64| {
        format!(
            r#"{{"id":0,"name":"{name}","numSms":{units},"totalGlobalMem":{memory},"computeMajor":8,"computeMinor":0}}"#
        )
    };
    let cases = [
        (described("NVIDIA A100-SXM4-80GB MIG 3g.40gb", 42, 42_505_076_736), "scaled 42"),
        (described("NVIDIA A100-SXM4-80GB", 0, 85_018_279_936), "name 108"),
    ];
    for (device, wanted) in cases {
        let mut trace = Trace::default();
        trace.op("aten::mm", 0, 10, "[[256,65536],[65536,256]]", BF16).kernel("gemm", 2, 900);
        let store = trace.store(&device);
        assert_eq!(store.lines("SELECT match, units FROM device_roofline"), [wanted]);
        assert_eq!(store.lines("SELECT cause FROM lost_time"), ["too few tiles"]);
    }
}

#[test]
fn lost_time_names_the_frame_outside_of_pytorch() {
    let mut trace = Trace::default();
    trace.host("python_function", "train.py(7): step", 0, 900, r#""Python id":1"#);
    let inner = "torch/nn/functional.py(1): linear";
    trace.host("python_function", inner, 1, 400, r#""Python id":2,"Python parent id":1"#);
    trace.op("aten::mm", 10, 10, "[[4096,4096],[4096,4096]]", BF16).kernel("gemm", 12, 300);
    trace.op("aten::add", 1000, 10, "[[4096,4096],[4096,4096]]", BF16).kernel("add", 1002, 90);
    let found = trace.store(H100).lines("SELECT name, call_site FROM lost_time ORDER BY name");
    assert_eq!(found, ["aten::add NULL", "aten::mm train.py(7): step"]);
}

#[test]
fn short_calls_have_the_causes_of_their_shapes() {
    let heads = "[[8,12,32,64],[8,12,32,64],[8,12,32,64]]";
    let cases = [
        ("too few tiles", true, call("aten::mm", "[[512,512],[512,512]]", BF16, &[("gemm", 6)])),
        ("small calls", false, call("aten::mm", "[[512,512],[512,512]]", BF16, &[("gemm", 3)])),
        ("short sequences", true, attention(heads, &[("flash_fwd_kernel", 6)])),
        ("small calls", false, call("aten::add", "[[1024],[1024]]", BF16, &[("add", 6)])),
        ("NULL", false, call("aten::mm", "[[4096,4096],[4096,4096]]", BF16, &[("gemm", 200)])),
    ];
    for (cause, is_found, call) in cases {
        let mut trace = Trace::default();
        for ts in [0, 1000, 2000] {
            let count = call.shapes.matches('[').count() - 1;
            let types = vec![format!("\"{}\"", call.kind); count].join(",");
            let values = call.values.clone().unwrap_or_else(|| "[]".to_owned());
            let args = format!(
                r#""Input Dims":{},"Input type":[{types}],"Concrete Inputs":{values}"#,
                call.shapes
            );
            trace.host("cpu_op", call.name, ts, 20, &args);
            let (kernel, dur) = call.kernels[0];
            trace.kernel(kernel, ts + 2, dur);
        }
        let store = trace.store(H100);
        assert_eq!(store.lines("SELECT cause FROM lost_time"), [cause], "{}", call.shapes);
        let found = store.lines(FOUND);
        assert_eq!(found.len(), usize::from(is_found), "{cause}: {found:?}");
    }
}

/// The inner size of a product whose first factor is transposed in memory, as in gradients of
/// weights, may be odd; the distance of its columns is the number of rows.
#[test]
fn strides_decide_which_sizes_must_be_multiples() {
    let mut trace = Trace::default();
    let products = [
        ("[[4096,8191],[8191,4096]]", "[[1,4096],[4096,1]]"),
        ("[[4095,8192],[8192,4096]]", "[[1,4095],[4096,1]]"),
        ("[[4096,4096],[4096,4096]]", "[[1,4096],[1,4104]]"),
    ];
    for (ts, (shapes, strides)) in (0..).zip(products) {
        let args = format!(
            r#""Input Dims":{shapes},"Input type":["{BF16}","{BF16}"],"Input Strides":{strides}"#
        );
        trace.host("cpu_op", "aten::mm", 10_000 * ts, 20, &args);
        trace.kernel("gemm", 10_000 * ts + 2, 1000);
    }
    let found = trace.store(H100).lines(
        "SELECT e.input_strides, l.cause, l.figure FROM lost_time l
         JOIN operator_roofline o ON o.input_shapes = l.input_shapes
         JOIN events e ON e.event_id = o.first_event_id ORDER BY e.event_id",
    );
    assert_eq!(
        found,
        [
            "[[1,4096],[4096,1]] NULL NULL",
            "[[1,4095],[4096,1]] sizes not multiples m = 4095, n = 4096, k = 8192, not multiples \
                of 8",
            "[[1,4096],[1,4104]] sizes not multiples rows or columns in memory 4096 and 4104 \
                elements apart, not multiples of 64",
        ]
    );
}
