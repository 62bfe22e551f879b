//! `tracesql check`: runs rules, assertions and comparisons with a baseline, for pipelines.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use tracesql::check::{
    self, Assertion, Baseline, Compared, Detail, Limits, Selection, Source, Style, Thresholds,
    Verdict,
};
use tracesql::engine::{Engine, text};
use tracesql::environment::Environment;
use tracesql::open::Location;
use tracesql::output::{Target, write_document};
use tracesql::{Error, Result};
use tracesql_ingest::IngestError;

use super::{locate_one, refuse_input, target, write_verdict};
use crate::global::Global;
use crate::stderr;
use crate::time_limit::block_on;
use crate::values::{CheckFormat, Severity};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql check store
  tracesql check store --severity high --format junit -o check.xml
  tracesql check store --save-baseline baseline.json
  tracesql check store --baseline baseline.json --thresholds thresholds.csv --assert assertions.sql
  tracesql check store --rules my-rules --rule data_loading --set rule_data_loading_pct=5

A rule that cannot be measured does not pass; it is listed, and fails with --require. Exit codes: \
     0 all checks passed,
1 a check failed, 2 usage, 3 an input could not be read, 4 a query failed or the baseline does \
     not compare.")]
pub struct CheckArgs {
    /// A store, or one trace
    #[arg(value_name = "STORE")]
    pub store: String,
    /// File with queries that must return no rows, each after a line `-- name: …`; may be given
    /// several times
    #[arg(long = "assert", value_name = "FILE.sql")]
    pub assertions: Vec<PathBuf>,
    /// Compare the figures of the view metrics with those of a store, a trace, or a file made by
    /// --save-baseline
    #[arg(long, value_name = "STORE|FILE.json")]
    pub baseline: Option<PathBuf>,
    /// CSV file that says how far metrics may be from the baseline
    #[arg(long, value_name = "FILE.csv", requires = "baseline")]
    pub thresholds: Option<PathBuf>,
    /// Write the figures of the view metrics to a file, whatever the checks say
    #[arg(long, value_name = "FILE.json")]
    pub save_baseline: Option<PathBuf>,
    /// Findings of this severity and worse fail
    #[arg(long, value_enum, default_value = "medium")]
    pub severity: Severity,
    /// Run only this rule; may be given several times
    #[arg(long = "rule", value_name = "NAME", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Do not run this rule, or with `all` none; may be given several times
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub skip: Vec<String>,
    /// Fail if this rule, or with `all` any, cannot be measured; may be given several times
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub require: Vec<String>,
    /// Rows of a failed assertion to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub max_rows: usize,
    /// Format of the outcome [default: text, or what the name of the output file says]
    #[arg(long, value_enum)]
    pub format: Option<CheckFormat>,
    /// File for the outcome instead of standard output; a summary then goes to standard error
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// List every result in text, without joining those of several traces or of missing metrics
    #[arg(short = 'v', long)]
    pub verbose: bool,
}

/// Runs all checks. The exit code is the verdict.
pub fn run(args: &CheckArgs, global: &Global) -> Result<ExitCode> {
    // Mistakes in the user's files are reported first, before anything that takes time.
    let thresholds = Thresholds::load(args.thresholds.as_deref())?;
    for output in [&args.output, &args.save_baseline].into_iter().flatten() {
        refuse_input(output, [&args.store])?;
    }
    let location = locate_one(&args.store, global)?;
    let engine = location.engine(&global.engine_options())?;
    if engine.traces().is_empty() {
        return Err(IngestError::Store {
            path: args.store.clone().into(),
            reason: "the store holds no trace, so there is nothing to check".into(),
        }
        .into());
    }
    refuse_problems(&engine)?;
    let selection = Selection {
        only: args.only.clone(),
        skip: args.skip.clone(),
        require: args.require.clone(),
        severity: args.severity.into(),
    };
    let rules = selection.rules(&engine)?;
    let mut assertions = Vec::new();
    for file in &args.assertions {
        assertions.extend(Assertion::read(file, &engine)?);
    }
    if rules.is_empty()
        && assertions.is_empty()
        && args.baseline.is_none()
        && args.save_baseline.is_none()
    {
        return Err(Error::Usage(
            "there is nothing to check: no rule is chosen, \
             and neither --assert nor --baseline is given"
                .into(),
        ));
    }
    let baseline =
        args.baseline.as_deref().map(|path| baseline(path, &location, global)).transpose()?;
    let (mut verdict, document) = block_on(global, async {
        let traces = check::sources(&engine).await?;
        let (mut compared, mut document) = (Compared::default(), None);
        if baseline.is_some() || args.save_baseline.is_some() {
            // A failure here counts as a check, so that the others are still reported. A mistake in
            // the call ends the command.
            let found = figures(&engine, &traces, baseline, &thresholds, &mut document).await;
            match found {
                Ok(found) => compared = found,
                Err(e @ Error::Usage(_)) => return Err(e),
                Err(e) => compared.items.push(check::Item::new(
                    check::Kind::Metric,
                    "baseline",
                    check::Status::Error,
                    e.to_string(),
                )),
            }
        }
        let mut items = check::run_rules(&engine, &rules, &selection, &traces).await;
        for assertion in &assertions {
            items.push(assertion.run(&engine, args.max_rows).await);
        }
        items.extend(compared.items);
        let limits = Limits {
            severity: args.severity.into(),
            thresholds: (!thresholds.is_built_in).then(|| thresholds.name.clone()),
            settings: engine.settings().changed(),
        };
        let verdict = Verdict {
            source: args.store.clone(),
            traces,
            items,
            differences: compared.differences,
            warnings: compared.warnings,
            notes: compared.notes,
            limits,
        };
        Ok((verdict, document))
    })?;
    if let (Some(path), Some(document)) = (&args.save_baseline, &document) {
        write_document(document.as_bytes(), &Target::File(path.clone()))?;
        verdict.notes.push(format!("the figures were written to {}", path.display()));
    }
    write(&verdict, args, global)?;
    Ok(ExitCode::from(verdict.exit_code()))
}

/// Compares figures with the baseline, if there is one. The document of a new baseline is made
/// first, so that it is written even if the comparison fails.
async fn figures(
    engine: &Engine,
    traces: &[Source],
    baseline: Option<Baseline>,
    thresholds: &Thresholds,
    document: &mut Option<String>,
) -> Result<Compared> {
    let metrics = check::collect(engine, traces).await?;
    let environment = Environment::read(engine).await?;
    *document = Some(Baseline::document(traces, &environment, &metrics)?);
    let Some(baseline) = baseline else { return Ok(Compared::default()) };
    thresholds.validate(&known_metrics(engine, &metrics, &baseline).await?)?;
    check::compare(baseline, traces, &environment, &metrics, thresholds)
}

/// Refuses to judge if views or rules were left out, because they might have found something.
fn refuse_problems(engine: &Engine) -> Result<()> {
    let problems: Vec<String> =
        engine.library().problems().iter().map(ToString::to_string).collect();
    if problems.is_empty() { Ok(()) } else { Err(Error::Usage(problems.join("\n"))) }
}

fn baseline(path: &Path, candidate: &Location, global: &Global) -> Result<Baseline> {
    let name = path.display().to_string();
    if path.is_file() && !is_trace(path) {
        return Baseline::read(path);
    }
    let location = match locate_one(&name, global) {
        Err(Error::Input(e @ IngestError::StoreVersion { .. })) => {
            return Err(check::version_error(&name, &e.to_string()));
        }
        other => other?,
    };
    if location.traces()?.is_empty() {
        return Err(IngestError::Store {
            path: path.to_owned(),
            reason: "the store holds no trace to compare with".into(),
        }
        .into());
    }
    let is_same = location.traces()? == candidate.traces()?;
    let engine = location.engine(&global.engine_options())?;
    block_on(global, async {
        let sources = check::sources(&engine).await?;
        let metrics = check::collect(&engine, &sources).await?;
        let environment = Some(Environment::read(&engine).await?);
        let mut labels: Vec<String> = sources.iter().map(|s| s.label.clone()).collect();
        labels.sort();
        labels.dedup();
        let note = is_same.then(|| format!("{name} has the same traces as the candidate"));
        Ok(Baseline { name: name.clone(), labels, metrics, environment, note })
    })
}

/// Whether a file is a trace: it is compressed, or it is JSON with events near its beginning.
fn is_trace(path: &Path) -> bool {
    let mut start = Vec::new();
    let read =
        std::fs::File::open(path).and_then(|file| file.take(1 << 20).read_to_end(&mut start));
    let text = String::from_utf8_lossy(&start);
    let is_json = text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']);
    let has_events = ["\"traceEvents\"", "\"ph\"", "\"memory_blobs\"", "\"op_blobs\""]
        .iter()
        .any(|key| text.contains(key));
    read.is_err() || !is_json || (has_events && !text.contains("\"tracesql-baseline\""))
}

/// The names of metrics that a file of thresholds may use.
async fn known_metrics(
    engine: &Engine,
    metrics: &std::collections::BTreeMap<(String, String, Option<String>), check::Metric>,
    baseline: &Baseline,
) -> Result<Vec<String>> {
    let rows = engine.objects("SELECT metric FROM metric_definitions").await?;
    let mut names: Vec<String> = rows.iter().filter_map(|r| text(r, "metric")).collect();
    names
        .extend(metrics.keys().chain(baseline.metrics.keys()).map(|(_, metric, _)| metric.clone()));
    names.sort();
    names.dedup();
    Ok(names)
}

fn write(verdict: &Verdict, args: &CheckArgs, global: &Global) -> Result<()> {
    let width = comfy_table::Table::new().width().map_or(100, usize::from).clamp(60, 120);
    let style = args
        .format
        .map(Style::from)
        .or_else(|| args.output.as_deref().and_then(Style::of_file))
        .unwrap_or(Style::Text);
    let detail = if args.verbose { Detail::Full } else { Detail::Normal };
    let document = match style {
        Style::Text => check::text(verdict, width, detail),
        style => check::write(verdict, style, width),
    };
    let target = target(args.output.as_ref());
    write_verdict(document.as_bytes(), &target)?;
    if matches!(target, Target::File(_)) && !global.quiet {
        stderr::line(check::text(verdict, width, Detail::Brief).trim_end_matches('\n'));
    }
    Ok(())
}
