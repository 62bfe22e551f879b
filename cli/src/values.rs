//! Values that options take by name: choices of the library, with their names and documentation on
//! the command line.

use std::path::Path;

use clap::ValueEnum;
use tracesql::{check, compare, docs, output, report, stacks};

/// A format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Columns in a box, for people.
    #[value(alias = "text")]
    Table,
    /// Comma-separated, with a header.
    Csv,
    /// Tab-separated, with a header.
    Tsv,
    /// One JSON list of objects.
    Json,
    /// One JSON object a line.
    #[value(alias = "jsonl")]
    Ndjson,
    /// A Markdown table.
    #[value(alias = "md")]
    Markdown,
    /// A Parquet file.
    Parquet,
    /// An Arrow IPC stream.
    Arrow,
    /// One value a line, for wide rows.
    Vertical,
}

impl From<Format> for output::Format {
    fn from(value: Format) -> Self {
        match value {
            Format::Table => Self::Table,
            Format::Csv => Self::Csv,
            Format::Tsv => Self::Tsv,
            Format::Json => Self::Json,
            Format::Ndjson => Self::Ndjson,
            Format::Markdown => Self::Markdown,
            Format::Parquet => Self::Parquet,
            Format::Arrow => Self::Arrow,
            Format::Vertical => Self::Vertical,
        }
    }
}

/// A format of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Short, for a terminal.
    Text,
    /// For a comment on a pull request.
    Markdown,
    /// For programs.
    Json,
    /// One page that needs no network.
    Html,
}

impl From<ReportFormat> for report::Format {
    fn from(value: ReportFormat) -> Self {
        match value {
            ReportFormat::Text => Self::Text,
            ReportFormat::Markdown => Self::Markdown,
            ReportFormat::Json => Self::Json,
            ReportFormat::Html => Self::Html,
        }
    }
}

/// A format of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DocsFormat {
    /// For a terminal
    Text,
    /// One Markdown page
    Markdown,
    /// One JSON object
    Json,
}

impl From<DocsFormat> for docs::Style {
    fn from(value: DocsFormat) -> Self {
        match value {
            DocsFormat::Text => Self::Text,
            DocsFormat::Markdown => Self::Markdown,
            DocsFormat::Json => Self::Json,
        }
    }
}

/// A format of the outcome of checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// For people
    Text,
    /// One JSON object
    Json,
    /// JUnit's XML
    Junit,
    /// Annotations of GitHub Actions
    Github,
}

impl From<CheckFormat> for check::Style {
    fn from(value: CheckFormat) -> Self {
        match value {
            CheckFormat::Text => Self::Text,
            CheckFormat::Json => Self::Json,
            CheckFormat::Junit => Self::Junit,
            CheckFormat::Github => Self::Github,
        }
    }
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Severity {
    /// High
    High,
    /// Medium
    Medium,
    /// Low
    Low,
    /// Info
    Info,
}

impl From<Severity> for check::Severity {
    fn from(value: Severity) -> Self {
        match value {
            Severity::High => Self::High,
            Severity::Medium => Self::Medium,
            Severity::Low => Self::Low,
            Severity::Info => Self::Info,
        }
    }
}

/// A format of comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// For a terminal
    Text,
    /// For a comment on a change
    Markdown,
    /// One JSON object with all rows
    Json,
    /// One page with tables that can be sorted and searched
    Html,
}

impl From<CompareFormat> for compare::Style {
    fn from(value: CompareFormat) -> Self {
        match value {
            CompareFormat::Text => Self::Text,
            CompareFormat::Markdown => Self::Markdown,
            CompareFormat::Json => Self::Json,
            CompareFormat::Html => Self::Html,
        }
    }
}

/// A dimension of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
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
    #[value(name = "kernel_type")]
    KernelType,
    /// Device work by class: gemm, attention, communication, …
    Class,
    /// Modules by path
    Module,
}

impl From<By> for compare::By {
    fn from(value: By) -> Self {
        match value {
            By::Step => Self::Step,
            By::Category => Self::Category,
            By::Op => Self::Op,
            By::Family => Self::Family,
            By::Kernel => Self::Kernel,
            By::KernelType => Self::KernelType,
            By::Class => Self::Class,
            By::Module => Self::Module,
        }
    }
}

/// The rule that assigns values to stacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Rule {
    /// Host time without children; device time and memory at the stack that launched or allocated.
    Linked,
    /// Time without children of each event on its own track, device tracks too; nothing is linked.
    #[value(name = "self")]
    SelfTime,
    /// The whole duration of each event at its stack, as torch2pprof counts: parents count their
    /// children again.
    Inclusive,
    /// The whole duration of each event as a stack of one frame, as trace2profile counts.
    Flat,
}

impl From<Rule> for stacks::Rule {
    fn from(value: Rule) -> Self {
        match value {
            Rule::Linked => Self::Linked,
            Rule::SelfTime => Self::SelfTime,
            Rule::Inclusive => Self::Inclusive,
            Rule::Flat => Self::Flat,
        }
    }
}

/// The direction in which stacks grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Direction {
    /// Down, the root at the top.
    Icicle,
    /// Up, the root at the bottom.
    Flame,
}

impl From<Direction> for stacks::Direction {
    fn from(value: Direction) -> Self {
        match value {
            Direction::Icicle => Self::Icicle,
            Direction::Flame => Self::Flame,
        }
    }
}

/// The output format of `doctor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DoctorFormat {
    /// Lines for people.
    Text,
    /// One JSON object.
    Json,
}

/// An export format for other tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Chrome trace JSON, for Perfetto and chrome://tracing; packed if the file ends in .gz.
    #[value(alias = "perfetto", alias = "json")]
    Chrome,
    /// MLLM's perf.json, of a recording that came from one
    PerfJson,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// One JSON object a line.
    Ndjson,
    /// Parquet.
    Parquet,
    /// Arrow IPC streams.
    Arrow,
    /// Folded stacks.
    Folded,
    /// A profile for pprof.
    Pprof,
}

impl ExportFormat {
    /// The format that matches the extension of a file name.
    pub fn of_file(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let endings: [(&[&str], Self); 8] = [
            (&[".json", ".json.gz"], Self::Chrome),
            (&[".csv"], Self::Csv),
            (&[".tsv"], Self::Tsv),
            (&[".ndjson", ".jsonl"], Self::Ndjson),
            (&[".parquet"], Self::Parquet),
            (&[".arrow", ".arrows", ".ipc"], Self::Arrow),
            (&[".folded"], Self::Folded),
            (&[".pb.gz", ".pprof"], Self::Pprof),
        ];
        endings
            .into_iter()
            .find(|(endings, _)| endings.iter().any(|e| name.ends_with(e)))
            .map(|(_, format)| format)
    }

    /// The format of tables, and the extension of their files.
    pub fn table(self) -> Option<(output::Format, &'static str)> {
        Some(match self {
            Self::Csv => (output::Format::Csv, "csv"),
            Self::Tsv => (output::Format::Tsv, "tsv"),
            Self::Ndjson => (output::Format::Ndjson, "ndjson"),
            Self::Parquet => (output::Format::Parquet, "parquet"),
            Self::Arrow => (output::Format::Arrow, "arrow"),
            Self::Chrome | Self::PerfJson | Self::Folded | Self::Pprof => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_formats() {
        let of = |name: &str| ExportFormat::of_file(Path::new(name));
        assert_eq!(of("a/b.pt.trace.json.gz"), Some(ExportFormat::Chrome));
        assert_eq!(of("x.pb.gz"), Some(ExportFormat::Pprof));
        assert_eq!(of("folder"), None);
    }
}
