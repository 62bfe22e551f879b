//! Writes strings of the trace to columns.

use super::context::Context;
use crate::encode::{Codec, DictionaryStrings};
use crate::error::Result;
use crate::json::{self, Oddities};
use crate::trace::{INLINE_TEXT, MAX_NAME, NO_TEXT, TextId};

/// Sets an interned text by its id. `read` finds the raw value again if the text is too long to be
/// interned.
#[inline]
pub fn set_text<'a>(
    column: &mut DictionaryStrings,
    row: usize,
    c: &Context<'_>,
    id: TextId,
    read: impl FnOnce() -> Option<&'a [u8]>,
    codec: &mut Codec,
) -> Result<()> {
    match id {
        NO_TEXT => Ok(()),
        INLINE_TEXT => {
            let Some(raw) = read() else { return Ok(()) };
            column.set(row, cut_text(json::unquote(raw)).as_bytes(), codec)
        }
        id => column.set_id(row, id, c.texts[id as usize].as_bytes(), codec),
    }
}

/// Returns the text of a name or category, cut to [`MAX_NAME`] bytes.
pub fn cut_text(inner: &[u8]) -> String {
    let mut text = json::as_text(json::cut(inner, MAX_NAME), &mut Oddities::default()).into_owned();
    while text.ends_with('\u{fffd}') && inner.len() > MAX_NAME {
        text.pop();
    }
    text
}

/// Sets a part of the compact args: strings without their quotes, any other value unchanged.
pub fn set_span(
    column: &mut DictionaryStrings,
    row: usize,
    raw: &[u8],
    codec: &mut Codec,
) -> Result<()> {
    match raw {
        b"null" => Ok(()),
        [b'"', inner @ .., b'"'] if memchr::memchr(b'\\', inner).is_none() => {
            column.set(row, inner, codec)
        }
        [b'"', inner @ .., b'"'] => {
            column.set(row, json::as_text(inner, &mut Oddities::default()).as_bytes(), codec)
        }
        _ => column.set(row, raw, codec),
    }
}
