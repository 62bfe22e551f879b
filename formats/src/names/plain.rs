//! Writes a name out plainly. Rules that classify names are matched against this text.
//!
//! It is not the C++ name, which can take a demangler any time and be of any length. Each byte of
//! the name is read once, and no piece of it is written twice: back references are dropped. Every
//! identifier of the name appears whole and in its order, after a character that is not part of a
//! word.

mod parts;
mod types;

use std::borrow::Cow;

/// Bytes of a name that are read.
const MAX_READ: usize = 8192;
/// Bytes of the text at most.
const MAX_TEXT: usize = 4096;

/// A name as readable text, from one walk over its first 8,192 bytes; at most 4,096 bytes.
///
/// A mangled name becomes `a::b::f<c::d<float, 128, true>>(int, e)`, without substitutions,
/// qualifiers, pointers and references. From a wrong length or code on, the rest is copied as it
/// is. Any other name stays itself, cut to the limit.
pub fn plain(name: &str) -> Cow<'_, str> {
    let symbol = name.strip_prefix("_Z").or_else(|| name.strip_prefix("__Z"));
    let text = symbol.and_then(|symbol| Walk::new(prefix(symbol, MAX_READ)).text());
    text.map_or_else(|| Cow::Borrowed(prefix(name, MAX_TEXT)), Cow::Owned)
}

/// The longest prefix of a text that has at most `max_bytes` bytes.
pub fn prefix(text: &str, max_bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(max_bytes)).unwrap_or(text)
}

/// The kind of an open group; an `E` closes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A function: its name and then its types.
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
    /// Number of items written.
    items: usize,
    /// Whether the type of a literal has been read.
    typed: bool,
}

/// The end of the last identifier. If its length turns out to be wrong, everything read since then
/// may be part of it.
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
    /// The next item continues the last one, without a separator.
    glue: bool,
    /// The last item was dropped; its template arguments may follow.
    bare: bool,
    /// The next letter is a type, whatever group is open.
    type_next: bool,
    /// There were local names or sizes of arrays, which are followed by `_`.
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

    /// The text; `None` if the name does not even start like a mangled one.
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

    /// Starts an item: writes its separator from the last one.
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

    /// Reads one code; `None` if the bytes are no code that can stand here.
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

    /// Closes the parameters of the function, which only the end of a name closes.
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

    /// Copies the rest as it is: from the last identifier on, if no group was opened or closed
    /// since then.
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
