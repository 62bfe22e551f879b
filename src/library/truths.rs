//! Conditions on the rows of a view, which its comment states: equations, parts of a whole, and
//! ranges of columns.
//!
//! ```text
//! -- Holds: busy_ns + idle_ns = total_ns
//! -- Parts: idle_ns BY trace_id, device OF gpu_timeline_by_device.idle_time_ns
//! -- Range: sum total_ns, self_ns
//! -- Range: any delta_pct; a difference may have any size.
//! ```
//!
//! This module does not check the conditions. Tests check them over all of their traces.

use super::{Column, View};

/// The conditions that the comment of a view states about its rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Truths {
    /// Boolean expressions over columns, which may contain window functions. They are true or NULL
    /// in each row.
    pub holds: Vec<String>,
    /// Columns whose sums equal a column of another view.
    pub parts: Vec<Parts>,
    /// Columns whose range differs from the one that their unit and name imply.
    pub ranges: Vec<Ranges>,
}

/// A column whose sums, grouped by some keys, equal a column of another view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// The column that is summed.
    pub column: String,
    /// Columns of both views that the sums are grouped by.
    pub keys: Vec<String>,
    /// The other view.
    pub whole: String,
    /// The column of the other view.
    pub of: String,
}

/// Columns with the same range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranges {
    /// The range.
    pub range: Range,
    /// The columns.
    pub columns: Vec<String>,
    /// The reason; empty if none is given.
    pub why: String,
}

/// The bounds of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// From 0 to 100: a part of a whole, in percent.
    Share,
    /// From 0 to the length of the trace: a duration, or a time in which something ran.
    Length,
    /// From the start to the end of the trace: a point in time on the trace's clock.
    Time,
    /// At least 0: bytes, counts, and sums of durations that may overlap.
    Sum,
    /// Anything.
    Any,
}

const RANGES: &[(&str, Range)] = &[
    ("share", Range::Share),
    ("length", Range::Length),
    ("time", Range::Time),
    ("sum", Range::Sum),
    ("any", Range::Any),
];

impl Range {
    /// The word for the range in comments.
    pub fn word(self) -> &'static str {
        RANGES.iter().find(|(_, range)| *range == self).map_or("any", |(word, _)| word)
    }

    /// The range that the unit and the name imply: a share for percent, a point in time for names
    /// like `start_ns`, and a length for other times.
    pub fn usual(column: &Column) -> Option<Self> {
        if column.data_type != "BIGINT" && column.data_type != "DOUBLE" {
            return None;
        }
        match column.unit.as_str() {
            "pct" => Some(Self::Share),
            unit @ ("ns" | "us" | "ms" | "s") => {
                let name = column.name.strip_suffix(unit)?.strip_suffix('_')?;
                let is_point = ["ts", "start", "end"]
                    .iter()
                    .any(|p| name == *p || name.strip_suffix(p).is_some_and(|n| n.ends_with('_')));
                Some(if is_point { Self::Time } else { Self::Length })
            }
            "bytes" | "count" => Some(Self::Sum),
            _ => None,
        }
    }
}

impl View {
    /// The range of a column: the range that the comment states, else the range that the unit and
    /// the name imply. `None` for texts, IDs and numbers without a bound.
    pub fn range(&self, column: &Column) -> Option<Range> {
        let stated = self.truths.ranges.iter().find(|r| r.columns.contains(&column.name));
        stated.map_or_else(|| Range::usual(column), |r| Some(r.range))
    }
}

impl Truths {
    /// Parses the text after the keyword of a line. The error describes the expected form.
    pub(super) fn add(&mut self, keyword: &str, text: &str) -> Result<(), String> {
        match keyword {
            "Holds:" if !text.is_empty() => self.holds.push(text.to_owned()),
            "Parts:" => self.parts.push(
                parts(text).ok_or("write it as `-- Parts: COLUMN BY COLUMN, … OF VIEW.COLUMN`")?,
            ),
            "Range:" => self.ranges.push(ranges(text)?),
            _ => return Err("write it as `-- Holds: EXPRESSION`".to_owned()),
        }
        Ok(())
    }

    /// A sentence or formula for each condition, as the reference shows them.
    pub fn lines(&self) -> Vec<String> {
        let parts = self.parts.iter().map(|p| {
            format!("sum of {} by {} = {}.{}", p.column, p.keys.join(", "), p.whole, p.of)
        });
        let ranges = self.ranges.iter().map(|r| {
            let what = match r.range {
                Range::Share => "0 to 100",
                Range::Length => "0 to the length of the trace",
                Range::Time => "within the trace",
                Range::Sum => {
                    "0 or more, and more than the length of the trace where work lies side by side"
                }
                Range::Any => "any value",
            };
            format!(
                "{}: {what}{}{}",
                r.columns.join(", "),
                if r.why.is_empty() { "" } else { "; " },
                r.why
            )
        });
        self.holds.iter().cloned().chain(parts).chain(ranges).collect()
    }

    /// The first problem in the lines, such as a column that does not exist.
    pub(super) fn lint(&self, columns: &[Column]) -> Option<String> {
        let own = self
            .parts
            .iter()
            .flat_map(|p| p.keys.iter().chain([&p.column]))
            .chain(self.ranges.iter().flat_map(|r| &r.columns));
        if let Some(name) = own.into_iter().find(|name| !columns.iter().any(|c| c.name == **name)) {
            return Some(format!(
                "{name} is named in Parts: or Range:, but there is no such column"
            ));
        }
        let unexplained = self.ranges.iter().find(|r| r.range == Range::Any && r.why.is_empty());
        unexplained.map(|r| {
            format!("say behind a semicolon why {} may have any value", r.columns.join(", "))
        })
    }
}

fn parts(text: &str) -> Option<Parts> {
    let (column, rest) = text.split_once(" BY ")?;
    let (keys, whole) = rest.split_once(" OF ")?;
    let (whole, of) = whole.trim().trim_end_matches('.').split_once('.')?;
    let own = |s: &str| s.trim().to_owned();
    Some(Parts {
        column: own(column),
        keys: keys.split(',').map(own).collect(),
        whole: own(whole),
        of: own(of),
    })
}

fn ranges(text: &str) -> Result<Ranges, String> {
    let (what, why) = text.split_once(';').unwrap_or((text, ""));
    let (word, columns) = what.split_once(char::is_whitespace).unwrap_or((what, ""));
    let columns: Vec<String> =
        columns.split(',').map(|c| c.trim().to_owned()).filter(|c| !c.is_empty()).collect();
    match RANGES.iter().find(|(name, _)| *name == word) {
        Some((_, range)) if !columns.is_empty() => {
            Ok(Ranges { range: *range, columns, why: why.trim().to_owned() })
        }
        _ => {
            let words: Vec<&str> = RANGES.iter().map(|(word, _)| *word).collect();
            Err(format!(
                "write it as `-- Range: WORD COLUMN, …; WHY` with one of {}",
                words.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_shown() {
        let mut truths = Truths::default();
        truths.add("Holds:", "a_ns + b_ns = c_ns").expect("an equation");
        truths.add("Parts:", "a_ns BY trace_id, device OF whole.c_ns").expect("parts");
        truths.add("Range:", "any d_pct; a difference.").expect("a range");
        assert_eq!(
            truths.lines(),
            [
                "a_ns + b_ns = c_ns",
                "sum of a_ns by trace_id, device = whole.c_ns",
                "d_pct: any value; a difference."
            ]
        );
        assert!(truths.lint(&[]).is_some_and(|m| m.contains("no such column")));
        for (keyword, text) in
            [("Holds:", ""), ("Parts:", "a_ns OF b"), ("Range:", "some a_ns"), ("Range:", "sum")]
        {
            assert!(truths.add(keyword, text).is_err(), "{keyword} {text}");
        }
    }

    #[test]
    fn units_and_names_say_the_usual_range() {
        let of = |name: &str, unit: &str| {
            Range::usual(&Column {
                name: name.into(),
                data_type: "BIGINT".into(),
                unit: unit.into(),
                description: String::new(),
            })
        };
        assert_eq!(of("busy_pct", "pct"), Some(Range::Share));
        assert_eq!(of("launch_ts_ns", "ns"), Some(Range::Time));
        assert_eq!(of("end_us", "us"), Some(Range::Time));
        assert_eq!(of("restart_ns", "ns"), Some(Range::Length));
        assert_eq!(of("calls", "count"), Some(Range::Sum));
        assert_eq!(of("step", "id"), None);
    }
}
