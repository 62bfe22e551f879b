//! Critical paths and forecasts of simulated jobs whose truth is known, where they are next to the
//! corpus.

use serde_json::Value;

use tracesql::engine::{Engine, EngineOptions};

use super::simulated::{Simulated, ints};
use crate::support::rows_of;

/// Paths may differ by this much of their length, and forecasts by this much of the step.
const MAX_PATH_SHARE: f64 = 0.01;
const MAX_FORECAST_SHARE: f64 = 0.003;

fn ns(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

/// Lengths, ends and kinds of the path of each step; and its ranks, if no two of them come last
/// within the error of the clocks, as either may then be on the path.
fn paths(name: &str, ranks_are_clear: bool) {
    let Some(Simulated { truth, store }) = Simulated::recorded(name) else { return };
    let windows = store.rows(
        "SELECT step, window_ns, start_rank, end_rank, compute_ns, transfer_ns, data_loading_ns, \
            unknown_ns \
        FROM job_critical_path_windows WHERE window_id > 0",
    );
    let ranks = store.rows(
        "SELECT step, value, path_ns FROM job_critical_path_by \
        WHERE window_id > 0 AND dimension = 'rank'",
    );
    for step in truth["steps"].as_array().expect("steps") {
        let (number, path) = (step["step"].to_string(), &step["critical_path"]);
        let length = ns(&path["length_ns"]);
        let near = |found: i64, wanted: i64, what: &str| {
            let error = (found - wanted).abs() as f64;
            assert!(
                error <= MAX_PATH_SHARE * length as f64,
                "step {number}: {what} {found}, truth {wanted}"
            );
        };
        let row = windows.iter().find(|row| row[0] == number).expect("the step has a path");
        let int = |at: usize| row[at].parse::<i64>().expect("a number");
        near(int(1), length, "length");
        assert_eq!(row[2], path["start_rank"].to_string(), "step {number}: start");
        assert_eq!(row[3], path["end_rank"].to_string(), "step {number}: end");
        for (at, kind) in [(4, "compute"), (5, "transfer"), (6, "data_loading")] {
            near(int(at), ns(&path["by_kind_ns"][kind]), kind);
        }
        near(int(7), 0, "unknown");
        for (rank, time) in path["by_rank_ns"].as_object().expect("ranks") {
            if !ranks_are_clear {
                continue;
            }
            let found = ranks.iter().find(|row| row[0] == number && row[1] == *rank);
            let found = found.map_or(0, |row| row[2].parse().expect("a number"));
            near(found, ns(time), &format!("rank {rank}"));
        }
    }
}

/// The lengths of all steps after a change.
fn forecasts(name: &str) {
    let Some(Simulated { truth, store }) = Simulated::recorded(name) else { return };
    let rows = |factor: &str| {
        let options = EngineOptions {
            settings: vec![("what_if_factor".to_owned(), factor.to_owned())],
            ..EngineOptions::default()
        };
        let engine = Engine::open(&store.store, None, &options).expect("the store opens");
        let sql = "SELECT target_kind, coalesce(name, ''), step, forecast_ns FROM job_what_if \
            WHERE window_id > 0";
        rows_of(&engine, sql).unwrap_or_else(|e| panic!("{sql}: {e}"))
    };
    let (half, none) = (rows("0.5"), rows("0"));
    let changes = [
        ("kernels of aten::mm x 0.5", &half, "operator", "aten::mm"),
        ("transfers x 0.5", &half, "communication", ""),
        ("transfers of all collectives = 0", &none, "communication", ""),
        ("no slow compute", &half, "straggler", "compute"),
        ("no slow data loading", &half, "straggler", "data_loading"),
        ("no host pause", &half, "straggler", "host_late"),
        ("no slow link", &half, "straggler", "transfer"),
    ];
    let spans = &truth["what_if_step_span_ns"];
    for (change, rows, kind, name) in changes {
        for (step, wanted) in spans[change].as_object().expect("steps") {
            // Without such a straggler nothing changes.
            if spans[change] == spans["as_recorded"] {
                continue;
            }
            let row = rows.iter().find(|row| row[0] == kind && row[1] == name && row[2] == *step);
            let found: i64 = row.unwrap_or_else(|| panic!("{change} has no row for step {step}"))
                [3]
            .parse()
            .expect("a forecast");
            let error = (found - ns(wanted)).abs() as f64 / ns(wanted) as f64;
            assert!(
                error <= MAX_FORECAST_SHARE,
                "{change}, step {step}: {found}, truth {wanted}, {error:.4} off"
            );
        }
    }
}

#[test]
fn paths_of_a_job_of_8_ranks_are_as_simulated() {
    paths("job8", true);
}

#[test]
fn paths_of_a_job_of_64_ranks_are_as_simulated() {
    paths("job64", false);
}

/// Where the path leaves a collective, it goes on with a member that came last, or within the error
/// of the clocks of it. In step 3 of job64 two members of one call begin within 33 ns.
#[test]
fn paths_go_on_with_a_member_that_came_last() {
    for name in ["job8", "job64"] {
        let Some(Simulated { truth, store }) = Simulated::recorded(name) else { return };
        let mut starts = std::collections::HashMap::new();
        for call in truth["collectives"].as_array().expect("calls") {
            let of = ints(&call["start_ns"]);
            let last = of.iter().copied().max().expect("a start");
            let members = ints(&call["ranks"]).into_iter().zip(ints(&call["correlation"]));
            starts.extend(members.zip(of.into_iter().map(|start| last - start)));
        }
        // The piece before a transfer is that of the member that the path goes on with.
        let rows = store.rows(
            "SELECT m.rank, k.correlation, m.error_ns, c.last_candidates \
            FROM job_critical_path p \
            JOIN job_critical_path b ON b.job = p.job AND b.window_id = p.window_id \
                AND b.position = p.position - 1 \
            JOIN collective_members m ON m.job = p.job AND m.call_id = p.call_id \
                AND m.rank = b.rank \
            JOIN collective_calls c ON c.job = p.job AND c.call_id = p.call_id \
            JOIN kernels k ON k.trace_id = m.trace_id AND k.event_id = m.event_id \
            WHERE p.kind = 'transfer' AND p.window_id > 0",
        );
        assert!(rows.len() > 50, "{} members", rows.len());
        for row in rows {
            let row: Vec<i64> = row.iter().map(|cell| cell.parse().expect("a number")).collect();
            let before_last = starts[&(row[0], row[1])];
            let most = if row[3] > 1 { 2 * row[2] } else { 0 };
            assert!(before_last <= most, "{name}: rank {} is {before_last} ns early", row[0]);
        }
    }
}

#[test]
fn forecasts_of_a_job_of_8_ranks_are_as_simulated() {
    forecasts("job8");
}

#[test]
fn forecasts_of_a_job_of_64_ranks_are_as_simulated() {
    forecasts("job64");
}
