//! Tables of texts by number. Only texts that an imported row refers to are read.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::import::typed::{TypedWriter, push_text};
use crate::issues::Code;
use crate::sqlite::{Column, Database, Lookup};
use crate::trace::TextId;

/// Maximum number of texts that are kept.
const MAX_KEPT: usize = 1 << 20;
/// Maximum total length of the texts that are kept, in bytes.
const MAX_BYTES: usize = 128 << 20;

/// A text, in the forms in which it is used.
#[derive(Clone)]
pub struct Text {
    /// The id of the interned text.
    pub id: TextId,
    /// The text.
    pub text: Rc<str>,
    /// The text in quotes with its escapes.
    pub json: Rc<[u8]>,
}

impl Text {
    /// Creates a text that comes from no table.
    pub fn new(writer: &TypedWriter<'_>, text: &str) -> Self {
        let mut json = Vec::with_capacity(text.len() + 2);
        push_text(&mut json, text);
        Self { id: writer.intern(text), text: text.into(), json: json.into() }
    }
}

/// A table of texts.
pub struct Strings<'a> {
    lookup: Option<Lookup<'a>>,
    value: Column,
    kept: FxHashMap<i64, Option<Text>>,
    bytes: usize,
}

impl<'a> Strings<'a> {
    /// Prepares to read the texts of a table with columns `key` and `value`.
    pub fn new(db: &'a Database<'_>, table: &str, key: &str, value: &str) -> Result<Self> {
        let lookup = db.lookup(table, key)?;
        let value = lookup.as_ref().map_or(Column::NONE, |l| l.column(value));
        Ok(Self { lookup, value, kept: FxHashMap::default(), bytes: 0 })
    }

    /// Returns the text with this number; `None` if the table has none. A text that is not valid is
    /// counted when it is read, which is once unless there are very many.
    #[inline]
    pub fn get(&mut self, writer: &mut TypedWriter<'_>, key: i64) -> Result<Option<Text>> {
        match self.kept.get(&key) {
            Some(known) => Ok(known.clone()),
            None => self.read(writer, key),
        }
    }

    #[cold]
    fn read(&mut self, writer: &mut TypedWriter<'_>, key: i64) -> Result<Option<Text>> {
        let row = self.lookup.as_mut().map(|lookup| lookup.find(key)).transpose()?.flatten();
        let text = row.and_then(|row| {
            let text = row.text(self.value)?;
            if row.is_invalid_text(self.value) {
                writer.issue(Code::InvalidUtf8, true, text.as_bytes());
            }
            Some(Text::new(writer, &text))
        });
        self.bytes += text.as_ref().map_or(0, |t| t.text.len() + t.json.len());
        if self.kept.len() < MAX_KEPT && self.bytes < MAX_BYTES {
            self.kept.insert(key, text.clone());
        }
        Ok(text)
    }
}
