//! Comparisons of figures with a baseline: a store, a trace, or a file.

use super::{Place, of_status};
use crate::support::fixture;

const RANK0: &str = "synthetic_gpu_rank0";
const RANK1: &str = "synthetic_gpu_rank1";

fn saved() -> Place {
    let place = Place::ranks();
    place.check(0, &[RANK0, "--save-baseline", "base.json"]);
    place
}

#[test]
fn a_store_holds_against_itself_as_store_as_trace_and_as_file() {
    let place = saved();
    let trace = fixture("synthetic_gpu_rank0.json.gz");
    for baseline in [RANK0, "base.json", trace.to_str().expect("a path")] {
        let json = place.json(0, &[RANK0, "--baseline", baseline]);
        assert_eq!(json["summary"]["failed"], 0, "{baseline}");
        assert!(json["summary"]["passed"].as_i64().expect("a number") > 60, "{json}");
        let deltas: f64 = json["checks"]
            .as_array()
            .expect("checks")
            .iter()
            .filter_map(|c| c["figures"]["delta"].as_f64())
            .map(f64::abs)
            .sum();
        assert_eq!(deltas, 0.0, "a baseline read from {baseline} has the figures of the store");
    }
}

/// The figures equal those of an independent query.
#[test]
fn a_straggler_fails_with_the_figures_of_both_sides() {
    let place = saved();
    let json = place.json(1, &[RANK1, "--baseline", "base.json"]);
    let failed = of_status(&json, "failed");
    for expected in [
        "computation_time [gpu#1]",
        "operator_device_time [aten::mm]",
        "step_part_mean [dataloader]",
        "step_part_mean [kernel]",
    ] {
        assert!(failed.iter().any(|f| f == expected), "{expected} is not in {failed:?}");
    }
    assert!(
        failed.iter().all(|f| !f.starts_with("step_time")),
        "the steps of both ranks are as long: {failed:?}"
    );
    let check = |json: &serde_json::Value, name: &str, subject: &str| {
        let all = json["checks"].as_array().expect("checks").clone();
        all.into_iter().find(|c| c["name"] == name && c["subject"] == subject).expect("the check")
    };
    let mm = check(&json, "operator_device_time", "aten::mm");
    let sum = |store: &str| -> f64 {
        let sql = "SELECT sum(k.dur_ns) FROM kernels k \
            JOIN events e ON e.event_id = k.op_id AND e.trace_id = k.trace_id \
            WHERE e.name = 'aten::mm' AND k.kind <> 'sync'";
        let (csv, _, _) = place.run(&["query", store, "--format", "csv", "-c", sql]);
        csv.lines().nth(1).expect("a row").parse().expect("a number")
    };
    assert_eq!(
        (mm["figures"]["baseline"].as_f64(), mm["figures"]["value"].as_f64()),
        (Some(sum(RANK0)), Some(sum(RANK1)))
    );
    assert_eq!(mm["message"], "3.11 ms → 4.04 ms, +29.6 % (allowed: 623 µs, 20.0 %)");
    let text = place.check(1, &[RANK1, "--baseline", "base.json"]);
    let top: Vec<&str> = text.lines().take(4).collect();
    assert!(
        top[2].starts_with("What differs") && top[3].split_whitespace().eq(["Rank", "0", "1"]),
        "{text}"
    );
    // Better figures pass, and the message reports that they are better.
    let json = place.json(1, &[RANK0, "--baseline", RANK1]);
    assert_eq!(check(&json, "step_part_mean", "dataloader")["figures"]["improved"], true);
}

#[test]
fn thresholds_decide() {
    let place = saved();
    let run = |code: i32, thresholds: &str| {
        place.write(
            "t.csv",
            &format!("metric,subject,direction,tolerance_pct,tolerance,missing\n{thresholds}\n"),
        );
        place.json(code, &[RANK1, "--baseline", "base.json", "--thresholds", "t.csv"])
    };
    assert_eq!(
        of_status(&run(1, "operator_device_time,aten::mm,,25,,"), "failed"),
        ["operator_device_time [aten::mm]"]
    );
    assert_eq!(
        of_status(&run(0, "operator_device_time,aten::mm,,30,,"), "passed"),
        ["operator_device_time [aten::mm]"]
    );
    assert_eq!(
        of_status(&run(0, "operator_device_time,aten::mm,,,1ms,"), "passed"),
        ["operator_device_time [aten::mm]"]
    );
    run(1, "operator_device_time,aten::mm,,,0.9ms,");
    run(0, "operator_device_time,aten::mm,decrease,,,");
    run(1, "operator_device_time,aten::mm,change,,,");
    // Lower utilisation is worse. For a metric in percent, a percentage is relative to it.
    run(1, "gpu_utilization,*,worse,5,,");
    run(0, "gpu_utilization,*,worse,10,,");
    // A metric that is neither better nor worse needs a direction.
    let json = run(1, "*_busy_time,*,worse,,,");
    assert!(
        json["checks"][0]["message"]
            .as_str()
            .expect("a text")
            .starts_with("not one metric was judged"),
        "nothing judged is no pass"
    );
    place.write("t.csv", "metric,subject\nsteps,\nkernel_time,\n");
    let text = place.check(2, &[RANK1, "--baseline", "base.json", "--thresholds", "t.csv"]);
    assert!(text.contains("t.csv:2: neither more nor less of steps is worse"), "{text}");
    run(1, "gpu_busy_time,*,decrease,,,");
    // A pattern that matches nothing is usually a typing mistake.
    let json = run(0, "memory_peak,gpu#*,,5,,\nsteps,,change,,,");
    assert!(
        json["notes"].as_array().expect("notes").contains(
            &"line 2 of t.csv fits no metric of either side (memory_peak of gpu#*)".into()
        ),
        "{json}"
    );
    // The first line that matches applies.
    run(0, "steps,,change,,,\n*,*,ignore,,,\nkernel_time,,change,,,");
}

#[test]
fn a_metric_that_is_missing_fails_unless_that_is_allowed() {
    let place = saved();
    let without = place
        .read("base.json")
        .lines()
        .filter(|l| !l.contains("\"memory_peak\""))
        .collect::<Vec<_>>()
        .join("\n");
    place
        .write("less.json", &without.replace("\"better\":\"lower\"}\n]", "\"better\":\"lower\"}]"));
    let run = |code: i32, thresholds: &str, baseline: &str| {
        place.write(
            "t.csv",
            &format!("metric,subject,direction,tolerance_pct,tolerance,missing\n{thresholds}\n"),
        );
        place.json(code, &[RANK0, "--baseline", baseline, "--thresholds", "t.csv"])
    };
    let json = run(1, "memory_peak,*,,5,,", "less.json");
    assert_eq!(of_status(&json, "failed"), ["memory_peak [cpu]", "memory_peak [cuda#1]"]);
    assert_eq!(json["checks"][0]["message"], "the baseline does not have it (candidate 768 KiB)");
    assert_eq!(
        of_status(&run(0, "memory_peak,*,,5,,allow\nsteps,,change,,,", "less.json"), "noted").len(),
        2
    );
    // If nothing else is compared, the comparison does not pass.
    assert_eq!(of_status(&run(1, "memory_peak,*,,5,,allow", "less.json"), "failed"), ["baseline"]);
    // The baseline has a metric that the candidate lacks.
    place.write(
        "more.json",
        &place.read("base.json").replace(
            "\"metric\":\"memory_peak\",\"subject\":\"cpu\"",
            "\"metric\":\"memory_peak\",\"subject\":\"tpu\"",
        ),
    );
    let json = run(1, "memory_peak,tpu,,5,,", "more.json");
    assert_eq!(json["checks"][0]["message"], "the candidate does not have it (baseline 768 KiB)");
    // A line names a metric that neither side has.
    let json = run(1, "memory_peak,tpu,,5,,", "base.json");
    assert_eq!(json["checks"][0]["message"], "neither side has it; line 2 of t.csv asks for it");
    assert_eq!(
        run(0, "memory_peak,tpu,,5,,allow\nsteps,,change,,,", "base.json")["summary"]["checks"],
        1
    );
    // A null is not a value.
    place.write(
        "null.json",
        &place.read("base.json").replace(
            "\"subject\":\"cpu\",\"value\":786560.0",
            "\"subject\":\"cpu\",\"value\":null",
        ),
    );
    let json = run(1, "memory_peak,cpu,,5,,", "null.json");
    assert_eq!(json["checks"][0]["message"], "it has no value in the baseline (candidate 768 KiB)");
}

#[test]
fn what_is_wrong_with_thresholds_has_its_line() {
    let place = saved();
    for (text, says) in [
        (
            "metric,tolerance_pct\nstep_time_medain,5\n",
            "t.csv:2: there is no metric step_time_medain; did you mean step_time_median?",
        ),
        ("metric,tolerance_pct\n# x\nsteps,five\n", "t.csv:3: tolerance_pct \"five\""),
        ("metric,tolerance\nmemory_peak*,1ms\n\n", "t.csv:2: there is no metric memory_peak*x"),
        ("limit\n5\n", "t.csv:1: \"limit\" is not a column"),
    ] {
        place.write("t.csv", &text.replace("memory_peak*,", "memory_peak*x,"));
        let out = place.check(2, &[RANK0, "--baseline", "base.json", "--thresholds", "t.csv"]);
        assert!(out.contains(says), "{out}");
    }
    place.write("t.csv", "metric,subject,tolerance\nmemory_peak,*,1ms\n");
    let out = place.check(2, &[RANK0, "--baseline", "base.json", "--thresholds", "t.csv"]);
    assert!(out.contains("t.csv:2: its tolerance is of ns, the metric of bytes"), "{out}");
    place.check(2, &[RANK0, "--thresholds", "t.csv"]);
    place.check(3, &[RANK0, "--baseline", "base.json", "--thresholds", "not-here.csv"]);
}

#[test]
fn baselines_that_do_not_compare_are_no_pass() {
    let place = saved();
    let base = place.read("base.json");
    let run = |code: i32, text: &str| {
        place.write("other.json", text);
        place.check(code, &[RANK0, "--baseline", "other.json"])
    };
    let out = run(4, &base.replace("\"format_version\": 1", "\"format_version\": 7"));
    assert!(
        out.contains("of another version: it has format_version 7, this tracesql compares 1"),
        "{out}"
    );
    let out = run(4, &base.replacen("\"schema_version\": ", "\"schema_version\": 9", 1));
    assert!(out.contains("of another version: it has schema_version 9"), "{out}");
    let out = run(4, &base.replace("\"unit\":\"bytes\"", "\"unit\":\"MB\""));
    assert!(
        out.contains("the baseline has it in MB, the candidate in bytes: they cannot be compared"),
        "{out}"
    );
    let out = run(3, &base[..base.len() / 2]);
    assert!(out.contains("other.json: line ") && out.contains("not JSON"), "{out}");
    let out = run(3, &base.replacen("786560.0", "NaN", 1));
    assert!(out.contains("other.json: line "), "{out}");
    let out = run(3, "{\"a\": 1}\n");
    assert!(out.contains("neither a store nor a baseline"), "{out}");
    place.check(3, &[RANK0, "--baseline", "not-here"]);
    place.check(3, &[RANK0, "--baseline", "not-here.json"]);
    // A store that was made with another version of the tables.
    std::fs::create_dir(place.path("old")).expect("a folder");
    place.write("old/tracesql-store.json", "{\"schema_version\":1}\n");
    let out = place.check(4, &[RANK0, "--baseline", "old"]);
    assert!(out.contains("of another version: old: it has schema version 1"), "{out}");
    place.check(3, &["old"]);
    // Another tracesql version with the same tables only causes a note.
    place.write(
        "other.json",
        &base.replacen("\"tracesql_version\": \"", "\"tracesql_version\": \"9.", 1),
    );
    let out = place.check(0, &[RANK0, "--baseline", "other.json"]);
    assert!(out.contains("was made by tracesql 9."), "{out}");
}

/// Even if the thresholds allow missing figures: if all figures are missing, nothing was compared.
#[test]
fn sides_without_a_figure_in_common_are_no_pass() {
    let place = Place::new(&["synthetic_gpu_rank0.json.gz", "perf.json", "chrome_mixed.json"]);
    place.write(
        "allow.csv",
        "metric,subject,direction,tolerance_pct,tolerance,missing\n*,*,worse,1000000,,allow\n",
    );
    place.check(0, &[RANK0, "--save-baseline", "base.json"]);
    let base = place.read("base.json");
    let at = base.find("\"metrics\": [").expect("the list") + "\"metrics\": [".len();
    place.write("empty.json", &format!("{}\n]\n}}\n", &base[..at]));
    for (store, baseline) in
        [("perf", RANK0), (RANK0, "perf"), ("chrome_mixed", "base.json"), (RANK0, "empty.json")]
    {
        let json = place.json(4, &[store, "--baseline", baseline, "--thresholds", "allow.csv"]);
        assert_eq!(
            (json["result"].as_str(), json["checks"].as_array().map(Vec::len)),
            (Some("error"), Some(1)),
            "{store} against {baseline}: {json}"
        );
        assert!(
            json["checks"][0]["message"]
                .as_str()
                .expect("a text")
                .starts_with("nothing compares: "),
            "{json}"
        );
        place.check(4, &[store, "--baseline", baseline]);
    }
    // Two traces that have only the metrics of any file can be compared.
    place.json(0, &["chrome_mixed", "--baseline", "chrome_mixed"]);
}

#[test]
fn ranks_meet_by_their_number() {
    let place = Place::ranks();
    for name in ["synthetic_gpu_rank0.json.gz", "synthetic_gpu_rank1.json.gz"] {
        place.ends(0, &["ingest", "-q", fixture(name).to_str().expect("a path"), "-o", "both"]);
    }
    place.check(0, &["both", "--save-baseline", "both.json"]);
    let json = place.json(0, &["both", "--baseline", "both.json"]);
    let traces: std::collections::BTreeSet<&str> = json["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .filter_map(|c| c["trace"].as_str())
        .collect();
    assert_eq!(traces.into_iter().collect::<Vec<_>>(), ["rank 0", "rank 1"]);
    // A rank that was removed or added is reported as one failure instead of hundreds.
    let json = place.json(1, &[RANK0, "--baseline", "both.json"]);
    assert_eq!(of_status(&json, "failed"), ["trace"]);
    assert_eq!(json["checks"][0]["message"], "the candidate has no trace of rank 1");
    let json = place.json(1, &["both", "--baseline", RANK0]);
    assert_eq!(json["checks"][0]["message"], "the baseline has no trace of rank 1");
    // Several traces of one rank: there are two of rank 0, and one of them has no compared figures.
    place.write(
        "rank0.json",
        r#"{"distributedInfo":{"rank":0,"world_size":2},"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":5}]}"#,
    );
    place.ends(
        0,
        &[
            "ingest",
            "-q",
            fixture("synthetic_gpu_rank0.json.gz").to_str().expect("a path"),
            "rank0.json",
            "-o",
            "twice",
        ],
    );
    let json = place.json(0, &["twice", "--baseline", RANK0]);
    assert!(
        json["notes"]
            .as_array()
            .expect("notes")
            .iter()
            .any(|n| n == "2 traces are called rank 0: the medians of their figures are compared"),
        "{json}"
    );
    let wall = json["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .find(|c| c["name"] == "wall_time")
        .expect("the check");
    assert_eq!(wall["figures"]["value"].as_f64(), Some((19_722_517.0 + 5_000.0) / 2.0));
    // The two sides have nothing in common.
    place.ends(
        0,
        &["ingest", "-q", fixture("chrome_mixed.json").to_str().expect("a path"), "-o", "mixed"],
    );
    place.ends(0, &["ingest", "-q", fixture("perf.json").to_str().expect("a path"), "-o", "mixed"]);
    let json = place.json(4, &["mixed", "--baseline", "both.json"]);
    let message = json["checks"][0]["message"].as_str().expect("a text");
    assert!(
        message.contains(
            "nothing to compare: the baseline has rank 0, rank 1, the candidate \
        chrome_mixed.json, perf.json"
        ),
        "{message}"
    );
}

#[test]
fn a_baseline_alone_can_be_saved() {
    let place = Place::ranks();
    let out = place.check(0, &[RANK0, "--save-baseline", "base.json"]);
    assert!(
        out.contains("the figures were written to base.json")
            && out.contains("PASSED: nothing was checked"),
        "{out}"
    );
    place.check(4, &[RANK0, "--save-baseline", "no/such/folder.json"]);
    place.check(2, &[RANK0]);
}

#[test]
fn a_figure_of_the_user_that_is_no_number_is_no_pass() {
    let place = Place::ranks();
    let columns = [
        ("trace_id", "VARCHAR text"),
        ("rank", "BIGINT id"),
        ("metric", "VARCHAR text"),
        ("subject", "VARCHAR text"),
    ];
    let mut sql = "-- Figures of our own.\n--\n".to_owned();
    for (name, kind) in columns.iter().chain(&[
        ("value", "DOUBLE number"),
        ("unit", "VARCHAR text"),
        ("better", "VARCHAR text"),
    ]) {
        sql.push_str(&format!("-- @column {name} {kind} As in metrics.\n"));
    }
    let query = "SELECT trace_id, rank, 'ours' AS metric, CAST(NULL AS VARCHAR) AS subject, \
        CAST('NaN' AS DOUBLE) AS value, 'ns' AS unit, 'lower' AS better FROM traces\n";
    place.write("own/compare/metrics.sql", &(sql.clone() + query));
    place.write("t.csv", "metric\nours\n");
    let args = [RANK0, "--sql", "own", "--baseline", RANK1, "--thresholds", "t.csv"];
    assert_eq!(place.json(1, &args)["checks"][0]["message"], "it has no value on either side");
    place.write("own/compare/metrics.sql", &(sql + &query.replace("'lower'", "'less'")));
    let out = place.check(4, &args);
    assert!(
        out.contains("metric ours: better is \"less\"; it must be lower, higher or neutral"),
        "{out}"
    );
}

#[test]
fn a_baseline_is_saved_whatever_the_old_one_says() {
    let place = Place::new(&["synthetic_gpu_rank0.json.gz", "resnet_cpu.pt.trace.json.gz"]);
    // Two ranks cannot be matched with a trace that has no rank.
    place.ends(
        0,
        &[
            "ingest",
            "-q",
            fixture("synthetic_gpu_rank1.json.gz").to_str().expect("a path"),
            "-o",
            RANK0,
        ],
    );
    place.check(0, &["resnet_cpu", "--save-baseline", "new.json"]);
    let json = place.json(4, &["resnet_cpu", "--baseline", RANK0, "--save-baseline", "again.json"]);
    assert_eq!(of_status(&json, "error"), ["baseline"]);
    assert_eq!(place.read("again.json"), place.read("new.json"));
}

#[test]
fn what_was_not_recorded_is_no_improvement() {
    let place = Place::new(&["synthetic_gpu_rank0.json.gz", "resnet_cpu.pt.trace.json.gz"]);
    place.check(0, &["synthetic_gpu_rank0", "--save-baseline", "gpu.json"]);
    for metric in [
        "operator_device_time,aten::addmm",
        "step_exposed_communication_mean,",
        "step_part_mean,kernel",
    ] {
        place.write("t.csv", &format!("metric,subject,tolerance_pct\n{metric},10\n"));
        let text =
            place.check(1, &["resnet_cpu", "--baseline", "gpu.json", "--thresholds", "t.csv"]);
        assert!(text.contains("the candidate does not have it"), "{text}");
    }
}
