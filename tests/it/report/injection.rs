//! Names in traces can be anything. In every format they must stay plain text.

use super::{page, report};
use crate::support::{TestStore, elements};

/// A trace in which every kind of name attempts an injection.
pub fn store() -> TestStore {
    let long = "L".repeat(1 << 20);
    let names = [
        "</script><script>window.pwned = 1</script>",
        "<img src=x onerror='window.pwned = 2'>",
        "\\u001b[31mred\\u001b[0m \\u0007bell",
        "a|b `code` **bold** @everyone #1 [x](javascript:alert(1)) https://example.org",
        "```\\n# heading\\n<details open>",
        "{{data}} {{nonce}} \\\"quoted\\\" back\\\\slash",
        "=1+cmd|' /C calc'!A1, \\\"x\\\"",
        "\\u202egpj.exe right to left \\u2028 line",
        "__proto__",
        "constructor",
        long.as_str(),
    ];
    let mut all = vec![
        r#"{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"<img src=x onerror='window.pwned = 3'>"}}"#.to_owned(),
        r#"{"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"</script><b>stream</b>"}}"#.to_owned(),
    ];
    for (i, name) in names.iter().enumerate() {
        let (ts, launch) = (i * 1000, i * 1000 + 10);
        all.push(format!(r#"{{"ph":"X","cat":"cpu_op","name":"{name}","pid":1,"tid":1,"ts":{ts},"dur":900,"args":{{"External id":{}}}}}"#, i + 1));
        all.push(format!(
            r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{launch},"dur":5,"args":{{"correlation":{}}}}}"#,
            i + 100
        ));
        all.push(format!(
            r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":0,"tid":7,"ts":{},"dur":400,"args":{{"correlation":{},"device":0,"stream":7}}}}"#,
            launch + 20,
            i + 100
        ));
        all.push(format!(
            r#"{{"ph":"X","cat":"python_function","name":"nn.Module: {name}","pid":1,"tid":1,"ts":{ts},"dur":950,"args":{{"Python id":{},"Python module id":{i}}}}}"#,
            i + 1
        ));
    }
    elements(all.join(",\n"))
}

#[test]
fn a_terminal_gets_no_control_characters() {
    let text = report(&store(), "text", &[]);
    let odd: Vec<char> = text
        .chars()
        .filter(|c| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c))
        .collect();
    assert!(odd.is_empty(), "{odd:?}");
}

#[test]
fn a_comment_gets_no_markup() {
    let text = report(&store(), "markdown", &[]);
    assert!(text.len() < 65_536, "{} bytes", text.len());
    let allowed = ["<details>", "</details>", "<summary>", "</summary>", "<sub>", "</sub>"];
    for line in text.lines() {
        // Text in code spans is shown unchanged.
        let outside: String = outside_code(line);
        let left = allowed.iter().fold(outside, |rest, tag| rest.replace(tag, ""));
        assert!(!left.contains('<'), "markup of a name: {line}");
        assert!(!left.contains("@everyone"), "a mention: {line}");
        if line.starts_with("| ") {
            let bars = line.replace("\\|", "").matches('|').count();
            assert!(bars >= 3, "a broken row: {line}");
        }
    }
    assert!(!text.contains("\n# heading"), "a line end of a name");
}

/// A line without its code spans. The fences of a code span are two equally long runs of backticks.
fn outside_code(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(start) = rest.find('`') {
        out.push_str(&rest[..start]);
        let fence = rest[start..].chars().take_while(|c| *c == '`').count();
        let inside = &rest[start + fence..];
        let mut at = 0;
        let end = loop {
            let Some(next) = inside[at..].find('`') else { break None };
            let run = inside[at + next..].chars().take_while(|c| *c == '`').count();
            if run == fence {
                break Some(at + next + run);
            }
            at += next + run;
        };
        match end {
            Some(end) => rest = &inside[end..],
            None => {
                out.push_str(&rest[start..start + fence]);
                rest = inside;
            }
        }
    }
    out + rest
}

#[test]
fn a_page_holds_names_as_data_only() {
    let store = store();
    let html = std::fs::read_to_string(page(&store)).expect("the page");
    assert!(html.len() < 5_000_000, "{} bytes", html.len());
    let data = html
        .split("id=\"data\">")
        .nth(1)
        .and_then(|rest| rest.split("</script>").next())
        .expect("the data");
    assert!(!data.contains('<'), "a tag in the data");
    assert!(data.contains("\\u003cimg src=x onerror="), "the name is there");
    let parsed: serde_json::Value = serde_json::from_str(data).expect("the data is JSON");
    assert_eq!(parsed["schema"], "tracesql.report");
    // The page contains its data and its script, and no other script.
    assert_eq!(html.matches("<script").count(), 2, "scripts");
    assert_eq!(html.matches("</script").count(), 2, "ends of scripts");
}

#[test]
fn the_policy_allows_only_what_carries_the_nonce() {
    let store = store();
    let html = std::fs::read_to_string(page(&store)).expect("the page");
    let policy = html
        .split("Content-Security-Policy\" content=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("a policy");
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    let nonce =
        policy.split("'nonce-").nth(1).and_then(|rest| rest.split('\'').next()).expect("a nonce");
    assert_eq!(nonce.len(), 32);
    assert_eq!(html.matches(&format!("nonce=\"{nonce}\"")).count(), 2, "the style and the script");
}
