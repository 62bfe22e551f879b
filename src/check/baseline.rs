//! Baselines: figures from another store, or from a JSON file that was made from a store.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tracesql_ingest::{IngestError, VERSION as PROGRAM, schema::SCHEMA_VERSION};

use super::metrics::{Better, Key, Metric, Source};
use super::read;
use crate::environment::Environment;
use crate::error::{Error, Result};

const FORMAT: &str = "tracesql-baseline";
const VERSION: u64 = 1;

/// The figures to compare with.
#[derive(Debug)]
pub struct Baseline {
    /// The name of the store or file as the user gave it.
    pub name: String,
    /// The labels of its traces.
    pub labels: Vec<String>,
    /// Its figures.
    pub metrics: BTreeMap<Key, Metric>,
    /// The environment of its traces. `None` if the file does not record it.
    pub environment: Option<Environment>,
    /// A remark about it for the user.
    pub note: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Document {
    format: String,
    format_version: u64,
    tracesql_version: String,
    schema_version: u64,
    traces: Vec<Trace>,
    /// Older files do not have it.
    #[serde(default)]
    environment: Option<Environment>,
    metrics: Vec<Figure>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Trace {
    trace: String,
    trace_id: String,
    path: String,
    content_hash: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Figure {
    trace: String,
    metric: String,
    subject: Option<String>,
    value: Option<f64>,
    unit: String,
    better: String,
}

impl Baseline {
    /// Reads the baseline from a JSON file.
    pub fn read(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let text = read(path)?;
        let refuse = |what: String| Error::Input(IngestError::input(&name, what));
        let value: serde_json::Value = serde_json::from_str(&text)
            .map_err(|e| refuse(format!("line {}: this is not JSON: {e}", e.line())))?;
        if value.get("format").and_then(|v| v.as_str()) != Some(FORMAT) {
            return Err(refuse(
                "this is neither a store nor a baseline; \
                 make one with `tracesql check STORE --save-baseline FILE.json`"
                    .into(),
            ));
        }
        let version = |key: &str| value.get(key).and_then(serde_json::Value::as_u64).unwrap_or(0);
        for (key, ours) in
            [("format_version", VERSION), ("schema_version", u64::from(SCHEMA_VERSION))]
        {
            if version(key) != ours {
                return Err(version_error(
                    &name,
                    &format!("it has {key} {}, this tracesql compares {ours}", version(key)),
                ));
            }
        }
        let document: Document =
            serde_json::from_str(&text).map_err(|e| refuse(format!("line {}: {e}", e.line())))?;
        let mut metrics = BTreeMap::new();
        for f in document.metrics {
            let better = Better::of(&f.better)
                .ok_or_else(|| refuse(format!("metric {}: better is {:?}", f.metric, f.better)))?;
            let key = (f.trace, f.metric, f.subject);
            let what = key.1.clone();
            if metrics
                .insert(key, Metric { value: f.value, unit: f.unit, better, traces: 1 })
                .is_some()
            {
                return Err(refuse(format!(
                    "metric {what} occurs twice for the same trace and subject"
                )));
            }
        }
        let ours = PROGRAM;
        let other = document.tracesql_version;
        let note = (other != ours).then(|| {
            format!(
                "{name} was made by tracesql {other}, and this is {ours}; \
                 figures may be defined differently"
            )
        });
        let mut labels: Vec<String> = document.traces.into_iter().map(|t| t.trace).collect();
        labels.sort();
        labels.dedup();
        Ok(Self { name, labels, metrics, environment: document.environment, note })
    }

    /// The JSON file with the figures. It has one property or metric per line so that its
    /// differences are readable.
    pub fn document(
        sources: &[Source],
        environment: &Environment,
        metrics: &BTreeMap<Key, Metric>,
    ) -> Result<String> {
        let traces: Result<Vec<String>> = sources
            .iter()
            .map(|s| {
                line(&Trace {
                    trace: s.label.clone(),
                    trace_id: s.trace_id.clone(),
                    path: s.path.clone(),
                    content_hash: s.content_hash.clone(),
                })
            })
            .collect();
        let figure = |((trace, metric, subject), m): (&Key, &Metric)| {
            let (trace, metric, subject) = (trace.clone(), metric.clone(), subject.clone());
            line(&Figure {
                trace,
                metric,
                subject,
                value: m.value,
                unit: m.unit.clone(),
                better: m.better.name().to_owned(),
            })
        };
        let figures: Result<Vec<String>> = metrics.iter().map(figure).collect();
        let properties: Result<Vec<String>> = environment.properties.iter().map(line).collect();
        Ok(format!(
            "{{\n\"format\": \"{FORMAT}\",\n\"format_version\": {VERSION},\n\
             \"tracesql_version\": \"{PROGRAM}\",\n\"schema_version\": {SCHEMA_VERSION},\n\
             \"traces\": [\n{}\n],\n\"environment\": [\n{}\n],\n\"metrics\": [\n{}\n]\n}}\n",
            traces?.join(",\n"),
            properties?.join(",\n"),
            figures?.join(",\n"),
        ))
    }
}

fn line(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|e| Error::Query(format!("the baseline as JSON: {e}")))
}

/// The error for a baseline that another version of the program made (exit code 4).
pub fn version_error(name: &str, what: &str) -> Error {
    Error::Query(format!(
        "{name}: the baseline is of another version: {what}; make it again from its traces"
    ))
}
