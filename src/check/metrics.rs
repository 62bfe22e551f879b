//! The rows of the views `metrics` and `job_metrics`, by trace and subject.

use std::collections::BTreeMap;

use crate::engine::{Engine, int, number, text};
use crate::error::{Error, Result};

/// The prefix of the label of a trace whose rank is known.
pub const RANK: &str = "rank ";

/// A trace of a store, with the label that comparisons use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The name of the trace.
    pub trace_id: String,
    /// `rank N`, or the name of the file if the rank is not known. Traces of the two sides are
    /// matched by it.
    pub label: String,
    /// The path of the input as the user gave it.
    pub path: String,
    /// The BLAKE3 hash of its bytes.
    pub content_hash: String,
}

/// Whether a higher or a lower value of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Lower is better.
    Lower,
    /// Higher is better.
    Higher,
    /// Neither.
    Neutral,
}

impl Better {
    /// The name of the direction in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Higher => "higher",
            Self::Neutral => "neutral",
        }
    }

    /// The direction with this name.
    pub fn of(name: &str) -> Option<Self> {
        [Self::Lower, Self::Higher, Self::Neutral].into_iter().find(|b| b.name() == name)
    }
}

/// Identifies a figure by the label of the trace, the metric and the subject.
pub type Key = (String, String, Option<String>);

/// A figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Its value; `None` if it is NULL or not a number.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: String,
    /// Whether a higher or a lower value is better.
    pub better: Better,
    /// The number of traces that the median is taken over.
    pub traces: usize,
}

/// The traces of a session.
pub async fn sources(engine: &Engine) -> Result<Vec<Source>> {
    let sql = "SELECT t.trace_id, coalesce(t.rank, j.rank) AS rank, t.path, t.content_hash
               FROM traces t LEFT JOIN job_ranks j ON j.trace_id = t.trace_id
               ORDER BY 2, t.path, t.trace_id";
    let rows = engine.objects(sql).await?;
    let source = |row| {
        let get = |name: &str| text(row, name).unwrap_or_default();
        let path = get("path");
        let file = path.rsplit(['/', '\\']).next().unwrap_or(&path).to_owned();
        let label = int(row, "rank").map_or(file, |rank| format!("{RANK}{rank}"));
        Source { trace_id: get("trace_id"), label, content_hash: get("content_hash"), path }
    };
    Ok(rows.iter().map(source).collect())
}

/// All figures of a session. Traces with the same label are combined by the median.
pub async fn collect(engine: &Engine, sources: &[Source]) -> Result<BTreeMap<Key, Metric>> {
    let mut all: BTreeMap<Key, (Metric, Vec<f64>)> = BTreeMap::new();
    let columns = "SELECT trace_id, metric, subject, value, unit, better";
    let sql = format!("{columns} FROM metrics UNION ALL {columns} FROM job_metrics");
    for row in engine.objects(&sql).await? {
        let get = |name: &str| text(&row, name);
        let (Some(trace_id), Some(metric)) = (get("trace_id"), get("metric")) else {
            return Err(Error::Query(
                "a view of metrics gives a row without trace_id or metric".into(),
            ));
        };
        let better = get("better").unwrap_or_default();
        let better = Better::of(&better).ok_or_else(|| {
            Error::Query(format!(
                "metric {metric}: better is {better:?}; it must be lower, higher or neutral"
            ))
        })?;
        let label =
            sources.iter().find(|s| s.trace_id == trace_id).map_or(trace_id, |s| s.label.clone());
        let unit = get("unit").unwrap_or_default();
        let new = || (Metric { value: None, unit: unit.clone(), better, traces: 0 }, Vec::new());
        let (known, values) =
            all.entry((label, metric.clone(), get("subject"))).or_insert_with(new);
        if known.unit != unit {
            return Err(Error::Query(format!(
                "metric {metric} has the units {} and {unit}",
                known.unit
            )));
        }
        known.traces += 1;
        values.extend(number(&row, "value").filter(|v| v.is_finite()));
    }
    let median = |(key, (metric, mut values)): (Key, (Metric, Vec<f64>))| {
        values.sort_by(f64::total_cmp);
        let (low, high) = (values.len().saturating_sub(1) / 2, values.len() / 2);
        let value = match (values.get(low), values.get(high)) {
            (Some(low), Some(high)) => {
                Some(if low == high { *low } else { low / 2.0 + high / 2.0 })
            }
            _ => None,
        };
        (key, Metric { value, ..metric })
    };
    Ok(all.into_iter().map(median).collect())
}
