//! Steps from the names of ranges, for programs that mark their steps in their own words.

use std::str::FromStr;
use std::sync::Arc;

use regex::Regex;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::trace::{Class, EventRecord, Id, OPEN, Step, Track};

/// A regular expression for the whole name of a range that is a step.
#[derive(Debug, Clone)]
pub struct StepPattern {
    text: String,
    regex: Regex,
}

impl StepPattern {
    /// The expression as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the number in a name that matches: the first group if it took part, else the last
    /// digits. `None` means that the name does not match, `Some(None)` that it has no number.
    fn number(&self, name: &str) -> Option<Option<i64>> {
        let found = self.regex.captures(name)?;
        let digits = match found.get(1) {
            Some(group) => group.as_str(),
            None => {
                let end = name.rfind(|c: char| c.is_ascii_digit()).map_or(0, |at| at + 1);
                let start = name[..end].rfind(|c: char| !c.is_ascii_digit());
                let start =
                    start.map_or(0, |at| at + name[at..].chars().next().map_or(1, char::len_utf8));
                &name[start..end]
            }
        };
        Some(digits.parse().ok())
    }
}

impl FromStr for StepPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let regex = Regex::new(&format!("^(?:{text})$"))
            .map_err(|e| format!("not a regular expression: {e}"))?;
        Ok(Self { text: text.to_owned(), regex })
    }
}

/// Collects the steps of a trace from its rows.
pub struct NamedSteps {
    /// For each text, the step number of ranges with that name.
    names: Vec<Option<Option<i64>>>,
    steps: Vec<(Step, Option<i64>)>,
}

impl NamedSteps {
    /// Looks for the pattern in all texts once.
    pub fn new(pattern: &StepPattern, texts: &[Arc<str>]) -> Self {
        Self { names: texts.iter().map(|text| pattern.number(text)).collect(), steps: Vec::new() }
    }

    /// Notes a row. Steps are ranges of the host: work on devices repeats their names.
    pub fn note(&mut self, record: &EventRecord, track: &Track) {
        let Some(Some(number)) = self.names.get(record.name as usize) else { return };
        let (Track::Thread { pid, .. } | Track::Async { pid, .. }) = track else { return };
        let is_range = record.is_span() && !record.has(OPEN) && record.end() > record.ts;
        if !is_range || !matches!(record.class(), Class::Op | Class::Step | Class::Other) {
            return;
        }
        let step = Step {
            number: 0,
            ord: record.ord,
            name: record.name,
            pid: *pid,
            track: record.track,
            ts: record.ts,
            end: record.end(),
        };
        self.steps.push((step, *number));
    }

    /// Returns the steps. Those of a process are counted in the order of their starts unless each has
    /// a number, and no track has a number twice.
    pub fn finish(mut self) -> Vec<Step> {
        let (mut taken, mut counted) = (FxHashSet::default(), FxHashSet::default());
        for (step, number) in &self.steps {
            if number.is_none_or(|number| !taken.insert((step.track, number))) {
                counted.insert(step.pid);
            }
        }
        self.steps.sort_by_key(|(step, _)| (step.ts, step.ord));
        let mut counts: FxHashMap<Id, i64> = FxHashMap::default();
        let numbered = self.steps.into_iter().map(|(step, number)| {
            let count = counts.entry(step.pid).or_default();
            let place = *count;
            *count += 1;
            let number = number.filter(|_| !counted.contains(&step.pid)).unwrap_or(place);
            Step { number, ..step }
        });
        numbered.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(pattern: &str, name: &str) -> Option<Option<i64>> {
        pattern.parse::<StepPattern>().expect("a pattern").number(name)
    }

    #[test]
    fn numbers_come_from_the_group_or_the_last_digits() {
        assert_eq!(number(r"iteration \d+", "iteration 12"), Some(Some(12)));
        assert_eq!(number(r"iteration \d+", "my iteration 12"), None);
        assert_eq!(number(r"epoch (\d+) it \d+", "epoch 3 it 12"), Some(Some(3)));
        assert_eq!(number(r"step\d+ü", "step7ü"), Some(Some(7)));
        assert_eq!(number(r"ü\d+", "ü7"), Some(Some(7)));
        assert_eq!(number(r"train_step", "train_step"), Some(None));
        assert_eq!(number(r"\d+", "99999999999999999999"), Some(None));
        assert!("(".parse::<StepPattern>().is_err());
    }
}
