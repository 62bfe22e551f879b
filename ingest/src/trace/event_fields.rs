//! The fields of one element, as raw text.

use crate::issues::Code;
use crate::json::{self, Bad, Cursor, Oddities, TimeError};

/// The reason why an element cannot become a row.
#[derive(Debug)]
pub struct Refusal(pub Code);

/// The fields of an element as raw text. For repeated keys, the last value is kept.
#[derive(Debug, Default)]
pub struct EventFields<'a> {
    pub ph: Option<&'a [u8]>,
    pub cat: Option<&'a [u8]>,
    pub name: Option<&'a [u8]>,
    pub pid: Option<&'a [u8]>,
    pub tid: Option<&'a [u8]>,
    pub ts: Option<&'a [u8]>,
    pub dur: Option<&'a [u8]>,
    pub id: Option<&'a [u8]>,
    pub id2: Option<&'a [u8]>,
    pub scope: Option<&'a [u8]>,
    pub bind_id: Option<&'a [u8]>,
    pub args: Option<&'a [u8]>,
    /// Position of the args in the cursor's text.
    pub args_at: Option<usize>,
    pub binds_enclosing: bool,
    pub flow_in: bool,
    pub flow_out: bool,
    /// Whether there are keys that only the column `extra` keeps.
    pub other_keys: bool,
    /// Whether one of the keys above occurs more than once.
    pub repeated: bool,
}

impl<'a> EventFields<'a> {
    /// Reads the fields of the element at the cursor.
    #[inline]
    pub fn read(c: &mut Cursor<'a>) -> Result<Self, Bad> {
        let mut fields = EventFields::default();
        let origin = c.origin();
        c.object(|key, value| {
            let slot = match key {
                b"ph" => &mut fields.ph,
                b"cat" => &mut fields.cat,
                b"name" => &mut fields.name,
                b"pid" => &mut fields.pid,
                b"tid" => &mut fields.tid,
                b"ts" => &mut fields.ts,
                b"dur" => &mut fields.dur,
                b"args" => {
                    fields.args_at = Some(value.as_ptr() as usize - origin);
                    &mut fields.args
                }
                _ => {
                    fields.other_keys = true;
                    match key {
                        b"id" => &mut fields.id,
                        b"id2" => &mut fields.id2,
                        b"scope" => &mut fields.scope,
                        b"bind_id" => &mut fields.bind_id,
                        b"bp" => return fields.binds_enclosing = value == b"\"e\"",
                        b"flow_in" => return fields.flow_in = is_true(value),
                        b"flow_out" => return fields.flow_out = is_true(value),
                        _ => return,
                    }
                }
            };
            fields.repeated |= slot.is_some();
            *slot = Some(value);
        })?;
        Ok(fields)
    }

    /// Returns the phase, or `None` if it is a string that is not a single character.
    pub fn phase(&self) -> Result<Option<u8>, Refusal> {
        match self.ph {
            Some(&[b'"', ph @ 0x20..0x7f, b'"']) => Ok(Some(ph)),
            Some(raw) if json::is_text(raw) => {
                match json::as_text(json::unquote(raw), &mut Oddities::default()).as_bytes() {
                    &[ph @ 0x20..0x7f] => Ok(Some(ph)),
                    _ => Ok(None),
                }
            }
            _ => Err(Refusal(Code::NoPhase)),
        }
    }

    /// Returns the start in ns, and whether it was rounded.
    #[inline]
    pub fn ts_ns(&self) -> Result<(i64, bool), Refusal> {
        let raw = self.ts.ok_or(Refusal(Code::NoTimestamp))?;
        match json::time_ns(raw) {
            // The lowest value is reserved for "no time".
            Ok((i64::MIN, _)) | Err(TimeError::OutOfRange) => Err(Refusal(Code::TimestampRange)),
            Ok(time) => Ok(time),
            Err(TimeError::NotANumber) => Err(Refusal(Code::NoTimestamp)),
        }
    }

    /// Returns the duration in ns, and whether it was rounded.
    #[inline]
    pub fn dur_ns(&self) -> Result<(i64, bool), ()> {
        let time = json::time_ns(self.dur.ok_or(())?).map_err(|_| ())?;
        if time.0 == i64::MIN { Err(()) } else { Ok(time) }
    }

    /// Returns the text of the category, still escaped.
    pub fn cat_text(&self) -> &'a [u8] {
        self.cat.map_or(&[], json::unquote)
    }

    /// Returns the text of the name, still escaped.
    pub fn name_text(&self) -> &'a [u8] {
        self.name.map_or(&[], json::unquote)
    }

    /// Whether an async event or a counter event has an id.
    pub fn has_id(&self) -> bool {
        self.id.is_some_and(|r| !json::is_null(r)) || self.id2.is_some()
    }

    /// Whether the id is shared by all processes (`id2.global`).
    pub fn has_global_id(&self) -> bool {
        let mut global = false;
        if let (None, Some(raw @ [b'{', ..])) = (self.id, self.id2) {
            let _ = Cursor::new(raw, 0).object(|key, _| global |= key == b"global");
        }
        global
    }

    /// Returns the async id with its scope, as text.
    pub fn async_id(&self) -> String {
        // Strings keep their quotes, because a number is not the same id as its digits in quotes.
        // Values that are not JSON are treated as strings.
        let text = |raw: Option<&[u8]>| {
            raw.map(|r| match written_id(r) {
                id if json::is_text(r) || id.starts_with('"') => format!("\"{id}\""),
                id => id,
            })
        };
        let id = text(self.id.or(self.id2)).unwrap_or_default();
        match text(self.scope) {
            Some(scope) => format!("{scope} {id}"),
            None => id,
        }
    }
}

/// Converts an id to text: strings are decoded, and other values become compact JSON, so that white
/// space and escapes do not make ids different.
pub fn written_id(raw: &[u8]) -> String {
    let mut odd = Oddities::default();
    if json::is_text(raw) {
        return json::as_text(json::unquote(raw), &mut odd).into_owned();
    }
    let mut compact = Vec::new();
    json::compact_value(raw, &mut compact, &mut odd);
    String::from_utf8_lossy(&compact).into_owned()
}

fn is_true(value: &[u8]) -> bool {
    !matches!(value, b"false" | b"0" | b"null" | b"\"\"" | b"")
}
