//! Checks and their counts, which all formats share.
//!
//! A check is a rule judged for one trace, an assertion, or a metric of one trace. A rule can have
//! several results for a trace, such as one for each device or step; they are one check, and the
//! worst of them decides. A finding is a result of a rule with a severity.

use std::collections::BTreeMap;

use super::{Item, Kind, Status, Verdict};

/// A check with its results.
#[derive(Debug)]
pub struct Check<'a> {
    /// The name of the rule, or the title of the assertion or metric.
    pub name: String,
    /// The trace that it is about. `None` stands for all traces.
    pub trace: Option<&'a str>,
    /// Its results. There is at least one.
    pub items: Vec<&'a Item>,
}

impl Check<'_> {
    /// The worst status of the results.
    pub fn status(&self) -> Status {
        self.items.iter().map(|i| i.status).max().unwrap_or(Status::Passed)
    }
}

/// The checks of some kind, in the order of their results.
pub fn checks(verdict: &Verdict, kind: Kind) -> Vec<Check<'_>> {
    let mut checks: Vec<Check<'_>> = Vec::new();
    let mut places: BTreeMap<(String, Option<&str>), usize> = BTreeMap::new();
    for item in verdict.items.iter().filter(|i| i.kind == kind) {
        let name = if kind == Kind::Rule { item.name.clone() } else { item.title() };
        let trace = item.trace.as_deref();
        let place = *places.entry((name.clone(), trace)).or_insert(checks.len());
        match checks.get_mut(place) {
            Some(check) => check.items.push(item),
            None => checks.push(Check { name, trace, items: vec![item] }),
        }
    }
    checks
}

/// The number of checks by status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// All checks.
    pub checks: usize,
    /// Checks that passed.
    pub passed: usize,
    /// Checks with a finding or remark that does not fail.
    pub noted: usize,
    /// Checks that could not be measured.
    pub not_measurable: usize,
    /// Checks that failed.
    pub failed: usize,
    /// Checks that could not be made.
    pub errors: usize,
}

impl Counts {
    /// The counts of some checks.
    pub fn of(checks: &[Check<'_>]) -> Self {
        let mut counts = Self { checks: checks.len(), ..Self::default() };
        for check in checks {
            *counts.of_status_mut(check.status()) += 1;
        }
        counts
    }

    /// The counts of all checks of a verdict.
    pub fn of_all(verdict: &Verdict) -> Self {
        let mut sum = Self::default();
        for kind in Kind::ALL {
            let part = Self::of(&checks(verdict, kind));
            sum.checks += part.checks;
            sum.passed += part.passed;
            sum.noted += part.noted;
            sum.not_measurable += part.not_measurable;
            sum.failed += part.failed;
            sum.errors += part.errors;
        }
        sum
    }

    fn of_status_mut(&mut self, status: Status) -> &mut usize {
        match status {
            Status::Passed => &mut self.passed,
            Status::Noted => &mut self.noted,
            Status::NotMeasurable => &mut self.not_measurable,
            Status::Failed => &mut self.failed,
            Status::Error => &mut self.errors,
        }
    }
}

/// The number of findings: results of rules that have a severity.
pub fn findings(verdict: &Verdict) -> usize {
    verdict.items.iter().filter(|i| i.is_finding()).count()
}
