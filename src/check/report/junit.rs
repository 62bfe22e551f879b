//! Writes the outcome as JUnit XML, which most CI services read.
//!
//! There is a suite for each kind of check, and a case for each check and trace. A check that was
//! not measurable becomes a skipped case with the reason.

use quick_xml::events::{BytesDecl, BytesText, Event};
use quick_xml::writer::Writer;

use crate::check::{Item, Kind, Status, Verdict};
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
        for kind in [Kind::Rule, Kind::Assertion, Kind::Metric] {
            let cases = cases(verdict.items.iter().filter(|i| i.kind == kind));
            if !cases.is_empty() {
                suite(writer, kind, &cases)?;
            }
        }
        Ok(())
    })?;
    Ok(())
}

/// Groups items with the same name, subject and trace into one case. Findings of a rule can have
/// many subjects, but they form one case.
fn cases<'a>(items: impl Iterator<Item = &'a Item>) -> Vec<(String, Vec<&'a Item>)> {
    let mut cases: Vec<(String, Vec<&Item>)> = Vec::new();
    for item in items {
        let what = if item.kind == Kind::Rule { item.name.clone() } else { item.title() };
        let name = item.trace.as_ref().map_or(what.clone(), |trace| format!("{what} ({trace})"));
        match cases.iter_mut().rev().find(|(n, _)| *n == name) {
            Some((_, all)) => all.push(item),
            None => cases.push((name, vec![item])),
        }
    }
    cases
}

fn suite(writer: &mut Writer<Vec<u8>>, kind: Kind, cases: &[(String, Vec<&Item>)]) -> Result {
    let count =
        |status| cases.iter().filter(|(_, items)| worst(items) == status).count().to_string();
    let element = writer
        .create_element("testsuite")
        .with_attribute(("name", kind.name()))
        .with_attribute(("tests", cases.len().to_string().as_str()))
        .with_attribute(("failures", count(Status::Failed).as_str()))
        .with_attribute(("errors", count(Status::Error).as_str()))
        .with_attribute(("skipped", count(Status::NotMeasurable).as_str()));
    element.write_inner_content(|writer| {
        cases.iter().try_for_each(|(name, items)| case(writer, kind, name, items))
    })?;
    Ok(())
}

fn worst(items: &[&Item]) -> Status {
    items.iter().map(|i| i.status).max().unwrap_or(Status::Passed)
}

fn case(writer: &mut Writer<Vec<u8>>, kind: Kind, name: &str, items: &[&Item]) -> Result {
    let class = format!("tracesql.{}", kind.name());
    let mut element = writer
        .create_element("testcase")
        .with_attribute(("classname", class.as_str()))
        .with_attribute(("name", clean(name).as_str()));
    if let Some((file, line)) = items.first().and_then(|i| i.place.as_ref()) {
        element = element
            .with_attribute(("file", clean(file).as_str()))
            .with_attribute(("line", line.to_string().as_str()));
    }
    let status = worst(items);
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
