//! Writes the outcome as workflow commands of GitHub Actions, which GitHub shows as annotations.

use std::fmt::Write;

use crate::check::{Counts, Item, Status, Verdict};
use crate::environment;
use crate::output::safe;
use crate::output::units::many;

/// The number of annotations of each level that GitHub shows for a step.
const MAX_OF_LEVEL: usize = 10;
/// The number of names in the last annotation of a level, which stands for the rest.
const MAX_NAMES: usize = 20;

/// The levels of annotations, worst first.
const LEVELS: [&str; 3] = ["error", "warning", "notice"];

/// An annotation: its title, other properties, and message.
struct Annotation {
    level: &'static str,
    title: String,
    place: String,
    message: String,
}

impl Annotation {
    /// The workflow command.
    fn command(&self) -> String {
        let (title, message) = (property(&self.title), data(&self.message));
        format!("::{} title={title}{}::{message}", self.level, self.place)
    }
}

/// An annotation for each result that did not pass, then a summary line. If a level has more
/// annotations than GitHub shows, its last one names the rest.
pub fn annotations(verdict: &Verdict) -> String {
    let first = about_the_comparison(verdict);
    let mut all: Vec<Annotation> = Vec::new();
    let is_open = |i: &&Item| i.status != Status::Passed;
    let (missing, mut items): (Vec<&Item>, Vec<&Item>) =
        verdict.items.iter().filter(is_open).partition(|i| i.is_missing_metric());
    items.sort_by_key(|i| (std::cmp::Reverse(i.status), i.severity));
    all.extend(items.into_iter().map(annotation));
    if !missing.is_empty() {
        all.push(Annotation {
            level: "notice",
            title: many(missing.len() as i64, "metric") + " on one side only",
            place: String::new(),
            message: "The thresholds allow that. --format json lists them.".to_owned(),
        });
    }
    let mut out = String::new();
    for a in &first {
        let _ = writeln!(out, "{}", a.command());
    }
    for level in LEVELS {
        let of_level: Vec<&Annotation> = all.iter().filter(|a| a.level == level).collect();
        let room = MAX_OF_LEVEL - first.iter().filter(|a| a.level == level).count();
        let shown = if of_level.len() > room { room - 1 } else { of_level.len() };
        for a in &of_level[..shown] {
            let _ = writeln!(out, "{}", a.command());
        }
        if shown < of_level.len() {
            let _ = writeln!(out, "{}", rest(level, &of_level[shown..]));
        }
    }
    let counts = Counts::of_all(verdict);
    let _ = writeln!(
        out,
        "tracesql check {}: {} passed, {} noted, {} not measurable, {} failed, {} could not be \
        checked",
        verdict.word(),
        counts.passed,
        counts.noted,
        counts.not_measurable,
        counts.failed,
        counts.errors
    );
    out
}

/// Annotations about the environments and about sides of several jobs: at most three.
fn about_the_comparison(verdict: &Verdict) -> Vec<Annotation> {
    let differs = environment::line(&verdict.differences);
    let differs = differs.map(|line| ("baseline and candidate differ".to_owned(), line));
    let warnings = verdict.warnings.iter().map(|w| ("several jobs".to_owned(), w.clone()));
    differs
        .into_iter()
        .chain(warnings)
        .map(|(title, message)| Annotation {
            level: "warning",
            title,
            place: String::new(),
            message,
        })
        .collect()
}

fn annotation(item: &Item) -> Annotation {
    let level = match item.status {
        Status::Failed | Status::Error => "error",
        Status::Noted => "warning",
        _ => "notice",
    };
    let severity = item.severity.map(|s| format!(" ({})", s.name())).unwrap_or_default();
    let place = item.place.as_ref();
    let trace = item.trace.as_ref().map(|t| format!("{t}: ")).unwrap_or_default();
    let unmeasured = if item.status == Status::NotMeasurable { "not measurable: " } else { "" };
    let mut message = format!("{trace}{unmeasured}{}", item.message);
    for row in &item.rows {
        let _ = write!(message, "\n{}", row.join(" | "));
    }
    Annotation {
        level,
        title: format!("{} {}{severity}", item.kind.name(), item.title()),
        place: place
            .map_or(String::new(), |(file, line)| format!(",file={},line={line}", property(file))),
        message,
    }
}

/// One annotation for all that GitHub would not show.
fn rest(level: &str, annotations: &[&Annotation]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for a in annotations {
        if !names.contains(&a.title.as_str()) {
            names.push(&a.title);
        }
    }
    let more = names.len().saturating_sub(MAX_NAMES);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let names = names[..names.len().min(MAX_NAMES)].join("; ");
    let count = many(annotations.len() as i64, &format!("more {level}"));
    format!("::{level} title={}::{}{more}", property(&count), data(&names))
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
