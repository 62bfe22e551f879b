//! Compares the device timelines with a recount in Python (`tests/oracle/gpu_timeline.py`), on the
//! fixtures and, if it is available, on the corpus.
//!
//! `tracelens_gpu_timeline` has every figure of TraceLens. `gpu_timeline` and
//! `gpu_timeline_by_device` define communication and copies differently. The times at which
//! anything runs are always equal. All parts are equal if both definitions count the same amount of
//! communication and of copies.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::support::{TestStore, elements, needs, root};

/// First the figures that depend only on whether anything runs, then those that depend on classes.
const FIGURES: &str = "busy_time_ns, idle_time_ns, total_time_ns, total_comm_time_ns, \
    total_memcpy_time_ns, \
    computation_time_ns, exposed_comm_time_ns, exposed_memcpy_time_ns";

/// A line of expected figures: the rows that it counts, the device, and the figures.
struct Expected {
    rows: String,
    device: String,
    figures: Vec<String>,
}

fn expected() -> BTreeMap<String, Vec<Expected>> {
    let text = std::fs::read_to_string(root().join("tests/expected/gpu_timeline.tsv"))
        .expect("the expected figures");
    let mut lines =
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    let names = lines.next().expect("a heading");
    let columns: Vec<usize> = std::iter::once("gpu_events")
        .chain(FIGURES.split(", "))
        .map(|f| names.iter().position(|n| n == f).unwrap_or_else(|| panic!("no column {f}")))
        .collect();
    let mut traces = BTreeMap::<String, Vec<Expected>>::new();
    for fields in lines {
        let figures = columns.iter().map(|&at| fields[at].clone()).collect();
        traces.entry(fields[0].clone()).or_default().push(Expected {
            rows: fields[1].clone(),
            device: fields[2].clone(),
            figures,
        });
    }
    traces
}

/// The number of rows whose classes agree, and of all rows, of the views with their own classes.
#[derive(Default)]
struct Agreement {
    same: usize,
    all: usize,
}

fn check(traces: &[(PathBuf, Vec<Expected>)]) -> Agreement {
    let store = TestStore::new();
    let mut ids = Vec::new();
    for (path, _) in traces {
        ids.push(
            store
                .ingest(path)
                .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
                .manifest
                .trace_id,
        );
    }
    let figures = |view: &str, device: &str, events: &str| -> Vec<Vec<String>> {
        store.rows(&format!("SELECT trace_id, {device}, {events}, {FIGURES} FROM {view}"))
    };
    let found = [
        ("tracelens", figures("tracelens_gpu_timeline", "''", "linked_events")),
        ("all", figures("gpu_timeline", "''", "gpu_events")),
        (
            "device",
            figures(
                "gpu_timeline_by_device",
                "coalesce(CAST(device AS VARCHAR), 'NULL')",
                "gpu_events",
            ),
        ),
    ];
    let mut agreement = Agreement::default();
    let mut differences = Vec::new();
    for ((path, wanted), id) in traces.iter().zip(&ids) {
        for (rows, found) in &found {
            let mut own: Vec<&[String]> =
                found.iter().filter(|r| r[0] == *id).map(|r| &r[1..]).collect();
            let mut want: Vec<Vec<String>> = wanted
                .iter()
                .filter(|w| w.rows == *rows)
                .map(|w| [std::slice::from_ref(&w.device), w.figures.as_slice()].concat())
                .collect();
            own.sort();
            want.sort();
            let are_comparable = own.len() == want.len();
            let mut is_equal = are_comparable;
            for (own, want) in own.iter().zip(&want) {
                let has_same_classes = *rows == "tracelens" || own[5..7] == want[5..7];
                let compared = if has_same_classes { own.len() } else { 5 };
                is_equal &= own[..compared] == want[..compared];
                if *rows != "tracelens" {
                    agreement.all += 1;
                    agreement.same += usize::from(has_same_classes);
                }
            }
            if !is_equal {
                differences.push(format!(
                    "{} {rows}:\n  found  {own:?}\n  wanted {want:?}",
                    path.display()
                ));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    agreement
}

#[test]
fn fixtures_have_the_expected_timeline() {
    let fixtures = expected().into_iter().filter(|(trace, _)| trace.starts_with("fixtures/"));
    let fixtures: Vec<_> =
        fixtures.map(|(trace, expected)| (root().join(trace), expected)).collect();
    assert!(fixtures.len() >= 2);
    let agreement = check(&fixtures);
    assert_eq!(
        agreement.same, agreement.all,
        "NCCL and copies only: all definitions are the same there"
    );
}

#[test]
fn public_traces_have_the_expected_timeline() {
    let Some(corpus) = needs::corpus() else { return };
    let traces = expected().into_iter().filter(|(trace, _)| !trace.starts_with("fixtures/"));
    let traces: Vec<_> = traces.map(|(trace, expected)| (corpus.join(trace), expected)).collect();
    assert!(traces.len() > 30, "only {} traces are expected", traces.len());
    let agreement = check(&traces);
    println!("{} of {} timelines have the classes of TraceLens", agreement.same, agreement.all);
    assert!(
        agreement.same * 4 > agreement.all * 3,
        "only {} of {} timelines could be compared in all parts",
        agreement.same,
        agreement.all
    );
}

/// The links of TraceLens, rule by rule. The figures come from TraceLens 0.1.0 itself for the same
/// elements, by `TreePerfAnalyzer.get_df_gpu_timeline`.
#[test]
fn tracelens_counts_what_it_links() {
    let call = |name: &str, link: &str, ts: i64| {
        format!(
            r#"{{"ph":"X","cat":"cuda_runtime","name":"{name}","pid":1,"tid":1,"ts":{ts},"dur":5,"args":{{"correlation":{link}}}}}"#
        )
    };
    let work = |cat: &str, name: &str, link: &str, ts: i64, dur: i64| {
        format!(
            r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":0,"tid":7,"ts":{ts},"dur":{dur},"args":{{"correlation":{link},"device":0,"stream":7}}}}"#
        )
    };
    let arrow = |link: &str, ts: i64| {
        [
            format!(r#"{{"ph":"s","cat":"ac2g","name":"ac2g","id":{link},"pid":1,"tid":1,"ts":{ts}}}"#),
            format!(r#"{{"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":{link},"pid":0,"tid":7,"ts":{}}}"#, ts + 20),
        ]
        .join(",\n")
    };
    let store = elements(
        [
            // An arrow links. Without an arrow nothing is linked, and an ID in quotes is a
            // different ID.
            call("cudaLaunchKernel", "1", 0),
            arrow("1", 0),
            work("kernel", "gemm", "1", 20, 10),
            call("cudaLaunchKernel", "2", 40),
            work("kernel", "lost", "2", 60, 10),
            call("cudaLaunchKernel", "3", 80),
            arrow("\"3\"", 80),
            work("kernel", "quoted", "3", 100, 10),
            // Of several events with the same ID, the last one in the file is linked. Of a graph
            // launch, all are linked, even without arrows.
            call("cudaLaunchKernel", "4", 120),
            arrow("4", 120),
            work("kernel", "first", "4", 140, 1),
            work("kernel", "ncclDevKernel_AllReduce", "4", 142, 8),
            call("cudaGraphLaunch", "5", 160),
            work("kernel", "oneccl_all_gather", "5", 180, 3),
            work("gpu_memset", "Memset (Device)", "5", 184, 2),
            // 0 is a valid ID, a ROCm name counts as a copy, and a similar name does not.
            call("hipMemcpyAsync", "0", 200),
            arrow("0", 200),
            work("kernel", "__amd_rocclr_copyBufferRectAligned.kd", "0", 220, 4),
            call("hipLaunchKernel", "6", 240),
            arrow("6", 240),
            work("kernel", "__amd_rocclr_copyBufferOther", "6", 260, 16),
        ]
        .join(",\n"),
    );
    assert_eq!(
        store.lines(&format!(
            "SELECT gpu_events, linked_events, {FIGURES} FROM tracelens_gpu_timeline"
        )),
        ["9 6 43000 213000 256000 8000 4000 31000 8000 4000"]
    );
}
