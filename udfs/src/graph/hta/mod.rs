//! The critical path of Holistic Trace Analysis (traceinsight 0.6.1), restated: its table of events
//! (`events`), its graph (`edges`, with `threads` for the host and `devices` for the rest), and the
//! longest path (`path`).
//!
//! Every rule is HTA's, including those that `docs/critical-path.md` advises against. Times are its
//! whole microseconds.

mod devices;
mod edges;
mod events;
mod path;
mod threads;

use std::sync::Arc;

use arrow::array::{BooleanArray, Int64Array, StringArray, StructArray};
use arrow::datatypes::{DataType, Field, Fields};
use datafusion_common::Result;

use super::relation::Input;
use super::rows::Rows;
use edges::Graph;
use events::{Event, Events, Window};

/// The columns of the query.
pub const COLUMNS: &[Input] = &[
    Input::int("event_id"),
    Input::text("name"),
    Input::text("cat"),
    Input::int("ts_us"),
    Input::int("dur_us"),
    Input::text("pid"),
    Input::text("tid"),
    Input::int("stream"),
    Input::int("correlation"),
    Input::int("wait_on_stream"),
    Input::int("wait_on_correlation"),
    Input::int("queue_length").or_null(),
];

/// The other arguments.
pub const SETTINGS: &[Input] = &[Input::text("annotation"), Input::int("instance")];

/// The columns of the result.
pub fn result_fields() -> Fields {
    let field = |(name, data_type)| Field::new(name, data_type, true);
    [
        ("edge", DataType::Int64),
        ("src_event_id", DataType::Int64),
        ("src_is_start", DataType::Boolean),
        ("dst_event_id", DataType::Int64),
        ("dst_is_start", DataType::Boolean),
        ("type", DataType::Utf8),
        ("weight_us", DataType::Int64),
        ("owner_event_id", DataType::Int64),
        ("bound_by", DataType::Utf8),
        ("on_path", DataType::Boolean),
        ("graph_events", DataType::Int64),
        ("graph_nodes", DataType::Int64),
    ]
    .map(field)
    .into_iter()
    .collect()
}

/// Reads the events, builds the graph and returns its edges.
pub fn run(rows: &Rows<'_>) -> Result<StructArray> {
    let (ints, texts) = (|i: usize| rows.ints(i + 1), |i: usize| rows.texts(i + 1));
    let (id, name, cat, ts, dur) = (ints(0), texts(1), texts(2), ints(3), ints(4));
    let (pid, tid, stream, correlation) = (texts(5), texts(6), ints(7), ints(8));
    let (wait_stream, wait_correlation, queue) = (ints(9), ints(10), ints(11));
    let (annotation, instance) = (texts(12), ints(13));
    let event = |row: usize| Event {
        id: id.get(row).unwrap_or(0),
        name: name.get(row),
        cat: cat.get(row),
        ts: ts.get(row).unwrap_or(0),
        dur: dur.get(row).unwrap_or(0),
        pid: pid.get(row),
        tid: tid.get(row),
        stream: stream.get(row).unwrap_or(-1),
        correlation: correlation.get(row).unwrap_or(-1),
        wait_stream: wait_stream.get(row).unwrap_or(-1),
        wait_correlation: wait_correlation.get(row).unwrap_or(-1),
        queue_length: queue.get(row),
        peer: -1,
    };
    let events = Events::new((0..rows.len()).map(event).collect());
    let window = Window {
        annotation: if rows.len() > 0 { annotation.get(0) } else { "" },
        instance: if rows.len() > 0 { instance.get(0).unwrap_or(0) } else { 0 },
    };
    let clipped = events.clip(window);
    let graph = Graph::new(&events, &clipped);
    let on_path = path::longest(&graph);
    answer(&events, &graph, &on_path, clipped.len())
}

fn answer(
    events: &Events<'_>,
    graph: &Graph<'_>,
    on_path: &[bool],
    clipped: usize,
) -> Result<StructArray> {
    let edges = &graph.edges;
    let id = |node: u32| events.rows[graph.nodes[node as usize].event as usize].id;
    let is_start = |node: u32| graph.nodes[node as usize].is_start;
    let ints = |of: &dyn Fn(usize) -> Option<i64>| -> Arc<Int64Array> {
        Arc::new((0..edges.len()).map(of).collect())
    };
    let flags = |of: &dyn Fn(usize) -> bool| -> Arc<BooleanArray> {
        Arc::new((0..edges.len()).map(|i| Some(of(i))).collect())
    };
    let count = |n: usize| i64::try_from(n).ok();
    let types: StringArray = edges.iter().map(|e| Some(e.kind.name())).collect();
    let bound_by: StringArray = edges.iter().map(|e| graph.bound_by(events, e)).collect();
    Ok(StructArray::try_new(
        result_fields(),
        vec![
            ints(&count),
            ints(&|i| Some(id(edges[i].from))),
            flags(&|i| is_start(edges[i].from)),
            ints(&|i| Some(id(edges[i].to))),
            flags(&|i| is_start(edges[i].to)),
            Arc::new(types),
            ints(&|i| Some(edges[i].weight)),
            ints(&|i| edges[i].owner.map(|row| events.rows[row as usize].id)),
            Arc::new(bound_by),
            flags(&|i| on_path[i]),
            ints(&|_| count(clipped)),
            ints(&|_| count(graph.nodes.len())),
        ],
        None,
    )?)
}
