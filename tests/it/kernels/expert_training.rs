//! A trace of training with experts on several devices. The script that makes it knows the expected
//! values: fixtures/make/moe_training.py.

use serde_json::Value;

use crate::support::{TestStore, fixture};

fn truth() -> Value {
    let text = std::fs::read_to_string(fixture("moe/moe_training.truth.json"))
        .expect("the truth beside the trace");
    serde_json::from_str(&text).expect("JSON")
}

fn store() -> TestStore {
    TestStore::with(&fixture("moe/moe_training.json.gz")).0
}

#[test]
fn each_class_has_its_time() {
    let (truth, store) = (truth(), store());
    let classes = truth["trace"]["class_sum_ns"].as_object().expect("classes");
    let mut wanted: Vec<String> = classes
        .iter()
        .filter(|(_, ns)| ns.as_i64() != Some(0))
        .map(|(class, ns)| format!("{class} {ns}"))
        .collect();
    wanted.sort();
    assert!(wanted.len() > 10);
    assert_eq!(
        store.lines(
            "SELECT class, sum(dur_ns) FROM kernel_classes \
        WHERE kind = 'kernel' GROUP BY class ORDER BY class"
        ),
        wanted
    );
    let units = "SELECT matrix_unit, sum(dur_ns) FROM kernel_classes \
        WHERE class IN ('gemm', 'conv', 'attention') GROUP BY matrix_unit ORDER BY matrix_unit";
    let unit = &truth["trace"]["matrix_unit_sum_ns"];
    assert_eq!(store.lines(units), [format!("no {}", unit["no"]), format!("yes {}", unit["yes"])]);
}

#[test]
fn each_name_has_its_class_and_collective() {
    let (truth, store) = (truth(), store());
    for kernel in truth["kernels"].as_array().expect("kernels") {
        let name = kernel["name"].as_str().expect("a name");
        let sql = format!(
            "SELECT concat(class, ' ', coalesce(collective, '-'), ' ', matrix_unit) \
                FROM kernel_names WHERE name = '{}'",
            name.replace('\'', "''")
        );
        let text = |key: &str| kernel[key].as_str().unwrap_or("-").to_owned();
        assert_eq!(
            store.value(&sql),
            format!("{} {} {}", text("class"), text("collective"), text("matrix_unit")),
            "{name}"
        );
    }
}

#[test]
fn the_timeline_knows_what_is_exposed() {
    let (truth, store) = (truth(), store());
    let figure = |name: &str| truth["trace"][name].as_i64().unwrap_or_else(|| panic!("{name}"));
    let sql = "SELECT computation_time_ns, exposed_comm_time_ns, exposed_memcpy_time_ns,
               busy_time_ns, idle_time_ns, total_comm_time_ns, unclassified_time_ns,
               exposed_comm_max_ns FROM gpu_timeline";
    let exposed = figure("exposed_communication_ns");
    assert_eq!(
        store.ints(sql),
        [
            figure("computation_union_ns"),
            exposed,
            figure("exposed_memcpy_ns"),
            figure("busy_ns"),
            figure("idle_ns"),
            figure("communication_union_ns"),
            0,
            exposed
        ]
    );
    // The exchange between experts is communication, which therefore takes most of the time. The
    // matrix products run on tensor cores.
    let findings = store.lines(
        "SELECT rule, status FROM findings \
        WHERE rule IN ('communication', 'tensor_cores') ORDER BY rule",
    );
    assert_eq!(findings, ["communication finding", "tensor_cores ok"]);
}

#[test]
fn the_steps_have_their_shares() {
    let (truth, store) = (truth(), store());
    for step in truth["steps"].as_array().expect("steps") {
        let sql = format!(
            "SELECT class, sum(total_ns) FROM gpu_time_by_class_and_step \
                WHERE step = {} AND class NOT IN ('memcpy', 'memset') GROUP BY class \
                ORDER BY class",
            step["step"]
        );
        let classes = step["class_sum_ns"].as_object().expect("classes");
        let mut wanted: Vec<String> = classes
            .iter()
            .filter(|(_, ns)| ns.as_i64() != Some(0))
            .map(|(class, ns)| format!("{class} {ns}"))
            .collect();
        wanted.sort();
        assert_eq!(store.lines(&sql), wanted, "step {}", step["step"]);
    }
}
