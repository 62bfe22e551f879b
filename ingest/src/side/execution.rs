//! PyTorch execution traces (`ExecutionTraceObserver`, Chakra): the nodes of a run's operators with
//! exact shapes, without times.

use serde_json::{Map, Value};

use super::{Metadata, compact, flight::ends, text};
use crate::error::Result;
use crate::issues::{Code, Issues};
use crate::json::{self, Cursor};
use crate::source::{Content, Walk};
use crate::trace::Progress;

/// What is known of the whole file when all nodes are read.
#[derive(Default)]
pub struct Facts {
    /// Nodes of the file, with those that were skipped.
    pub elements: u64,
    /// Process.
    pub pid: Option<i64>,
    /// All top-level keys but the nodes.
    pub metadata: Metadata,
    /// Issues that were found.
    pub issues: Issues,
}

/// A node. Lists are compact JSON. Values are `None` where the node has none of the right type.
#[derive(Debug, Default)]
pub struct Node {
    /// Position among the nodes.
    pub ord: u64,
    pub id: Option<i64>,
    pub name: Option<String>,
    pub parent: Option<i64>,
    pub rf_id: Option<i64>,
    pub fw_parent: Option<i64>,
    pub sequence: Option<i64>,
    pub scope: Option<i64>,
    pub tid: Option<i64>,
    pub fw_tid: Option<i64>,
    pub op_schema: Option<String>,
    pub kernel_backend: Option<String>,
    pub kernel_file: Option<String>,
    /// Values, shapes, types and strides of the inputs.
    pub inputs: [Option<String>; 4],
    /// Values, shapes, types and strides of the outputs.
    pub outputs: [Option<String>; 4],
    /// All other attributes.
    pub attrs: Option<String>,
    /// All other keys.
    pub extra: Option<String>,
}

/// Passes each node to `each`; returns what the file says beside them. Nodes are not kept, so memory
/// does not grow with the file.
pub fn read(
    name: &str,
    content: &Content,
    progress: &Progress,
    mut each: impl FnMut(&Facts, Node) -> Result<()>,
) -> Result<Facts> {
    let mut walk = Walk::new(content)?;
    let mut facts = Facts::default();
    let end = walk.object(|walk, key| {
        if key != b"nodes" {
            let raw = walk.value()?;
            if key == b"pid" {
                facts.pid = json::int(raw);
            }
            facts.metadata.add(key, raw, &mut facts.issues);
            return Ok(());
        }
        walk.list(|walk| {
            let raw = walk.value()?;
            let ord = facts.elements;
            if raw.first() == Some(&b'{') {
                let raw = compact(raw, &mut facts.issues, ord);
                let node = Node::read(ord, raw.as_bytes(), &mut facts.issues);
                each(&facts, node)?;
            } else {
                facts.issues.add(Code::BadRecord, Some(ord), None, raw);
            }
            facts.elements += 1;
            if facts.elements.is_multiple_of(4096) {
                progress.go_on()?;
                let (bytes, elements) = (&progress.bytes, &progress.elements);
                bytes.store(walk.offset(), std::sync::atomic::Ordering::Relaxed);
                elements.store(facts.elements, std::sync::atomic::Ordering::Relaxed);
            }
            Ok(())
        })
    });
    ends(name, end, &mut walk, facts.elements, &mut facts.issues)?;
    if facts.elements == 0 {
        facts.issues.add(Code::EmptyTrace, None, None, b"");
    }
    Ok(facts)
}

impl Node {
    /// Reads a node from its compact JSON.
    fn read(ord: u64, raw: &[u8], issues: &mut Issues) -> Self {
        let mut node = Self { ord, ..Self::default() };
        let (mut attrs, mut extra) = (Map::new(), Map::new());
        let mut is_odd = false;
        let _ = Cursor::new(raw, 0).object(|key, value| match key {
            b"inputs" | b"outputs" if value.first() == Some(&b'{') => {
                let lists = if key == b"inputs" { &mut node.inputs } else { &mut node.outputs };
                let _ = Cursor::new(value, 0).object(|key, value| {
                    let at = [&b"values"[..], b"shapes", b"types", b"strides"]
                        .iter()
                        .position(|name| *name == key);
                    match at {
                        Some(at) => is_odd |= !list(value, &mut lists[at]),
                        None => keep(key, value, &mut extra),
                    }
                });
            }
            b"attrs" if value.first() == Some(&b'[') => {
                for attr in super::items(value) {
                    let (mut name, mut held) = (None, None);
                    let _ = Cursor::new(attr, 0).object(|key, value| match key {
                        b"name" => name = text(value),
                        b"value" => held = Some(value),
                        _ => {}
                    });
                    match (name, held) {
                        (Some(name), Some(value)) => {
                            is_odd |= !node.set(name.as_bytes(), value, &mut attrs);
                        }
                        _ => is_odd = true,
                    }
                }
            }
            b"id" => is_odd |= !int(value, &mut node.id),
            b"name" => is_odd |= !string(value, &mut node.name),
            b"ctrl_deps" | b"parent" => {
                let of_list = super::items(value);
                let value = if let [one] = of_list[..] { one } else { value };
                is_odd |= !int(value, &mut node.parent);
            }
            b"inputs" => is_odd |= !list(value, &mut node.inputs[0]),
            b"input_shapes" => is_odd |= !list(value, &mut node.inputs[1]),
            b"input_types" => is_odd |= !list(value, &mut node.inputs[2]),
            b"input_strides" => is_odd |= !list(value, &mut node.inputs[3]),
            b"outputs" => is_odd |= !list(value, &mut node.outputs[0]),
            b"output_shapes" => is_odd |= !list(value, &mut node.outputs[1]),
            b"output_types" => is_odd |= !list(value, &mut node.outputs[2]),
            b"output_strides" => is_odd |= !list(value, &mut node.outputs[3]),
            // Attributes were keys of the node before schema 1.0.2.
            _ => is_odd |= !node.set(key, value, &mut extra),
        });
        is_odd |= node.id.is_none() || node.name.is_none();
        if is_odd {
            issues.add(Code::RecordValue, Some(ord), None, raw);
        }
        let object =
            |map: Map<String, Value>| (!map.is_empty()).then(|| Value::Object(map).to_string());
        (node.attrs, node.extra) = (object(attrs), object(extra));
        node
    }

    /// Sets an attribute; returns whether its value can be used. Unknown ones go to `others`.
    fn set(&mut self, name: &[u8], raw: &[u8], others: &mut Map<String, Value>) -> bool {
        match name {
            b"rf_id" => int(raw, &mut self.rf_id),
            b"fw_parent" => int(raw, &mut self.fw_parent),
            b"seq_id" => int(raw, &mut self.sequence),
            b"scope" => int(raw, &mut self.scope),
            b"tid" => int(raw, &mut self.tid),
            b"fw_tid" => int(raw, &mut self.fw_tid),
            b"op_schema" => string(raw, &mut self.op_schema),
            b"kernel_backend" => string(raw, &mut self.kernel_backend),
            b"kernel_file" => string(raw, &mut self.kernel_file),
            _ => {
                // An empty attribute says nothing.
                if raw != b"\"\"" {
                    keep(name, raw, others);
                }
                true
            }
        }
    }
}

fn keep(key: &[u8], raw: &[u8], to: &mut Map<String, Value>) {
    let key = String::from_utf8_lossy(key).into_owned();
    let value = serde_json::from_slice(raw)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(raw).into_owned()));
    to.insert(key, value);
}

fn int(raw: &[u8], to: &mut Option<i64>) -> bool {
    *to = json::int(raw);
    to.is_some()
}

fn string(raw: &[u8], to: &mut Option<String>) -> bool {
    let read = text(raw);
    let is_text = read.is_some();
    *to = read.filter(|text| !text.is_empty());
    is_text
}

fn list(raw: &[u8], to: &mut Option<String>) -> bool {
    let is_list = raw.first() == Some(&b'[');
    if is_list {
        *to = Some(String::from_utf8_lossy(raw).into_owned());
    }
    is_list
}

#[cfg(test)]
mod tests {
    use super::Node;
    use crate::issues::{Code, Issues};

    #[test]
    fn both_layouts_give_the_same_columns() {
        let mut issues = Issues::default();
        let new =
            br#"{"id":5,"name":"aten::mm","ctrl_deps":4,"inputs":{"values":[1],"shapes":[[2]],
            "types":["T"],"strides":[[1]]},"outputs":{"values":[],"shapes":[],"types":[],
            "strides":[]},"attrs":[{"name":"rf_id","type":"uint64","value":3},
            {"name":"op_schema","type":"string","value":""},
            {"name":"pg_name","type":"string","value":"0"}]}"#;
        let old = br#"{"name":"aten::mm","id":5,"rf_id":3,"parent":4,"inputs":[1],
            "input_shapes":[[2]],"input_types":["T"],"outputs":[],"output_shapes":[],
            "output_types":[],"pg_name":"0"}"#;
        let [new, old] = [&new[..], &old[..]].map(|raw| Node::read(0, raw, &mut issues));
        for node in [&new, &old] {
            assert_eq!((node.id, node.parent, node.rf_id), (Some(5), Some(4), Some(3)));
            assert_eq!(node.inputs[1].as_deref(), Some("[[2]]"));
            assert_eq!(node.op_schema, None);
        }
        assert_eq!(new.attrs.as_deref(), Some("{\"pg_name\":\"0\"}"));
        assert_eq!(old.extra.as_deref(), Some("{\"pg_name\":\"0\"}"));
        assert_eq!(issues.count(Code::RecordValue), 0);
        Node::read(0, b"{\"id\":\"x\"}", &mut issues);
        assert_eq!(issues.count(Code::RecordValue), 1);
    }
}
