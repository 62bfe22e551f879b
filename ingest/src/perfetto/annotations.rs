//! Debug annotations: named values of events, which may be nested.

use std::borrow::Cow;

use super::sequence::Sequence;
use crate::json::{self, Cursor, Oddities};
use crate::typed::JsonText;
use crate::wire::{Bad, Fault, Field, Fields, text};

/// Maximum depth of nested annotations.
const MAX_DEPTH: usize = 64;

/// A value that links or columns may need.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Plain<'a> {
    /// An integer.
    Int(i64),
    /// A text.
    Text(&'a str),
    /// Anything else.
    Other,
}

/// Writes annotations as JSON.
pub struct Writer<'s> {
    /// The state of the sequence, for names and texts that are numbers.
    pub sequence: &'s Sequence,
    /// Whether a name or text was not defined.
    pub is_missing: bool,
    /// Whether a text is not valid UTF-8.
    pub is_invalid: bool,
}

impl Writer<'_> {
    /// Writes an annotation as a member. `own` receives its name and value.
    pub fn member(
        &mut self,
        bytes: &[u8],
        out: &mut JsonText,
        own: &mut dyn FnMut(&str, Plain<'_>),
    ) -> Result<(), Fault> {
        match name_of(self.sequence, bytes)? {
            Some(name) => {
                out.key(&name);
                let value = self.value(bytes, out, 0)?;
                own(&name, value);
            }
            None => {
                // A name without a definition keeps its number.
                self.is_missing = true;
                let iid = iid_of(bytes, 1)?;
                out.key(&format!("#{iid}"));
                self.value(bytes, out, 0)?;
            }
        }
        Ok(())
    }

    fn string(&mut self, bytes: &[u8], out: &mut JsonText) {
        self.is_invalid |= std::str::from_utf8(bytes).is_err();
        out.text(&text(bytes));
    }

    /// Writes the value of an annotation. Without a value it writes null.
    fn value<'b>(
        &mut self,
        bytes: &'b [u8],
        out: &mut JsonText,
        depth: usize,
    ) -> Result<Plain<'b>, Fault> {
        if depth > MAX_DEPTH {
            return Err(Fault { bad: Bad::Deep, at: 0 });
        }
        let mut plain = Plain::Other;
        let (mut scalar, mut dict, mut list, mut nested): (Option<Field<'b>>, _, _, _) =
            (None, false, false, None);
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                2..=7 | 9 | 14 | 17 => scalar = Some(field),
                8 => nested = Some(field),
                11 => dict = true,
                12 => list = true,
                _ => {}
            }
        }
        if dict || list {
            let (number, open, close) = if dict { (11, b'{', b'}') } else { (12, b'[', b']') };
            out.open(open);
            let mut fields = Fields::of(bytes);
            while let Some(field) = fields.next()? {
                if field.number != number {
                    continue;
                }
                let inner = field.bytes()?;
                let within = |f: Fault| f.within(field.start());
                if dict {
                    match name_of(self.sequence, inner).map_err(within)? {
                        Some(name) => out.key(&name),
                        None => {
                            self.is_missing = true;
                            out.key(&format!("#{}", iid_of(inner, 1).map_err(within)?));
                        }
                    }
                }
                self.value(inner, out, depth + 1).map_err(within)?;
            }
            out.close(close);
            return Ok(plain);
        }
        if let Some(field) = nested {
            self.nested(field.bytes()?, out, depth + 1).map_err(|f| f.within(field.start()))?;
            return Ok(plain);
        }
        let Some(field) = scalar else {
            out.ready(b"null");
            return Ok(plain);
        };
        match field.number {
            2 => out.bool(field.uint()? != 0),
            3 => {
                let value = field.uint()?;
                if let Ok(value) = i64::try_from(value) {
                    plain = Plain::Int(value);
                }
                out.uint(value);
            }
            4 => {
                plain = Plain::Int(field.int()?);
                out.int(field.int()?);
            }
            5 => out.double(field.double()?),
            6 => {
                let value = field.bytes()?;
                plain = std::str::from_utf8(value).map_or(Plain::Other, Plain::Text);
                self.string(value, out);
            }
            7 => out.text(&format!("0x{:x}", field.uint()?)),
            9 => self.json(field.bytes()?, out),
            17 => match self.sequence.annotation_texts.get(&field.uint()?) {
                Some(value) => out.text(value),
                None => {
                    self.is_missing = true;
                    out.ready(b"null");
                }
            },
            _ => out.base64(field.bytes()?),
        }
        Ok(plain)
    }

    /// Writes a value that is JSON already; as a text if it is not valid.
    fn json(&mut self, bytes: &[u8], out: &mut JsonText) {
        let whole =
            matches!(Cursor::new(bytes, 0).value(), Ok(value) if value.len() == bytes.len());
        if !whole || bytes.is_empty() {
            return self.string(bytes, out);
        }
        let mut compact = Vec::new();
        json::compact_value(bytes, &mut compact, &mut Oddities::default());
        out.ready(&compact);
    }

    /// Writes a value of the older form of nested values.
    fn nested(&mut self, bytes: &[u8], out: &mut JsonText, depth: usize) -> Result<(), Fault> {
        if depth > MAX_DEPTH {
            return Err(Fault { bad: Bad::Deep, at: 0 });
        }
        let mut keys: Vec<&[u8]> = Vec::new();
        let mut values: Vec<(&[u8], u64)> = Vec::new();
        let mut items: Vec<(&[u8], u64)> = Vec::new();
        let mut kind = 0;
        let mut scalar = None;
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => kind = field.uint()?,
                2 => keys.push(field.bytes()?),
                3 => values.push((field.bytes()?, field.start())),
                4 => items.push((field.bytes()?, field.start())),
                5..=8 => scalar = Some(field),
                _ => {}
            }
        }
        match (kind, scalar) {
            (1, _) => {
                out.open(b'{');
                for (key, (value, at)) in keys.iter().zip(&values) {
                    out.key(&text(key));
                    self.nested(value, out, depth + 1).map_err(|f| f.within(*at))?;
                }
                out.close(b'}');
            }
            (2, _) => {
                out.open(b'[');
                for (value, at) in &items {
                    self.nested(value, out, depth + 1).map_err(|f| f.within(*at))?;
                }
                out.close(b']');
            }
            (_, Some(field)) => match field.number {
                5 => out.int(field.int()?),
                6 => out.double(field.double()?),
                7 => out.bool(field.uint()? != 0),
                _ => self.string(field.bytes()?, out),
            },
            _ => out.ready(b"null"),
        }
        Ok(())
    }
}

/// Returns the value of a varint field of a message; 0 if there is none.
fn iid_of(bytes: &[u8], number: u32) -> Result<u64, Fault> {
    let mut fields = Fields::of(bytes);
    let mut iid = 0;
    while let Some(field) = fields.next()? {
        if field.number == number {
            iid = field.uint()?;
        }
    }
    Ok(iid)
}

/// Returns the name of an annotation.
fn name_of<'x>(sequence: &'x Sequence, bytes: &'x [u8]) -> Result<Option<Cow<'x, str>>, Fault> {
    let mut fields = Fields::of(bytes);
    let mut name = None;
    while let Some(field) = fields.next()? {
        match field.number {
            10 => name = Some(text(field.bytes()?)),
            1 => {
                let known = sequence.annotation_names.get(&field.uint()?);
                name = known.map(|known| Cow::Borrowed(&**known)).or(name);
            }
            _ => {}
        }
    }
    Ok(name)
}
