//! Simulated jobs whose truth is known, where they are next to the corpus: every call, wait and
//! clock compared with the simulation.

use std::collections::HashMap;

use serde_json::Value;

use crate::support::TestStore;
use crate::support::needs::in_corpus;

/// A call of the simulation.
struct Call {
    id: usize,
    members: usize,
    starts: Vec<i64>,
    wait: i64,
    last: i64,
    transfer: i64,
    is_broadcast: bool,
    is_root: bool,
}

/// The calls of the simulation by rank and correlation.
fn calls(truth: &Value) -> HashMap<(i64, i64), Call> {
    let ints = |value: &Value| -> Vec<i64> {
        value.as_array().expect("a list").iter().map(|v| v.as_i64().expect("a number")).collect()
    };
    let mut found = HashMap::new();
    for (id, call) in truth["collectives"].as_array().expect("calls").iter().enumerate() {
        let ranks = ints(&call["ranks"]);
        let (correlations, waits) = (ints(&call["correlation"]), ints(&call["wait_ns"]));
        for (at, rank) in ranks.iter().enumerate() {
            let of = Call {
                id,
                members: ranks.len(),
                starts: ints(&call["start_ns"]),
                wait: waits[at],
                last: call["last_rank"].as_i64().expect("a rank"),
                transfer: call["transfer_ns"].as_i64().expect("ns"),
                is_broadcast: call["kind"] == "broadcast",
                is_root: call["kind"] == "broadcast" && at == 0,
            };
            found.insert((*rank, correlations[at]), of);
        }
    }
    found
}

fn compare(name: &str, calls_expected: usize) {
    let Some(folder) = in_corpus(&format!("../ranks/{name}")) else { return };
    let text = std::fs::read_to_string(folder.join("truth.json")).expect("the truth is there");
    let truth: Value = serde_json::from_str(&text).expect("the truth is JSON");
    let calls = calls(&truth);
    let store = TestStore::new();
    for rank in truth["ranks"].as_array().expect("ranks") {
        let file = folder.join(format!("rank{}.pt.trace.json.gz", rank["rank"]));
        store.ingest(&file).expect("the trace is read");
    }
    let count = store.lines(
        "SELECT count(*), count(*) FILTER (WHERE status = 'complete') FROM collective_calls",
    );
    assert_eq!(count, [format!("{calls_expected} {calls_expected}")]);
    let rows = store.rows(
        "SELECT m.call_id, m.rank, k.correlation, coalesce(m.wait_ns, -1), c.transfer_ns, \
            coalesce(c.last_rank, -1), m.members \
        FROM collective_members m \
        JOIN kernels k ON k.trace_id = m.trace_id AND k.event_id = m.event_id \
        JOIN collective_calls c ON c.job = m.job AND c.call_id = m.call_id",
    );
    let (mut ids, mut far, mut waits) = (HashMap::new(), 0, 0);
    for row in rows {
        let row: Vec<i64> = row.iter().map(|value| value.parse().expect("a number")).collect();
        let [call, rank, correlation, wait, transfer, last, members] = row[..] else {
            panic!("a row has 7 columns");
        };
        let of = &calls[&(rank, correlation)];
        assert_eq!(*ids.entry(call).or_insert(of.id), of.id, "call {call} has rows of two calls");
        assert_eq!(members, of.members as i64, "call {call}");
        assert!((transfer - of.transfer).abs() <= 3_100, "call {call}: {transfer} {}", of.transfer);
        let mut starts = of.starts.clone();
        starts.sort_unstable();
        if starts[starts.len() - 1] - starts[starts.len() - 2] > 5_000 {
            assert_eq!(last, of.last, "call {call}");
        }
        if of.is_root {
            continue;
        }
        // A broadcast whose root does not leave early has the root not told from the others.
        assert!(wait >= 0 || of.is_broadcast, "call {call}");
        if wait >= 0 {
            let error = (wait - of.wait).abs();
            assert!(error <= 4_000, "call {call} rank {rank}: wait {wait}, truth {}", of.wait);
            (far, waits) = (far + usize::from(error > 2_000), waits + 1);
        }
    }
    assert!(far * 100 <= waits, "{far} of {waits} waits are off by more than 2 µs");
}

#[test]
fn calls_and_waits_of_a_job_of_8_ranks_are_as_simulated() {
    compare("job8", 580);
}

#[test]
fn calls_and_waits_of_a_job_of_64_ranks_are_as_simulated() {
    compare("job64", 1_635);
}
