//! Runs the queries of all sections in parallel and collects their answers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type, Schema};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::sql::parser::Statement;
use futures::StreamExt;
use serde_json::Value;

use super::answer::{Answer, Column};
use super::bounded_rows::BoundedRows;
use super::column_unit::unit;
use super::sections::{SECTIONS, Section, Shape};
use super::{ChangedSetting, Format, Report, Trace, missing, stack_tree};
use crate::engine::{Engine, Started};
use crate::error::{Error, Result};

/// The number of rows or frames that each trace keeps, however many traces share the limit of a
/// section.
const MIN_PER_TRACE: usize = 50;

/// Collects a report on the traces that are open in a session, except those in `left_out`. It has
/// the sections that the format shows.
///
/// Other ranks of a job may be open and left out, because the time that a rank waits and the time
/// by which it lags can only be computed from all ranks.
pub async fn collect(engine: &Engine, left_out: Vec<String>, format: Format) -> Result<Report> {
    let mut traces = traces(engine).await?;
    let open = traces.len();
    traces.retain(|t| !left_out.contains(&t.trace_id));
    let count = traces.len().max(1);
    let has_details = matches!(format, Format::Json | Format::Html);
    let shown = SECTIONS.iter().filter(|s| has_details || !s.is_detail);
    let (asked, spared): (Vec<&'static Section>, Vec<&'static Section>) =
        shown.partition(|s| traces.iter().any(|t| s.scope.holds(t, open)));
    let mut answers: Vec<Answer> = spared.into_iter().map(Answer::empty).collect();
    let planning = match engine.shares_views() {
        true => side_by_side(engine, asked, count, &mut answers).await?,
        false => one_by_one(engine, asked, count, &mut answers).await?,
    };
    answers.sort_by_key(|a| SECTIONS.iter().position(|s| s.key == a.section.key));
    for answer in &mut answers {
        let at = |row: &Vec<Value>| {
            traces.iter().position(|t| row.first().and_then(Value::as_str) == Some(&t.trace_id))
        };
        answer
            .rows
            .retain(|row| at(row).is_some_and(|at| answer.section.scope.holds(&traces[at], open)));
        answer.rows.sort_by_key(at);
    }
    missing::explain(&mut answers, &traces, open);
    Ok(Report { traces, left_out, settings: changed_settings(engine), answers, planning })
}

/// Adds the answers to all sections. They are read at the same time so that shared views are
/// computed once. Returns the time that planning took.
async fn side_by_side(
    engine: &Engine,
    asked: Vec<&'static Section>,
    traces: usize,
    answers: &mut Vec<Answer>,
) -> Result<Duration> {
    let start = Instant::now();
    let (started, failed) = start_all(engine, asked).await?;
    let planning = start.elapsed();
    answers.extend(failed);
    let mut tasks = Vec::new();
    for (section, started) in started {
        let task = tokio::spawn(answered(section, started, traces, start));
        tasks.push((section, task));
    }
    for (section, task) in tasks {
        let failed = |e| Answer {
            error: Some(format!("the query engine failed: {e}")),
            ..Answer::empty(section)
        };
        answers.push(task.await.unwrap_or_else(failed));
    }
    Ok(planning)
}

/// Adds the answers one after the other, so that the memory for the largest query is enough.
async fn one_by_one(
    engine: &Engine,
    asked: Vec<&'static Section>,
    traces: usize,
    answers: &mut Vec<Answer>,
) -> Result<Duration> {
    let (start, mut planning) = (Instant::now(), Duration::ZERO);
    for section in asked {
        engine.memory_settled().await;
        let planned = Instant::now();
        let (started, failed) = start_all(engine, vec![section]).await?;
        planning += planned.elapsed();
        answers.extend(failed);
        for (section, started) in started {
            answers.push(answered(section, started, traces, start).await);
        }
    }
    Ok(planning)
}

async fn answered(
    section: &'static Section,
    started: Started,
    traces: usize,
    start: Instant,
) -> Answer {
    let answer = read(section, started.result, traces).await;
    let failed = |e: Error| Answer { error: Some(e.to_string()), ..Answer::empty(section) };
    Answer { elapsed: start.elapsed(), ..answer.unwrap_or_else(failed) }
}

/// Starts the queries of sections together. If a query cannot be planned, the error becomes the
/// answer.
async fn start_all(
    engine: &Engine,
    sections: Vec<&'static Section>,
) -> Result<(Vec<(&'static Section, Started)>, Vec<Answer>)> {
    let statements = |sections: &[&'static Section]| -> Result<Vec<Statement>> {
        Ok(sections
            .iter()
            .map(|s| engine.parse(s.sql))
            .collect::<Result<Vec<_>>>()?
            .into_iter()
            .flatten()
            .collect())
    };
    if let Ok(started) = engine.start_all(statements(&sections)?, &[]).await {
        return Ok((sections.into_iter().zip(started).collect(), Vec::new()));
    }
    let (mut sound, mut failed) = (Vec::new(), Vec::new());
    for section in sections {
        match engine.start_all(statements(&[section])?, &[]).await {
            Ok(_) => sound.push(section),
            Err(e) => failed.push(Answer { error: Some(e.to_string()), ..Answer::empty(section) }),
        }
    }
    let started = engine.start_all(statements(&sound)?, &[]).await?;
    Ok((sound.into_iter().zip(started).collect(), failed))
}

async fn read(
    section: &'static Section,
    result: SendableRecordBatchStream,
    traces: usize,
) -> Result<Answer> {
    match section.shape {
        Shape::Rows { max_rows, add } => {
            rows(section, result, (max_rows / traces).max(MIN_PER_TRACE), add).await
        }
        Shape::Stacks { max_frames } => {
            stack_tree::collect(section, result, (max_frames / traces).max(MIN_PER_TRACE)).await
        }
    }
}

async fn rows(
    section: &'static Section,
    mut result: SendableRecordBatchStream,
    max_rows: usize,
    add: &[&str],
) -> Result<Answer> {
    let columns = columns(&result.schema());
    let sums: Vec<usize> =
        add.iter().filter_map(|name| columns.iter().position(|c| c.name == *name)).collect();
    let mut kept = BoundedRows::new(max_rows, sums);
    while let Some(batch) = result.next().await {
        for row in values(&batch?)? {
            kept.add(row);
        }
    }
    let (rows, rests) = kept.finish();
    Ok(Answer { columns, rows, rests, ..Answer::empty(section) })
}

/// The columns of a result, with the units that their names imply.
fn columns(schema: &Schema) -> Vec<Column> {
    let column = |field: &Arc<datafusion::arrow::datatypes::Field>| {
        let kind = match field.data_type() {
            DataType::Boolean => "boolean",
            t if t.is_integer() => "integer",
            t if t.is_numeric() => "number",
            _ => "text",
        };
        Column { name: field.name().clone(), kind, unit: unit(field.name(), kind) }
    };
    schema.fields().iter().map(column).collect()
}

/// The rows of a batch as JSON values. Whole numbers stay exact.
fn values(batch: &RecordBatch) -> Result<Vec<Vec<Value>>> {
    let mut rows = vec![Vec::with_capacity(batch.num_columns()); batch.num_rows()];
    for column in batch.columns() {
        for (row, value) in rows.iter_mut().zip(column_values(column)?) {
            row.push(value);
        }
    }
    Ok(rows)
}

fn column_values(column: &ArrayRef) -> Result<Vec<Value>> {
    let (count, data_type) = (column.len(), column.data_type());
    Ok(match data_type {
        DataType::Null => vec![Value::Null; count],
        DataType::Boolean => column.as_boolean().iter().map(Value::from).collect(),
        t if t.is_integer() => {
            let column =
                cast(column, &DataType::Int64).map_err(datafusion::error::DataFusionError::from)?;
            column.as_primitive::<Int64Type>().iter().map(Value::from).collect()
        }
        t if t.is_floating() => {
            let column = cast(column, &DataType::Float64)
                .map_err(datafusion::error::DataFusionError::from)?;
            // NaN and infinities become NULL.
            column.as_primitive::<Float64Type>().iter().map(Value::from).collect()
        }
        _ => {
            let column =
                cast(column, &DataType::Utf8).map_err(datafusion::error::DataFusionError::from)?;
            column.as_string::<i32>().iter().map(Value::from).collect()
        }
    })
}

/// The traces, ordered by job and rank.
async fn traces(engine: &Engine) -> Result<Vec<Trace>> {
    let sql = "SELECT trace_id, path, rank, format FROM traces \
        ORDER BY format, rank NULLS LAST, path, trace_id";
    let mut result = engine.run(engine.parse(sql)?.remove(0), &[]).await?;
    let mut traces = Vec::new();
    while let Some(batch) = result.next().await {
        for row in values(&batch?)? {
            let text =
                |at: usize| row.get(at).and_then(Value::as_str).unwrap_or_default().to_owned();
            traces.push(Trace {
                trace_id: text(0),
                path: text(1),
                rank: row.get(2).and_then(Value::as_i64),
                format: text(3),
            });
        }
    }
    Ok(traces)
}

fn changed_settings(engine: &Engine) -> Vec<ChangedSetting> {
    let all = engine.settings().all().into_iter();
    all.filter(|(_, s)| s.value != s.default)
        .map(|(name, s)| ChangedSetting { name, value: s.value, default: s.default })
        .collect()
}
