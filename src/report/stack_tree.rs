//! Stacks as a bounded tree. Frames that are small in every measure are merged into `(other)` next
//! to their siblings, so every total stays exact.

use std::borrow::Cow;
use std::collections::{BinaryHeap, HashMap};

use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use serde_json::Value;
use tracesql_formats::frames::{ANY_STEP, merged_step};
use tracesql_formats::pprof::{Collector, FILE, LabelValue, without_address};

use super::answer::{Answer, Column};
use super::column_unit::unit;
use super::sections::Section;
use crate::error::Result;

/// The name that merged frames get.
pub const OTHER: &str = "(other)";

/// Reads stacks. The answer has one row for each frame in the tree of a trace.
pub async fn collect(
    section: &'static Section,
    mut result: SendableRecordBatchStream,
    max_frames: usize,
) -> Result<Answer> {
    let mut collector = Collector::new(&result.schema())?;
    let names: Vec<String> = result
        .schema()
        .fields()
        .iter()
        .map(|f| f.name().clone())
        .filter(|n| !["stack", "trace", "thread"].contains(&n.as_str()))
        .collect();
    while let Some(batch) = result.next().await {
        collector.add(&batch?, false)?;
    }
    let profile = collector.finish();
    // The profile leaves out measures that have no value.
    let place = |name: &String| {
        profile
            .types()
            .iter()
            .position(|t| name.strip_suffix("_ns").or(name.strip_suffix("_bytes")) == Some(&t.name))
    };
    let places: Vec<Option<usize>> = names.iter().map(place).collect();
    let mut trees: Vec<(String, Tree)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let add = |frames: &[&str], labels: &tracesql_formats::pprof::Labels, values: &[i64]| {
        let label = |wanted: &str| {
            labels.iter().find_map(|(name, value)| match value {
                LabelValue::Text(text) if name == wanted => Some(text.as_str()),
                _ => None,
            })
        };
        let trace = label("trace").unwrap_or_default();
        let at = *known.entry(trace.to_owned()).or_insert_with(|| {
            trees.push((trace.to_owned(), Tree::new(names.len())));
            trees.len() - 1
        });
        let values: Vec<i64> = places.iter().map(|p| p.map_or(0, |p| values[p])).collect();
        let frames: Vec<Cow<str>> = frames.iter().map(|f| shown(f)).collect();
        trees[at]
            .1
            .add(label("thread").into_iter().chain(frames.iter().map(|f| f.as_ref())), &values);
        Ok::<(), ()>(())
    };
    // The visitor never fails.
    let _ = profile.visit(add);
    trees.sort_by(|a, b| a.0.cmp(&b.0));
    let mut answer = Answer::empty(section);
    let column = |name: &str, kind| Column { name: name.to_owned(), kind, unit: unit(name, kind) };
    answer.columns = vec![
        column("trace_id", "text"),
        column("node", "integer"),
        column("parent", "integer"),
        column("name", "text"),
    ];
    answer.columns.push(column("merged", "integer"));
    answer.columns.extend(names.iter().map(|n| column(n, "integer")));
    for (trace, tree) in trees {
        answer.rows.extend(tree.rows(&trace, max_frames));
    }
    Ok(answer)
}

/// A frame without the parts that differ between repetitions, such as numbers of steps and
/// addresses of objects.
fn shown(frame: &str) -> Cow<'_, str> {
    let name = frame.split(FILE).next().unwrap_or(frame);
    match merged_step(name) {
        step if step == ANY_STEP => step,
        _ => without_address(name),
    }
}

/// A tree of frames with their self values.
#[derive(Debug)]
struct Tree {
    width: usize,
    nodes: Vec<Node>,
    children: HashMap<(usize, String), usize>,
}

#[derive(Debug, Default)]
struct Node {
    parent: usize,
    name: String,
    own: Vec<i64>,
    total: Vec<i64>,
    children: Vec<usize>,
}

impl Tree {
    fn new(width: usize) -> Self {
        let root = Node { own: vec![0; width], ..Node::default() };
        Self { width, nodes: vec![root], children: HashMap::new() }
    }

    fn add<'a>(&mut self, frames: impl Iterator<Item = &'a str>, values: &[i64]) {
        let mut at = 0;
        for frame in frames {
            let key = (at, frame.to_owned());
            at = match self.children.get(&key) {
                Some(&child) => child,
                None => {
                    let child = self.nodes.len();
                    self.nodes.push(Node {
                        parent: at,
                        name: frame.to_owned(),
                        own: vec![0; self.width],
                        ..Node::default()
                    });
                    self.nodes[at].children.push(child);
                    self.children.insert(key, child);
                    child
                }
            };
        }
        self.nodes[at]
            .own
            .iter_mut()
            .zip(values)
            .for_each(|(own, value)| *own = own.saturating_add(*value));
    }

    /// Adds the values of children to their parents. Children come after their parents, so one pass
    /// from the end is enough.
    fn add_up(&mut self) {
        for node in &mut self.nodes {
            node.total = node.own.clone();
        }
        for at in (1..self.nodes.len()).rev() {
            let total = self.nodes[at].total.clone();
            let parent = self.nodes[at].parent;
            self.nodes[parent]
                .total
                .iter_mut()
                .zip(total)
                .for_each(|(sum, value)| *sum = sum.saturating_add(value));
        }
    }

    /// The largest share of a node in any measure, in millionths of the whole.
    fn weight(&self, at: usize) -> i64 {
        let share = |(value, all): (&i64, &i64)| {
            if *all > 0 { (i128::from(*value) * 1_000_000 / i128::from(*all)) as i64 } else { 0 }
        };
        self.nodes[at].total.iter().zip(&self.nodes[0].total).map(share).max().unwrap_or(0)
    }

    /// The rows `trace_id, node, parent, name, merged, values…` of the heaviest frames and of the
    /// merged frames.
    fn rows(mut self, trace: &str, max_frames: usize) -> Vec<Vec<Value>> {
        self.add_up();
        let mut numbers: HashMap<usize, usize> = HashMap::from([(0, 0)]);
        let mut order = vec![0];
        let mut heap: BinaryHeap<(i64, std::cmp::Reverse<usize>)> = BinaryHeap::new();
        let open = |tree: &Self, at: usize, heap: &mut BinaryHeap<_>| {
            heap.extend(
                tree.nodes[at].children.iter().map(|&c| (tree.weight(c), std::cmp::Reverse(c))),
            );
        };
        open(&self, 0, &mut heap);
        // A frame is never heavier than its parent, so the parents of the heaviest frames are
        // included.
        while let Some((weight, std::cmp::Reverse(at))) = heap.pop() {
            if order.len() > max_frames || weight == 0 {
                break;
            }
            numbers.insert(at, order.len());
            order.push(at);
            open(&self, at, &mut heap);
        }
        let mut rows: Vec<Vec<Value>> = Vec::with_capacity(order.len());
        let row = |node: usize, parent: Value, name: &str, merged: usize, values: &[i64]| {
            let mut row: Vec<Value> =
                vec![trace.into(), node.into(), parent, name.into(), merged.into()];
            row.extend(values.iter().map(|v| Value::from(*v)));
            row
        };
        for (number, &at) in order.iter().enumerate() {
            let node = &self.nodes[at];
            let parent = if at == 0 { Value::Null } else { numbers[&node.parent].into() };
            rows.push(row(
                number,
                parent,
                if at == 0 { "(all)" } else { &node.name },
                0,
                &node.own,
            ));
        }
        for (number, &at) in order.iter().enumerate() {
            let merged: Vec<usize> = self.nodes[at]
                .children
                .iter()
                .copied()
                .filter(|c| !numbers.contains_key(c))
                .collect();
            let mut sums = vec![0i64; self.width];
            for &child in &merged {
                sums.iter_mut()
                    .zip(&self.nodes[child].total)
                    .for_each(|(sum, value)| *sum = sum.saturating_add(*value));
            }
            if sums.iter().any(|&v| v != 0) {
                rows.push(row(rows.len(), number.into(), OTHER, merged.len(), &sums));
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tree() -> Tree {
        let mut tree = Tree::new(2);
        tree.add(["a", "b"].into_iter(), &[70, 0]);
        tree.add(["a"].into_iter(), &[10, 0]);
        tree.add(["a", "c"].into_iter(), &[5, 0]);
        tree.add(["a", "d"].into_iter(), &[5, 0]);
        tree.add(["e"].into_iter(), &[10, 8]);
        tree
    }

    #[test]
    fn all_frames_where_they_fit() {
        let rows = tree().rows("t", 100);
        assert_eq!(
            rows[0],
            [json!("t"), json!(0), Value::Null, json!("(all)"), json!(0), json!(0), json!(0)]
        );
        assert_eq!(rows.len(), 6);
    }

    #[test]
    fn merged_frames_keep_the_sum() {
        for max_frames in 1..6 {
            let rows = tree().rows("t", max_frames);
            let sum =
                |column: usize| rows.iter().map(|r| r[column].as_i64().unwrap_or(0)).sum::<i64>();
            assert_eq!((sum(5), sum(6)), (100, 8), "{max_frames}");
            for row in &rows[1..] {
                assert!(row[2].as_u64() < row[1].as_u64(), "parents come first: {row:?}");
            }
        }
        let rows = tree().rows("t", 3);
        let other = rows.iter().find(|r| r[3] == json!(OTHER)).expect("something is merged");
        assert_eq!((other[4].as_u64(), other[5].as_i64()), (Some(2), Some(10)), "c and d");
    }
}
