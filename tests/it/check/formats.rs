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
            "::error title=assertion one & only,file=a.sql,line=1::1 row where none \
        may be%0At%0A<x>\n"
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
        "format format_version tracesql_version result exit_code source traces summary severity \
            thresholds settings_changed notes checks"
    );
    assert_eq!(keys(&json["traces"][0]), "trace trace_id path content_hash");
    assert_eq!(keys(&json["summary"]), "checks passed noted not_measurable failed errors");
    for check in json["checks"].as_array().expect("checks") {
        let expected = "kind name subject trace status severity message advice evidence file line \
            columns rows figures";
        assert_eq!(keys(check), expected);
    }
    assert_eq!((json["result"].as_str(), json["exit_code"].as_i64()), (Some("error"), Some(4)));
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
