//! Conditions on which a pipeline fails: `BY:PCT%[:MIN]`, `BY:added` or `BY:removed`.

use super::{By, Row};
use crate::error::{Error, Result};
use crate::output::figure;

/// A condition that the user gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The dimension of the rows that the condition applies to.
    pub by: By,
    what: What,
    /// The condition as the user wrote it.
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    /// Slower by more than a percentage, and by at least some number of nanoseconds.
    Slower {
        pct: f64,
        min_ns: f64,
    },
    Added,
    Removed,
}

/// A row that meets a condition.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The condition as the user wrote it.
    pub condition: String,
    /// A sentence about the difference.
    pub message: String,
}

impl std::str::FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let help = || {
            format!(
                "{text:?} must be BY:PCT%, BY:PCT%:MIN, BY:added or BY:removed, as in step:5% or \
                op:10%:100us"
            )
        };
        let mut parts = text.split(':');
        let by = parts.next().unwrap_or_default();
        let by = By::ALL.into_iter().find(|b| b.name() == by).ok_or_else(|| {
            let names: Vec<&str> = By::ALL.iter().map(|b| b.name()).collect();
            format!("{text:?}: {by:?} must be one of {}", names.join(", "))
        })?;
        let what = match parts.next() {
            Some("added") => What::Added,
            Some("removed") => What::Removed,
            Some(pct) => {
                let pct = pct
                    .strip_suffix('%')
                    .and_then(|p| p.trim().parse::<f64>().ok())
                    .filter(|p| p.is_finite() && *p >= 0.0)
                    .ok_or_else(help)?;
                let min_ns = parts.next().map_or(Some(0.0), time).ok_or_else(help)?;
                What::Slower { pct, min_ns }
            }
            None => return Err(help()),
        };
        if parts.next().is_some() {
            Err(help())
        } else {
            Ok(Self { by, what, text: text.to_owned() })
        }
    }
}

/// Parses a time such as 100us into nanoseconds.
fn time(text: &str) -> Option<f64> {
    let at = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let scale = match text[at..].trim() {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    text[..at].parse::<f64>().ok().map(|v| v * scale).filter(|v| v.is_finite())
}

impl Condition {
    /// The rows that meet the condition. It is an error if no row could be compared, or if one side
    /// lacks a measure that the other side has.
    ///
    /// A row without a verdict fails if its figures differ by the given amount, because a
    /// difference that might be noise does not count as passed. A mixed row fails in the same way.
    pub fn failures(&self, rows: &[Row]) -> Result<Vec<Failure>> {
        let rows: Vec<&Row> = rows.iter().filter(|r| r.by == self.by).collect();
        let refuse = |what: String| Err(Error::Query(format!("--fail-on {}: {what}", self.text)));
        if !rows.iter().any(|r| r.is_on_both() && r.says_what()) {
            let reason = rows.iter().find_map(|r| r.reason.clone());
            let reason = reason.unwrap_or_else(|| {
                if rows.is_empty() { "neither side has any" } else { "no name is on both sides" }
                    .to_owned()
            });
            return refuse(format!("nothing compares by {}: {reason}", self.by.name()));
        }
        for measure in ["time", "host", "device"] {
            let of: Vec<&&Row> = rows.iter().filter(|r| r.measure == measure).collect();
            let (base, cand) =
                (of.iter().any(|r| r.traces.0 > 0), of.iter().any(|r| r.traces.1 > 0));
            if base != cand {
                let reason = of
                    .iter()
                    .find_map(|r| r.reason.clone())
                    .unwrap_or_else(|| "one side has none of it".to_owned());
                return refuse(format!(
                    "{} does not compare by {measure}: {reason}",
                    self.by.name()
                ));
            }
        }
        Ok(rows.iter().filter_map(|r| self.failure(r)).collect())
    }

    fn failure(&self, row: &Row) -> Option<Failure> {
        let about = format!("{} {} ({})", self.by.name(), row.title(), row.measure);
        let message = match self.what {
            What::Added => (row.verdict == "added")
                .then(|| format!("{about}: added, {}", figure(row.cand_ns, "ns")))?,
            What::Removed => (row.verdict == "removed")
                .then(|| format!("{about}: removed, it took {}", figure(row.base_ns, "ns")))?,
            What::Slower { pct, min_ns } => {
                let is_open = matches!(row.verdict.as_str(), "slower" | "mixed")
                    || (row.verdict == "not judged" && row.is_on_both());
                // An increase from 0 is larger than any percentage.
                let is_more = row.delta_pct.map_or(row.cand_ns > 0.0, |delta| delta > pct);
                if !(is_open && is_more && row.delta_ns() >= min_ns) {
                    return None;
                }
                let why = match &row.reason {
                    Some(reason) => format!("; not judged: {reason}"),
                    None if row.verdict == "mixed" => {
                        "; mixed: most steps became faster".to_owned()
                    }
                    None => String::new(),
                };
                format!(
                    "{about}: {} → {}, {}{why}",
                    figure(row.base_ns, "ns"),
                    figure(row.cand_ns, "ns"),
                    super::percent(row)
                )
            }
        };
        Some(Failure { condition: self.text.clone(), message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let read = |text: &str| text.parse::<Condition>().map(|c| (c.by, c.what));
        assert_eq!(read("step:5%"), Ok((By::Step, What::Slower { pct: 5.0, min_ns: 0.0 })));
        assert_eq!(read("op:10%:100us"), Ok((By::Op, What::Slower { pct: 10.0, min_ns: 1e5 })));
        assert_eq!(read("kernel:added"), Ok((By::Kernel, What::Added)));
        assert_eq!(read("module:removed"), Ok((By::Module, What::Removed)));
        for wrong in [
            "", "5%", "step", "step:5", "step:x%", "op:10%:100", "op:10%:1ms:1", "op:-1%",
            "ops:5%", "op:added:1",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
