//! Reads a pickle without executing anything.
//!
//! Only opcodes that make texts, numbers, lists, dicts and tuples are known. Every opcode that
//! would import, call or build an object is refused by its name.

use std::sync::atomic::Ordering;

use super::heap::Heap;
use super::opcode::*;
use super::source::Bytes;
use super::values::{Code, MAX_VALUES, Value};
use crate::error::IngestError;
use crate::trace::Progress;

/// Why reading ends early.
#[derive(Debug)]
pub enum Fault {
    /// The content ends.
    Ends {
        /// Bytes that the opcode needs.
        wanted: u64,
        /// Bytes that are left.
        left: u64,
    },
    /// An opcode that is refused.
    Refused(u8),
    /// The pickle is not well formed.
    Bad(&'static str),
    /// There are more values than the reader can number.
    TooMany,
    /// The values take more memory than allowed.
    TooLarge,
    /// The input or a temporary file cannot be read.
    Failed(Box<IngestError>),
}

impl From<IngestError> for Fault {
    fn from(error: IngestError) -> Self {
        Self::Failed(Box::new(error))
    }
}

type Checked<T> = std::result::Result<T, Fault>;

/// Highest protocol that is read.
const MAX_PROTOCOL: u8 = 5;
/// Opcodes between two looks at the memory that is taken.
const CHECK_EVERY: u32 = 1 << 14;
/// Maximum digits of a number in a line of text.
const MAX_DIGITS: usize = 64;
/// Memo indices may be this far beyond the number of bytes read.
const MEMO_SLACK: u64 = 1 << 10;

/// The state of reading.
pub struct Machine<'a> {
    bytes: Bytes<'a>,
    stack: Vec<Value>,
    marks: Vec<usize>,
    memo: Vec<Code>,
    memoized: usize,
    /// All containers.
    pub heap: Heap,
    max_memory: usize,
    progress: &'a Progress,
    /// Whether a frame claims more bytes than there are.
    pub frame_cut: bool,
}

impl<'a> Machine<'a> {
    /// Creates a machine that reads from the first byte.
    pub fn new(bytes: Bytes<'a>, heap: Heap, max_memory: usize, progress: &'a Progress) -> Self {
        Self {
            bytes,
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Vec::new(),
            memoized: 0,
            heap,
            max_memory,
            progress,
            frame_cut: false,
        }
    }

    /// Returns the offset of the next byte.
    pub fn offset(&self) -> u64 {
        self.bytes.offset()
    }

    /// Runs to the end; returns the value, or the fault with the offset of its opcode.
    pub fn run(&mut self) -> Result<Value, (Fault, u64)> {
        let mut until_check = CHECK_EVERY;
        loop {
            let at = self.bytes.offset();
            let opcode = match self.bytes.array::<1>() {
                Ok([opcode]) => opcode,
                Err(fault) => return Err((fault, at)),
            };
            if opcode == STOP {
                return self.pop().map_err(|fault| (fault, at));
            }
            self.step(opcode, at).map_err(|fault| (fault, at))?;
            until_check -= 1;
            if until_check == 0 {
                until_check = CHECK_EVERY;
                self.check(0).map_err(|fault| (fault, at))?;
                self.progress.bytes.store(at, Ordering::Relaxed);
                self.progress.elements.store(self.heap.entries.len() as u64, Ordering::Relaxed);
                self.progress.go_on().map_err(|e| (e.into(), at))?;
            }
        }
    }

    /// Fails if the values and `more` bytes take more memory than allowed.
    fn check(&self, more: usize) -> Checked<()> {
        let own = self.stack.capacity() * size_of::<Value>()
            + self.marks.capacity() * size_of::<usize>()
            + self.memo.capacity() * size_of::<Code>();
        let all = own.saturating_add(self.heap.memory()).saturating_add(more);
        if all > self.max_memory { Err(Fault::TooLarge) } else { Ok(()) }
    }

    #[inline]
    fn pop(&mut self) -> Checked<Value> {
        match self.stack.pop() {
            Some(value) if self.marks.last().is_none_or(|mark| self.stack.len() >= *mark) => {
                Ok(value)
            }
            _ => Err(Fault::Bad("an opcode that needs a value, but the stack is empty")),
        }
    }

    /// Removes the last mark; returns its position.
    #[inline]
    fn mark(&mut self) -> Checked<usize> {
        self.marks.pop().ok_or(Fault::Bad("an opcode that needs a mark, but there is none"))
    }

    /// Returns the container below a position of the stack.
    #[inline]
    fn below(&self, at: usize) -> Checked<Value> {
        let floor = self.marks.last().copied().unwrap_or(0);
        match at.checked_sub(1) {
            Some(at) if at >= floor => Ok(self.stack[at]),
            _ => Err(Fault::Bad("an opcode that needs a container, but there is none")),
        }
    }

    fn append(&mut self, from: usize) -> Checked<()> {
        match self.below(from)? {
            Value::List(no) => self.heap.append(no, &self.stack[from..])?,
            _ => return Err(Fault::Bad("items are appended to something that is not a list")),
        }
        self.stack.truncate(from);
        Ok(())
    }

    fn set(&mut self, from: usize, at: u64) -> Checked<()> {
        // Old flight recorders number the groups of a dump with integers, newer ones with texts.
        for key in self.stack[from..].iter_mut().step_by(2) {
            if let Value::Int(number) = *key {
                *key = self.heap.new_text(number.to_string().as_bytes())?;
            }
        }
        match self.below(from)? {
            Value::Dict(no) => self.heap.set(no, &self.stack[from..], at)?,
            _ => return Err(Fault::Bad("items are set in something that is not a dict")),
        }
        self.stack.truncate(from);
        Ok(())
    }

    fn tuple(&mut self, count: usize) -> Checked<()> {
        let floor = self.marks.last().copied().unwrap_or(0);
        let from = self.stack.len().checked_sub(count).filter(|from| *from >= floor);
        let from = from.ok_or(Fault::Bad("a tuple of more values than the stack has"))?;
        let tuple = self.heap.new_tuple(&self.stack[from..])?;
        self.stack.truncate(from);
        self.stack.push(tuple);
        Ok(())
    }

    #[inline]
    fn text(&mut self, length: u64) -> Checked<()> {
        if length > 1 << 16 {
            // A length beyond the input is a fault of the input and not of the memory limit.
            self.bytes.need(length)?;
            self.check(usize::try_from(length).unwrap_or(usize::MAX))?;
        }
        let text = self.heap.new_text(self.bytes.take(length)?)?;
        self.stack.push(text);
        Ok(())
    }

    #[inline]
    fn put(&mut self, index: u64) -> Checked<()> {
        let floor = self.marks.last().copied().unwrap_or(0);
        let Some(&value) = self.stack.last().filter(|_| self.stack.len() > floor) else {
            return Err(Fault::Bad("the memo gets a value, but the stack is empty"));
        };
        if index > self.bytes.offset() + MEMO_SLACK || index >= MAX_VALUES as u64 {
            return Err(Fault::Bad("a memo index far beyond the values before it"));
        }
        let index = index as usize;
        if index >= self.memo.len() {
            self.memo.resize(index + 1, Code::MISSING);
        }
        self.memo[index] = Code::pack(value, &mut self.heap.scalars);
        self.memoized += 1;
        Ok(())
    }

    #[inline]
    fn get(&mut self, index: usize) -> Checked<()> {
        let code = self.memo.get(index).copied().unwrap_or(Code::MISSING);
        let value = code.unpack(&self.heap.scalars);
        self.stack.push(value.ok_or(Fault::Bad("the memo has no value of this index"))?);
        Ok(())
    }

    #[inline(always)]
    fn step(&mut self, opcode: u8, at: u64) -> Checked<()> {
        match opcode {
            BINGET => {
                let [index] = self.bytes.array()?;
                self.get(index.into())?;
            }
            LONG_BINGET => {
                let index = u32::from_le_bytes(self.bytes.array()?);
                self.get(index as usize)?;
            }
            MEMOIZE => self.put(self.memoized as u64)?,
            BININT => {
                let value = i32::from_le_bytes(self.bytes.array()?);
                self.stack.push(Value::Int(value.into()));
            }
            BININT1 => {
                let [value] = self.bytes.array()?;
                self.stack.push(Value::Int(value.into()));
            }
            BININT2 => {
                let value = u16::from_le_bytes(self.bytes.array()?);
                self.stack.push(Value::Int(value.into()));
            }
            LONG1 => {
                let [length] = self.bytes.array()?;
                let value = long(self.bytes.take(length.into())?);
                self.stack.push(value);
            }
            SHORT_BINUNICODE => {
                let [length] = self.bytes.array()?;
                self.text(length.into())?;
            }
            BINUNICODE => {
                let length = u32::from_le_bytes(self.bytes.array()?);
                self.text(length.into())?;
            }
            MARK => self.marks.push(self.stack.len()),
            SETITEMS => {
                let from = self.mark()?;
                self.set(from, at)?;
            }
            SETITEM => {
                let from = self.stack.len().saturating_sub(2);
                self.set(from, at)?;
            }
            APPENDS => {
                let from = self.mark()?;
                self.append(from)?;
            }
            APPEND => {
                let from = self.stack.len().saturating_sub(1);
                self.append(from)?;
            }
            EMPTY_DICT => {
                let dict = self.heap.new_dict()?;
                self.stack.push(dict);
            }
            EMPTY_LIST => {
                let list = self.heap.new_list()?;
                self.stack.push(list);
            }
            EMPTY_TUPLE => self.tuple(0)?,
            TUPLE1 => self.tuple(1)?,
            TUPLE2 => self.tuple(2)?,
            TUPLE3 => self.tuple(3)?,
            TUPLE => {
                let from = self.mark()?;
                self.tuple(self.stack.len() - from)?;
            }
            _ => self.rare(opcode, at)?,
        }
        Ok(())
    }

    /// Handles opcodes that occur seldom.
    #[cold]
    fn rare(&mut self, opcode: u8, at: u64) -> Checked<()> {
        match opcode {
            PROTO => {
                let [protocol] = self.bytes.array()?;
                if protocol > MAX_PROTOCOL {
                    return Err(Fault::Bad("a protocol above 5"));
                }
            }
            FRAME => {
                let length = u64::from_le_bytes(self.bytes.array()?);
                self.frame_cut |= !self.bytes.has(length)?;
            }
            NONE => self.stack.push(Value::None),
            NEWTRUE => self.stack.push(Value::Bool(true)),
            NEWFALSE => self.stack.push(Value::Bool(false)),
            BINFLOAT => {
                let value = f64::from_be_bytes(self.bytes.array()?);
                self.stack.push(Value::Float(value));
            }
            INT | LONG => {
                let line = self.bytes.line(MAX_DIGITS)?;
                let value = number(opcode, &line).ok_or(Fault::Bad("a number with other signs"))?;
                self.stack.push(value);
            }
            BINUNICODE8 => {
                let length = u64::from_le_bytes(self.bytes.array()?);
                self.text(length)?;
            }
            BINSTRING => {
                let length = u32::from_le_bytes(self.bytes.array()?);
                self.text(length.into())?;
            }
            SHORT_BINSTRING => {
                let [length] = self.bytes.array()?;
                self.text(length.into())?;
            }
            BINPUT => {
                let [index] = self.bytes.array()?;
                self.put(index.into())?;
            }
            LONG_BINPUT => {
                let index = u32::from_le_bytes(self.bytes.array()?);
                self.put(index.into())?;
            }
            LIST => {
                let from = self.mark()?;
                let list = self.heap.new_list()?;
                self.stack.insert(from, list);
                self.append(from + 1)?;
            }
            DICT => {
                let from = self.mark()?;
                let dict = self.heap.new_dict()?;
                self.stack.insert(from, dict);
                self.set(from + 1, at)?;
            }
            POP => {
                if self.marks.last() == Some(&self.stack.len()) {
                    self.marks.pop();
                } else {
                    self.pop()?;
                }
            }
            POP_MARK => {
                let from = self.mark()?;
                self.stack.truncate(from);
            }
            DUP => {
                let value = self.pop()?;
                self.stack.extend([value, value]);
            }
            other => return Err(Fault::Refused(other)),
        }
        Ok(())
    }

    /// Closes all containers that are open where the content was cut, and drops dicts that are not
    /// complete. Returns the outermost container.
    pub fn close(&mut self) -> Option<Value> {
        let mut at = self.offset();
        while let Some(from) = self.marks.pop() {
            at += 1;
            self.drop_unfinished(from);
            let is_outermost = from == 1;
            match self.below(from).ok()? {
                Value::List(_) => self.append(from).ok()?,
                Value::Dict(_) if is_outermost => {
                    let pairs = self.whole_pairs(from)?;
                    self.stack.extend(pairs);
                    self.set(from, at).ok()?;
                }
                _ => self.stack.truncate(from - 1),
            }
        }
        self.stack.first().copied()
    }

    /// Removes the items of the outermost dict from the stack; returns its keys and values in turn.
    /// A list that gets a single item has no mark, so its item is still next to it.
    fn whole_pairs(&mut self, from: usize) -> Option<Vec<Value>> {
        let mut pairs = Vec::new();
        let mut items = self.stack.split_off(from).into_iter();
        while let Some(item) = items.next() {
            match (item, pairs.last().copied()) {
                (Value::Text(_), _) => match items.next() {
                    Some(value) => pairs.extend([item, value]),
                    None => break,
                },
                (item, Some(Value::List(no))) => self.heap.append(no, &[item]).ok()?,
                _ => break,
            }
        }
        Some(pairs)
    }

    /// Drops a dict on top of the stack that has no items yet.
    fn drop_unfinished(&mut self, from: usize) {
        if let Some(Value::Dict(no)) = self.stack.last()
            && self.stack.len() > from
            && self.heap.dicts[*no as usize] == super::heap::Dict::Empty
        {
            self.stack.pop();
        }
    }
}

/// Reads a little-endian two's complement number.
#[inline]
fn long(bytes: &[u8]) -> Value {
    let Some(last) = bytes.last() else { return Value::Int(0) };
    if bytes.len() > 8 {
        // A number of 64 bits without a sign takes a ninth byte.
        return Value::Wide;
    }
    let mut out = if last & 0x80 != 0 { [0xff; 8] } else { [0; 8] };
    out[..bytes.len()].copy_from_slice(bytes);
    Value::Int(i64::from_le_bytes(out))
}

/// Reads a number of a line of text: `I01` is true, a long may end in `L`.
fn number(opcode: u8, line: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(line).ok()?;
    match (opcode, text) {
        (INT, "01") => return Some(Value::Bool(true)),
        (INT, "00") => return Some(Value::Bool(false)),
        _ => {}
    }
    let digits = text.strip_suffix('L').unwrap_or(text);
    let unsigned = digits.strip_prefix('-').unwrap_or(digits);
    if unsigned.is_empty() || !unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().map_or(Value::Wide, Value::Int))
}
