//! Builds stacks by the rules of torch2pprof, for comparisons with its profiles.
//!
//! Threads are identified by `tid` alone, so threads of two processes with the same ID nest into
//! each other. Events with equal starts stay in the order of the file, because torch2pprof does not
//! define their order. Each event counts its whole duration at its whole stack. Starts and ends are
//! compared as floating point microseconds, because the rounding in torch2pprof decides which of
//! them are equal and whether a child ends within its parent.

use datafusion::arrow::array::{AsArray, Int64Array, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use futures::StreamExt;
use tracesql_formats::pprof::{BASE, Builder, FILE, LabelValue, Labels, SampleType};

use crate::engine::Engine;
use crate::error::Result;

/// An empty profile of these rules.
pub fn profile(merge_steps: bool) -> Result<Builder> {
    let mut profile = Builder::new(vec![
        SampleType::new("samples", "count"),
        SampleType::new("time", "nanoseconds"),
    ])?;
    if merge_steps {
        profile.merge_steps();
    }
    Ok(profile)
}

/// Adds the events that a query returns. Its columns are trace, thread, name, category, start,
/// duration and value. Its rows are ordered by trace, thread and start.
pub async fn add(profile: &mut Builder, engine: &Engine, sql: &str, sign: i64) -> Result<()> {
    let labels = if sign < 0 {
        vec![(BASE.to_owned(), LabelValue::Text("true".to_owned()))]
    } else {
        Labels::new()
    };
    let group = profile.group(&labels);
    let mut result = engine.run(engine.parse(sql)?.remove(0), &[]).await?;
    let mut thread = (String::new(), String::new());
    let mut open: Vec<(f64, String)> = Vec::new();
    while let Some(batch) = result.next().await {
        let batch = batch?;
        let text = |at: usize| -> Result<StringArray> {
            let column = cast(batch.column(at), &DataType::Utf8)
                .map_err(datafusion::error::DataFusionError::from)?;
            Ok(column.as_string::<i32>().clone())
        };
        let int =
            |at: usize| -> Int64Array { batch.column(at).as_primitive::<Int64Type>().clone() };
        let (traces, threads, names, cats) = (text(0)?, text(1)?, text(2)?, text(3)?);
        let (starts, durations, values) = (int(4), int(5), int(6));
        for row in 0..batch.num_rows() {
            if traces.value(row) != thread.0 || threads.value(row) != thread.1 {
                thread = (traces.value(row).to_owned(), threads.value(row).to_owned());
                open.clear();
            }
            let start = microseconds(starts.value(row));
            let end = start + microseconds(durations.value(row));
            while open.last().is_some_and(|top| top.0 < start) {
                open.pop();
            }
            open.retain(|frame| frame.0 >= end);
            open.push((end, format!("{}{FILE}{}", names.value(row), cats.value(row))));
            profile.add(
                open.iter().map(|frame| frame.1.as_str()),
                group,
                &[sign, sign * values.value(row)],
            )?;
        }
    }
    Ok(())
}

/// The floating point number that a reader gets for a time in microseconds.
fn microseconds(ns: i64) -> f64 {
    let sign = if ns < 0 { "-" } else { "" };
    let text = format!("{sign}{}.{:03}", ns.unsigned_abs() / 1000, ns.unsigned_abs() % 1000);
    text.parse().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::microseconds;

    #[test]
    fn times_are_those_of_the_text() {
        for text in ["1720500000000000.123", "0.289", "-5.001", "0.000"] {
            let exact: i64 = text.replace('.', "").parse().expect("a number");
            assert_eq!(microseconds(exact), text.parse::<f64>().expect("a number"));
        }
    }
}
