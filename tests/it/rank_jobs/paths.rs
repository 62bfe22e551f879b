//! Critical paths and forecasts of simulated jobs whose truth is known, where they are next to the
//! corpus.

use serde_json::Value;

use tracesql::engine::{Engine, EngineOptions};

use super::simulated::Simulated;
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

#[test]
fn forecasts_of_a_job_of_8_ranks_are_as_simulated() {
    forecasts("job8");
}

#[test]
fn forecasts_of_a_job_of_64_ranks_are_as_simulated() {
    forecasts("job64");
}
