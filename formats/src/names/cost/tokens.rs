//! The smallest pieces of mangled names: identifiers, numbers and back references.

use super::{Read, Reader};

impl Reader<'_> {
    pub(super) fn source_name(&mut self) -> Read {
        let from = self.at;
        self.digits();
        let length: usize =
            std::str::from_utf8(self.bytes.get(from..self.at)?).ok()?.parse().ok()?;
        let name = self.rest().get(..length)?;
        self.work = self.work.saturating_add(self.tries);
        let is_word = !name.is_empty()
            && name
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.'));
        is_word.then_some(())?;
        self.skip(length)
    }

    pub(super) fn substitution(&mut self) -> Read {
        self.need(b"S")?;
        match self.peek()? {
            b't' | b'a' | b'b' | b's' | b'i' | b'o' | b'd' => self.skip(1),
            _ => {
                let digits = self
                    .rest()
                    .iter()
                    .take_while(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
                    .count();
                self.skip(digits)?;
                self.need(b"_")
            }
        }
    }

    pub(super) fn template_param(&mut self) -> Read {
        self.need(b"T")?;
        self.number()
    }

    pub(super) fn function_param(&mut self) -> Read {
        self.need(b"f")?;
        if self.eat(b"L") {
            self.digits();
        }
        self.need(b"p")?;
        let _ = (self.eat(b"r"), self.eat(b"V"), self.eat(b"K"));
        if self.eat(b"T") { Some(()) } else { self.number() }
    }

    /// Reads `_` or `12_`.
    pub(super) fn number(&mut self) -> Read {
        self.digits();
        self.need(b"_")
    }

    /// Reads `_1`, `__12_` or nothing.
    pub(super) fn discriminator(&mut self) -> Read {
        match self.rest() {
            [b'_', b'_', ..] => {
                self.skip(2)?;
                self.number()
            }
            [b'_', b'0'..=b'9', ..] => self.skip(2),
            _ => Some(()),
        }
    }

    pub(super) fn digits(&mut self) -> usize {
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        digits
    }
}
