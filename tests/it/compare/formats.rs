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
            "environment",
            "warnings",
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

#[test]
fn other_devices_and_jobs_are_shown_first_in_all_formats() {
    let place = Place::new(&[]);
    place.write("a/t.json", &on_gpu("A100", &[50; 6]));
    place.write("b/t.json", &on_gpu("V100", &[90; 6]));
    let text = place.ends(0, &["compare", "a/t.json", "b/t.json", "-q"]);
    let first: Vec<&str> = text.lines().skip(4).take(2).collect();
    assert!(
        first[0].starts_with("What differs")
            && first[1].split_whitespace().eq(["GPU", "A100", "V100"]),
        "{text}"
    );
    let out = |format: &str| {
        place.ends(0, &["compare", "a/t.json", "b/t.json", "-q", "--format", format])
    };
    let markdown = out("markdown");
    assert!(
        markdown.contains("\n**What differs**\n\n| | base | candidate |\n| --- | --- | --- |\n| GPU | A100 | V100 |\n"),
        "{markdown}"
    );
    let json: serde_json::Value = serde_json::from_str(&out("json")).expect("JSON");
    let gpu = serde_json::json!([{"property": "gpu", "label": "GPU", "base": "A100",
        "candidate": "V100", "differs": true}]);
    assert_eq!((&json["environment"], &json["warnings"]), (&gpu, &serde_json::json!([])));
    assert!(out("html").contains("\"environment_title\":\"What differs\""));
    // A side of two jobs is reported in all formats.
    place.ends(0, &["ingest", "-q", "a/t.json", "b/t.json", "-o", "mixed"]);
    let mixed = |format: &str| place.ends(0, &["compare", "a/t.json", "mixed", "--format", format]);
    for (format, expected) in [
        ("text", "\nwarning: the candidate has traces of 2 jobs"),
        ("markdown", "\n- **warning**: the candidate has traces of 2 jobs"),
        ("json", "\"the candidate has traces of 2 jobs"),
        ("html", "\"the candidate has traces of 2 jobs"),
    ] {
        let out = mixed(format);
        assert!(out.contains(expected), "{format}: {out}");
    }
}

/// A trace with a kernel in each step, of these lengths in microseconds, on a GPU of this name.
fn on_gpu(name: &str, steps: &[u32]) -> String {
    let mut events = Vec::new();
    for (i, dur) in steps.iter().enumerate() {
        let at = 100_000 * i;
        events.push(format!(
            r#"{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{i}","pid":1,"tid":1,"ts":{at},"dur":99000}},
            {{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":{at},"dur":40,"args":{{"External id":{i}}}}},
            {{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{at},"dur":5,"args":{{"correlation":{i}1}}}},
            {{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":{start},"dur":{dur},"args":{{"device":0,"stream":7,"correlation":{i}1}}}}"#,
            start = at + 10,
        ));
    }
    format!(
        r#"{{"deviceProperties":[{{"id":0,"name":"{name}"}}],"traceEvents":[{}]}}"#,
        events.join(",")
    )
}

#[test]
fn a_shift_and_a_mean_of_opposite_signs_are_mixed() {
    let place = Place::new(&[]);
    // Nine of ten steps became faster, and one so much slower that the mean rose.
    place.write("a/t.json", &on_gpu("A100", &[500, 501, 502, 503, 504, 505, 506, 507, 508, 509]));
    place.write("b/t.json", &on_gpu("A100", &[400, 401, 402, 403, 404, 405, 406, 407, 408, 9000]));
    let all = rows(&place, &["a/t.json", "b/t.json", "--by", "kernel"]);
    let gemm = all.iter().find(|r| r["key"] == "gemm").expect("the row");
    assert!(gemm["delta_ns"].as_f64() > Some(0.0) && gemm["shift_ns"].as_f64() < Some(0.0));
    assert_eq!(gemm["verdict"], "mixed");
    for row in rows(&place, &["a/t.json", "b/t.json"]) {
        let sign = |name: &str| row[name].as_f64().unwrap_or(0.0);
        match row["verdict"].as_str() {
            Some("faster") => assert!(sign("delta_ns") < 0.0 && sign("shift_ns") < 0.0, "{row}"),
            Some("slower") => assert!(sign("delta_ns") > 0.0 && sign("shift_ns") > 0.0, "{row}"),
            _ => {}
        }
    }
    // Such a row does not pass a limit on its mean.
    let text = place.ends(1, &["compare", "a/t.json", "b/t.json", "--fail-on", "kernel:50%"]);
    assert!(text.contains("mixed: most steps became faster"), "{text}");
    place.ends(0, &["compare", "b/t.json", "a/t.json", "--fail-on", "kernel:50%"]);
}

#[test]
fn parts_of_the_step_have_names() {
    let place = Place::ranks();
    for format in ["text", "markdown", "html"] {
        let out = place.ends(0, &["compare", RANK0, RANK1, "--by", "category", "--format", format]);
        assert!(out.contains("operators on the host") && out.contains("data loading"), "{out}");
    }
    let text = place.ends(0, &["compare", RANK0, RANK1, "--by", "category"]);
    assert!(!text.contains("cpu_exec") && !text.contains(" us"), "{text}");
    let all = rows(&place, &[RANK0, RANK1, "--by", "category"]);
    assert!(all.iter().any(|r| r["key"] == "cpu_exec"), "programs get the codes");
}

#[test]
fn the_page_has_the_styles_of_reports() {
    let place = Place::ranks();
    place.ends(0, &["compare", RANK0, RANK1, "-o", "ranks.html"]);
    let page = place.read("ranks.html");
    for part in [
        "<title>synthetic_gpu_rank1 compared with synthetic_gpu_rank0 · tracesql</title>",
        "id=\"theme\"",
        ":root[data-theme=\"dark\"]",
        "class=\"tabs\"",
        // The margins of the page.
        "<main class=\"panels\"",
        "What changed most",
    ] {
        assert!(page.contains(part), "{part}");
    }
}
