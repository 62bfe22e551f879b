//! Writes the outcome as workflow commands of GitHub Actions, which GitHub shows as annotations.

use std::fmt::Write;

use crate::check::{Item, Status, Verdict};
use crate::output::safe;

/// An annotation for each check that did not pass, then a summary line.
pub fn annotations(verdict: &Verdict) -> String {
    let mut out = String::new();
    let mut items: Vec<&Item> =
        verdict.items.iter().filter(|i| i.status != Status::Passed).collect();
    // GitHub shows only the first ten annotations of each level.
    items.sort_by_key(|i| (std::cmp::Reverse(i.status), i.severity));
    for item in items {
        let level = match item.status {
            Status::Failed | Status::Error => "error",
            Status::Noted => "warning",
            _ => "notice",
        };
        let severity = item.severity.map(|s| format!(" ({})", s.name())).unwrap_or_default();
        let mut properties = format!(
            "title={}",
            property(&format!("{} {}{severity}", item.kind.name(), item.title()))
        );
        if let Some((file, line)) = &item.place {
            let _ = write!(properties, ",file={},line={line}", property(file));
        }
        let trace = item.trace.as_ref().map(|t| format!("{t}: ")).unwrap_or_default();
        let unmeasured = if item.status == Status::NotMeasurable { "not measurable: " } else { "" };
        let mut message = format!("{trace}{unmeasured}{}", item.message);
        for row in &item.rows {
            let _ = write!(message, "\n{}", row.join(" | "));
        }
        let _ = writeln!(out, "::{level} {properties}::{}", data(&message));
    }
    let _ = writeln!(
        out,
        "tracesql check {}: {} passed, {} noted, {} not measurable, {} failed, {} could not be \
        checked",
        verdict.word(),
        verdict.count(Status::Passed),
        verdict.count(Status::Noted),
        verdict.count(Status::NotMeasurable),
        verdict.count(Status::Failed),
        verdict.count(Status::Error)
    );
    out
}

/// Escapes a message for a workflow command. Control characters become visible, and line ends and
/// percent signs are encoded.
fn data(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| safe(line).replace('%', "%25")).collect();
    lines.join("%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{data, property};

    #[test]
    fn nothing_in_a_text_ends_a_command() {
        assert_eq!(data("50 %\n::error::x\r"), "50 %25%0A::error::x\\r");
        assert_eq!(property("a,b: c%"), "a%2Cb%3A c%25");
    }
}
