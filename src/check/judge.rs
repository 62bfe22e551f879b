//! Compares figures with a baseline.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::baseline::Baseline;
use super::metrics::{Better, Key, Metric, RANK, Source};
use super::thresholds::{Direction, Line, Thresholds};
use super::{Item, Kind, Status};
use crate::environment::{Difference, Environment};
use crate::error::{Error, Result};
use crate::output::{change, figure, units::many};

/// A difference below this share of the value counts as a rounding error.
const ROUNDING: f64 = 1e-9;

/// The outcome of a comparison with a baseline.
#[derive(Debug, Default)]
pub struct Compared {
    /// One item for each metric that has a threshold.
    pub items: Vec<Item>,
    /// Properties of the environment in which the sides differ.
    pub differences: Vec<Difference>,
    /// Reasons to doubt the comparison as a whole.
    pub warnings: Vec<String>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// Compares the figures of some traces with a baseline.
pub fn compare(
    baseline: Baseline,
    sources: &[Source],
    environment: &Environment,
    metrics: &BTreeMap<Key, Metric>,
    thresholds: &Thresholds,
) -> Result<Compared> {
    let ours: BTreeSet<&str> = sources.iter().map(|s| s.label.as_str()).collect();
    let mut notes: Vec<String> = baseline.note.iter().cloned().collect();
    for label in &ours {
        let count = sources.iter().filter(|s| s.label == *label).count();
        if count > 1 {
            notes.push(format!(
                "{count} traces are called {label}: the medians of their figures are compared"
            ));
        }
    }
    let mut warnings = Vec::new();
    let differences = match &baseline.environment {
        Some(theirs) => {
            warnings.extend(theirs.mixture("the baseline"));
            warnings.extend(environment.mixture("the candidate"));
            theirs.differences(environment)
        }
        None => {
            notes.push(format!(
                "{} does not record GPU, versions and job, so they are not compared; make it again \
                with --save-baseline",
                baseline.name
            ));
            Vec::new()
        }
    };
    let theirs = match_labels(baseline, &ours, &mut notes)?;
    let mut items = Vec::new();
    let labels: BTreeSet<&str> = theirs.labels.iter().map(String::as_str).collect();
    let alone = |label: &str, where_not: &str| {
        let mut item = Item::new(
            Kind::Metric,
            "trace",
            Status::Failed,
            format!("{where_not} has no trace of {label}"),
        );
        item.trace = Some(label.to_owned());
        item
    };
    items.extend(labels.difference(&ours).map(|label| alone(label, "the candidate")));
    items.extend(ours.difference(&labels).map(|label| alone(label, "the baseline")));
    let (apart, both): (BTreeSet<&str>, BTreeSet<&str>) = labels
        .intersection(&ours)
        .partition(|label| has_nothing_in_common(label, &theirs.metrics, metrics));
    items.extend(apart.iter().map(|label| {
        let message = "nothing compares: baseline and candidate have no figure in common \
                       but those of any file (wall_time, events, skipped_events)";
        let mut item = Item::new(Kind::Metric, "trace", Status::Error, message.to_owned());
        item.trace = Some((*label).to_owned());
        item
    }));
    let keys: BTreeSet<&Key> = theirs
        .metrics
        .keys()
        .chain(metrics.keys())
        .filter(|k| both.contains(k.0.as_str()))
        .collect();
    let mut unjudged = 0_i64;
    for key in &keys {
        match thresholds.line(&key.1, key.2.as_deref()) {
            Some(line) => {
                match judge(line, theirs.metrics.get(*key), metrics.get(*key), thresholds)? {
                    Some((status, message, figures)) => {
                        let mut item = Item::new(Kind::Metric, &key.1, status, message);
                        (item.subject, item.trace, item.figures) =
                            (key.2.clone(), Some(key.0.clone()), figures);
                        items.push(item);
                    }
                    None => unjudged += 1,
                }
            }
            None => unjudged += 1,
        }
    }
    if unjudged > 0 {
        notes.push(format!(
            "{} not judged: {} has no line for them, ignores them, or asks for worse where neither \
            direction is worse",
            many(unjudged, "metric"),
            thresholds.name
        ));
    }
    if apart.is_empty() {
        items.extend(missing_metrics(thresholds, &keys));
        notes.extend(unused_patterns(thresholds, &keys));
    }
    if items.is_empty() {
        let message = format!(
            "not one metric was judged: no line of {} is about one that has a better side or a \
            direction",
            thresholds.name
        );
        items.push(Item::new(Kind::Metric, "baseline", Status::Failed, message));
    } else if items.iter().all(|i| i.status == Status::Noted) {
        let message = format!(
            "not one metric was compared: what the lines of {} are about is missing on one side",
            thresholds.name
        );
        items.push(Item::new(Kind::Metric, "baseline", Status::Failed, message));
    }
    Ok(Compared { items, differences, warnings, notes })
}

/// Metrics that exist for every file, whatever its content.
const OF_ANY_FILE: [&str; 3] = ["wall_time", "events", "skipped_events"];

/// Whether the two sides of a trace have no meaningful metric in common, as for a Kineto trace and
/// a perf.json.
fn has_nothing_in_common(
    label: &str,
    base: &BTreeMap<Key, Metric>,
    cand: &BTreeMap<Key, Metric>,
) -> bool {
    let telling = |metrics: &BTreeMap<Key, Metric>| -> BTreeSet<Key> {
        let is_telling = |(key, m): &(&Key, &Metric)| {
            key.0 == label && m.value.is_some() && !OF_ANY_FILE.contains(&key.1.as_str())
        };
        metrics.iter().filter(is_telling).map(|(key, _)| key.clone()).collect()
    };
    let (base, cand) = (telling(base), telling(cand));
    !(base.is_empty() && cand.is_empty()) && base.is_disjoint(&cand)
}

/// The baseline with its labels changed to match those of the candidate. Two single traces are
/// compared even if their labels differ.
fn match_labels(
    mut baseline: Baseline,
    ours: &BTreeSet<&str>,
    notes: &mut Vec<String>,
) -> Result<Baseline> {
    if let ([theirs], Some(own), 1) = (baseline.labels.as_slice(), ours.first(), ours.len()) {
        // Two ranks are among the differences of the environments.
        let are_ranks = [theirs.as_str(), *own].iter().all(|label| label.starts_with(RANK));
        if theirs != own && !(are_ranks && baseline.environment.is_some()) {
            notes.push(format!(
                "{own} is compared with {theirs} of the baseline, \
                 as there is one trace on each side"
            ));
        }
        baseline.metrics = baseline
            .metrics
            .into_iter()
            .map(|((_, metric, subject), m)| (((*own).to_owned(), metric, subject), m))
            .collect();
        baseline.labels = vec![(*own).to_owned()];
    }
    if !baseline.labels.iter().any(|l| ours.contains(l.as_str())) {
        let list = |labels: Vec<&str>| {
            if labels.is_empty() { "no trace".to_owned() } else { labels.join(", ") }
        };
        let (has, own) = (
            list(baseline.labels.iter().map(String::as_str).collect()),
            list(ours.iter().copied().collect()),
        );
        return Err(Error::Query(format!(
            "{}: nothing to compare: the baseline has {has}, the candidate {own}; traces are \
            matched by rank, or without a rank by the name of their file",
            baseline.name
        )));
    }
    Ok(baseline)
}

type Judged = (Status, String, serde_json::Map<String, Value>);

fn judge(
    line: &Line,
    base: Option<&Metric>,
    cand: Option<&Metric>,
    thresholds: &Thresholds,
) -> Result<Option<Judged>> {
    let Some(known) = cand.or(base) else { return Ok(None) };
    let (unit, better) = (known.unit.as_str(), known.better);
    let wrong = |what: String| Error::Usage(format!("{}:{}: {what}", thresholds.name, line.number));
    if line.direction == Direction::Worse
        && better == Better::Neutral
        && line.names_a_metric()
        && !thresholds.is_built_in
    {
        let name = line.metric();
        return Err(wrong(format!(
            "neither more nor less of {name} is worse; give the direction increase, decrease, \
            change or ignore"
        )));
    }
    if line.direction == Direction::Ignore
        || (line.direction == Direction::Worse && better == Better::Neutral)
    {
        return Ok(None);
    }
    let value = |side: Option<&Metric>| side.and_then(|m| m.value);
    let mut figures = serde_json::Map::new();
    let mut put = |name: &str, value: Value| figures.insert(name.to_owned(), value);
    put("unit", json!(unit));
    put("better", json!(better.name()));
    put("direction", json!(line.direction.name()));
    put("threshold_line", json!(line.number));
    put("baseline", json!(value(base)));
    put("value", json!(value(cand)));
    if let (Some(b), Some(c)) = (base, cand)
        && b.unit != c.unit
    {
        return Ok(Some((
            Status::Error,
            format!(
                "the baseline has it in {}, the candidate in {}: they cannot be compared",
                b.unit, c.unit
            ),
            figures,
        )));
    }
    let (b, c) = match (value(base), value(cand)) {
        (Some(b), Some(c)) => (b, c),
        (b, c) => {
            let which = match (base.is_some(), cand.is_some(), b.is_some(), c.is_some()) {
                (false, ..) => "the baseline does not have it",
                (_, false, ..) => "the candidate does not have it",
                (_, _, false, false) => "it has no value on either side",
                (_, _, false, _) => "it has no value in the baseline",
                _ => "it has no value in the candidate",
            };
            let there = b
                .map(|b| format!(" (baseline {})", figure(b, unit)))
                .or(c.map(|c| format!(" (candidate {})", figure(c, unit))));
            let status = if line.may_be_missing { Status::Noted } else { Status::Failed };
            return Ok(Some((status, format!("{which}{}", there.unwrap_or_default()), figures)));
        }
    };
    let allowed = line.allowed(b, unit).map_err(wrong)?;
    let delta = if (c - b).abs() <= ROUNDING * b.abs().max(c.abs()) { 0.0 } else { c - b };
    let worse = match (line.direction, better) {
        (Direction::Increase, _) | (Direction::Worse, Better::Lower) => delta,
        (Direction::Decrease, _) | (Direction::Worse, _) => -delta,
        (Direction::Change, _) => delta.abs(),
        (Direction::Ignore, _) => return Ok(None),
    };
    put("delta", json!(delta));
    put("delta_pct", json!((b != 0.0).then(|| 100.0 * delta / b.abs())));
    put("allowed", json!(allowed));
    put("improved", json!(line.direction == Direction::Worse && worse < -allowed));
    let by = if b != 0.0 {
        change(100.0 * delta / b.abs())
    } else {
        format!("by {}", figure(delta, unit))
    };
    let share = if b != 0.0 && allowed > 0.0 && unit != "pct" {
        format!(", {:.1} %", 100.0 * allowed / b.abs())
    } else {
        String::new()
    };
    let message = format!(
        "{} → {}, {by} (allowed: {}{share})",
        figure(b, unit),
        figure(c, unit),
        figure(allowed, unit)
    );
    Ok(Some((if worse > allowed { Status::Failed } else { Status::Passed }, message, figures)))
}

/// A failure for each line of a user's file that names a metric which neither side has.
fn missing_metrics(thresholds: &Thresholds, keys: &BTreeSet<&Key>) -> Vec<Item> {
    if thresholds.is_built_in {
        return Vec::new();
    }
    let named = thresholds
        .lines
        .iter()
        .filter(|l| l.direction != Direction::Ignore && !l.may_be_missing)
        .filter_map(|l| Some((l, l.exact()?)));
    let lost = named.filter(|(line, _)| {
        !keys.iter().any(|(_, metric, subject)| line.is_about(metric, subject.as_deref()))
    });
    lost.map(|(line, (metric, subject))| {
        let mut item = Item::new(
            Kind::Metric,
            metric,
            Status::Failed,
            format!("neither side has it; line {} of {} asks for it", line.number, thresholds.name),
        );
        item.subject = subject.map(str::to_owned);
        item
    })
    .collect()
}

/// A note for each pattern of a user's file that matches no metric of either side. Without the
/// note, a typing mistake such as `gpu#*` for devices called `cuda#1` would go unnoticed.
fn unused_patterns(thresholds: &Thresholds, keys: &BTreeSet<&Key>) -> Vec<String> {
    if thresholds.is_built_in {
        return Vec::new();
    }
    let patterns =
        thresholds.lines.iter().filter(|l| l.direction != Direction::Ignore && l.exact().is_none());
    let idle = patterns.filter(|l| {
        !keys.iter().any(|(_, metric, subject)| l.is_about(metric, subject.as_deref()))
    });
    idle.map(|l| {
        format!(
            "line {} of {} fits no metric of either side ({})",
            l.number,
            thresholds.name,
            l.pattern()
        )
    })
    .collect()
}
