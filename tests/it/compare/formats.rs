//! A comparison for people and for programs.

use super::{RANK0, RANK1, rows};
use crate::check::Place;

#[test]
fn verdicts_are_those_of_an_independent_look_at_the_steps() {
    let place = Place::ranks();
    let all = rows(&place, &[RANK0, RANK1, "--by", "op"]);
    let mm =
        all.iter().find(|r| r["key"] == "aten::mm" && r["measure"] == "device").expect("the row");
    assert_eq!(mm["verdict"], "slower");
    // The time per step directly from the tables, for the operator that launched each kernel.
    let per_step = |store: &str| -> Vec<f64> {
        let sql = "SELECT k.step, sum(k.dur_ns) FROM kernels k \
            JOIN events e ON e.event_id = k.op_id AND e.trace_id = k.trace_id \
            WHERE e.name = 'aten::mm' AND k.kind <> 'sync' GROUP BY 1 ORDER BY 1";
        let (csv, _, _) = place.run(&["query", store, "--format", "csv", "-c", sql]);
        csv.lines()
            .skip(1)
            .map(|l| l.split(',').nth(1).expect("a value").parse().expect("a number"))
            .collect()
    };
    let (base, cand) = (per_step(RANK0), per_step(RANK1));
    assert_eq!((base.len(), cand.len()), (4, 4));
    assert!(
        base.iter().all(|b| cand.iter().all(|c| b < c)),
        "all steps of one side are slower: p is 2 / C(8, 4)"
    );
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    assert_eq!(
        (mm["base_step_ns"].as_f64(), mm["cand_step_ns"].as_f64()),
        (Some(mean(&base)), Some(mean(&cand)))
    );
    let p = mm["p_value"].as_f64().expect("a number");
    assert!((p - 2.0 / 70.0).abs() < 1e-12, "{p}");
    let mut shifts: Vec<f64> = base.iter().flat_map(|b| cand.iter().map(move |c| c - b)).collect();
    shifts.sort_by(f64::total_cmp);
    assert_eq!(mm["shift_ns"].as_f64(), Some((shifts[7] + shifts[8]) / 2.0));
}

#[test]
fn text_fits_eighty_columns_and_says_what_it_leaves_out() {
    let place = Place::ranks();
    let out = place.ends(0, &["compare", RANK0, RANK1, "--limit", "3"]);
    let too_wide: Vec<&str> = out.lines().filter(|l| l.chars().count() > 100).collect();
    assert!(too_wide.is_empty(), "{too_wide:#?}");
    for word in [
        "Steps: 2 same",
        "Operators, device time: 25 slower, 2 faster",
        "more; see --limit",
        "nccl:all_reduce",
        "faster",
    ] {
        assert!(out.contains(word), "{word}\n{out}");
    }
    let all = place.ends(0, &["compare", RANK0, RANK1, "--limit", "0"]);
    assert!(!all.contains("more; see --limit") && all.lines().count() > 150, "{all}");
}

#[test]
fn markdown_is_bounded_and_holds_no_markup_of_names() {
    let place = Place::ranks();
    let text = r#"{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a|b `c` <img src=x>","pid":1,"tid":1,"ts":1,"dur":5}]}"#;
    place.write("a.json", text);
    place.write("b.json", &text.replace("\"dur\":5", "\"dur\":9"));
    let out = place.ends(0, &["compare", "a.json", "b.json", "--format", "markdown", "-q"]);
    assert!(
        out.contains(
            "| ``a\\|b `c` <img src=x>`` | 5.00 µs | 9.00 µs | 4.00 µs | +80.0 % | not judged |"
        ),
        "{out}"
    );
    let out = place.ends(0, &["compare", RANK0, RANK1, "--format", "markdown"]);
    assert!(
        out.starts_with("### Comparison of `synthetic_gpu_rank1` with `synthetic_gpu_rank0`\n"),
        "{out}"
    );
    assert_eq!(out.matches("<details>").count(), out.matches("</details>").count());
    assert!(out.len() < 20_000, "{}", out.len());
}

#[test]
fn json_has_stable_keys_and_all_rows() {
    let place = Place::ranks();
    let (out, code, stderr) = place.run(&[
        "compare", RANK0, RANK1, "--by", "step,op", "--format", "json", "--limit", "1",
        "--fail-on", "op:25%:200us",
    ]);
    assert_eq!(code, 1);
    assert!(stderr.contains("op:25%:200us: op aten::mm (device)"), "{stderr}");
    let json: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    let keys: Vec<&str> = json.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "format",
            "format_version",
            "tracesql_version",
            "base",
            "candidate",
            "by",
            "result",
            "failures",
            "notes",
            "rows"
        ]
    );
    assert_eq!(
        (json["result"].as_str(), json["base"]["steps"].as_i64()),
        (Some("failed"), Some(4))
    );
    assert_eq!(json["by"], serde_json::json!(["step", "op"]));
    assert!(json["rows"].as_array().expect("rows").len() > 100);
}

#[test]
fn the_page_holds_its_data_as_text_only() {
    let place = Place::ranks();
    let text = r#"{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"</script><script>alert(1)</script>{{title}}","pid":1,"tid":1,"ts":1,"dur":5}]}"#;
    place.write("a.json", text);
    place.ends(0, &["compare", "a.json", "a.json", "-q", "-o", "out.html"]);
    let page = place.read("out.html");
    assert_eq!(page.matches("</script>").count(), 2, "no name ends a script");
    assert!(page.contains("\\u003c/script>\\u003cscript>alert(1)"), "{page}");
    place.ends(0, &["compare", RANK0, RANK1, "-o", "ranks.html"]);
    let page = place.read("ranks.html");
    assert!(
        !page.contains("http://")
            && !page.contains("https://")
            && page.contains("default-src 'none'"),
        "nothing is loaded"
    );
    let nonce = page.split("'nonce-").nth(1).and_then(|p| p.split('\'').next()).expect("a nonce");
    assert_eq!(
        page.matches(&format!(" nonce=\"{nonce}\">")).count(),
        2,
        "the style and the script carry it"
    );
    let data = page
        .split("<script id=\"data\" type=\"application/json\">")
        .nth(1)
        .and_then(|p| p.split("</script>").next())
        .expect("the data");
    let json: serde_json::Value = serde_json::from_str(data).expect("JSON");
    assert!(json["rows"].as_array().expect("rows").len() > 150 && json["left_out"] == 0);
}
