//! What the events of one name have in common (`XEventMetadata`): the name and values.

use rustc_hash::FxHashMap;

use super::lines::{is_control_flow, is_copy};
use super::stats::{Slot, Stat, StatNames};
use crate::error::Result;
use crate::trace::{INLINE_TEXT, NO_TEXT, TextId};
use crate::typed::{JsonText, TypedElements};
use crate::wire::{Failure, Fault, Fields, Part, Stream, text};

/// Maximum length of a message that is mapped as a whole, bytes. Longer ones hold programs.
const MAX_MESSAGE: u64 = 64 << 20;
/// Number of bytes of a name that are kept, because the class of events depends on them.
const MAX_BEGINNING: usize = 512;

/// What the events of one name have in common.
#[derive(Debug)]
pub struct EventName {
    /// Name, as the id of an interned text.
    pub name: TextId,
    /// The name, if it is too long to be interned, or if the class of events depends on it.
    pub text: Box<str>,
    /// Values as members of args, as a range of the arena.
    members: (usize, usize),
    /// The names of the values, and their ranges in the arena.
    own: Box<[(u32, usize, usize)]>,
    /// Whether the events are operators that enclose those of their body.
    pub is_control_flow: bool,
    /// Whether the events start a copy that runs beside other work, or wait for its end.
    pub is_copy: bool,
}

/// The table of a plane.
#[derive(Debug, Default)]
pub struct EventNames {
    names: FxHashMap<i64, EventName>,
    arena: JsonText,
    /// Approximate memory, bytes.
    pub memory: usize,
}

impl EventNames {
    /// Returns an entry by its number.
    #[inline]
    pub fn get(&self, id: i64) -> Option<&EventName> {
        self.names.get(&id)
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Calls a function for the beginning of each name.
    pub fn each(&self, mut each: impl FnMut(&str)) {
        let mut names: Vec<_> = self.names.iter().collect();
        names.sort_by_key(|(id, _)| **id);
        names.iter().for_each(|(_, name)| each(&name.text));
    }

    /// Adds an entry of the table: its key, and a message. `stats` are the names of values.
    pub fn add(
        &mut self,
        part: Part,
        stream: &mut Stream<'_>,
        stats: &StatNames,
        elements: &mut TypedElements<'_>,
    ) -> Result<(), Failure> {
        if part.len() > MAX_MESSAGE {
            elements.issues.add(crate::issues::Code::UnreadMessage, None, Some(part.at), b"");
            return Ok(());
        }
        let bytes = stream.bytes(part.start, part.end)?;
        self.entry(bytes, stats, elements).map_err(|f| f.within(part.start).into())
    }

    fn entry(
        &mut self,
        bytes: &[u8],
        stats: &StatNames,
        elements: &mut TypedElements<'_>,
    ) -> Result<(), Fault> {
        let (mut key, mut message, mut start) = (0, &b""[..], 0);
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => key = field.int()?,
                2 => (message, start) = (field.bytes()?, field.start()),
                _ => {}
            }
        }
        let (mut name, mut display) = (&b""[..], &b""[..]);
        let mut values: Vec<Stat<'_>> = Vec::new();
        let within = |f: Fault| f.within(start);
        let mut fields = Fields::of(message);
        while let Some(field) = fields.next().map_err(within)? {
            match field.number {
                1 if key == 0 => key = field.int().map_err(within)?,
                2 => name = field.bytes().map_err(within)?,
                4 => display = field.bytes().map_err(within)?,
                5 => {
                    let at = start + field.start();
                    let bytes = field.bytes().map_err(within)?;
                    values.push(Stat::read(bytes, &mut Vec::new()).map_err(|f| f.within(at))?);
                }
                _ => {}
            }
        }
        let shown = if display.is_empty() { name } else { display };
        let shown = text(shown);
        let id = if shown.is_empty() { NO_TEXT } else { elements.text(&shown) };
        let mut own = Vec::new();
        let from = self.arena.len();
        if !display.is_empty() && display != name {
            self.arena.key("long_name");
            self.arena.text(&text(name));
        }
        let mut names = Vec::new();
        stats.resolve(&values, &mut names);
        stats.members(&values, &names, &mut self.arena, |name, (start, end)| {
            own.push((name.same, start, end));
        });
        let category = values.iter().find_map(|stat| {
            let is_category = stats.get(stat.id).is_some_and(|n| n.slot == Slot::HloCategory);
            if is_category { stats.text_of(&stat.value) } else { None }
        });
        let is_plain = id != INLINE_TEXT && shown.len() > MAX_BEGINNING;
        self.memory +=
            (self.arena.len() - from) + shown.len().min(MAX_BEGINNING) + 200 + own.len() * 24;
        let entry = EventName {
            name: id,
            // The beginning of a name tells its class.
            text: if is_plain {
                shown[..shown.floor_char_boundary(MAX_BEGINNING)].into()
            } else {
                (*shown).into()
            },
            members: (from, self.arena.len()),
            own: own.into(),
            is_control_flow: category.is_some_and(is_control_flow),
            is_copy: category.is_some_and(is_copy),
        };
        self.names.insert(key, entry);
        Ok(())
    }

    /// Writes the values of an entry as members of args, except those that the event has itself.
    #[inline]
    pub fn write(&self, entry: &EventName, present: impl Fn(u32) -> bool, out: &mut JsonText) {
        let (from, to) = entry.members;
        let text = self.arena.bytes();
        let piece = |from: usize, to: usize| {
            let piece = text.get(from..to).unwrap_or_default();
            piece.strip_prefix(b",").unwrap_or(piece)
        };
        if !entry.own.iter().any(|(name, ..)| present(*name)) {
            out.ready(piece(from, to));
            return;
        }
        let first = entry.own.first().map_or(to, |own| own.1);
        out.ready(piece(from, first));
        for (name, from, to) in &entry.own {
            if !present(*name) {
                out.ready(piece(*from, *to));
            }
        }
    }
}
