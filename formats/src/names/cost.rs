//! Bounds the time that demangling a name can take.
//!
//! The demangler tries one production after another at the same position. If one fails deep inside,
//! the next one reads the same bytes again, and the cost of nested pieces multiplies: a name of 54
//! bytes kept the demangler busy for seconds, and every two additional bytes doubled that time. So
//! each name is first read here, once and without backtracking, with the grammar that the demangler
//! uses (cpp_demangle 0.5). For each code, this module computes how often the demangler can reach
//! it: the product of the tries of all open pieces. The sum of these numbers bounds the work of the
//! demangler, whether or not the name is valid. A name is refused if the sum exceeds `MAX_WORK` or
//! if the name contains codes that this module does not know. The demangler never sees a refused
//! name.

use super::codes;

mod expressions;
mod tokens;

/// Maximum number of codes that the demangler may visit, counting all tries.
const MAX_WORK: u64 = 1 << 14;
/// The nesting depth at which the demangler itself gives up.
const MAX_DEPTH: u32 = 96;

/// Whether the text after `_Z` is safe to demangle.
pub(super) fn is_bounded(encoding: &str) -> bool {
    work(encoding).is_some()
}

/// Returns an upper bound of the number of codes that the demangler visits, or `None` if it exceeds
/// `MAX_WORK` or a code is not known here.
fn work(encoding: &str) -> Option<u64> {
    let mut reader = Reader {
        bytes: encoding.as_bytes(),
        at: 0,
        tries: 1,
        work: 0,
        depth: 0,
        in_conversion: false,
    };
    reader.encoding()?;
    matches!(reader.rest(), [] | [b'.', ..]).then_some(reader.work)
}

/// The result of reading a piece; `None` means that the name is refused.
type Read = Option<()>;

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// How often the demangler may reach the current position.
    tries: u64,
    work: u64,
    depth: u32,
    /// Whether the reader is inside a conversion operator.
    in_conversion: bool,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    fn skip(&mut self, bytes: usize) -> Read {
        self.at += bytes;
        Some(())
    }

    fn eat(&mut self, code: &[u8]) -> bool {
        let found = self.rest().starts_with(code);
        if found {
            self.at += code.len();
        }
        found
    }

    fn need(&mut self, code: &[u8]) -> Read {
        self.eat(code).then_some(())
    }

    /// Reads a piece that the demangler may read up to `tries` times before it gives up.
    fn piece(&mut self, tries: u64, read: impl FnOnce(&mut Self) -> Read) -> Read {
        let before = self.tries;
        self.tries = self.tries.saturating_mul(tries);
        self.work = self.work.saturating_add(self.tries);
        self.depth += 1;
        if self.work > MAX_WORK || self.depth > MAX_DEPTH {
            return None;
        }
        read(self)?;
        self.depth -= 1;
        self.tries = before;
        Some(())
    }

    fn until_e(&mut self, read: impl Fn(&mut Self) -> Read) -> Read {
        while !self.eat(b"E") {
            read(self)?;
        }
        Some(())
    }

    /// Reads a function, a variable, or a symbol that compilers generate for classes.
    fn encoding(&mut self) -> Read {
        self.piece(1, |r| {
            match r.rest() {
                [b'T', b'V' | b'T' | b'I' | b'S', ..] => {
                    r.skip(2)?;
                    return r.type_();
                }
                [b'T', b'h' | b'v', ..] => {
                    r.skip(1)?;
                    r.call_offset()?;
                    return r.encoding();
                }
                [b'G', b'V', ..] | [b'T', b'H' | b'W', ..] => {
                    r.skip(2)?;
                    return r.name();
                }
                [b'G', b'T', b't' | b'n', ..] => {
                    r.skip(3)?;
                    return r.encoding();
                }
                _ => r.name()?,
            }
            while !matches!(r.peek(), None | Some(b'E' | b'.')) {
                r.type_()?;
            }
            Some(())
        })
    }

    /// Reads `h 16 _` or `v n16 _ n24 _`.
    fn call_offset(&mut self) -> Read {
        let numbers = if self.eat(b"h") { 1 } else { 2 };
        self.skip(numbers - 1)?;
        for _ in 0..numbers {
            self.eat(b"n");
            self.number()?;
        }
        Some(())
    }

    fn name(&mut self) -> Read {
        match self.rest() {
            [b'N', ..] => self.nested_name(),
            [b'Z', ..] => self.local_name(),
            [b'S', b't', ..] => {
                self.skip(2)?;
                self.unscoped_name()
            }
            [b'S', ..] => {
                self.substitution()?;
                self.template_args()
            }
            _ => self.unscoped_name(),
        }
    }

    fn unscoped_name(&mut self) -> Read {
        let tries = if matches!(
            self.rest(),
            [b'U', b'l', ..] | [b'c', b'v', ..] | [b'o', b'n', b'c', b'v', ..]
        ) {
            2
        } else {
            1
        };
        self.piece(tries, Self::unqualified_name)?;
        self.template_args_if_any()
    }

    fn local_name(&mut self) -> Read {
        self.piece(1, |r| {
            r.need(b"Z")?;
            r.encoding()?;
            r.need(b"E")?;
            if r.eat(b"s") {
                return r.discriminator();
            }
            if r.eat(b"d") {
                r.number()?;
                return r.name();
            }
            r.name()?;
            r.discriminator()
        })
    }

    fn nested_name(&mut self) -> Read {
        self.piece(1, |r| {
            r.need(b"N")?;
            let _ = (r.eat(b"r"), r.eat(b"V"), r.eat(b"K"));
            let _ = r.eat(b"R") || r.eat(b"O");
            match r.rest() {
                [b'S', ..] => r.substitution()?,
                [b'T', ..] => r.template_param()?,
                [b'D', b't' | b'T', ..] => r.decltype()?,
                _ => r.piece(1, Self::unqualified_name)?,
            }
            while !r.eat(b"E") {
                match r.rest() {
                    [b'I', ..] => r.template_args()?,
                    [b'M', ..] => r.skip(1)?,
                    _ => r.piece(1, Self::unqualified_name)?,
                }
            }
            Some(())
        })
    }

    fn unqualified_name(&mut self) -> Read {
        match *self.rest() {
            [b'0'..=b'9', ..] => self.source_name()?,
            [b'L', ..] => {
                self.skip(1)?;
                self.source_name()?;
                self.discriminator()?;
            }
            [b'C', b'1'..=b'4', ..] | [b'D', b'0' | b'1' | b'2' | b'4', ..] => self.skip(2)?,
            [b'U', b'l', ..] => {
                self.skip(2)?;
                if !self.eat(b"v") {
                    self.type_()?;
                    while self.peek() != Some(b'E') {
                        self.type_()?;
                    }
                }
                self.need(b"E")?;
                self.number()?;
            }
            [b'U', b't', ..] => {
                self.skip(2)?;
                self.number()?;
            }
            _ => {
                self.eat(b"on");
                self.operator_name()?;
            }
        }
        while self.eat(b"B") {
            self.source_name()?;
        }
        Some(())
    }

    fn operator_name(&mut self) -> Read {
        if self.eat(b"cv") {
            let before = std::mem::replace(&mut self.in_conversion, true);
            while matches!(self.peek(), Some(b'P' | b'R' | b'O' | b'K' | b'V' | b'r')) {
                self.piece(1, |r| r.skip(1))?;
            }
            // In `operator T*<int>` the demangler first tries the arguments as those of `T`, but
            // they belong to the operator.
            if self.peek() == Some(b'T') {
                self.template_param()?
            } else {
                self.type_()?
            }
            self.piece(2, Self::template_args_if_any)?;
            self.in_conversion = before;
            return (self.peek() != Some(b'I')).then_some(());
        }
        if self.eat(b"li") {
            return self.source_name();
        }
        codes::arity(self.rest().get(..2)?)?;
        self.skip(2)
    }

    fn type_(&mut self) -> Read {
        self.piece(1, Self::type_inside)
    }

    fn type_inside(&mut self) -> Read {
        match *self.rest() {
            [b'u', ..] => {
                self.skip(1)?;
                self.source_name()
            }
            [b'D', second, ..] => self.type_d(second),
            [b'U', b'0'..=b'9', ..] => {
                self.skip(1)?;
                self.source_name()?;
                self.template_args_if_any()?;
                self.type_()
            }
            [b'r' | b'V' | b'K', ..] => {
                let _ = (self.eat(b"r"), self.eat(b"V"), self.eat(b"K"));
                self.type_()
            }
            [b'N' | b'Z' | b'0'..=b'9', ..] | [b'L', b'0'..=b'9', ..] => self.name(),
            // If the arguments that follow cannot be read, the demangler first takes `St` for `std`
            // alone, and then for a template.
            [b'S', b't', ..] => self.piece(2, Self::name),
            [b'S', ..] => {
                self.substitution()?;
                self.piece(2, Self::template_args_if_any)
            }
            [b'T', b's' | b'u' | b'e', ..] => {
                self.skip(2)?;
                self.name()
            }
            [b'T', ..] => {
                self.template_param()?;
                // The demangler reads these arguments twice even if they are valid.
                if self.in_conversion && self.peek() == Some(b'I') {
                    None
                } else {
                    self.template_args_if_any()
                }
            }
            [b'F', ..] => self.function_type(),
            [b'A', ..] => self.array_type(),
            [b'M', ..] => {
                self.skip(1)?;
                self.type_()?;
                self.type_()
            }
            // After `C`, these characters make a constructor.
            [b'C', b'1'..=b'4' | b'I', ..] => None,
            [b'P' | b'R' | b'O' | b'C' | b'G', ..] => {
                self.skip(1)?;
                self.type_()
            }
            [code, ..] => {
                codes::builtin(code)?;
                self.skip(1)
            }
            [] => None,
        }
    }

    fn type_d(&mut self, second: u8) -> Read {
        match second {
            b'F' | b'B' | b'U' => {
                self.skip(2)?;
                let digits = self.digits();
                (digits > 0
                    && (self.eat(b"_") || second == b'F' && (self.eat(b"x") || self.eat(b"b"))))
                .then_some(())
            }
            b'p' => {
                self.skip(2)?;
                self.type_()
            }
            b'v' => {
                self.skip(2)?;
                self.number()?;
                self.type_()
            }
            b't' | b'T' => self.decltype(),
            b'o' | b'O' | b'x' => self.function_type(),
            _ => {
                codes::builtin_d(second)?;
                self.skip(2)
            }
        }
    }

    fn function_type(&mut self) -> Read {
        if self.eat(b"DO") {
            self.expression()?;
            self.need(b"E")?;
        } else {
            self.eat(b"Do");
        }
        self.eat(b"Dx");
        self.need(b"F")?;
        self.eat(b"Y");
        self.type_()?;
        while !matches!(self.rest(), [b'E', ..] | [b'R' | b'O', b'E', ..]) {
            self.type_()?;
        }
        let _ = self.eat(b"R") || self.eat(b"O");
        self.need(b"E")
    }

    fn array_type(&mut self) -> Read {
        self.need(b"A")?;
        if self.digits() == 0 && self.peek() != Some(b'_') {
            self.expression()?;
        }
        self.need(b"_")?;
        self.type_()
    }

    fn decltype(&mut self) -> Read {
        self.skip(2)?;
        self.expression()?;
        self.need(b"E")
    }

    fn template_args_if_any(&mut self) -> Read {
        if self.peek() == Some(b'I') { self.template_args() } else { Some(()) }
    }

    fn template_args(&mut self) -> Read {
        self.piece(1, |r| {
            r.need(b"I")?;
            r.template_arg()?;
            r.until_e(Self::template_arg)
        })
    }

    fn template_arg(&mut self) -> Read {
        self.piece(1, |r| match r.rest() {
            [b'X', ..] => {
                r.skip(1)?;
                r.expression()?;
                r.need(b"E")
            }
            // The demangler tries a literal of a type, a literal of a name that is not a function,
            // and a name.
            [b'L', ..] => r.piece(3, Self::literal),
            [b'J' | b'I', ..] => {
                r.skip(1)?;
                r.until_e(Self::template_arg)
            }
            _ => r.type_(),
        })
    }

    fn simple_id(&mut self) -> Read {
        self.source_name()?;
        self.template_args_if_any()
    }
}

#[cfg(test)]
mod tests;
