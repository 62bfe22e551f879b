//! Writes a name as plain text. The rules that classify names are matched against this text.
//!
//! The result is not the exact C++ name, because demangling can take unbounded time and produce
//! text of any length. Each byte of the name is read once, and no part is written twice: back
//! references are dropped. Every identifier of the name appears in full and in its original order,
//! after a character that is not part of a word.

mod parts;
mod types;

use std::borrow::Cow;

/// Number of bytes of a name that are read.
const MAX_READ: usize = 8192;
/// Maximum number of bytes of the resulting text.
const MAX_TEXT: usize = 4096;

/// Converts a name to readable text of at most 4,096 bytes, in one pass over its first 8,192 bytes.
///
/// A mangled name becomes `a::b::f<c::d<float, 128, true>>(int, e)`, without substitutions,
/// qualifiers, pointers and references. From an invalid length or code on, the rest is copied
/// unchanged. Any other name is returned unchanged, cut to the limit.
pub fn plain(name: &str) -> Cow<'_, str> {
    let symbol = name.strip_prefix("_Z").or_else(|| name.strip_prefix("__Z"));
    let text = symbol.and_then(|symbol| Walk::new(prefix(symbol, MAX_READ)).text());
    text.map_or_else(|| Cow::Borrowed(prefix(name, MAX_TEXT)), Cow::Owned)
}

/// Returns the longest prefix of a text that has at most `max_bytes` bytes.
pub fn prefix(text: &str, max_bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(max_bytes)).unwrap_or(text)
}

/// The kind of an open group, which an `E` closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A function: its name, followed by its types.
    Encoding,
    /// A function that contains a local name.
    Local,
    Nested,
    Arguments,
    Pack,
    Function,
    Lambda,
    Expression,
    Literal,
    /// The qualifiers of a name in an expression.
    Levels,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    kind: Kind,
    /// Number of items written so far.
    items: usize,
    /// Whether the type of a literal has been read.
    typed: bool,
}

/// The end of the last identifier. If the length of that identifier turns out to be wrong,
/// everything read since then may be part of it.
struct Mark {
    at: usize,
    written: usize,
    depth: usize,
}

struct Walk<'a> {
    symbol: &'a str,
    at: usize,
    out: String,
    full: bool,
    frames: Vec<Frame>,
    /// Whether the next item continues the last one, without a separator.
    glue: bool,
    /// Whether the last item was dropped; its template arguments may follow.
    bare: bool,
    /// Whether the next letter is a type, whatever group is open.
    type_next: bool,
    /// Whether the name contains local names or array sizes, which are followed by `_`.
    loose: bool,
    mark: Option<Mark>,
}

impl<'a> Walk<'a> {
    fn new(symbol: &'a str) -> Self {
        let frames = vec![Frame { kind: Kind::Encoding, items: 0, typed: false }];
        let out = String::with_capacity(symbol.len().min(MAX_TEXT));
        Self {
            symbol,
            at: 0,
            out,
            full: false,
            frames,
            glue: false,
            bare: false,
            type_next: false,
            loose: false,
            mark: None,
        }
    }

    /// Returns the text, or `None` if the name does not even start like a mangled one.
    fn text(mut self) -> Option<String> {
        self.at += match self.rest() {
            [b'G', b'T', ..] => 3,
            [b'T' | b'G', b'A'..=b'Z', ..] => 2,
            _ => 0,
        };
        while !self.full && self.at < self.symbol.len() {
            if self.step().is_none() {
                if self.out.is_empty() {
                    return None;
                }
                self.take_rest();
            }
        }
        self.end();
        self.out.contains(|c: char| c.is_alphanumeric()).then_some(self.out)
    }

    fn rest(&self) -> &'a [u8] {
        self.symbol.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn frame(&self) -> Frame {
        self.frames.last().copied().unwrap_or(Frame {
            kind: Kind::Encoding,
            items: 0,
            typed: false,
        })
    }

    fn write(&mut self, text: &str) {
        let text = prefix(text, MAX_TEXT.saturating_sub(self.out.len()));
        self.out.push_str(text);
        self.full = self.out.len() + 4 > MAX_TEXT;
    }

    /// Starts an item by writing the separator from the previous item.
    fn item(&mut self) {
        self.bare = false;
        self.type_next = false;
        let glue = std::mem::take(&mut self.glue);
        let Some(frame) = self.frames.last_mut() else { return };
        if glue && frame.items > 0 {
            return;
        }
        let separator = match (frame.kind, frame.items) {
            (Kind::Literal, 0) => "(",
            (_, 0) => "",
            (Kind::Encoding | Kind::Local, 1) => "(",
            (Kind::Nested | Kind::Levels, _) => "::",
            (Kind::Expression, _) => " ",
            _ => ", ",
        };
        frame.items += 1;
        frame.typed = true;
        self.write(separator);
    }

    fn open(&mut self, kind: Kind, sign: &str, skip: usize) -> Option<()> {
        let items = if kind == Kind::Pack { self.frame().items } else { 0 };
        self.write(sign);
        self.frames.push(Frame { kind, items, typed: false });
        self.at += skip;
        Some(())
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.at += bytes;
        Some(())
    }

    /// Skips an item without writing it.
    fn left_out(&mut self, bytes: usize) -> Option<()> {
        self.bare = true;
        self.type_next = false;
        if let Some(frame) = self.frames.last_mut() {
            frame.typed = true;
        }
        self.skip(bytes)
    }

    fn word(&mut self, word: &str, bytes: usize) -> Option<()> {
        self.item();
        self.write(word);
        self.skip(bytes)
    }

    /// Reads one code; returns `None` if no valid code stands here.
    fn step(&mut self) -> Option<()> {
        let frame = self.frame();
        let rest = self.rest();
        if frame.kind == Kind::Literal && frame.typed && !matches!(rest, [b'I' | b'B', ..]) {
            return self.value();
        }
        match rest {
            [b'E', ..] => self.close(),
            [b'0'..=b'9', ..] => self.identifier(),
            [b'N', ..] => {
                self.item();
                self.open(Kind::Nested, "", 1)
            }
            [b'S', ..] => self.substitution(),
            [b'T', ..] => self.parameter(),
            [b'I', ..] => {
                if self.bare {
                    self.item();
                }
                self.open(Kind::Arguments, "<", 1)
            }
            [b'J', ..] => self.open(Kind::Pack, "", 1),
            [b'X', ..] => {
                self.item();
                self.open(Kind::Expression, "", 1)
            }
            [b'Z', ..] => {
                self.loose = true;
                self.item();
                self.open(Kind::Local, "", 1)
            }
            [b'U', b'l', ..] => {
                self.item();
                self.open(Kind::Lambda, "{lambda(", 2)
            }
            [b'U', b't', ..] => {
                self.word("{unnamed}", 2)?;
                self.number()
            }
            [b'D', b't' | b'T', ..] => {
                self.item();
                self.open(Kind::Expression, "", 2)
            }
            [b'B', b'0'..=b'9', ..] => {
                self.write("[abi:");
                self.glue = true;
                self.at += 1;
                self.identifier()?;
                self.write("]");
                Some(())
            }
            [b'.', ..] => {
                self.end();
                self.take_rest()
            }
            [b'_', ..] if self.loose && !matches!(frame.kind, Kind::Nested | Kind::Levels) => {
                self.at += 1;
                self.number()
            }
            _ if self.type_next => self.in_type(),
            _ => match frame.kind {
                Kind::Nested | Kind::Levels => self.in_name(),
                Kind::Encoding | Kind::Local if frame.items == 0 => self.in_name(),
                Kind::Expression => self.in_expression(),
                _ => self.in_type(),
            },
        }
    }

    /// Skips `_`, `1_` or `1`.
    fn number(&mut self) -> Option<()> {
        self.at += digits(self.rest());
        self.skip(usize::from(self.rest().first() == Some(&b'_')))
    }

    /// Closes the parameter list of the outermost function, which has no closing code of its own.
    fn end(&mut self) {
        if self.frames.len() == 1 && self.frame().items > 1 {
            self.write(")");
        }
    }

    fn close(&mut self) -> Option<()> {
        self.at += 1;
        if self.frames.len() < 2 {
            return Some(());
        }
        let closed = self.frames.pop()?;
        (self.bare, self.glue, self.type_next) = (false, false, false);
        match closed.kind {
            Kind::Arguments => self.write(">"),
            Kind::Function => self.write(")"),
            Kind::Levels => {
                self.write("::");
                self.glue = true;
            }
            Kind::Encoding if closed.items > 1 => self.write(")"),
            Kind::Pack => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.items = closed.items;
                }
            }
            Kind::Lambda => {
                self.write(")}");
                return self.number();
            }
            Kind::Local => {
                self.write(if closed.items > 1 { ")::" } else { "::" });
                self.glue = true;
                match self.rest() {
                    [b's', ..] => return self.skip(1),
                    [b'd', b'0'..=b'9' | b'_', ..] => {
                        self.at += 1;
                        return self.number();
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Copies the rest unchanged. The copy starts after the last identifier if no group was opened
    /// or closed since then.
    fn take_rest(&mut self) -> Option<()> {
        if let Some(mark) = self
            .mark
            .take()
            .filter(|mark| mark.depth == self.frames.len() && self.rest().first() != Some(&b'.'))
        {
            self.out.truncate(mark.written);
            self.at = mark.at;
        }
        let rest = self.symbol.get(self.at..).unwrap_or_default();
        self.write(if rest == ".kd" { "" } else { rest });
        self.at = self.symbol.len();
        self.frames.clear();
        Some(())
    }
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests;
