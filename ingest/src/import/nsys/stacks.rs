//! Stacks of calls, by the number of the chain.

use std::rc::Rc;

use super::Reader;
use crate::error::Result;
use crate::issues::Code;

/// Maximum length of a stack as text, in bytes.
const MAX_STACK: usize = 64 << 10;

/// A table of chains: one row for each frame.
#[derive(Default)]
pub struct Stacks {
    /// Chain, depth (0 is the innermost frame) and the number of the function's name.
    frames: Vec<(i64, i64, i64)>,
    last: Option<(i64, Rc<str>)>,
}

impl Stacks {
    /// Reads all frames, unless they need more memory than there is for them.
    pub fn read(reader: &mut Reader<'_>, name: &str) -> Result<Self> {
        let Some(table) = reader.db.table(name) else { return Ok(Self::default()) };
        let [id, depth, symbol] = ["id", "stackDepth", "symbol"].map(|column| table.column(column));
        let (mut frames, max) = (Vec::new(), reader.max_memory / size_of::<(i64, i64, i64)>());
        let mut is_full = false;
        reader.db.scan(table, |row| {
            let [id, depth, symbol] = [id, depth, symbol].map(|c| row.int(c, &mut false));
            if let (Some(id), Some(symbol)) = (id, symbol) {
                is_full |= frames.len() == max;
                if !is_full {
                    frames.push((id, depth.unwrap_or(0), symbol));
                }
            }
            Ok(())
        })?;
        if is_full {
            reader.writer.issue(Code::TopLevelValue, false, name.as_bytes());
            let detail = format!("{name} needs more memory than --memory-limit leaves for it");
            reader.writer.detail(Code::TopLevelValue, detail);
            frames = Vec::new();
        }
        // The outermost frame comes first in a text.
        frames.sort_unstable_by_key(|(id, depth, _)| (*id, std::cmp::Reverse(*depth)));
        Ok(Self { frames, last: None })
    }

    /// Returns a chain as Kineto writes stacks: names joined by `;`, outermost first.
    pub fn text(&mut self, reader: &mut Reader<'_>, chain: i64) -> Result<Option<Rc<str>>> {
        if let Some((last, text)) = &self.last
            && *last == chain
        {
            return Ok(Some(text.clone()));
        }
        let from = self.frames.partition_point(|(id, ..)| *id < chain);
        let mut out = String::new();
        for &(_, _, symbol) in self.frames[from..].iter().take_while(|(id, ..)| *id == chain) {
            if out.len() > MAX_STACK {
                out.push_str(";…");
                break;
            }
            if !out.is_empty() {
                out.push(';');
            }
            if let Some(name) = reader.strings.get(&mut reader.writer, symbol)? {
                out.push_str(&name.text);
            }
        }
        if out.is_empty() {
            return Ok(None);
        }
        let text: Rc<str> = out.into();
        self.last = Some((chain, text.clone()));
        Ok(Some(text))
    }
}
