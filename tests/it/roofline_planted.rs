//! The likely cause of lost time, for one planted operator in each of many small traces.
//!
//! `tests/data/roofline_causes.tsv` has the planted operators with the cause that each was made
//! for. Their sizes are those of real models; the times follow from the cause. A product and an
//! elementwise operator that are near their roofline are in each trace and must not be named.

use serde_json::{Value, json};

use crate::support::{TestStore, root};

/// The shapes and the type of the product that is good in each trace.
const PRODUCT: [&str; 2] = ["[[8192,8192],[8192,8192]]", "c10::Half"];

/// The properties of a device, and the time in µs of the good product and the good sum.
fn device(name: &str) -> (Value, u64, u64) {
    let described = |name, memory: u64, version: [u8; 2], units, warp| {
        json!({"id": 0, "name": name, "totalGlobalMem": memory, "computeMajor": version[0],
            "computeMinor": version[1], "numSms": units, "warpSize": warp})
    };
    match name {
        "v100" => (described("Tesla V100-SXM2-16GB", 16_945_512_448, [7, 0], 80, 32), 10_500, 1050),
        "a100" => (described("NVIDIA A100-SXM4-80GB", 85_018_279_936, [8, 0], 108, 32), 4000, 460),
        "h100" => (described("NVIDIA H100 80GB HBM3", 85_018_279_936, [9, 0], 132, 32), 1350, 290),
        "mi300x" => (described("AMD Instinct MI300X", 206_141_390_848, [9, 4], 304, 64), 1050, 190),
        "rtx4090" => {
            (described("NVIDIA GeForce RTX 4090", 25_393_692_672, [8, 9], 128, 32), 7800, 900)
        }
        other => panic!("no device {other}"),
    }
}

/// A line of the table.
struct Case<'a> {
    case: &'a str,
    device: &'a str,
    name: &'a str,
    shapes: &'a str,
    kind: &'a str,
    values: &'a str,
    kernels: &'a str,
    wanted: [&'a str; 2],
}

fn cases(table: &str) -> Vec<Case<'_>> {
    let case = |line| match str::split(line, '\t').collect::<Vec<&str>>()[..] {
        [case, device, name, shapes, kind, values, kernels, cause, figure] => {
            let wanted = [cause, figure];
            Case { case, device, name, shapes, kind, values, kernels, wanted }
        }
        _ => panic!("nine cells are needed: {line}"),
    };
    table.lines().skip(1).map(case).collect()
}

/// The events of a trace, with the clock in µs and the number of launches.
#[derive(Default)]
struct Events {
    events: Vec<Value>,
    now: u64,
    launches: u64,
}

impl Events {
    fn add(&mut self, cat: &str, name: &str, track: [u64; 2], times: [u64; 2], args: Value) {
        self.events.push(json!({"ph": "X", "cat": cat, "name": name, "pid": track[0],
            "tid": track[1], "ts": times[0], "dur": times[1], "args": args}));
    }

    /// An operator with kernels, each written as a name, a blank and a time in µs.
    fn op(&mut self, name: &str, [shapes, kind]: [&str; 2], values: &str, kernels: &str) {
        let mut dims: Vec<Value> = serde_json::from_str(shapes).expect("the shapes");
        let is_empty = |dims: &Value| dims.as_array().is_some_and(Vec::is_empty);
        let mut types: Vec<&str> =
            dims.iter().map(|dims| if is_empty(dims) { "Scalar" } else { kind }).collect();
        let mut texts = vec![""; dims.len()];
        for value in values.split(';').filter(|value| !value.is_empty()) {
            dims.push(json!([]));
            types.push("Scalar");
            texts.push(value);
        }
        let args = json!({"Input Dims": dims, "Input type": types, "Concrete Inputs": texts});
        let start = self.now;
        self.add("cpu_op", name, [1, 1], [start, 19], args);
        self.now += 20;
        for (i, kernel) in (0..).zip(kernels.split(';')) {
            let (kernel, time) = kernel.rsplit_once(' ').expect("a name and a time");
            let time = time.parse().expect("a time");
            self.launches += 1;
            let launch = self.launches;
            let linked = json!({"correlation": launch});
            self.add("cuda_runtime", "cudaLaunchKernel", [1, 1], [start + 5 * i + 2, 2], linked);
            let work = json!({"device": 0, "stream": 7, "correlation": launch});
            self.add("kernel", kernel, [0, 7], [self.now, time], work);
            self.now += time;
        }
    }
}

fn trace(case: &Case) -> Value {
    let (properties, product, sum) = device(case.device);
    let mut events = Events::default();
    for _ in 0..4 {
        events.op("aten::mm", PRODUCT, "", &format!("tensorop_h16816gemm {product}"));
        events.op(case.name, [case.shapes, case.kind], case.values, case.kernels);
        let kernel = format!("vectorized_elementwise_kernel {sum}");
        events.op("aten::mul", [PRODUCT[0], "float"], "", &kernel);
    }
    json!({"schemaVersion": 1, "deviceProperties": [properties], "traceEvents": events.events})
}

#[test]
fn the_planted_operator_is_named_with_its_cause_and_no_other_is() {
    let table = std::fs::read_to_string(root().join("tests/data/roofline_causes.tsv"));
    let table = table.expect("the table is read");
    let cases = cases(&table);
    let folder = tempfile::tempdir().expect("a folder");
    let store = TestStore::new();
    for (i, case) in cases.iter().enumerate() {
        let path = folder.path().join(format!("case{i:02}.json"));
        std::fs::write(&path, trace(case).to_string()).expect("the trace is written");
        store.ingest(&path).expect("the trace is read");
    }
    let rows = store.rows(
        "SELECT split_part(trace_id, '-', 1), name, input_shapes, cause, figure, roofline_pct < 60
         FROM lost_time",
    );
    let found = store.rows(
        "SELECT split_part(trace_id, '-', 1), subject, message LIKE '%likely cause: %'
         FROM rule_inefficient_operator WHERE status = 'finding'",
    );
    let mut wrong = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        let label = format!("case{i:02}");
        let planted = &case.shapes[..case.shapes.len() - 1];
        let mut named = 0;
        for row in rows.iter().filter(|row| row[0] == label) {
            let is_planted = row[1] == case.name && row[2].starts_with(planted);
            named += usize::from(is_planted);
            let wanted = if is_planted { case.wanted } else { ["NULL"; 2] };
            if [&row[3], &row[4]] != wanted {
                wrong.push(format!("{}: {row:?}, expected {wanted:?}", case.case));
            }
        }
        if named != 1 {
            wrong.push(format!("{}: {named} rows of the planted operator", case.case));
        }
        let is_bad = case.wanted[0] != "NULL";
        let findings: Vec<_> = found.iter().filter(|row| row[0] == label).collect();
        let is_named = |row: &&Vec<String>| row[1].starts_with(case.name) && row[2] == "true";
        if findings.len() != usize::from(is_bad) || !findings.iter().all(is_named) {
            wrong.push(format!("{}: findings {findings:?}", case.case));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(cases.len(), 65);
}
