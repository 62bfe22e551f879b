//! Writes the outcome as JUnit XML, which most CI services read.
//!
//! There is a suite for each kind of check, and a case for each check and trace. A check that was
//! not measurable becomes a skipped case with the reason.

use quick_xml::events::{BytesDecl, BytesText, Event};
use quick_xml::writer::Writer;

use crate::check::{Check, Counts, Item, Kind, Status, Verdict, checks};
use crate::environment::NOT_RECORDED;
use crate::output::safe;

type Result = std::io::Result<()>;

/// The XML document. Writing to memory cannot fail.
pub fn document(verdict: &Verdict) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 1);
    let written = suites(&mut writer, verdict);
    debug_assert!(written.is_ok(), "{written:?}");
    String::from_utf8_lossy(&writer.into_inner()).into_owned() + "\n"
}

fn suites(writer: &mut Writer<Vec<u8>>, verdict: &Verdict) -> Result {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let root = writer.create_element("testsuites").with_attribute(("name", "tracesql check"));
    root.write_inner_content(|writer| {
        for kind in Kind::ALL {
            let cases = checks(verdict, kind);
            if !cases.is_empty() {
                suite(writer, verdict, kind, &cases)?;
            }
        }
        Ok(())
    })?;
    Ok(())
}

fn suite(
    writer: &mut Writer<Vec<u8>>,
    verdict: &Verdict,
    kind: Kind,
    cases: &[Check<'_>],
) -> Result {
    let counts = Counts::of(cases);
    let element = writer
        .create_element("testsuite")
        .with_attribute(("name", kind.name()))
        .with_attribute(("tests", counts.checks.to_string().as_str()))
        .with_attribute(("failures", counts.failed.to_string().as_str()))
        .with_attribute(("errors", counts.errors.to_string().as_str()))
        .with_attribute(("skipped", counts.not_measurable.to_string().as_str()));
    element.write_inner_content(|writer| {
        if kind == Kind::Metric {
            properties(writer, verdict)?;
        }
        cases.iter().try_for_each(|check| case(writer, kind, check))
    })?;
    Ok(())
}

/// The differences of the environments and warnings, as properties of the suite of metrics.
fn properties(writer: &mut Writer<Vec<u8>>, verdict: &Verdict) -> Result {
    if verdict.differences.is_empty() && verdict.warnings.is_empty() {
        return Ok(());
    }
    let shown = |value: &Option<String>| value.clone().unwrap_or(NOT_RECORDED.to_owned());
    let differences = verdict.differences.iter().map(|d| {
        (format!("{}, baseline → candidate", d.label), shown(&d.base) + " → " + &shown(&d.cand))
    });
    let warnings = verdict.warnings.iter().map(|w| ("warning".to_owned(), w.clone()));
    writer.create_element("properties").write_inner_content(|writer| {
        differences.chain(warnings).try_for_each(|(name, value)| {
            writer
                .create_element("property")
                .with_attribute(("name", clean(&name).as_str()))
                .with_attribute(("value", clean(&value).as_str()))
                .write_empty()?;
            Ok(())
        })
    })?;
    Ok(())
}

fn case(writer: &mut Writer<Vec<u8>>, kind: Kind, check: &Check<'_>) -> Result {
    let items = &check.items;
    let name = match check.trace {
        Some(trace) => format!("{} ({trace})", check.name),
        None => check.name.clone(),
    };
    let class = format!("tracesql.{}", kind.name());
    let mut element = writer
        .create_element("testcase")
        .with_attribute(("classname", class.as_str()))
        .with_attribute(("name", clean(&name).as_str()));
    if let Some((file, line)) = items.first().and_then(|i| i.place.as_ref()) {
        element = element
            .with_attribute(("file", clean(file).as_str()))
            .with_attribute(("line", line.to_string().as_str()));
    }
    let status = check.status();
    let shown: Vec<&Item> = items.iter().copied().filter(|i| i.status == status).collect();
    let message = shown.first().map(|i| clean(&i.message)).unwrap_or_default();
    let tag = match status {
        Status::Failed => "failure",
        Status::Error => "error",
        Status::NotMeasurable => "skipped",
        Status::Noted => "system-out",
        Status::Passed => {
            element.write_empty()?;
            return Ok(());
        }
    };
    let details = shown.iter().map(|i| details(i)).collect::<Vec<_>>().join("\n\n");
    element.write_inner_content(|writer| {
        let mut outcome = writer.create_element(tag);
        if status != Status::Noted {
            outcome = outcome.with_attribute(("message", message.as_str()));
        }
        outcome.write_text_content(BytesText::new(&details))?;
        Ok(())
    })?;
    Ok(())
}

fn details(item: &Item) -> String {
    let mut lines = vec![match &item.subject {
        Some(subject) => format!("{subject}: {}", item.message),
        None => item.message.clone(),
    }];
    lines.extend(item.severity.map(|s| format!("severity: {}", s.name())));
    lines.extend(item.advice.as_ref().map(|a| format!("advice: {a}")));
    lines.extend(item.rows.iter().map(|r| r.join(" | ")));
    lines.extend(item.evidence.as_ref().map(|e| format!("evidence:\n{e}")));
    lines.iter().flat_map(|l| l.split('\n')).map(clean).collect::<Vec<_>>().join("\n")
}

/// Removes control characters. XML does not allow them, not even as character references.
fn clean(text: &str) -> String {
    safe(text)
        .chars()
        .map(|c| if matches!(c, '\u{fffe}' | '\u{ffff}') { '\u{fffd}' } else { c })
        .collect()
}
