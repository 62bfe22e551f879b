//! Results that the text lists together, so that many traces do not make a list of many pages.

use std::collections::{BTreeMap, BTreeSet};

use super::Detail;
use crate::check::{Item, Kind, Status, Verdict};
use crate::output::units::many;

/// Results that one entry of the text shows.
pub struct Group<'a> {
    /// The titles of the checks.
    pub titles: Vec<String>,
    /// The results, the worst first. There is at least one.
    pub items: Vec<&'a Item>,
    /// A sentence instead of the message of the first result.
    pub message: Option<String>,
}

impl<'a> Group<'a> {
    fn new(title: String, item: &'a Item) -> Self {
        Self { titles: vec![title], items: vec![item], message: None }
    }

    /// The traces, each once, in the order of the results.
    pub fn traces(&self) -> Vec<&'a str> {
        let mut seen = BTreeSet::new();
        self.items.iter().filter_map(|i| i.trace.as_deref()).filter(|t| seen.insert(*t)).collect()
    }

    /// The different messages.
    pub fn messages(&self) -> BTreeSet<&'a str> {
        self.items.iter().map(|i| i.message.as_str()).collect()
    }
}

/// The results of some kind that did not pass, the worst first. In a store of several traces the
/// results of a rule or metric with the same status are one group, unless all details are wanted.
pub fn groups(verdict: &Verdict, kind: Kind, detail: Detail) -> Vec<Group<'_>> {
    let mut listed: Vec<&Item> =
        verdict.items.iter().filter(|i| i.kind == kind && i.status != Status::Passed).collect();
    listed.sort_by_key(|i| (std::cmp::Reverse(i.status), i.severity));
    let is_full = detail == Detail::Full;
    let (missing, listed): (Vec<&Item>, Vec<&Item>) =
        listed.into_iter().partition(|i| !is_full && i.is_missing_metric());
    let mut groups = if is_full || verdict.traces.len() < 2 {
        listed.into_iter().map(|i| Group::new(i.title(), i)).collect()
    } else {
        by_name(listed)
    };
    groups = same_reasons(groups);
    groups.extend(missing_metrics(missing));
    groups
}

fn by_name(items: Vec<&Item>) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places: BTreeMap<(String, Status), usize> = BTreeMap::new();
    for item in items {
        let name = if item.kind == Kind::Rule { item.name.clone() } else { item.title() };
        let place = *places.entry((name.clone(), item.status)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.items.push(item),
            None => groups.push(Group::new(name, item)),
        }
    }
    for group in &mut groups {
        // A result of one trace keeps the device, step or operator that it is about.
        if let [item] = group.items.as_slice() {
            group.titles = vec![item.title()];
        }
    }
    groups
}

/// Many rules need the same information, so rules that are not measurable for the same reasons in
/// the same traces are one group.
fn same_reasons(groups: Vec<Group<'_>>) -> Vec<Group<'_>> {
    let mut together: Vec<Group<'_>> = Vec::new();
    let mut places: BTreeMap<(Vec<&str>, Vec<&str>), usize> = BTreeMap::new();
    for group in groups {
        if group.items.first().is_none_or(|i| i.status != Status::NotMeasurable) {
            together.push(group);
            continue;
        }
        let key = (group.traces(), group.messages().into_iter().collect());
        let place = *places.entry(key).or_insert(together.len());
        match together.get_mut(place) {
            Some(first) => first.titles.extend(group.titles),
            None => together.push(group),
        }
    }
    together
}

/// One group for all metrics that one side does not have and need not have.
fn missing_metrics(items: Vec<&Item>) -> Option<Group<'_>> {
    let mut group = Group::new(String::new(), items.first()?);
    let is_zero = |i: &&&Item| {
        ["baseline", "value"]
            .iter()
            .any(|side| i.figures.get(*side).and_then(serde_json::Value::as_f64) == Some(0.0))
    };
    let zeros = items.iter().filter(is_zero).count();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for item in items.iter().filter(|i| !is_zero(i)) {
        *counts.entry(&item.name).or_default() += 1;
    }
    let names: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    group.titles = vec![many(items.len() as i64, "metric") + " on one side only"];
    let mut parts = Vec::new();
    if !names.is_empty() {
        parts.push(format!("the thresholds allow that: {}", names.join(", ")));
    }
    if zeros > 0 {
        parts.push(format!("{} 0 on that side", many_are(zeros)));
    }
    group.message = Some(parts.join("; "));
    group.items = items;
    Some(group)
}

fn many_are(count: usize) -> String {
    if count == 1 { "1 metric is".to_owned() } else { format!("{count} metrics are") }
}
