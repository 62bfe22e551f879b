//! The outcome for CI services: JUnit XML, annotations, JSON and files.

use quick_xml::events::Event;

use super::Place;
use super::rules::rule;

/// A folder with a rule that returns hostile texts, a rule that is not measurable, and assertions.
fn place() -> Place {
    let place = Place::new(&["chrome_mixed.json"]);
    let hostile = "'a <b> & \"c\" ]]> ' || chr(27) || '[31m' || chr(10) || '::error::x, 50 %'";
    let values = [
        ("rule", "'bad'"),
        ("status", "'finding'"),
        ("severity", "'high'"),
        ("trace_id", "t.trace_id"),
        ("message", hostile),
        ("subject", "'a:b,c'"),
    ];
    place.write("r/rule_bad.sql", &rule(&values, "FROM traces t"));
    let values = [
        ("rule", "'unknown'"),
        ("status", "'not_measurable'"),
        ("trace_id", "t.trace_id"),
        ("reason", "'no kernels'"),
    ];
    place.write("r/rule_unknown.sql", &rule(&values, "FROM traces t"));
    let values =
        [("rule", "'fine'"), ("status", "'ok'"), ("trace_id", "t.trace_id"), ("message", "'well'")];
    place.write("r/rule_fine.sql", &rule(&values, "FROM traces t"));
    place.write(
        "a.sql",
        "-- name: one & only\nSELECT '<x>' AS t;\n-- name: none\n\
        SELECT 1 WHERE false;\n-- name: broken\nSELECT nope;\n",
    );
    place
}

const ARGS: &[&str] =
    &["check", "chrome_mixed", "--rules", "r", "--rule", "bad,unknown,fine", "--assert", "a.sql"];

fn out(format: &str) -> String {
    let (stdout, code, stderr) = place().run(&[ARGS, &["--format", format]].concat());
    assert_eq!(code, 4, "{stderr}");
    stdout
}

#[test]
fn junit_is_xml_with_a_case_for_each_check() {
    let xml = out("junit");
    let mut reader = quick_xml::Reader::from_str(&xml);
    let (mut open, mut suites, mut cases) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::Eof => break,
            Event::Start(tag) | Event::Empty(tag) if tag.name().as_ref() == b"testsuite" => {
                let value = |name: &str| {
                    let attribute = tag
                        .attributes()
                        .filter_map(Result::ok)
                        .find(|a| a.key.as_ref() == name.as_bytes())
                        .expect("an attribute");
                    String::from_utf8_lossy(&attribute.value).into_owned()
                };
                suites
                    .push(["name", "tests", "failures", "errors", "skipped"].map(value).join(" "));
            }
            Event::Start(tag) => {
                open.push(String::from_utf8_lossy(tag.name().as_ref()).into_owned())
            }
            Event::End(tag) if tag.name().as_ref() != b"testsuite" => {
                assert_eq!(
                    open.pop(),
                    Some(String::from_utf8_lossy(tag.name().as_ref()).into_owned())
                );
            }
            Event::Empty(tag) => {
                cases.push(String::from_utf8_lossy(tag.name().as_ref()).into_owned())
            }
            _ => {}
        }
    }
    assert_eq!(suites, ["rule 3 1 0 1", "assertion 3 1 1 0"]);
    assert_eq!(cases, ["testcase", "testcase"], "what passed has nothing in it");
    assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"), "{xml}");
    assert!(xml.contains("name=\"one &amp; only\" file=\"a.sql\" line=\"1\""), "{xml}");
    assert!(xml.contains("<skipped message=\"no kernels\""), "{xml}");
    assert!(!xml.contains('\u{1b}') && xml.contains("\\u{1b}[31m"), "{xml}");
}

#[test]
fn annotations_are_one_line_each_whatever_a_text_holds() {
    let text = out("github");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5, "{text}");
    assert!(
        lines[0]
            .starts_with("::error title=assertion broken,file=a.sql,line=5::the query failed: "),
        "{text}"
    );
    let bad = lines.iter().find(|l| l.contains("rule bad")).expect("the finding");
    assert!(
        bad.starts_with(
            "::error title=rule bad [a%3Ab%2Cc] (high)::chrome_mixed.json: a <b> & \
        \"c\" ]]> \\u{1b}[31m"
        ),
        "{bad}"
    );
    assert!(
        bad.ends_with("\\n::error::x, 50 %25") || bad.ends_with("%0A::error::x, 50 %25"),
        "{bad}"
    );
    assert!(
        text.contains(
            "::error title=assertion one & only,file=a.sql,line=1::the query \
        returned 1 row%0At%0A<x>\n"
        ),
        "{text}"
    );
    assert!(
        text.contains(
            "::notice title=rule unknown::chrome_mixed.json: not measurable: no kernels\n"
        ),
        "{text}"
    );
    assert!(
        lines[4].starts_with(
            "tracesql check error: 2 passed, 0 noted, 1 not measurable, 2 failed, 1 could not"
        ),
        "{text}"
    );
}

#[test]
fn json_has_stable_keys() {
    let json: serde_json::Value = serde_json::from_str(&out("json")).expect("JSON");
    let keys = |v: &serde_json::Value| {
        v.as_object().expect("an object").keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        keys(&json),
        "format format_version tracesql_version result exit_code source traces summary environment \
            warnings severity thresholds settings_changed notes checks"
    );
    assert_eq!(keys(&json["traces"][0]), "trace trace_id path content_hash");
    assert_eq!(
        keys(&json["summary"]),
        "checks passed noted not_measurable failed errors rules assertions metrics results findings"
    );
    for check in json["checks"].as_array().expect("checks") {
        let expected = "kind name subject trace status severity message advice evidence file line \
            columns rows figures";
        assert_eq!(keys(check), expected);
    }
    assert_eq!((json["result"].as_str(), json["exit_code"].as_i64()), (Some("error"), Some(4)));
}

/// The value of an attribute of a suite of JUnit.
fn attribute(xml: &str, suite: &str, name: &str) -> u64 {
    let tag = xml.split(&format!("<testsuite name=\"{suite}\"")).nth(1).expect("the suite");
    let value = tag.split(&format!(" {name}=\"")).nth(1).expect("the attribute");
    value.split('"').next().expect("a value").parse().expect("a number")
}

#[test]
fn all_formats_count_the_same_checks() {
    let place = Place::ranks();
    let ranks = ["synthetic_gpu_rank0", "synthetic_gpu_rank1"]
        .map(|name| crate::support::fixture(&format!("{name}.json.gz")).display().to_string());
    place.ends(0, &["ingest", "-q", &ranks[0], &ranks[1], "-o", "both"]);
    for store in ["synthetic_gpu_rank0", "both"] {
        let run = |format: &str| place.run(&["check", store, "--format", format]).0;
        let json: serde_json::Value = serde_json::from_str(&run("json")).expect("JSON");
        let count = |name: &str| json["summary"][name].as_u64().expect("a number");
        let rules = std::fs::read_dir(crate::support::root().join("sql/rules")).expect("a folder");
        let rules = rules
            .filter_map(|f| f.ok()?.file_name().into_string().ok())
            .filter(|name| name.starts_with("rule_"))
            .count() as u64;
        let traces = json["traces"].as_array().expect("traces").len() as u64;
        assert_eq!((count("checks"), count("rules")), (rules * traces, rules * traces));
        let results = json["checks"].as_array().expect("results");
        assert_eq!(count("results"), results.len() as u64);
        assert!(count("results") > count("checks"), "a rule has several findings: {json}");
        let found = results.iter().filter(|r| !r["severity"].is_null()).count() as u64;
        assert_eq!(count("findings"), found);
        let xml = run("junit");
        assert_eq!(attribute(&xml, "rule", "tests"), count("checks"));
        assert_eq!(attribute(&xml, "rule", "failures"), count("failed"));
        assert_eq!(attribute(&xml, "rule", "skipped"), count("not_measurable"));
        let text = run("text");
        let heading = format!("Rules: {} of {} passed", count("passed"), count("checks"));
        assert!(text.contains(&heading), "{heading}\n{text}");
        let ending = format!("{} noted, {} passed", count("noted"), count("passed"));
        assert!(text.contains(&ending), "{ending}\n{text}");
        let github = run("github");
        let ending = format!("{} passed, {} noted", count("passed"), count("noted"));
        assert!(github.contains(&ending), "{ending}\n{github}");
    }
}

#[test]
fn github_shows_ten_annotations_of_a_level_and_the_last_names_the_rest() {
    let place = Place::new(&["chrome_mixed.json"]);
    let queries: String =
        (1..=25).map(|i| format!("-- name: number {i}\nSELECT {i} AS n;\n")).collect();
    place.write("many.sql", &queries);
    let run = |args: &[&str]| {
        let (stdout, code, stderr) = place.run(
            &[&["check", "chrome_mixed", "--skip", "all", "--assert", "many.sql"], args].concat(),
        );
        assert_eq!(code, 1, "{stderr}");
        (stdout, stderr)
    };
    let github = run(&["--format", "github"]).0;
    let errors: Vec<&str> = github.lines().filter(|l| l.starts_with("::error ")).collect();
    assert_eq!(errors.len(), 10, "{github}");
    assert!(
        errors[9]
            .starts_with("::error title=16 more errors::assertion number 10; assertion number")
            && errors[9].contains("assertion number 25"),
        "{}",
        errors[9]
    );
    // With a file, standard error has a summary.
    let summary = run(&["-o", "out.xml"]).1;
    assert!(summary.lines().count() < 20, "{summary}");
    assert!(
        summary.contains("  FAIL  number 10") && summary.contains("        and 15 more"),
        "{summary}"
    );
    assert!(summary.contains("FAILED: 25 failed"), "{summary}");
}

#[test]
fn results_of_many_traces_are_joined() {
    let place = Place::new(&[]);
    let text = |dur: u32| {
        format!(
            r#"{{"traceEvents":[{{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":{dur}}}]}}"#
        )
    };
    for i in 1..=8 {
        place.write(&format!("traces/t{i}.json"), &text(i));
    }
    place.ends(0, &["ingest", "-q", "traces", "-o", "store"]);
    let (text, _, stderr) = place.run(&["check", "store"]);
    assert!(text.contains(" · 8 of 8 traces"), "{text}{stderr}");
    assert!(text.lines().count() < 60, "{text}");
    let (full, _, _) = place.run(&["check", "store", "--verbose"]);
    assert!(full.lines().count() > 2 * text.lines().count(), "{full}");
    assert_eq!(full.lines().last(), text.lines().last());
}

#[test]
fn files_take_the_format_of_their_name_and_a_summary_is_still_said() {
    let place = place();
    let (stdout, code, stderr) = place.run(&[ARGS, &["-o", "out.xml"]].concat());
    assert_eq!((stdout.as_str(), code), ("", 4));
    assert!(
        stderr.contains("ERROR: 2 failed") || stderr.contains("2 failed, 1 could not be checked"),
        "{stderr}"
    );
    assert!(place.read("out.xml").starts_with("<?xml"));
    place.run(&[ARGS, &["-o", "out.json", "--quiet"]].concat());
    assert!(place.read("out.json").starts_with('{'));
    let (_, code, stderr) = place.run(&[ARGS, &["-o", "no/such/out.xml"]].concat());
    assert_eq!(code, 4, "{stderr}");
    assert!(stderr.contains("cannot write"), "{stderr}");
}
