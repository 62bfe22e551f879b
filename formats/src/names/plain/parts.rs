//! Reads the parts of names: operators, identifiers, substitutions and template parameters.

use super::{Kind, Mark, Walk, digits, prefix};
use crate::names::codes;

impl Walk<'_> {
    /// Reads a part of a name that is not an identifier.
    pub(super) fn in_name(&mut self) -> Option<()> {
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

    pub(super) fn identifier(&mut self) -> Option<()> {
        let digits = digits(self.rest());
        let length = self
            .symbol
            .get(self.at..self.at + digits)?
            .bytes()
            .fold(0_usize, |n, d| n.saturating_mul(10).saturating_add(usize::from(d - b'0')));
        let from = self.at + digits;
        let following = self.symbol.get(from..)?;
        // The previous length was too small: these digits are the end of the previous identifier.
        if length == 0
            || following == "E" && self.mark.as_ref().is_some_and(|mark| mark.at == self.at)
        {
            return None;
        }
        let claimed = prefix(following, length);
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

    /// Reads `S_`, `S1_`, `St` or `Sa`. Only substitutions of the standard library are written.
    pub(super) fn substitution(&mut self) -> Option<()> {
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

    /// Reads `T_`, `T1_` and declarations of template parameters.
    pub(super) fn parameter(&mut self) -> Option<()> {
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
}
