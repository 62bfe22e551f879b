//! Reads the args of an element in one pass: their compact text, the values that have columns in
//! `events`, and the data for rows of other tables.

use super::kernel_args::KernelArgs;
use super::memory_args::MemoryArgs;
use crate::json::{self, Copier, Cursor, Oddities, Slot};
use crate::trace::is_real_id;

/// The values of args that have columns in `events`. For repeated keys, the last value is kept.
/// Texts are ranges of the compact args.
#[derive(Debug, Default)]
pub struct ArgValues {
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
    /// Whether a value for an integer column was not an integer.
    pub bad_id: bool,
}

/// A range of the compact args.
pub type Span = (usize, usize);

/// The parts of an element's own args that other tables than `events` need, as they are written in
/// the text.
#[derive(Default)]
pub struct OwnArgs<'t> {
    /// Members of args for the row of another table.
    pub members: Members<'t>,
    /// The value of `Module Hierarchy`, including its quotes.
    pub module_hierarchy: Option<&'t [u8]>,
}

/// The members of args from which the row of another table is built.
#[derive(Default)]
pub enum Members<'t> {
    /// The element has no row in another table.
    #[default]
    None,
    /// For a row of `kernels`. The value is boxed, so that other elements do not move about 1 KiB
    /// each.
    Kernel(Box<KernelArgs<'t>>),
    /// For a row of `memory`.
    Memory(MemoryArgs),
    /// For rows of `counters`: all keys and values.
    Counter(Vec<(&'t [u8], &'t [u8])>),
}

impl<'t> Members<'t> {
    #[inline]
    fn add(&mut self, key: &'t [u8], value: &'t [u8]) {
        match self {
            Self::None => {}
            Self::Kernel(args) => args.add(key, value),
            Self::Memory(args) => args.add(key, value),
            Self::Counter(list) => list.push((key, value)),
        }
    }

    /// Reads the members of args that are not stored.
    pub fn read(&mut self, raw: &'t [u8]) {
        if raw.first() == Some(&b'{') {
            let _ = Cursor::new(raw, 0).object(|key, value| self.add(key, value));
        }
    }
}

/// The keys of args that have columns in `events`, as slots.
mod slot {
    use crate::json::Slot;

    pub const EXTERNAL_ID: Slot = 1;
    pub const LOWER_EXTERNAL_ID: Slot = 2;
    pub const CORRELATION: Slot = 3;
    pub const SEQUENCE_NUMBER: Slot = 4;
    pub const FWD_THREAD_ID: Slot = 5;
    pub const PYTHON_ID: Slot = 6;
    pub const PYTHON_PARENT_ID: Slot = 7;
    pub const PYTHON_MODULE_ID: Slot = 8;
    pub const DEVICE: Slot = 9;
    pub const UPPER_DEVICE: Slot = 10;
    pub const STREAM: Slot = 11;
    pub const INPUT_DIMS: Slot = 12;
    pub const INPUT_TYPES: Slot = 13;
    pub const INPUT_STRIDES: Slot = 14;
    pub const CONCRETE_INPUTS: Slot = 15;
    pub const CALL_STACK: Slot = 16;
    pub const MODULE_HIERARCHY: Slot = 17;
}

fn slot_of(key: &[u8]) -> Slot {
    match key {
        b"External id" => slot::EXTERNAL_ID,
        b"external id" => slot::LOWER_EXTERNAL_ID,
        b"correlation" => slot::CORRELATION,
        b"Sequence number" => slot::SEQUENCE_NUMBER,
        b"Fwd thread id" => slot::FWD_THREAD_ID,
        b"Python id" => slot::PYTHON_ID,
        b"Python parent id" => slot::PYTHON_PARENT_ID,
        b"Python module id" => slot::PYTHON_MODULE_ID,
        b"device" => slot::DEVICE,
        b"Device" => slot::UPPER_DEVICE,
        b"stream" => slot::STREAM,
        b"Input Dims" | b"Input dims" => slot::INPUT_DIMS,
        b"Input type" => slot::INPUT_TYPES,
        b"Input Strides" => slot::INPUT_STRIDES,
        b"Concrete Inputs" => slot::CONCRETE_INPUTS,
        b"Call stack" => slot::CALL_STACK,
        b"Module Hierarchy" => slot::MODULE_HIERARCHY,
        _ => 0,
    }
}

/// Creates a copier for [`ArgValues::read`].
pub fn args_copier() -> Copier {
    Copier::new(slot_of)
}

impl ArgValues {
    /// Appends the args at the start of `raw` to `out` as compact JSON, and extracts values from
    /// them. Args that are not an object are copied unchanged. `copier` is from [`args_copier`].
    pub fn read<'t>(
        &mut self,
        copier: &mut Copier,
        raw: &'t [u8],
        out: &mut Vec<u8>,
        odd: &mut Oddities,
        own: &mut OwnArgs<'t>,
    ) {
        if raw.first() != Some(&b'{') {
            if let Ok(value) = Cursor::new(raw, 0).value()
                && !json::is_null(value)
            {
                json::compact_value(value, out, odd);
            }
            return;
        }
        out.push(b'{');
        self.members(copier, raw, out, odd, own);
        out.push(b'}');
    }

    /// Appends the members of an object, without its braces.
    fn members<'t>(
        &mut self,
        copier: &mut Copier,
        raw: &'t [u8],
        out: &mut Vec<u8>,
        odd: &mut Oddities,
        own: &mut OwnArgs<'t>,
    ) {
        let mut lower_device = false;
        let mut external_exact = false;
        copier.members(raw, out, odd, |slot, key, json::Copied { raw, compact: value }, start| {
            own.members.add(key, raw);
            let span = Some((start, start + value.len()));
            match slot {
                slot::EXTERNAL_ID => {
                    external_exact = true;
                    self.external_id = self.id(value);
                }
                slot::LOWER_EXTERNAL_ID if !external_exact => self.external_id = self.id(value),
                slot::CORRELATION => self.correlation = self.id(value),
                slot::SEQUENCE_NUMBER => self.sequence_number = self.int(value),
                slot::FWD_THREAD_ID => self.fwd_thread_id = self.int(value),
                slot::PYTHON_ID => self.python_id = self.int(value),
                slot::PYTHON_PARENT_ID => self.python_parent_id = self.int(value),
                slot::PYTHON_MODULE_ID => self.python_module_id = self.int(value),
                slot::DEVICE => {
                    lower_device = true;
                    self.device = self.int(value);
                }
                slot::UPPER_DEVICE if !lower_device => self.device = json::int(value),
                slot::STREAM => self.stream = json::int(value),
                slot::INPUT_DIMS => self.input_dims = span,
                slot::INPUT_TYPES => self.input_types = span,
                slot::INPUT_STRIDES => self.input_strides = span,
                slot::CONCRETE_INPUTS => self.concrete_inputs = span,
                slot::CALL_STACK => self.call_stack = span,
                slot::MODULE_HIERARCHY => {
                    self.module_hierarchy = span;
                    if json::is_text(raw) {
                        own.module_hierarchy = Some(raw);
                    }
                }
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
