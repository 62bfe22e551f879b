//! Calls, devices and times that cannot be right: each has a reason and no figures, and what is
//! next to it keeps its figures.

use crate::roofline::{H100, Trace};

const SHAPES: &str = "the shapes of the inputs are not those the formula is for";
const TOO_LARGE: &str = "the figures do not fit into 64 bits";
const TYPE: &str = "the type of an input was not recorded";
const NO_TYPES: &str = "types of inputs were not recorded";
const NO_VALUES: &str = "values of arguments were not recorded: traces of PyTorch 2 have them";
const VALUES: &str = "the values of the arguments are not those the formula is for";

/// The arguments of a call as the trace writes them.
fn arguments(shapes: &str, types: &str, values: &str) -> String {
    let mut all = format!(r#""Input Dims":{shapes}"#);
    for (key, text) in [("Input type", types), ("Concrete Inputs", values)] {
        if !text.is_empty() {
            all.push_str(&format!(r#","{key}":{text}"#));
        }
    }
    all
}

#[test]
fn each_call_that_cannot_be_counted_has_its_reason() {
    let float = |count: usize| format!("[{}]", vec![r#""float""#; count].join(","));
    let (two, three, four) = (float(2), float(3), float(4));
    let scalars = |count: usize| vec![r#""Scalar""#; count].join(",");
    let conv_types = format!(r#"["float","float","",{}]"#, scalars(6));
    let conv_dims = |x: &str, w: &str| format!("[{x},{w},[],[],[],[],[],[],[]]");
    let conv = |stride: &str, groups: &str| {
        format!(
            r#"["","","","[{stride}, {stride}]","[0, 0]","[1, 1]","False","[0, 0]","{groups}"]"#
        )
    };
    let flash = "aten::_scaled_dot_product_flash_attention";
    let flash_values = r#"["","","","0.","False","False","0.1"]"#;
    let qkv = |q: &str, k: &str| format!("[{q},{k},{k},[],[],[],[]]");
    let flash_types = format!(r#"["float","float","float",{}]"#, scalars(4));
    let large = "4294967296";
    let cases = [
        ("aten::mm", "[[-4,8],[8,4]]".to_owned(), two.clone(), "", SHAPES),
        ("aten::mm", "[[4,8],[9,4]]".to_owned(), two.clone(), "", SHAPES),
        ("aten::mm", "[[4,8]]".to_owned(), r#"["float"]"#.to_owned(), "", SHAPES),
        ("aten::mm", "[[4],[8]]".to_owned(), two.clone(), "", SHAPES),
        ("aten::mm", format!("[[{large},{large}],[{large},{large}]]"), two.clone(), "", TOO_LARGE),
        ("aten::mm", "[[1e3,8],[8,4]]".to_owned(), two.clone(), "", SHAPES),
        ("aten::mm", r#"[["4",8],[8,4]]"#.to_owned(), two.clone(), "", SHAPES),
        ("aten::mm", r#""no shapes""#.to_owned(), two.clone(), "", SHAPES),
        ("aten::mm", "[[4,8],[8,4]]".to_owned(), String::new(), "", NO_TYPES),
        ("aten::mm", "[[4,8],[8,4]]".to_owned(), r#"["float",""]"#.to_owned(), "", TYPE),
        ("aten::mm", "[[4,8],[8,4]]".to_owned(), r#"["x","y"]"#.to_owned(), "", TYPE),
        ("aten::mm", "[[4,8],[8,4]]".to_owned(), "[7,null]".to_owned(), "", TYPE),
        ("aten::bmm", "[[2,4,8],[3,8,4]]".to_owned(), two.clone(), "", SHAPES),
        ("aten::addmm", "[[4],[4,8],[9,4]]".to_owned(), three.clone(), "", SHAPES),
        ("aten::_grouped_mm", "[[8,4],[3,4,5],[2]]".to_owned(), three.clone(), "", SHAPES),
        ("aten::add", "[[4,8],[5,8]]".to_owned(), two.clone(), "", SHAPES),
        ("aten::add", format!("[[{large},{large}],[1]]"), two.clone(), "", TOO_LARGE),
        ("aten::layer_norm", "[[4,-8],[8]]".to_owned(), two.clone(), "", SHAPES),
        ("aten::copy_", "[[4,8]]".to_owned(), r#"["float"]"#.to_owned(), "", SHAPES),
        (
            "vllm::outplace_fused_experts",
            "[[4,8],[2,32,9],[2,8,16],[4,2],[4,2]]".to_owned(),
            float(5),
            "",
            SHAPES,
        ),
        (
            "aten::convolution",
            conv_dims("[1,4,8,8]", "[4,4,9,9]"),
            conv_types.clone(),
            &conv("1", "1"),
            SHAPES,
        ),
        (
            "aten::convolution",
            conv_dims("[1,4,8,8]", "[4,4,3,3]"),
            conv_types.clone(),
            &conv("0", "1"),
            SHAPES,
        ),
        (
            "aten::convolution",
            conv_dims("[1,4,8,8]", "[4,4,3,3]"),
            conv_types.clone(),
            &conv("1", "-1"),
            SHAPES,
        ),
        (
            "aten::convolution",
            conv_dims("[1,4,8,8]", "[4,4,3,3]"),
            conv_types.clone(),
            &conv("x", "1"),
            VALUES,
        ),
        ("aten::convolution", conv_dims("[1,4,8,8]", "[4,4,3,3]"), conv_types, "", NO_VALUES),
        (flash, qkv("[1,6,4,8]", "[1,4,4,8]"), flash_types.clone(), flash_values, SHAPES),
        (flash, qkv("[1,4,4,8]", "[1,4,4,9]"), flash_types.clone(), flash_values, SHAPES),
        (flash, qkv("[4,4,8]", "[4,4,8]"), flash_types.clone(), flash_values, SHAPES),
        (
            flash,
            qkv("[1,4,4294967295,8]", "[1,4,4294967295,8]"),
            flash_types,
            flash_values,
            TOO_LARGE,
        ),
        (
            "aten::_fft_c2c",
            "[[4,8],[],[],[]]".to_owned(),
            r#"["c10::complex<float>","ScalarList","Scalar","Scalar"]"#.to_owned(),
            r#"["","[5]","0","True"]"#,
            SHAPES,
        ),
        ("aten::baddbmm", "[[4],[2,4,8],[2,9,4],[]]".to_owned(), four, "", SHAPES),
    ];
    let mut trace = Trace::default();
    let mut at = 0;
    for (name, shapes, types, values, _) in &cases {
        trace.host("cpu_op", name, at, 10, &arguments(shapes, types, values));
        trace.kernel("kernel", at + 2, 5);
        at += 20;
    }
    let store = trace.store(H100);
    let found = store.rows(
        "SELECT f.reason, f.flop, f.flop_full, f.flop_upper, f.read_bytes, f.written_bytes,
             f.bytes_upper
         FROM _call_figures f JOIN events e ON e.event_id = f.event_id ORDER BY e.ts_ns",
    );
    let mut wrong = Vec::new();
    for ((name, shapes, types, values, reason), row) in cases.iter().zip(&found) {
        if row[0] != *reason || row[1..].iter().any(|cell| cell != "NULL") {
            wrong.push(format!("{name} {shapes} {types} {values}: {row:?}, expected {reason}"));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(found.len(), cases.len());
    let rows = "SELECT count(*), count(roofline_pct), count(flop), count(reason), sum(device_ns) \
                FROM operator_roofline";
    let rows = store.ints(rows);
    assert_eq!([rows[1], rows[2]], [0, 0]);
    assert_eq!(rows[0], rows[3]);
    assert_eq!(rows[4], 5000 * i64::try_from(cases.len()).expect("a count"));
}

#[test]
fn devices_of_two_kinds_are_judged_by_their_own_peaks() {
    let second = r#"{"id":1,"name":"Tesla T4","numSms":40}"#;
    let third = r#"{"id":2,"name":"Unheard of","numSms":7}"#;
    let mut trace = Trace::default();
    for device in 0..3 {
        let at = 1000 * device;
        trace.op("aten::mm", at, 10, "[[4096,4096],[4096,4096]]", "c10::Half");
        trace.kernel_on(device, "gemm", at + 2, 500);
    }
    let found = trace.store(&format!("{H100},{second},{third}")).lines(
        "SELECT device, peak_tflop_s, peak_gb_s, round(roofline_pct, 2), reason IS NULL
         FROM operator_roofline ORDER BY device",
    );
    // 2 * 4096^3 operations in 500 us are 274.878 TFLOP/s.
    let expected =
        ["0 989.4 3350.0 27.78 true", "1 65.0 320.0 422.89 true", "2 NULL NULL NULL false"];
    assert_eq!(found, expected);
}

#[test]
fn work_without_duration_has_no_rates() {
    let mut trace = Trace::default();
    trace.host("user_annotation", "ProfilerStep#1", 0, 0, "");
    trace.op("aten::mm", 0, 10, "[[64,64],[64,64]]", "c10::Half").kernel("gemm", 2, 0);
    let store = trace.store(H100);
    for view in ["operator_roofline", "kernel_roofline", "lost_time", "roofline_points", "step_mfu"]
    {
        assert_eq!(store.ints(&format!("SELECT count(*) FROM {view}")), [0], "{view}");
    }
    let rule = "SELECT DISTINCT status FROM findings WHERE rule IN ('inefficient_operator', \
                'low_mfu', 'roofline_check')";
    assert_eq!(store.lines(rule), ["not_measurable"]);
}

#[test]
fn products_in_a_type_without_units_are_judged_as_float32() {
    let mut trace = Trace::default();
    // 2 * 2048^3 operations at the 8.1 TFLOP/s of float32 take 2.121 ms.
    trace.op("aten::mm", 0, 10, "[[2048,2048],[2048,2048]]", "c10::BFloat16");
    trace.kernel("gemm", 2, 4000);
    trace.op("aten::mul", 5000, 10, "[[2048,2048],[2048,2048]]", "double").kernel("mul", 5002, 400);
    let found = trace.store(r#"{"id":0,"name":"Tesla T4","numSms":40}"#).lines(
        "SELECT name, peak_tflop_s, round(roofline_pct, 1), cause, figure FROM lost_time ORDER BY 1",
    );
    assert_eq!(
        found,
        [
            "aten::mm 8.1 53.0 bf16 products 8.1 instead of 65.0 TFLOP/s with fp16",
            "aten::mul 0.25 78.6 fp64 elements doubles have twice the bytes of float32"
        ]
    );
}
