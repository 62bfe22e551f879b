//! Traces with wrong values: every view returns rows, or reports the value that does not fit.

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::{Value, json};
use tempfile::TempDir;

use tracesql::library::Library;

use crate::support::{TestStore, fixture, rows_of_each, texts, tracesql};

/// Pseudo-random numbers that are the same in each run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 31)
    }

    /// Whether an event of probability 1 / `times` happens.
    fn one_in(&mut self, times: u64) -> bool {
        self.next().is_multiple_of(times)
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.next() as usize % from.len()].clone()
    }
}

/// A fixture in which about one of `rarity` values is wrong.
fn damaged(fixture_name: &str, seed: u64, rarity: u64, folder: &Path) -> std::path::PathBuf {
    let bytes = std::fs::read(fixture(fixture_name)).expect("a fixture");
    let mut text = String::new();
    match fixture_name.ends_with(".gz") {
        true => GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).expect("packed text"),
        false => bytes.as_slice().read_to_string(&mut text).expect("text"),
    };
    let mut trace: Value = serde_json::from_str(&text).expect("JSON");
    let wrong = [
        json!(-1),
        json!(-5.5),
        json!(0),
        json!(9e15),
        json!(-9e15),
        json!(9_223_372_036_854_775_i64),
        json!(-9_223_372_036_854_775_i64),
        json!(i64::MIN + 1),
        json!(1_u64 << 62),
        json!(u64::MAX),
        json!(1e300),
        json!("x"),
        json!("1e5"),
        json!(format!("{}float", "complex<".repeat(1000))),
        json!(null),
        json!([]),
        json!({}),
        json!(true),
    ];
    let mut dice = Dice(seed);
    let damage = |holder: &mut Value, key: &str, dice: &mut Dice| {
        if holder.get(key).is_some() {
            holder[key] = dice.pick(&wrong);
        }
    };
    let events =
        if trace.is_array() { trace.as_array_mut() } else { trace["traceEvents"].as_array_mut() };
    for event in events.expect("a list of events") {
        if dice.one_in(rarity) && event.get("dur").is_some() {
            event["dur"] = dice.pick(&[json!(-1), json!(-100.25), json!(-1e6), json!(0)]);
        }
        for key in ["dur", "ts", "tid", "pid", "name", "cat", "ph"] {
            if dice.one_in(20 * rarity) {
                damage(event, key, &mut dice);
            }
        }
        if dice.one_in(rarity)
            && let Some(args) = event.get_mut("args").filter(|args| args.is_object())
        {
            let keys: Vec<String> = args.as_object().expect("an object").keys().cloned().collect();
            if !keys.is_empty() {
                damage(args, &dice.pick(&keys), &mut dice);
            }
        }
    }
    for key in ["deviceProperties", "distributedInfo"] {
        if trace.get(key).is_some() && dice.one_in(2) {
            trace[key] = dice.pick(&[
                json!([]),
                json!({}),
                json!([{}]),
                json!(null),
                json!(5),
                json!([{"id": -1, "totalGlobalMem": 1_u64 << 63, "numSms": 0}]),
            ]);
        }
    }
    let path = folder.join("damaged.json");
    std::fs::write(&path, trace.to_string()).expect("a trace");
    path
}

/// Runs all views and commands on a damaged fixture.
fn survives(fixture_name: &str, seed: u64, rarity: u64) {
    let folder = TempDir::new().expect("a folder");
    let path = damaged(fixture_name, seed, rarity, folder.path());
    let (store, _) = TestStore::with(&path);
    let (engine, library) = (store.engine(), Library::load(&[]).expect("the library"));
    let mut problems = Vec::new();
    let views: Vec<_> = library.public_views().collect();
    let queries: Vec<String> =
        views.iter().map(|view| format!("SELECT * FROM {}", view.name)).collect();
    for (view, rows) in views.iter().zip(rows_of_each(&engine, &queries)) {
        if let Err(e) = rows {
            let why = e.to_string();
            if !why.contains("does not fit 64 bits") {
                problems.push(format!(
                    "{}: {}",
                    view.file,
                    why.chars().take(300).collect::<String>()
                ));
            }
        }
    }
    let (stored, out) = (store.folder.path().join("store"), folder.path().join("out"));
    let (stored, out) = (stored.to_str().expect("a path"), out.to_str().expect("a path"));
    for command in ["pprof", "folded", "flamegraph", "report --format html", "report --format json"]
    {
        let args: Vec<&str> = command.split(' ').chain([stored, "-o", out]).collect();
        let output = tracesql(&args);
        let said = texts(&output).1;
        let is_said = output.status.success() || said.contains("does not fit 64 bits");
        if !is_said || said.contains("panicked") {
            problems.push(format!(
                "{command}: {} {}",
                output.status,
                said.chars().take(300).collect::<String>()
            ));
        }
    }
    assert!(problems.is_empty(), "{fixture_name}, seed {seed}:\n{}", problems.join("\n"));
}

#[test]
fn every_view_and_command_answers_with_a_few_wrong_values() {
    survives("synthetic_gpu_rank0.json.gz", 1, 500);
}

#[test]
fn every_view_and_command_answers_with_many_wrong_values() {
    survives("synthetic_gpu_rank0.json.gz", 2, 5);
}

#[test]
fn every_view_and_command_answers_with_wrong_values_of_a_cpu() {
    survives("ddp_rank0.pt.trace.json.gz", 3, 20);
}

#[test]
fn every_view_and_command_answers_with_wrong_values_of_older_traces() {
    survives("old_kineto.json.gz", 4, 10);
}
