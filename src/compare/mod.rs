//! Comparisons of two sides: the rows of the view `comparison`, and the conditions on which a
//! pipeline fails.

mod fail_on;
mod html;
mod json;
mod markdown;
mod text;

use crate::engine::{Engine, Object, int, number, text};
use crate::error::Result;
use crate::output::units::plural;
pub use fail_on::{Condition, Failure};

/// What rows are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// The length of steps
    Step,
    /// What each moment of a step went to
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
    /// All, in the order of reports.
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

    /// Its name in the view and on the command line.
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
    /// The store or trace as it was named.
    pub name: String,
    /// Names of its traces.
    pub traces: Vec<String>,
    /// Steps that are compared.
    pub steps: i64,
}

/// A row of the view.
#[derive(Debug, Clone)]
pub struct Row {
    /// What it is about.
    pub by: By,
    /// Name of the operator, kernel, …
    pub key: String,
    /// host, device or time.
    pub measure: String,
    /// slower, faster, same, noise, added, removed or not judged.
    pub verdict: String,
    /// Why it is not judged.
    pub reason: Option<String>,
    /// Time per step, or per trace where there are no steps.
    pub base_ns: f64,
    /// The same for the candidate.
    pub cand_ns: f64,
    /// Change in percent; `None` from 0.
    pub delta_pct: Option<f64>,
    /// Calls.
    pub calls: (i64, i64),
    /// Traces that have it.
    pub traces: (i64, i64),
    /// Steps that are compared.
    pub steps: (i64, i64),
    /// p-value of the test.
    pub p_value: Option<f64>,
    /// All columns as the view gives them.
    pub columns: Object,
}

impl Row {
    /// By how much the candidate takes longer.
    pub fn delta_ns(&self) -> f64 {
        self.cand_ns - self.base_ns
    }

    /// Whether both sides have it.
    pub fn is_on_both(&self) -> bool {
        self.traces.0 > 0 && self.traces.1 > 0
    }

    /// Whether its key names one thing, unlike the keys of rests.
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

/// A comparison.
#[derive(Debug)]
pub struct Comparison {
    /// The base.
    pub base: Side,
    /// The candidate.
    pub cand: Side,
    /// Dimensions that are shown.
    pub by: Vec<By>,
    /// All rows, the greatest differences first.
    pub rows: Vec<Row>,
    /// Conditions that hold, on which the call fails.
    pub failures: Vec<Failure>,
    /// Remarks for the user.
    pub notes: Vec<String>,
}

/// How a comparison is written.
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
    /// The style that a file's name asks for.
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

/// Reads the rows of some dimensions; the settings compare_base and compare_candidate name the
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

/// The numbers of marked steps on both sides.
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

/// Why the two sides do not compare. `None` if they do, or if they are of one kind and only have no
/// name in common.
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

/// Reasons in one sentence; the things that a side lacks become one list.
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

/// Writes a comparison. `width` is that of the terminal; tables for people have at most `limit` rows
/// (0 for all).
pub fn write(comparison: &Comparison, style: Style, width: usize, limit: usize) -> Result<String> {
    Ok(match style {
        Style::Text => text::report(comparison, width, limit),
        Style::Markdown => markdown::report(comparison, limit),
        Style::Json => json::object(comparison),
        Style::Html => html::page(comparison),
    })
}

/// Rows of one table, and how many there are of each verdict.
struct Table<'a> {
    title: String,
    rows: Vec<&'a Row>,
    counts: String,
    /// Why nothing is judged, if it is the same for all rows.
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

const VERDICTS: [&str; 7] = ["slower", "faster", "added", "removed", "noise", "same", "not judged"];

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

/// Whether the figures are per step, or per trace because a side has no steps.
fn is_per_step(comparison: &Comparison) -> bool {
    comparison.base.steps > 0 && comparison.cand.steps > 0
}

/// A number of things, as in `2 traces`.
fn many(count: i64, word: &str) -> String {
    format!("{count} {}", plural(count, word))
}
