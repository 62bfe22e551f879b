//! The containers of a pickle. Dicts that belong to a snapshot become records of fixed size as soon
//! as they are complete, and lists of frames become numbers of stacks.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::keys;
use super::machine::Fault;
use super::records::*;
use super::values::{Code, MAX_VALUES, Pool, Value};
use crate::arrange::SpillVec;

/// The content of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// No item yet.
    Empty,
    /// Frames, leaf first: a number in [`Heap::stacks`].
    Stack(u32),
    /// Other values: a number in [`Heap::items`].
    Items(u32),
}

/// The content of a dict: a number in the table of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dict {
    /// No item yet.
    Empty,
    /// An entry of a trace.
    Entry(u32),
    /// A frame.
    Frame(u32),
    /// A segment.
    Segment(u32),
    /// A block.
    Block(u32),
    /// An annotation.
    Annotation(u32),
    /// An entry of a block's history.
    History(u32),
    /// Any other dict.
    Other(u32),
}

/// Sizes from this value on (9 petabytes) are not usable, because their sums would overflow.
const MAX_BYTES: i64 = 1 << 53;

/// All containers and texts of a pickle.
pub struct Heap {
    pub texts: Pool<u8>,
    pub scalars: Vec<Value>,
    pub lists: Vec<List>,
    pub items: Vec<Vec<Code>>,
    pub dicts: Vec<Dict>,
    pub others: Vec<Vec<(Code, Code)>>,
    pub tuples: Pool<Code>,
    pub entries: SpillVec<Entry>,
    pub annotations: Vec<Annotation>,
    pub segments: Vec<Segment>,
    pub blocks: Vec<Block>,
    pub histories: Vec<History>,
    pub frames: Pool<Frame>,
    pub stacks: Pool<u32>,
    /// Items of records that have no field.
    pub rests: Pool<(Code, Code)>,
    /// Offsets of entries with values that are not usable, by the entry's number.
    pub faults: FxHashMap<u32, u64>,
    /// Number of keys that occur twice in a dict, and the offset of the first.
    pub repeated_keys: (u64, Option<u64>),
    rest: Vec<(Code, Code)>,
    numbers: Vec<u32>,
    in_lists: usize,
}

type Checked<T> = std::result::Result<T, Fault>;

impl Heap {
    /// Creates an empty heap. Entries beyond `budget` bytes go to a file in `scratch`.
    pub fn new(scratch: &Path, budget: usize) -> Self {
        Self {
            texts: keys::texts(),
            scalars: Vec::new(),
            lists: Vec::new(),
            items: Vec::new(),
            dicts: Vec::new(),
            others: Vec::new(),
            tuples: Pool::default(),
            entries: SpillVec::new(scratch, budget),
            annotations: Vec::new(),
            segments: Vec::new(),
            blocks: Vec::new(),
            histories: Vec::new(),
            frames: Pool::default(),
            stacks: Pool::default(),
            rests: Pool::default(),
            faults: FxHashMap::default(),
            repeated_keys: (0, None),
            rest: Vec::new(),
            numbers: Vec::new(),
            in_lists: 0,
        }
    }

    /// Returns the memory that the heap takes without its entries, in bytes.
    pub fn memory(&self) -> usize {
        self.texts.memory()
            + self.scalars.capacity() * size_of::<Value>()
            + self.lists.capacity() * size_of::<List>()
            + self.items.capacity() * size_of::<Vec<Code>>()
            + self.dicts.capacity() * size_of::<Dict>()
            + self.others.capacity() * size_of::<Vec<(Code, Code)>>()
            + self.tuples.memory()
            + self.annotations.capacity() * size_of::<Annotation>()
            + self.segments.capacity() * size_of::<Segment>()
            + self.blocks.capacity() * size_of::<Block>()
            + self.histories.capacity() * size_of::<History>()
            + self.frames.memory()
            + self.stacks.memory()
            + self.rests.memory()
            + self.faults.capacity() * 16
            + self.in_lists
    }

    /// Creates an empty list.
    #[inline]
    pub fn new_list(&mut self) -> Checked<Value> {
        self.lists.push(List::Empty);
        numbered(self.lists.len()).map(Value::List)
    }

    /// Creates an empty dict.
    #[inline]
    pub fn new_dict(&mut self) -> Checked<Value> {
        self.dicts.push(Dict::Empty);
        numbered(self.dicts.len()).map(Value::Dict)
    }

    /// Creates a tuple.
    pub fn new_tuple(&mut self, values: &[Value]) -> Checked<Value> {
        let codes: Vec<Code> = values.iter().map(|v| Code::pack(*v, &mut self.scalars)).collect();
        let no = self.tuples.intern(&codes);
        numbered(no as usize + 1).map(Value::Tuple)
    }

    /// Interns a text.
    #[inline]
    pub fn new_text(&mut self, text: &[u8]) -> Checked<Value> {
        let no = self.texts.intern(text);
        numbered(no as usize + 1).map(Value::Text)
    }

    /// Adds items to a list.
    pub fn append(&mut self, list: u32, values: &[Value]) -> Checked<()> {
        if values.is_empty() {
            return Ok(());
        }
        let old = self.lists[list as usize];
        self.numbers.clear();
        if let List::Stack(no) = old {
            self.numbers.extend_from_slice(self.stacks.get(no));
        }
        if old == List::Empty || matches!(old, List::Stack(_)) {
            for value in values {
                match value {
                    Value::Dict(no) => match self.dicts[*no as usize] {
                        Dict::Frame(frame) => self.numbers.push(frame),
                        _ => break,
                    },
                    _ => break,
                }
            }
            let before = if let List::Stack(no) = old { self.stacks.get(no).len() } else { 0 };
            if self.numbers.len() == before + values.len() {
                let no = self.stacks.intern(&self.numbers);
                self.lists[list as usize] = List::Stack(no);
                return Ok(());
            }
            if before > 0 {
                return Err(Fault::Bad("a list of frames holds something else too"));
            }
            self.items.push(Vec::new());
            self.lists[list as usize] = List::Items(numbered(self.items.len())?);
        }
        if let List::Items(no) = self.lists[list as usize] {
            let items = &mut self.items[no as usize];
            let before = items.capacity();
            items.extend(values.iter().map(|v| Code::pack(*v, &mut self.scalars)));
            self.in_lists += (items.capacity() - before) * size_of::<Code>();
        }
        Ok(())
    }

    /// Sets items of a dict: keys and values in turn. `at` is the offset in the file.
    pub fn set(&mut self, dict: u32, pairs: &[Value], at: u64) -> Checked<()> {
        if !pairs.len().is_multiple_of(2) {
            return Err(Fault::Bad("a key without a value"));
        }
        let mut known = 0u64;
        for pair in pairs.chunks_exact(2) {
            match pair[0] {
                Value::Text(no) => {
                    let key = 1u64.checked_shl(no).unwrap_or(0);
                    if known & key != 0 {
                        self.repeated_keys.0 += 1;
                        self.repeated_keys.1.get_or_insert(at);
                    }
                    known |= key;
                }
                _ => return Err(Fault::Bad("a key that is not text")),
            }
        }
        match self.dicts[dict as usize] {
            Dict::Empty => {
                self.dicts[dict as usize] = self.record(known, pairs, at)?;
            }
            Dict::Other(no) => self.add_others(no, pairs),
            _ => return Err(Fault::Bad("a dict that is changed after it was complete")),
        }
        Ok(())
    }

    fn add_others(&mut self, no: u32, pairs: &[Value]) {
        let others = &mut self.others[no as usize];
        let before = others.capacity();
        others.extend(pairs.chunks_exact(2).map(|pair| {
            (Code::pack(pair[0], &mut self.scalars), Code::pack(pair[1], &mut self.scalars))
        }));
        self.in_lists += (others.capacity() - before) * size_of::<(Code, Code)>();
    }

    /// Turns the items of a dict into a record of the kind that its keys show.
    fn record(&mut self, known: u64, pairs: &[Value], at: u64) -> Checked<Dict> {
        let has = |key: u32| known & (1 << key) != 0;
        self.rest.clear();
        if has(keys::FILENAME) && !has(keys::ACTION) {
            let frame = self.frame(pairs);
            let no = self.frames.intern(&[frame]);
            return numbered(no as usize + 1).map(Dict::Frame);
        }
        if has(keys::ACTION) || (has(keys::ADDR) && has(keys::SIZE)) {
            let (entry, flags) = self.entry(pairs);
            if flags & (BAD_ADDRESS | BAD_VALUE) != 0 {
                self.faults.insert(self.entries.len() as u32, at);
            }
            self.entries.push(entry)?;
            return numbered(self.entries.len()).map(Dict::Entry);
        }
        if has(keys::BLOCKS) && (has(keys::ADDRESS) || has(keys::TOTAL_SIZE)) {
            let segment = self.segment(pairs);
            self.segments.push(segment);
            return numbered(self.segments.len()).map(Dict::Segment);
        }
        if has(keys::STATE) && has(keys::SIZE) {
            let block = self.block(pairs);
            self.blocks.push(block);
            return numbered(self.blocks.len()).map(Dict::Block);
        }
        if has(keys::STAGE) && has(keys::NAME) {
            let annotation = self.annotation(pairs);
            self.annotations.push(annotation);
            return numbered(self.annotations.len()).map(Dict::Annotation);
        }
        if has(keys::REAL_SIZE) {
            let mut history = History { real: ABSENT, frames: NOTHING };
            for (key, value) in items(pairs) {
                match key {
                    keys::REAL_SIZE => history.real = bytes(value).unwrap_or(ABSENT),
                    keys::FRAMES => history.frames = list(value),
                    _ => {}
                }
            }
            self.histories.push(history);
            return numbered(self.histories.len()).map(Dict::History);
        }
        self.others.push(Vec::new());
        let no = numbered(self.others.len())?;
        self.add_others(no, pairs);
        Ok(Dict::Other(no))
    }

    /// Keeps an item that has no field.
    fn keep(&mut self, key: u32, value: Value) {
        let code = Code::pack(value, &mut self.scalars);
        self.rest.push((Code::pack(Value::Text(key), &mut self.scalars), code));
    }

    fn kept(&mut self) -> u32 {
        if self.rest.is_empty() { NOTHING } else { self.rests.intern(&self.rest) }
    }

    fn frame(&mut self, pairs: &[Value]) -> Frame {
        let mut frame = Frame { name: NOTHING, file: NOTHING, line: ABSENT, rest: NOTHING };
        for (key, value) in items(pairs) {
            match (key, value) {
                (keys::NAME, Value::Text(no)) => frame.name = no,
                (keys::FILENAME, Value::Text(no)) => frame.file = no,
                (keys::LINE, Value::Int(n)) => frame.line = n,
                _ => self.keep(key, value),
            }
        }
        frame.rest = self.kept();
        frame
    }

    fn entry(&mut self, pairs: &[Value]) -> (Entry, u32) {
        let mut e = Entry {
            addr: ABSENT,
            size: ABSENT,
            time_us: ABSENT,
            stream: ABSENT,
            action: NOTHING,
            frames: NOTHING,
            rest: NOTHING,
            flags: 0,
        };
        for (key, value) in items(pairs) {
            match (key, value) {
                (keys::ACTION, Value::Text(no)) => e.action = no,
                (keys::ADDR, Value::Int(n)) if n >= 0 => e.addr = n,
                (keys::ADDR, _) => e.flags |= BAD_ADDRESS,
                (keys::SIZE, value) => match bytes(value) {
                    Some(size) => e.size = size,
                    None => e.flags |= BAD_VALUE,
                },
                (keys::DEVICE_FREE, value) => match bytes(value) {
                    Some(free) => {
                        e.addr = free;
                        e.flags |= HAS_DEVICE_FREE;
                    }
                    None => e.flags |= BAD_VALUE,
                },
                (keys::STREAM, Value::Int(n)) if n != ABSENT => e.stream = n,
                (keys::TIME_US, value) => match time(value) {
                    Some(us) => e.time_us = us,
                    None => e.flags |= BAD_VALUE,
                },
                (keys::FRAMES, Value::List(no)) => e.frames = no,
                (keys::FRAMES, Value::None) => {}
                (keys::STREAM | keys::FRAMES | keys::ACTION, _) => {
                    e.flags |= BAD_VALUE;
                    self.keep(key, value);
                }
                _ => self.keep(key, value),
            }
        }
        if e.action == NOTHING {
            e.flags |= NO_ACTION;
        }
        e.rest = self.kept();
        (e, e.flags)
    }

    fn annotation(&mut self, pairs: &[Value]) -> Annotation {
        let mut a = Annotation {
            name: NOTHING,
            device: ABSENT,
            time_us: ABSENT,
            stage: NOTHING,
            rest: NOTHING,
        };
        for (key, value) in items(pairs) {
            match (key, value) {
                (keys::NAME, Value::Text(no)) => a.name = no,
                (keys::STAGE, Value::Text(no)) => a.stage = no,
                (keys::DEVICE, Value::Int(n)) => a.device = n,
                (keys::TIME_US, value) if time(value).is_some() => {
                    a.time_us = time(value).unwrap_or(ABSENT);
                }
                _ => self.keep(key, value),
            }
        }
        a.rest = self.kept();
        a
    }

    fn block(&mut self, pairs: &[Value]) -> Block {
        let mut b = Block {
            address: ABSENT,
            bytes: ABSENT,
            requested: ABSENT,
            state: NOTHING,
            frames: NOTHING,
        };
        let mut newest = None;
        for (key, value) in items(pairs) {
            match (key, value) {
                (keys::ADDRESS, Value::Int(n)) if n >= 0 => b.address = n,
                (keys::SIZE, value) => b.bytes = bytes(value).unwrap_or(ABSENT),
                (keys::REQUESTED_SIZE, value) => b.requested = bytes(value).unwrap_or(ABSENT),
                (keys::STATE, Value::Text(no)) => b.state = no,
                (keys::FRAMES, Value::List(no)) => b.frames = no,
                (keys::HISTORY, Value::List(no)) => newest = self.newest(no),
                _ => {}
            }
        }
        // The newest entry of the history states what the program asked for last.
        if let Some(newest) = newest {
            (b.requested, b.frames) = (newest.real, newest.frames);
        }
        b
    }

    /// Returns the first entry of a block's history.
    fn newest(&self, list: u32) -> Option<History> {
        let List::Items(no) = self.lists[list as usize] else { return None };
        let code = self.items[no as usize].first()?;
        let Some(Value::Dict(no)) = code.unpack(&self.scalars) else { return None };
        let Dict::History(no) = self.dicts[no as usize] else { return None };
        self.histories.get(no as usize).copied()
    }

    fn segment(&mut self, pairs: &[Value]) -> Segment {
        let mut s = Segment {
            device: ABSENT,
            address: ABSENT,
            total: ABSENT,
            allocated: ABSENT,
            active: ABSENT,
            requested: ABSENT,
            stream: ABSENT,
            kind: NOTHING,
            pool: None,
            expandable: None,
            frames: NOTHING,
            blocks: NOTHING,
        };
        for (key, value) in items(pairs) {
            let size = || bytes(value).unwrap_or(ABSENT);
            match (key, value) {
                (keys::DEVICE, Value::Int(n)) => s.device = n,
                (keys::ADDRESS, Value::Int(n)) if n >= 0 => s.address = n,
                (keys::TOTAL_SIZE, _) => s.total = size(),
                (keys::ALLOCATED_SIZE, _) => s.allocated = size(),
                (keys::ACTIVE_SIZE, _) => s.active = size(),
                (keys::REQUESTED_SIZE, _) => s.requested = size(),
                (keys::STREAM, Value::Int(n)) => s.stream = n,
                (keys::SEGMENT_TYPE, Value::Text(no)) => s.kind = no,
                (keys::SEGMENT_POOL_ID, value) => s.pool = self.pair(value),
                (keys::IS_EXPANDABLE, Value::Bool(flag)) => s.expandable = Some(flag),
                (keys::FRAMES, Value::List(no)) => s.frames = no,
                (keys::BLOCKS, Value::List(no)) => s.blocks = no,
                _ => {}
            }
        }
        s
    }

    /// Returns a pair of numbers, such as the name of a pool.
    pub fn pair(&self, value: Value) -> Option<(i64, i64)> {
        let Value::Tuple(no) = value else { return None };
        let [a, b] = self.tuples.get(no) else { return None };
        match (a.unpack(&self.scalars)?, b.unpack(&self.scalars)?) {
            (Value::Int(a), Value::Int(b)) => Some((a, b)),
            _ => None,
        }
    }

    /// Returns the number of the stack of a list of frames, if it has frames.
    pub fn stack(&self, list: u32) -> Option<u32> {
        match self.lists.get(list as usize)? {
            List::Stack(no) => Some(*no),
            _ => None,
        }
    }
}

fn items(pairs: &[Value]) -> impl Iterator<Item = (u32, Value)> {
    pairs.chunks_exact(2).map(|pair| match pair[0] {
        Value::Text(no) => (no, pair[1]),
        _ => (NOTHING, pair[1]),
    })
}

/// Returns the number of the last of `count` things.
#[inline]
fn numbered(count: usize) -> Checked<u32> {
    if count > MAX_VALUES { Err(Fault::TooMany) } else { Ok(count as u32 - 1) }
}

fn bytes(value: Value) -> Option<i64> {
    match value {
        Value::Int(n) if (0..MAX_BYTES).contains(&n) => Some(n),
        _ => None,
    }
}

/// Returns a time in µs whose nanoseconds fit 64 bits.
fn time(value: Value) -> Option<i64> {
    match value {
        Value::Int(n) if n.unsigned_abs() < (1 << 62) / 1000 => Some(n),
        _ => None,
    }
}

fn list(value: Value) -> u32 {
    if let Value::List(no) = value { no } else { NOTHING }
}
