//! The text of a name that rules are matched against.
//!
//! It is not the C++ name, which can take a demangler any time and be of any length. Each byte of
//! the name is looked at once, and no piece of it is ever written twice: what a mangled name refers
//! back to is left out. Every identifier of the name appears whole and in its order, behind a sign
//! that is no part of a word.

use std::borrow::Cow;

use super::codes;

/// Bytes of a name that are looked at.
const LOOKED_AT: usize = 8192;
/// Bytes of the text at most.
const LONGEST: usize = 4096;

/// What a name says, in one walk over its first 8,192 bytes; at most 4,096 bytes.
///
/// A mangled name becomes `a::b::f<c::d<float, 128, true>>(int, e)`: without substitutions,
/// qualifiers, pointers and references. Where lengths or codes are wrong the rest is taken as it
/// stands. Any other name is itself, cut.
pub(crate) fn plain(name: &str) -> Cow<'_, str> {
    let symbol = name.strip_prefix("_Z").or_else(|| name.strip_prefix("__Z"));
    let text = symbol.and_then(|symbol| Walk::new(head(symbol, LOOKED_AT)).text());
    text.map_or_else(|| Cow::Borrowed(head(name, LONGEST)), Cow::Owned)
}

/// The beginning of a text, of at most as many bytes.
pub(super) fn head(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

/// What is open, up to the `E` that closes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A function: its name and then its types.
    Encoding,
    /// A function that something is local to.
    Local,
    Nested,
    Arguments,
    Pack,
    Function,
    Lambda,
    Expression,
    Literal,
    /// Names before the last one of an expression.
    Levels,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    kind: Kind,
    /// How many items were written.
    items: usize,
    /// The type of a literal has been read.
    typed: bool,
}

/// Where an identifier ended: all that was read from there on may be part of it, if its length
/// turns out to be wrong.
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
    /// The next item goes on with the last one.
    glue: bool,
    /// The last item was left out; its template arguments may follow.
    bare: bool,
    /// The next letter is a type, wherever it stands.
    type_next: bool,
    /// There were local names or sizes of arrays, which have `_` behind them.
    loose: bool,
    mark: Option<Mark>,
}

impl<'a> Walk<'a> {
    fn new(symbol: &'a str) -> Self {
        let frames = vec![Frame { kind: Kind::Encoding, items: 0, typed: false }];
        let out = String::with_capacity(symbol.len().min(LONGEST));
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

    /// `None` if the name does not even begin like a mangled one.
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
        let text = head(text, LONGEST.saturating_sub(self.out.len()));
        self.out.push_str(text);
        self.full = self.out.len() + 4 > LONGEST;
    }

    /// Writes what separates the next item from the last one.
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

    /// An item that is left out.
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

    /// Reads one code; `None` if there is none that can stand here.
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

    /// What names are made of beside identifiers.
    fn in_name(&mut self) -> Option<()> {
        match self.rest() {
            [b'C', b'I', ..] => self.skip(2),
            [b'C' | b'D', b'0'..=b'9', ..] => self.skip(2),
            [b'D', b'C', ..] => self.open(Kind::Pack, "", 2),
            [b'K' | b'V' | b'r' | b'R' | b'O' | b'H', ..] if self.frame().items == 0 => {
                self.skip(1)
            }
            [b'L' | b'M' | b'W' | b'F', ..] => self.skip(1),
            [first, second, ..] => {
                let code = [*first, *second];
                let sign = codes::operator(&code)?;
                self.word("operator", 2)?;
                self.write(sign);
                self.glue = matches!(&code, b"cv" | b"li");
                self.type_next = &code == b"cv";
                Some(())
            }
            _ => None,
        }
    }

    fn in_type(&mut self) -> Option<()> {
        let frame = self.frame();
        let kind = frame.kind;
        match *self.rest() {
            [b'v', ..]
                if matches!(kind, Kind::Encoding | Kind::Local | Kind::Lambda)
                    || kind == Kind::Function && frame.items > 0 =>
            {
                self.skip(1)
            }
            [
                b'P' | b'R' | b'O' | b'K' | b'V' | b'r' | b'C' | b'G' | b'M' | b'u' | b'Q' | b'W',
                ..,
            ] => self.skip(1),
            [b'L', ..] => self.literal(),
            [b'F', ..] => {
                self.item();
                self.open(Kind::Function, "(", 1)?;
                let language = usize::from(self.rest().first() == Some(&b'Y'));
                self.skip(language)
            }
            [b'A', ..] => {
                self.loose = true;
                self.at += 1;
                self.number()
            }
            [b'U', ..] => {
                self.at += 1;
                self.identifier()?;
                self.write(" ");
                self.glue = true;
                Some(())
            }
            [b'D', code, ..] => self.in_type_d(code),
            [code, ..] => self.word(codes::builtin(code)?, 1),
            [] => None,
        }
    }

    /// Types whose codes begin with `D`.
    fn in_type_d(&mut self, code: u8) -> Option<()> {
        match code {
            b'F' | b'B' | b'U' => {
                let digits = digits(self.rest().get(2..)?);
                let bits = self.symbol.get(self.at + 2..self.at + 2 + digits)?;
                let name = match (code, self.rest().get(2 + digits)) {
                    (b'F', Some(b'b')) => format!("std::bfloat{bits}_t"),
                    (b'F', Some(b'x')) => format!("_Float{bits}x"),
                    (b'F', _) => format!("_Float{bits}"),
                    (b'B', _) => format!("_BitInt({bits})"),
                    _ => format!("unsigned _BitInt({bits})"),
                };
                let end =
                    usize::from(matches!(self.rest().get(2 + digits), Some(b'b' | b'x' | b'_')));
                self.word(&name, 2 + digits + end)
            }
            b'v' => {
                self.at += 2;
                self.number()
            }
            b'p' | b'o' | b'x' => self.skip(2),
            b'O' | b'w' => self.open(Kind::Pack, "", 2),
            _ => self.word(codes::builtin_d(code)?, 2),
        }
    }

    fn in_expression(&mut self) -> Option<()> {
        match self.rest() {
            [b'L', ..] => self.literal(),
            [b'f', b'p' | b'L', ..] => {
                self.at += 2;
                self.number()?;
                self.skip(usize::from(self.rest().first() == Some(&b'p')))?;
                self.number()
            }
            [b's', b'r', b'0'..=b'9', ..] => {
                self.item();
                self.open(Kind::Levels, "", 2)
            }
            [first, second, ..] if codes::in_expression(&[*first, *second]) => {
                let code = [*first, *second];
                if codes::has_list(&code) {
                    self.item();
                    self.open(Kind::Expression, "", 0)?;
                }
                self.type_next = codes::has_type(&code);
                self.skip(2)
            }
            [b'_', ..] => self.skip(1),
            _ => self.in_type(),
        }
    }

    fn identifier(&mut self) -> Option<()> {
        let digits = digits(self.rest());
        let length = self
            .symbol
            .get(self.at..self.at + digits)?
            .bytes()
            .fold(0_usize, |n, d| n.saturating_mul(10).saturating_add(usize::from(d - b'0')));
        let from = self.at + digits;
        let following = self.symbol.get(from..)?;
        // What a length that is too small leaves: these digits are the end of the name before them.
        if length == 0
            || following == "E" && self.mark.as_ref().is_some_and(|mark| mark.at == self.at)
        {
            return None;
        }
        let claimed = head(following, length);
        let end = claimed
            .find(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_' && c != '$')
            .unwrap_or(claimed.len());
        let identifier = claimed.get(..end)?;
        self.item();
        self.write(if identifier.starts_with("_GLOBAL__N") {
            "(anonymous namespace)"
        } else {
            identifier
        });
        self.at = from + end;
        self.mark = Some(Mark { at: self.at, written: self.out.len(), depth: self.frames.len() });
        Some(())
    }

    /// `S_`, `S1_`, `St`, `Sa`: only those of the standard library are written.
    fn substitution(&mut self) -> Option<()> {
        match *self.rest() {
            [_, b't', ..] => {
                self.word("std::", 2)?;
                self.glue = true;
                Some(())
            }
            [_, code, ..] if code.is_ascii_lowercase() => self.word(codes::standard(code)?, 2),
            _ => {
                let rest = self.rest().get(1..)?;
                let sequence = rest
                    .iter()
                    .take_while(|c| c.is_ascii_digit() || c.is_ascii_uppercase())
                    .count();
                match rest.get(sequence) {
                    Some(b'_') => self.left_out(sequence + 2),
                    None => self.left_out(sequence + 1),
                    Some(_) => None,
                }
            }
        }
    }

    /// `T_`, `T1_`, and what declares parameters of templates.
    fn parameter(&mut self) -> Option<()> {
        match *self.rest() {
            [_, b't', ..] => self.open(Kind::Pack, "", 2),
            [_, b'a'..=b'z', ..] => self.skip(2),
            _ => {
                let level = usize::from(self.rest().get(1) == Some(&b'L'));
                self.left_out(1 + level)?;
                self.number()?;
                if level == 1 { self.number() } else { Some(()) }
            }
        }
    }

    /// Passes over `_`, `1_` or `1`.
    fn number(&mut self) -> Option<()> {
        self.at += digits(self.rest());
        self.skip(usize::from(self.rest().first() == Some(&b'_')))
    }

    fn literal(&mut self) -> Option<()> {
        self.item();
        match self.rest() {
            [_, b'_', b'Z', ..] => self.open(Kind::Encoding, "", 3),
            [_, b'Z', ..] => self.open(Kind::Encoding, "", 2),
            [_, b'b', b'0', b'E', ..] => {
                self.write("false");
                self.skip(4)
            }
            [_, b'b', b'1', b'E', ..] => {
                self.write("true");
                self.skip(4)
            }
            [_, b'D', b'n', ..] => {
                self.write("nullptr");
                self.open(Kind::Literal, "", 3)
            }
            [_, code, b'0'..=b'9' | b'n' | b'E' | b'a'..=b'f', ..]
                if codes::builtin(*code).is_some() =>
            {
                self.open(Kind::Literal, "", 2)?;
                self.left_out(0)
            }
            _ => self.open(Kind::Literal, "", 1),
        }
    }

    /// The value of a literal up to its `E`.
    fn value(&mut self) -> Option<()> {
        if self.frame().items > 0 {
            self.write(")");
        }
        let minus = usize::from(self.rest().first() == Some(&b'n'));
        let value = self
            .rest()
            .get(minus..)?
            .iter()
            .take_while(|c| c.is_ascii_digit() || matches!(c, b'a'..=b'f' | b'_'))
            .count();
        self.write(if minus == 1 { "-" } else { "" });
        self.write(self.symbol.get(self.at + minus..self.at + minus + value)?);
        self.at += minus + value;
        self.frames.pop();
        self.bare = false;
        if self.rest().first() == Some(&b'E') { self.skip(1) } else { Some(()) }
    }

    /// Closes what only the end of a name closes.
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

    /// Takes the rest as it stands: from the last identifier on, if nothing was opened or closed
    /// since.
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
