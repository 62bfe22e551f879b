//! Comparisons of two sides: the rows of the view `comparison`, and the conditions on which a
//! pipeline fails.

mod fail_on;
mod html;
mod json;
mod markdown;
mod text;
mod utilization;

use crate::engine::{Engine, Object, int, number, text};
use crate::environment::{Difference, Environment};
use crate::error::Result;
use crate::output::units::plural;
pub use fail_on::{Condition, Failure};
pub use utilization::utilization;

/// A dimension of a comparison, which determines the subject of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// The length of steps
    Step,
    /// The category of work that took the time of a step
    Category,
    /// Operators by name, with the device work that they launched
    Op,
    /// Families of operators: GEMM, CONV_fwd, elementwise, …
    Family,
    /// Kernels by name
    Kernel,
    /// Device work by what it does: computation, communication, memcpy, memset
    KernelType,
    /// Device work by class: gemm, attention, communication, …
    Class,
    /// Modules by path
    Module,
}

impl By {
    /// All dimensions, in the order of reports.
    pub const ALL: [Self; 8] = [
        Self::Step,
        Self::Category,
        Self::Op,
        Self::Family,
        Self::Kernel,
        Self::KernelType,
        Self::Class,
        Self::Module,
    ];

    /// The name of the dimension in the view and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Category => "category",
            Self::Op => "op",
            Self::Family => "family",
            Self::Kernel => "kernel",
            Self::KernelType => "kernel_type",
            Self::Class => "class",
            Self::Module => "module",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Step => "Steps",
            Self::Category => "Parts of the step",
            Self::Op => "Operators",
            Self::Family => "Families of operators",
            Self::Kernel => "Kernels",
            Self::KernelType => "Device work by type",
            Self::Class => "Device work by class",
            Self::Module => "Modules",
        }
    }
}

/// One of the two sides.
#[derive(Debug, Clone)]
pub struct Side {
    /// The store or trace as the user named it.
    pub name: String,
    /// The names of its traces.
    pub traces: Vec<String>,
    /// The number of steps that are compared.
    pub steps: i64,
}

/// A row of the view.
#[derive(Debug, Clone)]
pub struct Row {
    /// The dimension of the row.
    pub by: By,
    /// The name of the operator, kernel and so on.
    pub key: String,
    /// host, device or time.
    pub measure: String,
    /// slower, faster, mixed, same, noise, added, removed or not judged.
    pub verdict: String,
    /// The reason if the row is not judged.
    pub reason: Option<String>,
    /// The time of the base per step, or per trace if there are no steps.
    pub base_ns: f64,
    /// The same for the candidate.
    pub cand_ns: f64,
    /// The change in percent. `None` if the base is 0.
    pub delta_pct: Option<f64>,
    /// The number of calls.
    pub calls: (i64, i64),
    /// The number of traces that contain the key.
    pub traces: (i64, i64),
    /// The number of steps that are compared.
    pub steps: (i64, i64),
    /// The p-value of the test.
    pub p_value: Option<f64>,
    /// All columns as the view returns them.
    pub columns: Object,
}

impl Row {
    /// The time that the candidate takes beyond the base.
    pub fn delta_ns(&self) -> f64 {
        self.cand_ns - self.base_ns
    }

    /// The name of the row for people.
    pub fn title(&self) -> &str {
        label(self.by, &self.key).unwrap_or(&self.key)
    }

    /// Whether the key occurs on both sides.
    pub fn is_on_both(&self) -> bool {
        self.traces.0 > 0 && self.traces.1 > 0
    }

    /// Whether the key names a single thing. The keys of remainder rows do not.
    pub fn says_what(&self) -> bool {
        !matches!(
            (self.by, self.key.as_str()),
            (By::Op | By::Family, "(unattributed)")
                | (By::Family, "other")
                | (By::Module, "(outside of modules)")
                | (By::Class, "unclassified")
        )
    }
}

/// The words for a key that is a code, as reports have them.
fn label(by: By, key: &str) -> Option<&'static str> {
    match (by, key) {
        (By::Category, "kernel") => Some("kernels"),
        (By::Category | By::KernelType, "memcpy") => Some("copies"),
        (By::Category | By::KernelType, "memset") => Some("fills"),
        (By::Category, "runtime") => Some("runtime calls"),
        (By::Category, "dataloader") => Some("data loading"),
        (By::Category, "cpu_exec") => Some("operators on the host"),
        _ => None,
    }
}

/// What differs between the environments of the sides, and a warning for each side that has traces
/// of several jobs.
pub async fn environments(engine: &Engine) -> Result<(Vec<Difference>, Vec<String>)> {
    let (base, cand) = Environment::of_sides(engine).await?;
    let warnings = base.mixture("the base").into_iter().chain(cand.mixture("the candidate"));
    Ok((base.differences(&cand), warnings.collect()))
}

/// A comparison.
#[derive(Debug)]
pub struct Comparison {
    /// The base.
    pub base: Side,
    /// The candidate.
    pub cand: Side,
    /// The dimensions that are shown.
    pub by: Vec<By>,
    /// All rows, sorted by the size of the difference, largest first.
    pub rows: Vec<Row>,
    /// The conditions that are met. If there are any, the command fails.
    pub failures: Vec<Failure>,
    /// Properties of the environment that are not the same on both sides.
    pub differences: Vec<Difference>,
    /// Reasons to doubt the comparison as a whole, such as a side of several jobs.
    pub warnings: Vec<String>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// The output format of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// For a terminal
    Text,
    /// For a comment on a change
    Markdown,
    /// One JSON object with all rows
    Json,
    /// One page with tables that can be sorted and searched
    Html,
}

impl Style {
    /// The style that matches the extension of a file name.
    pub fn of_file(path: &std::path::Path) -> Option<Self> {
        Some(match path.extension()?.to_str()? {
            "md" => Self::Markdown,
            "json" => Self::Json,
            "html" | "htm" => Self::Html,
            "txt" => Self::Text,
            _ => return None,
        })
    }
}

/// Reads the rows of some dimensions. The settings compare_base and compare_candidate name the two
/// sides.
pub async fn rows(engine: &Engine, by: &[By]) -> Result<Vec<Row>> {
    let names: Vec<String> = by.iter().map(|b| format!("'{}'", b.name())).collect();
    let sql = format!("SELECT * FROM comparison WHERE dimension IN ({})", names.join(", "));
    let mut rows: Vec<Row> = engine.objects(&sql).await?.into_iter().filter_map(row).collect();
    let time = |row: &Row| row.base_ns.max(row.cand_ns);
    rows.sort_by(|a, b| {
        let by_difference = b.delta_ns().abs().total_cmp(&a.delta_ns().abs());
        by_difference
            .then_with(|| time(b).total_cmp(&time(a)))
            .then_with(|| (&a.key, &a.measure, a.by).cmp(&(&b.key, &b.measure, b.by)))
    });
    Ok(rows)
}

fn row(columns: Object) -> Option<Row> {
    let by = text(&columns, "dimension")?;
    let by = By::ALL.into_iter().find(|b| b.name() == by)?;
    let of = |name: &str| int(&columns, name).unwrap_or(0);
    let pair = |name: &str| (of(&format!("base_{name}")), of(&format!("cand_{name}")));
    Some(Row {
        by,
        key: text(&columns, "key").unwrap_or_default(),
        measure: text(&columns, "measure").unwrap_or_default(),
        verdict: text(&columns, "verdict").unwrap_or_default(),
        reason: text(&columns, "reason"),
        base_ns: number(&columns, "base_ns").unwrap_or(0.0),
        cand_ns: number(&columns, "cand_ns").unwrap_or(0.0),
        delta_pct: number(&columns, "delta_pct"),
        calls: pair("calls"),
        traces: pair("traces"),
        steps: pair("steps"),
        p_value: number(&columns, "p_value"),
        columns,
    })
}

/// The number of marked steps on each side.
pub async fn steps(engine: &Engine) -> Result<(i64, i64)> {
    let sql = "WITH marks AS (
                   SELECT s.side, concat(s.run, ' ', t.step) AS mark
                   FROM steps t JOIN compare_sides s ON s.trace_id = t.trace_id
               )
               SELECT count(DISTINCT CASE WHEN side = 'base' THEN mark END) AS base,
                      count(DISTINCT CASE WHEN side = 'candidate' THEN mark END) AS cand
               FROM marks";
    let rows = engine.objects(sql).await?;
    let of = |name: &str| rows.first().and_then(|r| int(r, name)).unwrap_or(0);
    Ok((of("base"), of("cand")))
}

/// The reason why the two sides cannot be compared. `None` if they can, or if they are of the same
/// kind and only have no name in common.
pub async fn apart(engine: &Engine, rows: &[Row]) -> Result<Option<String>> {
    if rows.iter().any(|r| r.is_on_both() && r.says_what()) {
        return Ok(None);
    }
    let sql = "SELECT s.side, string_agg(DISTINCT t.format, ', ' ORDER BY t.format) AS formats
               FROM compare_sides s JOIN traces t ON t.trace_id = s.trace_id GROUP BY s.side";
    let sides = engine.objects(sql).await?;
    let formats = |side: &str| {
        sides
            .iter()
            .find(|r| text(r, "side").as_deref() == Some(side))
            .and_then(|r| text(r, "formats"))
            .unwrap_or_default()
    };
    let (base, cand) = (formats("base"), formats("candidate"));
    let mut reasons: Vec<&str> = rows.iter().filter_map(|r| r.reason.as_deref()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    if base == cand && rows.iter().any(|r| r.reason.is_none()) {
        return Ok(None);
    }
    let why =
        if reasons.is_empty() { "no name is on both sides".to_owned() } else { together(&reasons) };
    Ok(Some(format!("the base is of format {base}, the candidate of format {cand}; {why}")))
}

/// Joins reasons into one sentence. The things that a side lacks are joined into one list.
fn together(reasons: &[&str]) -> String {
    let sides = ["the base has no ", "the candidate has no "];
    let lacks = |side: &&str| {
        let things: Vec<&str> = reasons.iter().filter_map(|r| r.strip_prefix(side)).collect();
        (!things.is_empty()).then(|| format!("{side}{}", things.join(", ")))
    };
    let others = reasons
        .iter()
        .filter(|r| !sides.iter().any(|side| r.starts_with(side)))
        .map(|r| (*r).to_owned());
    sides.iter().filter_map(lacks).chain(others).collect::<Vec<_>>().join("; ")
}

/// Writes a comparison. `width` is the width of the terminal. Tables for people have at most
/// `limit` rows; 0 stands for all rows.
pub fn write(comparison: &Comparison, style: Style, width: usize, limit: usize) -> Result<String> {
    Ok(match style {
        Style::Text => text::report(comparison, width, limit),
        Style::Markdown => markdown::report(comparison, limit),
        Style::Json => json::object(comparison),
        Style::Html => html::page(comparison),
    })
}

/// The rows of one table, and the number of rows with each verdict.
struct Table<'a> {
    title: String,
    rows: Vec<&'a Row>,
    counts: String,
    /// The reason why no row is judged, if all rows have the same reason.
    reason: Option<&'a str>,
}

/// Tables for people: one for each dimension and measure.
fn tables(comparison: &Comparison) -> Vec<Table<'_>> {
    let mut tables = Vec::new();
    for by in &comparison.by {
        for measure in ["time", "host", "device"] {
            let rows: Vec<&Row> = comparison
                .rows
                .iter()
                .filter(|r| r.by == *by && (r.measure == measure || *by == By::Step))
                .collect();
            if rows.is_empty() || (*by == By::Step && measure != "time") {
                continue;
            }
            let title = match (*by, measure) {
                (By::Step | By::Category | By::Kernel | By::KernelType | By::Class, _) => {
                    by.title().to_owned()
                }
                (_, measure) => format!("{}, {measure} time", by.title()),
            };
            let reason = rows
                .first()
                .and_then(|r| r.reason.as_deref())
                .filter(|first| rows.iter().all(|r| r.reason.as_deref() == Some(first)));
            tables.push(Table { title, counts: counts(&rows), reason, rows });
        }
    }
    tables
}

const VERDICTS: [&str; 8] =
    ["slower", "faster", "mixed", "added", "removed", "noise", "same", "not judged"];

fn counts(rows: &[&Row]) -> String {
    let count = |verdict: &str| rows.iter().filter(|r| r.verdict == verdict).count();
    let parts: Vec<String> =
        VERDICTS.iter().filter(|v| count(v) > 0).map(|v| format!("{} {v}", count(v))).collect();
    parts.join(", ")
}

/// The change of a row in percent, as text.
fn percent(row: &Row) -> String {
    match row.verdict.as_str() {
        "added" => "new".to_owned(),
        "removed" => "gone".to_owned(),
        _ => row.delta_pct.map_or("from 0".to_owned(), crate::output::change),
    }
}

/// Whether the figures are per step. They are per trace if a side has no steps.
fn is_per_step(comparison: &Comparison) -> bool {
    comparison.base.steps > 0 && comparison.cand.steps > 0
}

/// A count with its noun, as in `2 traces`.
fn many(count: i64, word: &str) -> String {
    format!("{count} {}", plural(count, word))
}
