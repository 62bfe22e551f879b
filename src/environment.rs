//! The environments of two sides of a comparison: GPU, versions, job, data type, profiler options.
//!
//! The view `trace_environment` has the properties of each trace. A property that only one side
//! recorded is not a difference; it is shown as not recorded on the other side.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::engine::{Engine, Object, text};
use crate::error::Result;
use crate::output::escape::plain;
use crate::output::{clip, safe, units::many, width as columns};

/// The text for a property that a side did not record.
pub const NOT_RECORDED: &str = "not recorded";

/// The property that names the job of a trace. It is never shown as a difference, because two
/// sides usually differ in their folders.
const JOB: &str = "job";

/// Properties that have one value within a job.
const ONE_IN_A_JOB: [&str; 5] = ["gpu", "pytorch", "runtime", "world_size", "backend"];

/// The number of values of a side that are listed. The others are counted.
const MAX_VALUES: usize = 3;

/// A property with its values in the traces of one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Property {
    /// The name in the view.
    pub property: String,
    /// The name for people.
    pub label: String,
    /// The different values. The set is empty if no trace recorded the property.
    pub values: BTreeSet<String>,
}

/// The environment of one side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Environment {
    /// The properties in the order of the view.
    pub properties: Vec<Property>,
}

/// A property that is not the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The name in the view `trace_environment`.
    pub property: String,
    /// The name for people.
    pub label: String,
    /// The value of the base. `None` if it is not recorded.
    pub base: Option<String>,
    /// The value of the candidate. `None` if it is not recorded.
    pub cand: Option<String>,
}

impl Difference {
    /// Whether both sides recorded the property, so that they do differ.
    pub fn is_certain(&self) -> bool {
        self.base.is_some() && self.cand.is_some()
    }
}

impl Environment {
    /// The environment of all traces of a session.
    pub async fn read(engine: &Engine) -> Result<Self> {
        let sql = "SELECT property, label, value FROM trace_environment ORDER BY place";
        Ok(Self::of(&engine.objects(sql).await?))
    }

    /// The environments of the base and of the candidate, by the view `compare_sides`.
    pub async fn of_sides(engine: &Engine) -> Result<(Self, Self)> {
        let sql = "SELECT s.side, e.property, e.label, e.value FROM trace_environment e \
                   JOIN compare_sides s ON s.trace_id = e.trace_id ORDER BY e.place";
        let (base, cand): (Vec<Object>, Vec<Object>) = engine
            .objects(sql)
            .await?
            .into_iter()
            .partition(|row| text(row, "side").as_deref() == Some("base"));
        Ok((Self::of(&base), Self::of(&cand)))
    }

    fn of(rows: &[Object]) -> Self {
        let mut properties: Vec<Property> = Vec::new();
        for row in rows {
            let get = |name: &str| text(row, name).unwrap_or_default();
            let name = get("property");
            let at = properties.iter().position(|p| p.property == name).unwrap_or_else(|| {
                let label = get("label");
                properties.push(Property { property: name, label, values: BTreeSet::new() });
                properties.len() - 1
            });
            if let (Some(known), Some(value)) = (properties.get_mut(at), text(row, "value")) {
                known.values.insert(value);
            }
        }
        Self { properties }
    }

    fn values(&self, property: &str) -> Option<&BTreeSet<String>> {
        self.properties.iter().find(|p| p.property == property).map(|p| &p.values)
    }

    /// A warning if this side has traces of several jobs. Means over different jobs say nothing
    /// about either of them.
    pub fn mixture(&self, side: &str) -> Option<String> {
        let advice = "compare one job with one job, or the verdicts may mean nothing";
        if let Some(jobs) = self.values(JOB).filter(|jobs| jobs.len() > 1) {
            let count = many(jobs.len() as i64, "job");
            return Some(format!("{side} has traces of {count} ({}); {advice}", list(jobs)));
        }
        let mixed = self
            .properties
            .iter()
            .find(|p| ONE_IN_A_JOB.contains(&p.property.as_str()) && p.values.len() > 1)?;
        let (label, values) = (&mixed.label, list(&mixed.values));
        Some(format!("{side} has traces of different jobs ({label}: {values}); {advice}"))
    }

    /// The properties of the candidate that differ from this base, or that one side did not record.
    /// Properties that differ come first.
    pub fn differences(&self, cand: &Self) -> Vec<Difference> {
        let mut all: Vec<&Property> = cand.properties.iter().collect();
        all.extend(self.properties.iter().filter(|p| cand.values(&p.property).is_none()));
        let shown = |side: &Self, property: &str| {
            side.values(property).filter(|values| !values.is_empty()).map(list)
        };
        let mut found: Vec<Difference> = all
            .into_iter()
            .filter(|p| p.property != JOB)
            .filter(|p| {
                let none = BTreeSet::new();
                let of = |side: &Self| side.values(&p.property).unwrap_or(&none).clone();
                of(self) != of(cand)
            })
            .map(|p| Difference {
                property: p.property.clone(),
                label: p.label.clone(),
                base: shown(self, &p.property),
                cand: shown(cand, &p.property),
            })
            .collect();
        found.sort_by_key(|d| !d.is_certain());
        found
    }
}

/// The values of a side. Numbers, such as those of ranks, are in the order of their size.
fn list(values: &BTreeSet<String>) -> String {
    let mut values: Vec<&str> = values.iter().map(String::as_str).collect();
    values.sort_by_key(|v| v.parse::<u64>().unwrap_or(u64::MAX));
    let more = values.len().saturating_sub(MAX_VALUES);
    let between = if values.iter().any(|v| v.contains(',')) { "; " } else { ", " };
    let shown = values[..values.len() - more].join(between);
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// The heading of a table of differences.
pub fn heading(differences: &[Difference]) -> &'static str {
    if differences.iter().any(Difference::is_certain) {
        "What differs"
    } else {
        "Recorded on one side only"
    }
}

fn shown(value: Option<&String>) -> &str {
    value.map_or(NOT_RECORDED, String::as_str)
}

/// A table for a terminal. It is empty if nothing differs.
pub fn text_table(differences: &[Difference], width: usize) -> String {
    let mut out = String::new();
    if differences.is_empty() {
        return out;
    }
    let title = heading(differences);
    let labels = differences.iter().map(|d| columns(&d.label) + 2).max().unwrap_or(0);
    let first = labels.max(columns(title)) + 2;
    let half = width.saturating_sub(first + 2) / 2;
    let longest = differences.iter().map(|d| columns(shown(d.base.as_ref()))).max().unwrap_or(0);
    let second = longest.clamp(4, half.max(12));
    let third = width.saturating_sub(first + second + 2).max(12);
    let mut line = |label: &str, base: &str, cand: &str| {
        let cell = |text: &str, size: usize| {
            let text = clip(&safe(text), size);
            let missing = size.saturating_sub(columns(&text));
            text + &" ".repeat(missing)
        };
        let text = format!("{}{}  {}", cell(label, first), cell(base, second), cell(cand, third));
        let _ = writeln!(out, "{}", text.trim_end());
    };
    line(title, "base", "candidate");
    for d in differences {
        line(&format!("  {}", d.label), shown(d.base.as_ref()), shown(d.cand.as_ref()));
    }
    out
}

/// A Markdown table. It is empty if nothing differs.
pub fn markdown_table(differences: &[Difference]) -> String {
    let mut out = String::new();
    if differences.is_empty() {
        return out;
    }
    let _ = write!(
        out,
        "\n**{}**\n\n| | base | candidate |\n| --- | --- | --- |\n",
        heading(differences)
    );
    for d in differences {
        let value = |v: Option<&String>| plain(shown(v), 200);
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            d.label,
            value(d.base.as_ref()),
            value(d.cand.as_ref())
        );
    }
    out
}

/// The differences as one line, as in `GPU: A100 → V100; World size: 8 → 16`. Properties that one
/// side did not record are left out.
pub fn line(differences: &[Difference]) -> Option<String> {
    let parts: Vec<String> = differences
        .iter()
        .filter_map(|d| Some(format!("{}: {} → {}", d.label, d.base.as_ref()?, d.cand.as_ref()?)))
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The differences for programs. A property that a side did not record is null there.
pub fn json(differences: &[Difference]) -> serde_json::Value {
    let object = |d: &Difference| {
        serde_json::json!({
            "property": d.property,
            "label": d.label,
            "base": d.base,
            "candidate": d.cand,
            "differs": d.is_certain(),
        })
    };
    differences.iter().map(object).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(values: &[(&str, &[&str])]) -> Environment {
        let property = |(name, values): &(&str, &[&str])| Property {
            property: (*name).to_owned(),
            label: name.to_uppercase(),
            values: values.iter().map(|v| (*v).to_owned()).collect(),
        };
        Environment { properties: values.iter().map(property).collect() }
    }

    #[test]
    fn a_property_that_one_side_lacks_is_not_a_difference() {
        let base = side(&[("host", &["a"]), ("gpu", &["A100"]), ("backend", &[]), ("job", &["x"])]);
        let cand = side(&[("host", &[]), ("gpu", &["V100"]), ("backend", &[]), ("job", &["y"])]);
        let found = base.differences(&cand);
        let names: Vec<(&str, bool)> =
            found.iter().map(|d| (d.property.as_str(), d.is_certain())).collect();
        assert_eq!(names, [("gpu", true), ("host", false)]);
        assert_eq!(line(&found).as_deref(), Some("GPU: A100 → V100"));
        assert_eq!(
            text_table(&found, 80),
            "What differs  base  candidate\n  GPU         A100  V100\n  \
             HOST        a     not recorded\n"
        );
        assert!(base.differences(&base).is_empty() && text_table(&[], 80).is_empty());
        let only = base.differences(&side(&[("gpu", &["A100"])]));
        assert_eq!(heading(&only), "Recorded on one side only");
    }

    #[test]
    fn several_values_are_listed_up_to_a_bound() {
        let base = side(&[("rank", &["0", "10", "2", "1", "3"])]);
        let found = base.differences(&side(&[("rank", &["1"])]));
        assert_eq!(found[0].base.as_deref(), Some("0, 1, 2 and 2 more"));
    }

    #[test]
    fn a_side_of_several_jobs_is_reported() {
        assert_eq!(side(&[("job", &["a"]), ("rank", &["0", "1"])]).mixture("the base"), None);
        let jobs = side(&[("job", &["a", "b"])]).mixture("the base").unwrap_or_default();
        assert!(jobs.starts_with("the base has traces of 2 jobs (a, b);"), "{jobs}");
        let gpus = side(&[("job", &["a"]), ("gpu", &["A100", "V100"])]).mixture("the candidate");
        assert!(gpus.unwrap_or_default().contains("(GPU: A100, V100)"));
    }
}
