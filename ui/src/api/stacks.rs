//! Stacks as a tree, for flame graphs.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, AsArray, ListArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float64Type};
use axum::Json;
use axum::body::Bytes;
use axum::extract::State as Shared;
use futures::StreamExt;
use serde::Deserialize;
use serde_json::{Value, json};
use tracesql::engine::Engine;
use tracesql::requests::{Call, text_of};
use tracesql::{Error, Result};

use super::parsed;
use super::query::failure;
use crate::failure::{Answer, Failure};
use crate::open::State;

/// The most frames of an answer. Smaller ones are joined with what they are in.
const MAX_NODES: usize = 100_000;
/// Characters of a name.
const MAX_NAME: usize = 500;

/// A measure of stacks: its name, column and unit.
const MEASURES: &[(&str, &str, &str)] = &[
    ("host", "cpu_ns", "ns"),
    ("gpu", "gpu_ns", "ns"),
    ("kernels", "kernels", "count"),
    ("samples", "samples", "count"),
    ("alloc_space", "alloc_space_bytes", "bytes"),
    ("alloc_objects", "alloc_objects", "count"),
];

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asked {
    measure: Option<String>,
    /// The id of a trace.
    trace: Option<String>,
    step: Option<i64>,
    /// The name of a thread.
    thread: Option<String>,
    /// A query with a column `stack` and the measure as its last column.
    sql: Option<String>,
    /// The id of the trace with which the other one is compared.
    base: Option<String>,
}

/// POST `/api/stacks`.
pub async fn stacks(Shared(state): Shared<Arc<State>>, body: Bytes) -> Answer {
    let asked: Asked = parsed(&body)?;
    let name = asked.measure.as_deref().unwrap_or("host");
    let measure = MEASURES.iter().find(|(known, _, _)| *known == name);
    let Some((name, column, unit)) = measure else {
        let known: Vec<&str> = MEASURES.iter().map(|(name, _, _)| *name).collect();
        return Err(Failure::bad(format!("the measures are {}", known.join(", "))));
    };
    let sql = statement(&asked, column);
    let engine = state.engine().await?;
    let (of_work, query) = (engine.clone(), sql.clone());
    let reading = async move { Tree::read(&of_work, &query).await };
    let tree = match state.requests.run(&Call::default(), reading).await {
        Ok(tree) => tree,
        Err(error) => return Err(failure(&state, error, sql, engine).await),
    };
    let (names, nodes, joined) = tree.largest(MAX_NODES);
    Ok(Json(json!({
        "measure": name,
        "unit": if asked.sql.is_some() { "number" } else { unit },
        "measures": MEASURES.iter().map(|(name, _, _)| name).collect::<Vec<_>>(),
        "names": names,
        "nodes": nodes,
        "is_compared": asked.base.is_some(),
        "rest": (joined > 0).then(|| json!({"frames": joined})),
        "sql": sql,
    })))
}

fn statement(asked: &Asked, column: &str) -> String {
    let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
    if let Some(sql) = &asked.sql {
        return sql.clone();
    }
    let mut conditions = Vec::new();
    let base = asked.base.as_deref().map(literal);
    match (asked.trace.as_deref().map(literal), &base) {
        (Some(trace), Some(base)) => conditions.push(format!("trace_id IN ({trace}, {base})")),
        (Some(trace), None) => conditions.push(format!("trace_id = {trace}")),
        (None, _) => {}
    }
    conditions.extend(asked.step.map(|step| format!("step = {step}")));
    conditions.extend(asked.thread.as_deref().map(|t| format!("thread = {}", literal(t))));
    let conditions = match conditions.is_empty() {
        true => String::new(),
        false => format!("WHERE {}\n", conditions.join(" AND ")),
    };
    let values = match base {
        Some(base) => format!(
            "sum(CASE WHEN trace_id <> {base} THEN {column} END) AS {column},\n\
             \x20      sum(CASE WHEN trace_id = {base} THEN {column} END) AS base"
        ),
        None => format!("sum({column}) AS {column}"),
    };
    format!("SELECT stack, {values}\nFROM stack_samples\n{conditions}GROUP BY stack")
}

/// A tree of frames with their own values.
#[derive(Default)]
struct Tree {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
    /// Parent, name, own value and own value of the base.
    nodes: Vec<(usize, usize, f64, f64)>,
    children: HashMap<(usize, usize), usize>,
    /// Whether all steps are one frame.
    joins_steps: bool,
}

/// The frame of all steps of two runs.
const ANY_STEP: &str = "ProfilerStep#…";

/// The parent of outermost frames.
const ROOT: usize = usize::MAX;

impl Tree {
    async fn read(engine: &Engine, sql: &str) -> Result<Self> {
        let mut statements = engine.parse(sql)?;
        if statements.len() != 1 {
            return Err(Error::Query("give one query for the stacks".into()));
        }
        let mut rows = engine.run(statements.remove(0), &[]).await?;
        let schema = rows.schema();
        let at = schema.index_of("stack").map_err(|_| {
            Error::Query("the query needs a column stack, and a column with the measure".into())
        })?;
        let values: Vec<usize> = (0..schema.fields().len())
            .filter(|column| *column != at && schema.field(*column).data_type().is_numeric())
            .collect();
        let Some(first) = values.first().copied() else {
            return Err(Error::Query("the query needs a column with numbers".into()));
        };
        let second = values.get(1).copied().filter(|c| schema.field(*c).name() == "base");
        // Two runs have the same steps by other numbers.
        let mut tree = Self { joins_steps: second.is_some(), ..Self::default() };
        while let Some(batch) = rows.next().await {
            let batch = batch?;
            let failed = |e| Error::Query(format!("stacks: {e}"));
            let texts = DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)));
            let stacks = cast(batch.column(at), &texts).map_err(failed)?;
            let stacks: &ListArray = stacks.as_list();
            let number = |column: usize| cast(batch.column(column), &DataType::Float64);
            let own = number(first).map_err(failed)?;
            let base = second.map(number).transpose().map_err(failed)?;
            let value = |column: &dyn Array, row: usize| {
                let column = column.as_primitive::<Float64Type>();
                if column.is_valid(row) { column.value(row) } else { 0.0 }
            };
            for row in 0..batch.num_rows() {
                let base = base.as_ref().map_or(0.0, |base| value(base, row));
                let own = value(&own, row);
                if stacks.is_valid(row) && (own != 0.0 || base != 0.0) {
                    tree.add(stacks.value(row).as_string::<i32>().iter(), own, base);
                }
            }
        }
        Ok(tree)
    }

    fn add<'s>(&mut self, frames: impl Iterator<Item = Option<&'s str>>, own: f64, base: f64) {
        let mut node = ROOT;
        for frame in frames {
            let name = self.name(match frame {
                Some(step) if self.joins_steps && step.starts_with("ProfilerStep#") => ANY_STEP,
                Some(frame) => frame,
                None => "(unnamed)",
            });
            node = *self.children.entry((node, name)).or_insert_with(|| {
                self.nodes.push((node, name, 0.0, 0.0));
                self.nodes.len() - 1
            });
        }
        if let Some(node) = self.nodes.get_mut(node) {
            node.2 += own;
            node.3 += base;
        }
    }

    fn name(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.names.len();
        self.names.push(text_of(text.to_owned(), MAX_NAME));
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// The frames with the largest totals, parents first, and the number of those that were joined
    /// with their parents.
    fn largest(self, most: usize) -> (Vec<String>, Vec<Value>, usize) {
        let count = self.nodes.len();
        let mut totals: Vec<f64> = self.nodes.iter().map(|n| n.2.abs() + n.3.abs()).collect();
        // A frame comes after the one that it is in.
        for at in (0..count).rev() {
            if let Some(parent) = self.nodes[at].0.lt(&count).then_some(self.nodes[at].0) {
                totals[parent] += totals[at];
            }
        }
        let least = match count > most {
            true => {
                let mut sorted = totals.clone();
                sorted.sort_by(|a, b| b.total_cmp(a));
                sorted[most]
            }
            false => -1.0,
        };
        // The total of a frame is at least that of what is in it, so parents are kept.
        let mut places = vec![ROOT; count];
        let mut kept: Vec<(usize, usize, f64, f64)> = Vec::new();
        let mut joined = 0;
        for (at, (parent, name, own, base)) in self.nodes.into_iter().enumerate() {
            let parent = places.get(parent).copied().unwrap_or(ROOT);
            if totals[at] > least {
                places[at] = kept.len();
                kept.push((parent, name, own, base));
            } else {
                joined += 1;
                places[at] = parent;
                if let Some(into) = kept.get_mut(parent) {
                    into.2 += own;
                    into.3 += base;
                }
            }
        }
        let index = |parent: usize| if parent == ROOT { -1 } else { parent as i64 };
        let nodes = kept.into_iter().map(|(p, name, own, base)| json!([index(p), name, own, base]));
        (self.names, nodes.collect(), joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(stacks: &[(&[&str], f64)]) -> Tree {
        let mut tree = Tree::default();
        for (frames, own) in stacks {
            tree.add(frames.iter().map(|frame| Some(*frame)), *own, 0.0);
        }
        tree
    }

    #[test]
    fn frames_have_their_own_values_and_parents_come_first() {
        let (names, nodes, joined) =
            tree(&[(&["a", "b"], 3.0), (&["a"], 1.0), (&["b"], 2.0)]).largest(10);
        assert_eq!(names, ["a", "b"]);
        assert_eq!(
            nodes,
            [json!([-1, 0, 1.0, 0.0]), json!([0, 1, 3.0, 0.0]), json!([-1, 1, 2.0, 0.0])]
        );
        assert_eq!(joined, 0);
    }

    #[test]
    fn the_smallest_frames_are_joined_with_their_parents() {
        let (_, nodes, joined) =
            tree(&[(&["a", "b"], 3.0), (&["a", "c"], 1.0), (&["a"], 1.0)]).largest(2);
        assert_eq!(nodes, [json!([-1, 0, 2.0, 0.0]), json!([0, 1, 3.0, 0.0])]);
        assert_eq!(joined, 1);
    }
}
