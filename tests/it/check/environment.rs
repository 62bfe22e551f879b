//! Comparisons with a baseline of another environment, and metrics that one side lacks.

use super::Place;

/// A trace with one kernel on a GPU of this name.
fn on_gpu(name: &str, world_size: u32) -> String {
    format!(
        r#"{{"deviceProperties":[{{"id":0,"name":"{name}","totalGlobalMem":17179869184}}],
        "distributedInfo":{{"rank":0,"world_size":{world_size}}},"traceEvents":[
        {{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":5,
          "args":{{"device":0,"stream":7}}}}]}}"#
    )
}

#[test]
fn other_devices_and_jobs_are_shown_first_in_all_formats() {
    let place = Place::new(&[]);
    place.write("base/t.json", &on_gpu("A100", 8));
    place.write("cand/t.json", &on_gpu("V100", 8));
    place.check(0, &["base/t.json", "--save-baseline", "base.json"]);
    for baseline in ["base/t.json", "base.json"] {
        let args =
            |format: &'static str| ["cand/t.json", "--baseline", baseline, "--format", format];
        let out = |format: &'static str| {
            let all = [&["check", "--skip", "all"], &args(format)[..]].concat();
            place.run(&all).0
        };
        let text = out("text");
        let table: Vec<&str> = text.lines().skip(2).take(2).collect();
        assert!(
            table[0].starts_with("What differs")
                && table[1].split_whitespace().eq(["GPU", "A100", "V100"]),
            "{text}"
        );
        let json: serde_json::Value = serde_json::from_str(&out("json")).expect("JSON");
        assert_eq!(
            json["environment"],
            serde_json::json!([{"property": "gpu", "label": "GPU", "base": "A100",
                "candidate": "V100", "differs": true}])
        );
        let xml = out("junit");
        assert!(
            xml.contains("<property name=\"GPU, baseline → candidate\" value=\"A100 → V100\"/>"),
            "{xml}"
        );
        let github = out("github");
        assert!(
            github.starts_with("::warning title=baseline and candidate differ::GPU: A100 → V100\n"),
            "{github}"
        );
    }
    // An older file records no environment.
    let old: String =
        place.read("base.json").lines().filter(|l| !l.contains("\"property\"")).collect();
    let old = old.replace("\"environment\": [],", "");
    place.write("old.json", &old);
    let text = place.ends(0, &["check", "cand/t.json", "--skip", "all", "--baseline", "old.json"]);
    assert!(text.contains("old.json does not record GPU, versions and job"), "{text}");
    // A side of two jobs is reported.
    place.write("other/t.json", &on_gpu("V100", 16));
    place.ends(0, &["ingest", "-q", "cand/t.json", "other/t.json", "-o", "mixed"]);
    let (text, _, _) = place.run(&["check", "mixed", "--skip", "all", "--baseline", "base/t.json"]);
    assert!(text.contains("warning: the candidate has traces of 2 jobs"), "{text}");
}

#[test]
fn metrics_that_one_side_lacks_are_one_line() {
    let place = Place::new(&[]);
    let trace = |name: &str| {
        let events: Vec<String> = (0..30)
            .map(|i| {
                format!(
                    r#"{{"ph":"X","cat":"cpu_op","name":"{name}{i}","pid":1,"tid":1,"ts":{i}0,"dur":5}}"#
                )
            })
            .collect();
        format!(
            r#"{{"traceEvents":[{},{{"ph":"X","cat":"cpu_op","name":"both","pid":1,"tid":1,"ts":900,"dur":5}}]}}"#,
            events.join(",")
        )
    };
    place.write("base.json", &trace("a"));
    place.write("cand.json", &trace("b"));
    let run = |more: &[&str]| {
        let all = ["check", "cand.json", "--skip", "all", "--baseline", "base.json"];
        place.run(&[&all, more].concat()).0
    };
    let text = run(&[]);
    assert_eq!(text.matches("on one side only").count(), 1, "{text}");
    assert!(!text.contains("does not have it"), "{text}");
    let full = run(&["--verbose"]);
    assert!(full.matches("does not have it").count() >= 60, "{full}");
    let github = run(&["--format", "github"]);
    assert_eq!(github.matches("on one side only").count(), 1, "{github}");
}
