//! Rules about data parallelism, on small traces with every combination of what a trace can state
//! about its backend.

use crate::support::TestStore;

/// A trace with a kernel on each of some devices, these host events, and this text next to the
/// event list.
fn trace(devices: u32, names: &[&str], more: &str) -> TestStore {
    let mut events: Vec<String> = names
        .iter()
        .zip(0..)
        .map(|(name, i)| format!(r#"{{"ph":"X","cat":"user_annotation","name":"{name}","pid":1,"tid":1,"ts":{},"dur":5}}"#, 10 * i))
        .collect();
    events.extend((0..devices).map(|device| {
        let args = format!(r#"{{"device":{device},"stream":7,"correlation":{device}}}"#);
        format!(r#"{{"ph":"X","cat":"kernel","name":"gemm","pid":{device},"tid":7,"ts":100,"dur":5,"args":{args}}}"#)
    }));
    TestStore::of_text(format!(
        r#"{{"schemaVersion":1{more},"traceEvents":[{}]}}"#,
        events.join(",")
    ))
    .0
}

fn outcome(store: &TestStore, rule: &str) -> String {
    let rows = store.rows(&format!("SELECT status, severity, subject, value FROM rule_{rule}"));
    rows.iter().map(|row| row.join(" | ")).collect::<Vec<_>>().join("\n")
}

const DDP: &str = "DistributedDataParallel.forward";

#[test]
fn the_backend_is_what_the_trace_shows_or_says() {
    let says = |backend: &str| {
        format!(r#","distributedInfo":{{"backend":"{backend}","rank":0,"world_size":2}}"#)
    };
    let found = "finding | high";
    for (names, more, wanted) in [
        (&[DDP, DDP][..], says("gloo"), format!("{found} | gloo | 2.0")),
        (&[DDP], says("mpi"), format!("{found} | mpi | 1.0")),
        (&[DDP], says("GLOO"), format!("{found} | gloo | 1.0")),
        (&[DDP, "gloo:all_reduce"], String::new(), format!("{found} | gloo | 1.0")),
        (&[DDP, "gloo:all_reduce"], says("undefined"), format!("{found} | gloo | 1.0")),
        (&[DDP], says("nccl"), "ok | NULL | nccl | 0.0".into()),
        (&[DDP], says("xccl"), "ok | NULL | xccl | 0.0".into()),
        // Gloo in addition to a device backend is used for host tensors.
        (&[DDP], says("cpu:gloo,cuda:nccl"), "ok | NULL | cpu:gloo,cuda:nccl | 0.0".into()),
        (&[DDP, "nccl:all_reduce", "gloo:barrier"], String::new(), "ok | NULL | gloo | 0.0".into()),
        (&[DDP, "nccl:all_reduce"], says("gloo"), "ok | NULL | gloo | 0.0".into()),
        // Without DistributedDataParallel there is nothing to report about its backend.
        (&["gloo:all_reduce"], says("gloo"), "ok | NULL | gloo | 0.0".into()),
        (&["aten::mm"], String::new(), "ok | NULL | NULL | 0.0".into()),
        (&[DDP], String::new(), "not_measurable | NULL | NULL | NULL".into()),
        (&[DDP], says("undefined"), "not_measurable | NULL | NULL | NULL".into()),
        (&[DDP], says("fancy"), "not_measurable | NULL | NULL | NULL".into()),
        (&[], says("gloo"), "not_measurable | NULL | NULL | NULL".into()),
    ] {
        assert_eq!(outcome(&trace(1, names, &more), "ddp_backend"), wanted, "{names:?} {more}");
    }
    assert_eq!(
        outcome(&trace(0, &[DDP], &says("gloo")), "ddp_backend"),
        "not_measurable | NULL | NULL | NULL",
        "the CPU needs gloo"
    );
    let reason = trace(1, &[DDP], &says("fancy")).value("SELECT reason FROM rule_ddp_backend");
    assert!(
        reason.starts_with(
            "DistributedDataParallel is called, but nothing is known of the backend \
            fancy and there are no collectives."
        ),
        "{reason}"
    );
}

#[test]
fn data_parallel_is_a_fault_on_several_devices() {
    const DP: &str = "DataParallel.forward";
    let of = |devices: u32, names: &[&str]| outcome(&trace(devices, names, ""), "data_parallel");
    assert_eq!(of(2, &[DP]), "finding | medium | NULL | 2.0");
    assert_eq!(of(1, &[DP]), "ok | NULL | NULL | 1.0");
    assert_eq!(of(4, &["aten::mm"]), "ok | NULL | NULL | 0.0");
    assert_eq!(of(2, &[DDP]), "ok | NULL | NULL | 0.0");
    assert_eq!(of(0, &[DP]), "not_measurable | NULL | NULL | NULL");
    assert_eq!(of(2, &[]), "not_measurable | NULL | NULL | NULL");
}
