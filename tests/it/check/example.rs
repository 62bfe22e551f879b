//! Runs the example of docs/ci.md until it passes and until it fails.

use super::{Place, of_status};
use crate::support::{fixture, root};

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

/// All shell scripts of a pipeline, in order: the `run` of steps and the lines of `script` and
/// `before_script`.
fn scripts(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(object) => {
            for (key, value) in object {
                match (key.as_str(), value) {
                    ("run", serde_json::Value::String(text)) => found.push(text.clone()),
                    ("script" | "before_script", serde_json::Value::Array(lines)) => found
                        .extend(lines.iter().map(|l| l.as_str().expect("a command").to_owned())),
                    _ => scripts(value, found),
                }
            }
        }
        serde_json::Value::Array(all) => all.iter().for_each(|v| scripts(v, found)),
        _ => {}
    }
}

/// The calls of tracesql in a script. A line that ends with a backslash goes on in the next one.
fn calls(script: &str) -> Vec<Vec<String>> {
    let joined = script.replace("\\\n", " ");
    let lines = joined.lines().map(|line| line.split_whitespace().map(str::to_owned).collect());
    lines.filter(|words: &Vec<String>| words.first().is_some_and(|w| w == "tracesql")).collect()
}

/// A pipeline as its service would read it.
fn pipeline(name: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(root().join("docs/examples/ci").join(name)).expect("a file");
    serde_yaml_ng::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn every_call_of_the_pipelines_runs() {
    for (name, store) in [("github-actions.yml", "main-store"), ("gitlab-ci.yml", "main/store")] {
        let place = example();
        let trace = fixture("synthetic_gpu_rank0.json.gz");
        std::fs::create_dir_all(place.path("traces")).expect("a folder");
        std::fs::copy(&trace, place.path("traces/rank0.json.gz")).expect("a trace");
        place.ends(0, &["ingest", "-q", "traces", "-o", store]);
        let mut all = Vec::new();
        scripts(&pipeline(name), &mut all);
        let calls: Vec<Vec<String>> = all.iter().flat_map(|script| calls(script)).collect();
        let mut commands = Vec::new();
        for call in &calls {
            let args: Vec<&str> = call[1..].iter().map(String::as_str).collect();
            let (stdout, code, stderr) = place.run(&args);
            // The fixture has findings of rules, so the check fails.
            let expected = i32::from(args[0] == "check");
            assert_eq!(code, expected, "{name}: {call:?}\n{stdout}{stderr}");
            commands.push(args[0]);
        }
        commands.sort_unstable();
        assert_eq!(commands, ["check", "compare", "ingest"], "{name}");
        assert!(place.read("comparison.md").contains("### Comparison of `store` with"), "{name}");
    }
}

#[test]
fn the_pipelines_install_the_program_and_keep_a_store_for_later() {
    for (name, kept) in [("github-actions.yml", "main-store"), ("gitlab-ci.yml", "main/store")] {
        let mut all = Vec::new();
        scripts(&pipeline(name), &mut all);
        let text = all.join("\n");
        let archive = "tracesql-$TRACESQL_VERSION-x86_64-unknown-linux-musl.tar.gz";
        let (install, first) = (text.find(archive), text.find("\ntracesql "));
        assert!(install.is_some() && install < first, "{name}: {text}");
        assert!(text.contains(kept), "{name} fetches {kept}");
        let version = format!("TRACESQL_VERSION: {}", env!("CARGO_PKG_VERSION"));
        let source = std::fs::read_to_string(root().join("docs/examples/ci").join(name));
        assert!(source.expect("a file").contains(&version), "{name}: {version}");
    }
}
