//! The args of one element: compact text, and the values that have columns in `events`.

use crate::json::{self, Cursor, Oddities};
use crate::trace::is_real_id;

/// Values out of args; of repeated keys the last. Texts are ranges of the compact args.
#[derive(Debug, Default)]
pub struct Args {
    pub external_id: Option<i64>,
    pub correlation: Option<i64>,
    pub sequence_number: Option<i64>,
    pub fwd_thread_id: Option<i64>,
    pub python_id: Option<i64>,
    pub python_parent_id: Option<i64>,
    pub python_module_id: Option<i64>,
    pub device: Option<i64>,
    pub stream: Option<i64>,
    pub input_dims: Option<Span>,
    pub input_types: Option<Span>,
    pub input_strides: Option<Span>,
    pub concrete_inputs: Option<Span>,
    pub call_stack: Option<Span>,
    pub module_hierarchy: Option<Span>,
    /// A value for an integer column is none.
    pub bad_id: bool,
}

/// A range of the compact args.
pub type Span = (usize, usize);

impl Args {
    /// Appends the args at the start of `raw` to `out` as compact JSON and picks out values. Other
    /// than an object is only copied.
    pub fn read(&mut self, raw: &[u8], out: &mut Vec<u8>, odd: &mut Oddities) {
        if raw.first() != Some(&b'{') {
            if let Ok(value) = Cursor::new(raw, 0).value()
                && !json::is_null(value)
            {
                json::compact_value(value, out, odd);
            }
            return;
        }
        out.push(b'{');
        self.members(raw, out, odd);
        out.push(b'}');
    }

    /// Appends the members of an object, without its braces.
    pub fn members(&mut self, raw: &[u8], out: &mut Vec<u8>, odd: &mut Oddities) {
        let mut lower_device = false;
        let mut external_exact = false;
        json::copy_members(raw, out, odd, |key, value, start| {
            let span = Some((start, start + value.len()));
            match key {
                b"External id" => {
                    external_exact = true;
                    self.external_id = self.id(value);
                }
                b"external id" if !external_exact => self.external_id = self.id(value),
                b"correlation" => self.correlation = self.id(value),
                b"Sequence number" => self.sequence_number = self.int(value),
                b"Fwd thread id" => self.fwd_thread_id = self.int(value),
                b"Python id" => self.python_id = self.int(value),
                b"Python parent id" => self.python_parent_id = self.int(value),
                b"Python module id" => self.python_module_id = self.int(value),
                b"device" => {
                    lower_device = true;
                    self.device = self.int(value);
                }
                b"Device" if !lower_device => self.device = json::int(value),
                b"stream" => self.stream = json::int(value),
                b"Input Dims" | b"Input dims" => self.input_dims = span,
                b"Input type" => self.input_types = span,
                b"Input Strides" => self.input_strides = span,
                b"Concrete Inputs" => self.concrete_inputs = span,
                b"Call stack" => self.call_stack = span,
                b"Module Hierarchy" => self.module_hierarchy = span,
                _ => {}
            }
        });
    }

    fn int(&mut self, raw: &[u8]) -> Option<i64> {
        let value = json::int(raw);
        self.bad_id |= value.is_none() && !json::is_null(raw);
        value
    }

    fn id(&mut self, raw: &[u8]) -> Option<i64> {
        if raw == b"18446744073709551615" {
            return None;
        }
        self.int(raw).filter(|&id| is_real_id(id))
    }
}
