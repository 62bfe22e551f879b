//! Reads types, expressions and literals.

use super::{Kind, Walk, digits};
use crate::names::codes;

impl Walk<'_> {
    pub(super) fn in_type(&mut self) -> Option<()> {
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

    /// Reads types whose codes begin with `D`.
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

    pub(super) fn in_expression(&mut self) -> Option<()> {
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

    pub(super) fn literal(&mut self) -> Option<()> {
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

    /// Reads the value of a literal up to its `E`.
    pub(super) fn value(&mut self) -> Option<()> {
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
}
