//! Runs the example of docs/ci.md until it passes and until it fails.

use super::{Place, of_status};
use crate::support::root;

fn example() -> Place {
    let place = Place::ranks();
    let from = root().join("docs/examples/ci");
    for name in ["thresholds.csv", "assertions.sql", "rules/rule_loader_budget.sql"] {
        place.write(
            &format!("ci/{name}"),
            &std::fs::read_to_string(from.join(name)).expect("a file of the example"),
        );
    }
    place.check(0, &["synthetic_gpu_rank0", "--save-baseline", "ci/baseline.json"]);
    place
}

/// The arguments that the pipelines of the example use, with the rule of the example.
const ARGS: &[&str] = &[
    "--rules",
    "ci/rules",
    "--rule",
    "loader_budget",
    "--assert",
    "ci/assertions.sql",
    "--baseline",
    "ci/baseline.json",
    "--thresholds",
    "ci/thresholds.csv",
];

#[test]
fn the_example_is_green_where_nothing_changed() {
    let json = example().json(0, &[&["synthetic_gpu_rank0"], ARGS].concat());
    assert_eq!(json["result"], "passed");
    let passed = of_status(&json, "passed");
    for name in [
        "loader_budget",
        "every element of the traces was read",
        "steps",
        "memory_peak [cuda#1]",
        "operator_device_time [aten::mm]",
    ] {
        assert!(passed.iter().any(|p| p == name), "{name} is not in {passed:?}");
    }
    assert!(of_status(&json, "not_measurable").is_empty());
}

#[test]
fn the_example_is_red_for_the_straggler() {
    let json = example().json(1, &[&["synthetic_gpu_rank1"], ARGS].concat());
    assert_eq!(
        of_status(&json, "failed"),
        [
            "loader_budget",
            "matrix products take less than 0.9 ms a step",
            "operator_device_time [aten::mm]"
        ]
    );
    let rule = &json["checks"][0];
    // 100 * 4 * 609,493.75 / (4 * 4,743,605.5), with the figures of step_time_average.
    assert_eq!(
        (rule["figures"]["numerator"].as_i64(), rule["figures"]["denominator"].as_i64()),
        (Some(2_437_975), Some(18_974_422))
    );
    assert_eq!(rule["message"], "Data loading takes 12.8 % of the steps; the budget is 8 %.");
}

#[test]
fn the_pipelines_call_what_is_there() {
    let from = root().join("docs/examples/ci");
    let place = example();
    for name in ["github-actions.yml", "gitlab-ci.yml"] {
        let text = std::fs::read_to_string(from.join(name)).expect("a pipeline");
        let command: String = text
            .split("tracesql check")
            .nth(1)
            .expect("a call")
            .split("\n\n")
            .next()
            .expect("its text")
            .to_owned();
        let options: Vec<&str> = command
            .split_whitespace()
            .take_while(|w| !w.ends_with("artifacts:") && *w != "-")
            .filter(|w| !w.starts_with("name:"))
            .collect();
        let files = options.iter().filter(|w| w.starts_with("ci/"));
        assert!(
            files.clone().count() >= 4 && files.clone().all(|f| place.path(f).exists()),
            "{name}: {options:?}"
        );
        let help = place.ends(0, &["check", "--help"]);
        let unknown: Vec<&&str> =
            options.iter().filter(|w| w.starts_with("--") && !help.contains(**w)).collect();
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
    }
}
