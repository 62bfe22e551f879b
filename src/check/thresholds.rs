//! Thresholds: how far a metric may be from its baseline. They come from a CSV file, in which the
//! first line that matches a metric applies.

use std::path::Path;

use super::read;
use crate::error::{Error, Result};
use crate::glob;
use crate::suggest::{hint, most_similar};

/// The thresholds that apply if the user gives no file.
const BUILT_IN: &str = include_str!("thresholds.csv");

const COLUMNS: &[&str] =
    &["metric", "subject", "direction", "tolerance_pct", "tolerance", "missing"];

/// The lines of a file.
#[derive(Debug)]
pub struct Thresholds {
    /// The name of the file as the user gave it.
    pub name: String,
    /// Whether these are the built-in thresholds.
    pub is_built_in: bool,
    /// Its lines, in order.
    pub lines: Vec<Line>,
}

/// A line of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The line number in the file.
    pub number: usize,
    metric: String,
    subject: String,
    /// Which changes count as failures.
    pub direction: Direction,
    tolerance_pct: f64,
    tolerance: Amount,
    /// Whether the metric may be missing on one side.
    pub may_be_missing: bool,
}

/// The changes that count as failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Changes for the worse, by the metric's own direction. A metric without a direction never
    /// fails.
    Worse,
    /// An increase.
    Increase,
    /// A decrease.
    Decrease,
    /// Any change.
    Change,
    /// No change.
    Ignore,
}

impl Direction {
    const ALL: [(&str, Self); 5] = [
        ("worse", Self::Worse),
        ("increase", Self::Increase),
        ("decrease", Self::Decrease),
        ("change", Self::Change),
        ("ignore", Self::Ignore),
    ];

    /// The name of the direction in files and results.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, d)| *d == self).map_or("", |(n, _)| n)
    }
}

/// A tolerance, in the unit of the metric unless it has its own unit.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Amount {
    value: f64,
    /// The unit that the metric must have; `None` for any.
    unit: Option<&'static str>,
}

impl Thresholds {
    /// Reads the thresholds from a file, or takes the built-in ones.
    pub fn load(path: Option<&Path>) -> Result<Self> {
        match path {
            Some(path) => Self::parse(&path.display().to_string(), &read(path)?, false),
            None => Self::parse("the built-in thresholds", BUILT_IN, true),
        }
    }

    fn parse(name: &str, text: &str, is_built_in: bool) -> Result<Self> {
        let wrong = |line: usize, what: String| Error::Usage(format!("{name}:{line}: {what}"));
        let numbered = text.lines().enumerate().map(|(i, line)| (i + 1, line));
        let mut rows =
            numbered.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let Some((first, header)) = rows.next() else {
            return Err(wrong(1, "there are no thresholds in it".into()));
        };
        let header = values(header).map_err(|what| wrong(first, what))?;
        if let Some(column) = header.iter().find(|c| !COLUMNS.contains(&c.as_str())) {
            return Err(wrong(
                first,
                format!(
                    "{column:?} is not a column of thresholds; they are {}",
                    COLUMNS.join(", ")
                ),
            ));
        }
        if !header.iter().any(|c| c == "metric") {
            return Err(wrong(
                first,
                format!("the first line must name the columns: {}", COLUMNS.join(",")),
            ));
        }
        let mut lines = Vec::new();
        for (number, row) in rows {
            let row = values(row).map_err(|what| wrong(number, what))?;
            if row.len() != header.len() {
                return Err(wrong(
                    number,
                    format!(
                        "{} values where the first line names {} columns",
                        row.len(),
                        header.len()
                    ),
                ));
            }
            let value =
                |name: &str| header.iter().position(|c| c == name).map_or("", |i| row[i].as_str());
            lines.push(Line::parse(number, value).map_err(|what| wrong(number, what))?);
        }
        if lines.is_empty() {
            return Err(wrong(first, "there are no thresholds in it".into()));
        }
        Ok(Self { name: name.to_owned(), is_built_in, lines })
    }

    /// Returns an error if a line is about an unknown metric.
    pub fn validate(&self, metrics: &[String]) -> Result<()> {
        for line in &self.lines {
            if !metrics.iter().any(|m| glob::matches(&line.metric, m)) {
                let names = metrics.iter().map(String::as_str);
                let hint = hint(most_similar(&line.metric, names));
                let what = format!(
                    "there is no metric {}{hint}; `SELECT * FROM metric_definitions` lists all",
                    line.metric
                );
                return Err(Error::Usage(format!("{}:{}: {what}", self.name, line.number)));
            }
        }
        Ok(())
    }

    /// The line that applies to a metric.
    pub fn line(&self, metric: &str, subject: Option<&str>) -> Option<&Line> {
        self.lines.iter().find(|l| l.is_about(metric, subject))
    }
}

impl Line {
    fn parse<'a>(number: usize, value: impl Fn(&str) -> &'a str) -> Result<Self, String> {
        let metric = value("metric").to_owned();
        if metric.is_empty() {
            return Err("the metric is empty; write its name, or * for all".into());
        }
        let direction = match value("direction") {
            "" => Direction::Worse,
            name => {
                let known = Direction::ALL.iter().find(|(n, _)| *n == name).map(|(_, d)| *d);
                known.ok_or(format!(
                    "direction {name:?} must be worse, increase, decrease, change or ignore"
                ))?
            }
        };
        let tolerance_pct = match value("tolerance_pct") {
            "" => 0.0,
            text => text
                .trim_end_matches('%')
                .trim()
                .parse()
                .ok()
                .filter(|v: &f64| v.is_finite() && *v >= 0.0)
                .ok_or(format!("tolerance_pct {text:?} must be a number of percent, 0 or more"))?,
        };
        let may_be_missing = match value("missing") {
            "" | "fail" => false,
            "allow" => true,
            other => return Err(format!("missing {other:?} must be fail or allow")),
        };
        Ok(Self {
            number,
            metric,
            subject: value("subject").to_owned(),
            direction,
            tolerance_pct,
            tolerance: Amount::parse(value("tolerance"))?,
            may_be_missing,
        })
    }

    /// Whether the line applies to a metric. A line without a subject applies to the metric of the
    /// whole trace.
    pub fn is_about(&self, metric: &str, subject: Option<&str>) -> bool {
        glob::matches(&self.metric, metric)
            && glob::matches(&self.subject, subject.unwrap_or_default())
    }

    /// The metric and subject of the line, unless they are patterns.
    pub fn exact(&self) -> Option<(&str, Option<&str>)> {
        let is_exact = !self.metric.contains('*') && !self.subject.contains('*');
        is_exact.then_some((
            self.metric.as_str(),
            Some(self.subject.as_str()).filter(|s| !s.is_empty()),
        ))
    }

    /// Whether the line names a metric and not a pattern.
    pub fn names_a_metric(&self) -> bool {
        !self.metric.contains('*')
    }

    /// The metric as the user wrote it.
    pub fn metric(&self) -> &str {
        &self.metric
    }

    /// The metric and subject as the user wrote them.
    pub fn pattern(&self) -> String {
        if self.subject.is_empty() {
            self.metric.clone()
        } else {
            format!("{} of {}", self.metric, self.subject)
        }
    }

    /// The allowed difference from the base value, which is the larger one of the two tolerances.
    pub fn allowed(&self, base: f64, unit: &str) -> Result<f64, String> {
        match self.tolerance.unit {
            Some(needs) if needs != unit => {
                Err(format!("its tolerance is of {needs}, the metric of {unit}"))
            }
            _ => Ok((base.abs() * self.tolerance_pct / 100.0).max(self.tolerance.value)),
        }
    }
}

impl Amount {
    fn parse(text: &str) -> Result<Self, String> {
        let at = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
        let (number, unit) = (&text[..at], text[at..].trim());
        let (scale, fits) = match unit {
            "" => (1.0, None),
            "ns" => (1.0, Some("ns")),
            "us" => (1e3, Some("ns")),
            "ms" => (1e6, Some("ns")),
            "s" => (1e9, Some("ns")),
            "B" => (1.0, Some("bytes")),
            "KiB" => (1024.0, Some("bytes")),
            "MiB" => (1024f64.powi(2), Some("bytes")),
            "GiB" => (1024f64.powi(3), Some("bytes")),
            _ => {
                return Err(format!(
                    "tolerance {text:?}: the unit must be ns, us, ms, s, B, KiB, MiB or GiB, or \
                    none for that of the metric"
                ));
            }
        };
        let value: f64 = if text.is_empty() {
            0.0
        } else {
            number.parse().map_err(|_| format!("tolerance {text:?} must be a number, 0 or more"))?
        };
        let value = value * scale;
        if value.is_finite() {
            Ok(Self { value, unit: fits })
        } else {
            Err(format!("tolerance {text:?} is too large for a number"))
        }
    }
}

/// The values of one line. Lines are parsed one by one so that errors have line numbers.
fn values(line: &str) -> Result<Vec<String>, String> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .trim(csv::Trim::All)
        .from_reader(line.as_bytes());
    let record = reader.records().next();
    match record {
        Some(Ok(record)) => Ok(record.iter().map(str::to_owned).collect()),
        Some(Err(e)) => Err(e.to_string()),
        None => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        Thresholds::parse("t.csv", text, false)
            .map(|_| String::new())
            .unwrap_or_else(|e| e.to_string())
    }

    #[test]
    fn the_built_in_thresholds_hold_together() {
        assert!(Thresholds::load(None).is_ok_and(|t| t.lines.len() > 10));
    }

    #[test]
    fn the_first_line_that_fits_decides() {
        let text =
            "# a comment\nmetric,subject,tolerance_pct\nstep_time_mean,,5\nstep_*,,7\n*,*,9\n";
        let all = Thresholds::parse("t.csv", text, false).expect("thresholds");
        let line = |metric: &str, subject| all.line(metric, subject).map(|l| l.number);
        assert_eq!(line("step_time_mean", None), Some(3));
        assert_eq!(line("step_time_max", None), Some(4));
        assert_eq!(line("step_part_mean", Some("kernel")), Some(5));
        assert_eq!(all.lines[0].allowed(200.0, "ns"), Ok(10.0));
    }

    #[test]
    fn the_larger_tolerance_holds_in_the_unit_of_the_metric() {
        let all =
            Thresholds::parse("t.csv", "metric,tolerance_pct,tolerance\na,10,1ms\nb,10%,\n", false)
                .expect("thresholds");
        assert_eq!(all.lines[0].allowed(5e6, "ns"), Ok(1e6));
        assert_eq!(all.lines[0].allowed(5e7, "ns"), Ok(5e6));
        assert!(all.lines[0].allowed(1.0, "bytes").is_err());
        assert_eq!(all.lines[1].allowed(0.0, "pct"), Ok(0.0));
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        assert!(problem("name,limit\na,1\n").starts_with("t.csv:1: \"name\" is not a column"));
        assert!(
            problem("subject\na\n").starts_with("t.csv:1: the first line must name the columns")
        );
        assert!(
            problem("metric,direction\na,up\n").starts_with("t.csv:2: direction \"up\" must be")
        );
        assert!(
            problem("metric,tolerance_pct\n\n# x\na,-1\n").starts_with("t.csv:4: tolerance_pct")
        );
        assert!(
            problem("metric,tolerance\na,5 parsecs\n")
                .starts_with("t.csv:2: tolerance \"5 parsecs\": the unit")
        );
        assert!(problem("metric,tolerance\na,ms\n").contains("must be a number"));
        assert!(
            problem(&format!("metric,tolerance\na,{}\n", "9".repeat(400))).contains("is too large")
        );
        assert!(problem("metric,tolerance\na\n").starts_with("t.csv:2: 1 values where"));
        assert!(problem("metric\n").contains("no thresholds"));
        assert!(problem("metric,missing\na,maybe\n").contains("must be fail or allow"));
    }
}
