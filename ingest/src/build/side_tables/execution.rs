//! The tables of an execution trace. Nodes have no time, so their events have none.

use super::plain::{PlainEvent, PlainEvents};
use super::{Facts, TopFacts, Writing};
use crate::encode::TableRows;
use crate::error::Result;
use crate::rows::EtNodeRow;
use crate::schema;
use crate::side::execution::{Node, read};
use crate::side::flight::rank_after_word;
use crate::store::TableFile;

impl Writing<'_> {
    /// Writes each node as an event and as a row of `et_nodes`, while they are read.
    pub fn execution(&mut self) -> Result<Facts> {
        let (trace_id, folder, effort) = (self.trace_id(), self.tables.folder, self.tables.effort);
        let mut events = PlainEvents::create(trace_id, folder, effort)?;
        let mut file = TableFile::create(folder, &schema::ET_NODES)?;
        let mut rows = TableRows::new(effort);
        let name = self.tables.origin.name;
        let mut found = read(name, self.read.content, self.read.progress, |facts, node| {
            events.push(&PlainEvent {
                event_id: node.ord,
                pid: facts.pid,
                ph: "i",
                cat: "execution_trace",
                name: node.name.as_deref(),
                sequence: node.sequence.filter(|number| *number >= 0),
                ..PlainEvent::default()
            })?;
            rows.push(row(trace_id, &node));
            rows.take_groups().into_iter().try_for_each(|group| file.write(group))
        })?;
        rows.finish()?.into_iter().try_for_each(|group| file.write(group))?;
        let (count, bounds) = events.finish(&mut self.counted)?;
        self.counted.push((schema::ET_NODES.name, file.finish()?));
        let tracks = [("execution trace".to_owned(), "other")];
        self.tracks("execution trace", found.pid, &tracks[..usize::from(count > 0)])?;
        let metadata = std::mem::take(&mut found.metadata).object();
        let top = TopFacts { rank: rank_after_word(name), metadata, ..TopFacts::default() };
        Ok(Facts {
            format: "execution_trace",
            framework: Some("pytorch"),
            top,
            bounds,
            elements: found.elements,
            events: count,
            issues: found.issues,
        })
    }
}

fn row<'r>(trace_id: &'r str, node: &'r Node) -> EtNodeRow<'r> {
    EtNodeRow {
        trace_id,
        event_id: node.ord as i64,
        node_id: node.id,
        name: node.name.as_deref(),
        parent_id: node.parent,
        rf_id: node.rf_id,
        fw_parent_id: node.fw_parent,
        sequence_number: node.sequence,
        scope: node.scope,
        tid: node.tid,
        fw_tid: node.fw_tid,
        op_schema: node.op_schema.as_deref(),
        kernel_backend: node.kernel_backend.as_deref(),
        kernel_file: node.kernel_file.as_deref(),
        input_values: node.inputs[0].as_deref(),
        input_shapes: node.inputs[1].as_deref(),
        input_types: node.inputs[2].as_deref(),
        input_strides: node.inputs[3].as_deref(),
        output_values: node.outputs[0].as_deref(),
        output_shapes: node.outputs[1].as_deref(),
        output_types: node.outputs[2].as_deref(),
        output_strides: node.outputs[3].as_deref(),
        attrs: node.attrs.as_deref(),
        extra: node.extra.as_deref(),
    }
}
