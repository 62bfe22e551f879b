//! The input of a row.

use super::context::Context;
use super::text::cut_text;
use crate::encode::Interned;
use crate::json::Cursor;
use crate::trace::*;

/// The element from which a row is built.
pub struct Element<'a> {
    /// The record of the element.
    pub record: &'a EventRecord,
    /// The text from the start of the args, if there are any.
    pub args: Option<&'a [u8]>,
    /// The element's own fields, for elements that need them ([`WHOLE`]).
    pub fields: Option<&'a EventFields<'a>>,
    /// The text from the start of the element.
    pub text: &'a [u8],
}

impl<'a> Element<'a> {
    /// Returns the text of the args alone, as the example of an issue.
    pub fn args_text(&self) -> &'a [u8] {
        let text = self.args.unwrap_or_default();
        Cursor::new(text, 0).value().unwrap_or(text)
    }

    /// Returns the name of the element.
    pub fn name(&self, c: &Context<'a>) -> Option<Interned<'a>> {
        match self.record.name {
            NO_TEXT => None,
            INLINE_TEXT => {
                let fields = EventFields::read(&mut Cursor::new(self.text, 0)).ok()?;
                Some(Interned::Inline(cut_text(fields.name_text())))
            }
            id => Some(Interned::Numbered(id, &c.texts[id as usize])),
        }
    }
}
