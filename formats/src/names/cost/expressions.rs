//! Literals and expressions, which occur in template arguments and result types.

use super::{Read, Reader, codes};

impl Reader<'_> {
    pub(super) fn literal(&mut self) -> Read {
        self.need(b"L")?;
        if self.eat(b"_Z") {
            self.encoding()?;
            return self.need(b"E");
        }
        // If the type could end too early, the demangler would read the rest of the name from
        // another position.
        let real = matches!(self.peek(), Some(b'f' | b'd' | b'e' | b'g'));
        if self.eat(b"St") {
            self.source_name()?;
        } else {
            self.type_()?;
        }
        self.eat(b"n");
        let is_value = |byte: &&u8| byte.is_ascii_digit() || real && matches!(byte, b'a'..=b'f');
        let value = self.rest().iter().take_while(is_value).count();
        self.skip(value)?;
        self.need(b"E")
    }

    pub(super) fn expression(&mut self) -> Read {
        self.piece(1, Self::expression_inside)
    }

    fn expressions(&mut self, count: usize) -> Read {
        (0..count).try_for_each(|_| self.expression())
    }

    fn expression_inside(&mut self) -> Read {
        match *self.rest() {
            [b'p', b'p', b'_', ..] | [b'm', b'm', b'_', ..] => {
                self.skip(3)?;
                self.expression()
            }
            [b'T', ..] => self.template_param(),
            [b'L', ..] => self.piece(2, Self::literal),
            [b'0'..=b'9', ..] => self.simple_id(),
            [b'f', b'p', ..] | [b'f', b'L', b'0'..=b'9', ..] => self.function_param(),
            [first, second, ..] => {
                self.skip(2)?;
                self.operation(&[first, second])
            }
            _ => None,
        }
    }

    fn operation(&mut self, code: &[u8; 2]) -> Read {
        match code {
            b"cl" => {
                self.expression()?;
                self.until_e(Self::expression)
            }
            b"cv" => {
                self.type_()?;
                if self.eat(b"_") { self.until_e(Self::expression) } else { self.expression() }
            }
            b"tl" => {
                self.type_()?;
                self.until_e(Self::expression)
            }
            b"il" => self.until_e(Self::expression),
            b"sP" => self.until_e(Self::template_arg),
            b"dc" | b"sc" | b"cc" | b"rc" => {
                self.type_()?;
                self.expression()
            }
            b"ti" | b"st" | b"at" => self.type_(),
            b"te" | b"sz" | b"az" | b"nx" | b"sp" | b"tw" => self.expression(),
            b"tr" => Some(()),
            b"dt" | b"pt" => {
                self.expression()?;
                self.simple_id()
            }
            b"ds" => self.expressions(2),
            b"sZ" if self.peek() == Some(b'T') => self.template_param(),
            b"sZ" => self.function_param(),
            b"fl" | b"fr" | b"fL" | b"fR" => {
                (codes::arity(self.rest().get(..2)?)? == 2).then_some(())?;
                self.skip(2)?;
                self.expressions(if code[1].is_ascii_lowercase() { 1 } else { 2 })
            }
            b"sr" => self.unresolved_name(),
            b"on" => self.base_name(true),
            // The demangler tries these codes in two ways, and no template argument needs them.
            b"nw" | b"na" | b"dl" | b"da" => None,
            _ => self.expressions(codes::arity(code)?),
        }
    }

    fn unresolved_name(&mut self) -> Read {
        let many = self.eat(b"N");
        let has_type = match self.rest() {
            [b'T', ..] => {
                self.template_param()?;
                self.template_args_if_any()?;
                true
            }
            [b'D', b't' | b'T', ..] => {
                self.decltype()?;
                true
            }
            [b'S', ..] => {
                self.substitution()?;
                true
            }
            _ => false,
        };
        if many || !has_type {
            self.simple_id()?;
            self.until_e(Self::simple_id)?;
        }
        let operator = self.eat(b"on");
        self.base_name(operator)
    }

    fn base_name(&mut self, operator: bool) -> Read {
        if !operator {
            return self.simple_id();
        }
        codes::arity(self.rest().get(..2)?)?;
        self.skip(2)?;
        self.template_args_if_any()
    }
}
