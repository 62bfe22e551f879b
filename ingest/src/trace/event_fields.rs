//! The fields of one element, as raw text.

use crate::issues::Code;
use crate::json::{self, Bad, Cursor, Memo, Oddities, Shapes, Slot, TimeError};

/// The reason why an element cannot become a row.
#[derive(Debug)]
pub struct Refusal(pub Code);

/// The fields of an element as raw text. For repeated keys, the last value is kept.
#[derive(Debug, Default, PartialEq)]
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
    /// The value of `correlation` in the args; set by [`EventFields::read_like`] only.
    pub correlation: Option<&'a [u8]>,
    /// The value of `External id` or `external id` in the args; set by
    /// [`EventFields::read_like`] only.
    pub external_id: Option<&'a [u8]>,
    pub binds_enclosing: bool,
    pub flow_in: bool,
    pub flow_out: bool,
    /// Whether there are keys other than those that every event has.
    pub other_keys: bool,
    /// Whether there are keys that only the column `extra` keeps.
    pub extra_keys: bool,
    /// Whether one of the keys above occurs more than once.
    pub repeated: bool,
}

/// The keys of elements and of args that are read, as slots.
mod slot {
    use crate::json::Slot;

    pub const PH: Slot = 1;
    pub const CAT: Slot = 2;
    pub const NAME: Slot = 3;
    pub const PID: Slot = 4;
    pub const TID: Slot = 5;
    pub const TS: Slot = 6;
    pub const DUR: Slot = 7;
    pub const ARGS: Slot = 8;
    pub const ID: Slot = 9;
    pub const ID2: Slot = 10;
    pub const SCOPE: Slot = 11;
    pub const BIND_ID: Slot = 12;
    pub const BP: Slot = 13;
    pub const FLOW_IN: Slot = 14;
    pub const FLOW_OUT: Slot = 15;

    /// Returns the slot of a key of an element.
    pub fn of_field(key: &[u8]) -> Slot {
        match key {
            b"ph" => PH,
            b"cat" => CAT,
            b"name" => NAME,
            b"pid" => PID,
            b"tid" => TID,
            b"ts" => TS,
            b"dur" => DUR,
            b"args" => ARGS,
            b"id" => ID,
            b"id2" => ID2,
            b"scope" => SCOPE,
            b"bind_id" => BIND_ID,
            b"bp" => BP,
            b"flow_in" => FLOW_IN,
            b"flow_out" => FLOW_OUT,
            _ => 0,
        }
    }

    pub const CORRELATION: Slot = 1;
    pub const EXTERNAL_ID: Slot = 2;

    /// Returns the slot of a key of args.
    pub fn of_arg(key: &[u8]) -> Slot {
        match key {
            b"correlation" => CORRELATION,
            b"External id" | b"external id" => EXTERNAL_ID,
            _ => 0,
        }
    }
}

/// What one thread remembers of the elements that it has read.
pub struct ElementShapes {
    fields: Shapes,
    args: Shapes,
    /// Values of args.
    memo: Memo,
}

impl Default for ElementShapes {
    fn default() -> Self {
        Self {
            fields: Shapes::new(slot::of_field),
            args: Shapes::new(slot::of_arg),
            memo: Memo::new(),
        }
    }
}

impl<'a> EventFields<'a> {
    /// Reads the fields of the element at the cursor.
    pub fn read(c: &mut Cursor<'a>) -> Result<Self, Bad> {
        let mut fields = EventFields::default();
        let origin = c.origin();
        c.object(|key, value| fields.set(slot::of_field(key), value, origin))?;
        Ok(fields)
    }

    /// Like [`EventFields::read`], with the help of elements that were read before. Also finds the
    /// ids in args.
    #[inline]
    pub fn read_like(c: &mut Cursor<'a>, shapes: &mut ElementShapes) -> Result<Self, Bad> {
        let mut fields = EventFields::default();
        let origin = c.origin();
        let ElementShapes { fields: outer, args: inner, memo } = shapes;
        c.object_like(outer, |c, slot| {
            let value = if slot == slot::ARGS && c.peek() == Some(b'{') {
                (fields.correlation, fields.external_id) = (None, None);
                let start = c.pos;
                c.object_like(inner, |c, slot| {
                    let value = c.value_like(memo, 1)?;
                    match slot {
                        slot::CORRELATION => fields.correlation = Some(value),
                        slot::EXTERNAL_ID => fields.external_id = Some(value),
                        _ => {}
                    }
                    Ok(())
                })?;
                c.since(start)
            } else {
                c.value()?
            };
            fields.set(slot, value, origin);
            Ok(())
        })?;
        Ok(fields)
    }

    /// Sets the field of a slot. `origin` is the address of the cursor's text.
    #[inline(always)]
    fn set(&mut self, slot: Slot, value: &'a [u8], origin: usize) {
        let field = match slot {
            slot::PH => &mut self.ph,
            slot::CAT => &mut self.cat,
            slot::NAME => &mut self.name,
            slot::PID => &mut self.pid,
            slot::TID => &mut self.tid,
            slot::TS => &mut self.ts,
            slot::DUR => &mut self.dur,
            slot::ARGS => {
                self.args_at = Some(value.as_ptr() as usize - origin);
                &mut self.args
            }
            _ => {
                self.other_keys = true;
                self.extra_keys |= slot != slot::ID;
                match slot {
                    slot::ID => &mut self.id,
                    slot::ID2 => &mut self.id2,
                    slot::SCOPE => &mut self.scope,
                    slot::BIND_ID => &mut self.bind_id,
                    slot::BP => return self.binds_enclosing = value == b"\"e\"",
                    slot::FLOW_IN => return self.flow_in = is_true(value),
                    slot::FLOW_OUT => return self.flow_out = is_true(value),
                    _ => return,
                }
            }
        };
        self.repeated |= field.is_some();
        *field = Some(value);
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
