//! Writes values of a pickle as JSON, within bounds on depth and length.

use super::heap::{Dict, Heap, List};
use super::records::{Frame, NOTHING};
use super::values::{Code, Value};

/// Maximum depth of a value.
const MAX_DEPTH: usize = 16;
/// Maximum length of a top-level value in bytes. A value of shared lists can be much longer than its
/// file.
const MAX_LENGTH: usize = 1 << 20;
/// Maximum length of a value of an entry or frame in bytes. Many of them may share a value.
const MAX_ITEM_LENGTH: usize = 16 << 10;
/// Maximum length of a stack as text, in bytes.
const MAX_STACK_LENGTH: usize = 64 << 10;

/// Writes the items of an entry or frame as members of an object.
pub fn members(heap: &Heap, items: &[(Code, Code)]) -> String {
    write_members(heap, items, &[], MAX_ITEM_LENGTH)
}

/// Maximum length of a value of a flight recorder's record, in bytes. Coalesced operations have many
/// inputs.
const MAX_RECORD_LENGTH: usize = 256 << 10;

/// Writes the items of a record as members of an object, except those with the given keys.
pub fn long_members(heap: &Heap, items: &[(Code, Code)], except: &[u32]) -> String {
    write_members(heap, items, except, MAX_RECORD_LENGTH)
}

/// Writes the top-level items as members of an object, except those with the given keys.
pub fn top_members(heap: &Heap, items: &[(Code, Code)], except: &[u32]) -> String {
    write_members(heap, items, except, MAX_LENGTH)
}

fn write_members(heap: &Heap, items: &[(Code, Code)], except: &[u32], max_length: usize) -> String {
    let mut out = String::new();
    for (key, value) in items {
        if let Some(Value::Text(no)) = key.unpack(&heap.scalars)
            && except.contains(&no)
        {
            continue;
        }
        let mut writer = Writer { heap, out: String::new(), max_length };
        writer.code(*key, 0);
        writer.out.push(':');
        let key_end = writer.out.len();
        let is_whole = writer.code(*value, 0) && writer.out.len() - key_end <= max_length;
        if !is_whole {
            writer.out.truncate(key_end);
            writer.out.push_str("\"(too long)\"");
        }
        if !out.is_empty() {
            out.push(',');
        }
        out.push_str(&writer.out);
    }
    out
}

/// Writes a text as a JSON string.
fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

struct Writer<'a> {
    heap: &'a Heap,
    out: String,
    max_length: usize,
}

impl Writer<'_> {
    /// Writes a value; returns whether it is complete.
    fn code(&mut self, code: Code, depth: usize) -> bool {
        let heap = self.heap;
        if depth > MAX_DEPTH || self.out.len() > self.max_length {
            return false;
        }
        match code.unpack(&heap.scalars) {
            None | Some(Value::None) => self.out.push_str("null"),
            Some(Value::Wide) => self.out.push_str("\"(beyond 64 bits)\""),
            Some(Value::Bool(b)) => self.out.push_str(if b { "true" } else { "false" }),
            Some(Value::Int(n)) => self.out.push_str(&n.to_string()),
            Some(Value::Float(f)) if f.is_finite() => self.out.push_str(&format!("{f:?}")),
            Some(Value::Float(f)) => self.out.push_str(&format!("\"{f}\"")),
            Some(Value::Text(no)) => quoted(&heap.texts.text(no), &mut self.out),
            Some(Value::Tuple(no)) => return self.list(heap.tuples.get(no), depth),
            Some(Value::List(no)) => match heap.lists[no as usize] {
                List::Empty => self.out.push_str("[]"),
                List::Stack(_) => self.out.push_str("\"(frames)\""),
                List::Items(items) => return self.list(&heap.items[items as usize], depth),
            },
            Some(Value::Dict(no)) => match heap.dicts[no as usize] {
                Dict::Other(no) => return self.dict(&heap.others[no as usize], depth),
                Dict::Empty => self.out.push_str("{}"),
                _ => self.out.push_str("\"(record)\""),
            },
        }
        true
    }

    fn list(&mut self, codes: &[Code], depth: usize) -> bool {
        self.out.push('[');
        for (at, code) in codes.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            if !self.code(*code, depth + 1) {
                return false;
            }
        }
        self.out.push(']');
        true
    }

    fn dict(&mut self, items: &[(Code, Code)], depth: usize) -> bool {
        self.out.push('{');
        for (at, (key, value)) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            if !self.code(*key, depth + 1) {
                return false;
            }
            self.out.push(':');
            if !self.code(*value, depth + 1) {
                return false;
            }
        }
        self.out.push('}');
        true
    }
}

/// Writes a stack as Kineto does: frames joined by `;`, root first. A very long one is cut.
pub fn stack_text(heap: &Heap, stack: u32) -> String {
    let mut text = String::new();
    for id in heap.stacks.get(stack).iter().rev() {
        if text.len() > MAX_STACK_LENGTH {
            text.push_str(";…");
            break;
        }
        if let Some(frame) = heap.frames.get(*id).first() {
            if !text.is_empty() {
                text.push(';');
            }
            frame_text(heap, frame, &mut text);
        }
    }
    text
}

/// Writes a frame as Kineto does: `file(line): name`, or the name alone if there is no file.
fn frame_text(heap: &Heap, frame: &Frame, out: &mut String) {
    let file = if frame.file == NOTHING { "".into() } else { heap.texts.text(frame.file) };
    let name = if frame.name == NOTHING { "".into() } else { heap.texts.text(frame.name) };
    if !file.is_empty() && file != "??" {
        out.push_str(&file);
        out.push_str(&format!("({}): ", frame.line.max(0)));
    }
    out.push_str(&name);
}
