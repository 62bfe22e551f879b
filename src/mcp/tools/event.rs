//! The tool `event`.

use serde_json::{Map, Value, json};

use super::{Context, LIST_BYTES, fitting, rows, trace_id};
use crate::error::{Error, Result};
use crate::mcp::arguments::Arguments;
use crate::requests::{Query, Shape};

/// Rows of each list.
const MAX_ROWS: usize = 50;
/// Characters of a text of the event, such as its args.
const MAX_TEXT: usize = 4_000;

const EVENT: &str = "SELECT * FROM events WHERE trace_id = $trace AND event_id = $event";

const PARENTS: &str = "
    SELECT distance, ancestor_id AS event_id, ancestor_name AS name, ancestor_cat AS cat
    FROM ancestors WHERE trace_id = $trace AND event_id = $event ORDER BY distance";

const DEVICE_WORK: &str = "
    SELECT event_id, kind, name, device, stream, step, ts_ns, dur_ns, queue_ns, link, launch_id,
           launch_name, op_id, op_name
    FROM kernel_launches
    WHERE trace_id = $trace AND (event_id = $event OR launch_id = $event OR op_id = $event)
    ORDER BY ts_ns, event_id";

const FLOWS: &str = "
    SELECT kind, src_event_id, dst_event_id FROM flows
    WHERE trace_id = $trace AND (src_event_id = $event OR dst_event_id = $event)
    ORDER BY kind, src_event_id, dst_event_id";

pub async fn event(arguments: &Arguments, context: &Context<'_>) -> Result<Value> {
    let event = arguments.integer("event_id")?;
    let open = context.open().await?;
    let trace = match (trace_id(&open, arguments)?, open.engine.traces()) {
        (Some(trace), _) => trace,
        (None, [only]) => only.trace_id.clone(),
        (None, all) => {
            return Err(Error::Usage(format!(
                "{} traces are open, and each has an event {event}; name the trace",
                all.len()
            )));
        }
    };
    let shape = Shape { max_text: MAX_TEXT, ..rows(1) };
    let of = |sql: &str, shape| {
        Query::new(sql).with("trace", trace.clone()).with("event", event).within(shape)
    };
    let queries = vec![
        of(EVENT, shape),
        of(PARENTS, rows(MAX_ROWS)),
        of(DEVICE_WORK, rows(MAX_ROWS)),
        of(FLOWS, rows(MAX_ROWS)),
    ];
    let mut answers = context.ask(&open, queries).await?.into_iter();
    let mut next = || answers.next().map(|a| (a.objects(), a.cut.is_some())).unwrap_or_default();
    let (found, is_wide) = next();
    let Some(Value::Object(event_row)) = found.into_iter().next() else {
        let what = if is_wide { "is too long for an answer" } else { "does not exist" };
        return Err(Error::Query(format!("the event {event} of {trace} {what}")));
    };
    let lists = [next(), next(), next()];
    let mut truncated = lists.iter().any(|(_, is_cut)| *is_cut);
    let [parents, work, flows] = lists.map(|(list, _)| {
        let (list, is_cut) = fitting(list, LIST_BYTES / 4);
        truncated |= is_cut;
        list
    });
    Ok(json!({
        "event": Value::Object(with_args(event_row)),
        "parents": parents,
        "device_work": work,
        "flows": flows,
        "truncated": truncated,
    }))
}

/// The row with its args as an object and not as a text of one, if they are complete.
fn with_args(mut row: Map<String, Value>) -> Map<String, Value> {
    let args = row.get("args").and_then(Value::as_str);
    if let Some(args) = args.and_then(|text| serde_json::from_str::<Value>(text).ok())
        && !has_large_integers(&args)
    {
        row.insert("args".to_owned(), args);
    }
    row
}

/// Whether a reader of numbers as doubles would round one.
fn has_large_integers(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            let size = number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64());
            size.is_some_and(|size| size > crate::requests::MAX_EXACT_INTEGER)
        }
        Value::Array(values) => values.iter().any(has_large_integers),
        Value::Object(values) => values.values().any(has_large_integers),
        _ => false,
    }
}
