//! The state of a sequence: names and texts that packets refer to by number, and defaults.

use rustc_hash::FxHashMap;

use crate::wire::{Fault, Fields, text};

/// A function and its place in a call stack.
#[derive(Debug, Default, Clone)]
pub struct Frame {
    function: u64,
    path: u64,
    line: u64,
}

/// A stage or queue of a GPU.
#[derive(Debug, Default, Clone)]
pub struct Specification {
    /// Name.
    pub name: String,
    /// 1: graphics, 2: compute.
    pub category: u64,
}

/// A kernel of a GPU.
#[derive(Debug, Default, Clone)]
pub struct Kernel {
    /// Name.
    pub name: String,
    /// Name as in source code.
    pub demangled: String,
    /// Its arguments, as messages.
    pub args: Vec<Box<[u8]>>,
}

/// Values that packets of a sequence have unless they state others.
#[derive(Debug, Default, Clone)]
pub struct Defaults {
    /// Clock.
    pub clock: Option<u32>,
    /// Track.
    pub track: Option<u64>,
    /// Tracks of extra counters.
    pub counters: Vec<u64>,
    /// Tracks of extra counters with doubles.
    pub double_counters: Vec<u64>,
}

/// Names and texts, by number.
pub type Names = FxHashMap<u64, Box<str>>;

/// The state of a sequence.
#[derive(Debug, Default)]
pub struct Sequence {
    /// Whether the state is complete: it was cleared, and no packet was lost since.
    pub is_valid: bool,
    /// Defaults.
    pub defaults: Defaults,
    /// Process and thread of the writer.
    pub thread: Option<(i64, i64)>,
    /// Time of the last event with a time of its own, ns.
    pub event_time: Option<i64>,
    /// Categories.
    pub categories: Names,
    /// Names of events.
    pub event_names: Names,
    /// Names of annotations.
    pub annotation_names: Names,
    /// Texts of annotations.
    pub annotation_texts: Names,
    /// Texts that correlate events.
    pub correlations: Names,
    /// Bodies of log messages.
    pub log_texts: Names,
    /// Places in source code: file, function, line.
    pub locations: FxHashMap<u64, (String, String, u64)>,
    /// Stages and queues of GPUs.
    pub specifications: FxHashMap<u64, Specification>,
    /// Kernels of GPUs.
    pub kernels: FxHashMap<u64, Kernel>,
    /// Names of the arguments of kernels.
    pub argument_names: Names,
    /// Processes of graphics contexts.
    pub contexts: FxHashMap<u64, i64>,
    functions: Names,
    paths: Names,
    frames: FxHashMap<u64, Frame>,
    stacks: FxHashMap<u64, Vec<u64>>,
    /// How often the state was cleared.
    pub cleared: u64,
    /// Approximate memory, bytes.
    pub memory: usize,
}

impl Sequence {
    /// Forgets everything but the thread.
    pub fn clear(&mut self) {
        let cleared = self.cleared + 1;
        *self = Self { is_valid: true, thread: self.thread, cleared, ..Self::default() };
    }

    /// Takes over the defaults of a packet.
    pub fn defaults(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let mut defaults = Defaults::default();
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                58 => defaults.clock = u32::try_from(field.uint()?).ok(),
                11 => {
                    let within = |f: Fault| f.within(field.start());
                    let mut fields = Fields::of(field.bytes()?);
                    while let Some(field) = fields.next().map_err(within)? {
                        match field.number {
                            11 => defaults.track = Some(field.uint().map_err(within)?),
                            31 => field
                                .each_uint(|uuid| defaults.counters.push(uuid))
                                .map_err(within)?,
                            45 => field
                                .each_uint(|uuid| defaults.double_counters.push(uuid))
                                .map_err(within)?,
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        self.defaults = defaults;
        Ok(())
    }

    /// Adds the names and texts of a packet.
    pub fn intern(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.memory += 2 * bytes.len() + 32;
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            let at = field.start();
            let within = |f: Fault| f.within(at);
            let names = match field.number {
                1 => Some(&mut self.categories),
                2 => Some(&mut self.event_names),
                3 => Some(&mut self.annotation_names),
                5 => Some(&mut self.functions),
                18 => Some(&mut self.paths),
                20 => Some(&mut self.log_texts),
                29 => Some(&mut self.annotation_texts),
                43 => Some(&mut self.correlations),
                1001 => Some(&mut self.argument_names),
                _ => None,
            };
            if let Some(names) = names {
                let (iid, name) = named(field.bytes()?).map_err(within)?;
                names.insert(iid, name);
                self.memory += 64;
                continue;
            }
            match field.number {
                4 => self.location(field.bytes()?).map_err(within)?,
                6 => self.frame(field.bytes()?).map_err(within)?,
                7 => self.stack(field.bytes()?).map_err(within)?,
                23 => self.context(field.bytes()?).map_err(within)?,
                24 => self.specification(field.bytes()?).map_err(within)?,
                1000 => self.kernel(field.bytes()?).map_err(within)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn location(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let (mut iid, mut location) = (0, (String::new(), String::new(), 0));
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => iid = field.uint()?,
                2 => location.0 = text(field.bytes()?).into_owned(),
                3 => location.1 = text(field.bytes()?).into_owned(),
                4 => location.2 = field.uint()?,
                _ => {}
            }
        }
        self.locations.insert(iid, location);
        Ok(())
    }

    fn frame(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let (mut iid, mut frame) = (0, Frame::default());
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => iid = field.uint()?,
                2 => frame.function = field.uint()?,
                5 => frame.path = field.uint()?,
                6 => frame.line = field.uint()?,
                _ => {}
            }
        }
        self.frames.insert(iid, frame);
        Ok(())
    }

    fn stack(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let (mut iid, mut frames) = (0, Vec::new());
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => iid = field.uint()?,
                2 => field.each_uint(|frame| frames.push(frame))?,
                _ => {}
            }
        }
        self.stacks.insert(iid, frames);
        Ok(())
    }

    fn context(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let (mut iid, mut pid) = (0, None);
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => iid = field.uint()?,
                2 => pid = Some(i64::from(field.int()? as i32)),
                _ => {}
            }
        }
        if let Some(pid) = pid {
            self.contexts.insert(iid, pid);
        }
        Ok(())
    }

    fn specification(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let (mut iid, mut spec) = (0, Specification::default());
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => iid = field.uint()?,
                2 => spec.name = text(field.bytes()?).into_owned(),
                4 => spec.category = field.uint()?,
                _ => {}
            }
        }
        self.specifications.insert(iid, spec);
        Ok(())
    }

    fn kernel(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let (mut iid, mut kernel) = (0, Kernel::default());
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => iid = field.uint()?,
                2 => kernel.name = text(field.bytes()?).into_owned(),
                3 => kernel.demangled = text(field.bytes()?).into_owned(),
                5 => kernel.args.push(field.bytes()?.into()),
                _ => {}
            }
        }
        self.kernels.insert(iid, kernel);
        Ok(())
    }

    /// Returns a call stack as text, outermost function first, or `None` if it is not defined.
    pub fn stack_text(&self, iid: u64) -> Option<String> {
        let names = self.stacks.get(&iid)?.iter().map(|frame| {
            let frame = self.frames.get(frame)?;
            let function = self.functions.get(&frame.function)?;
            let path = self.paths.get(&frame.path).map(|p| &**p);
            Some(frame_text(function, path.unwrap_or_default(), frame.line))
        });
        let names: Option<Vec<String>> = names.collect();
        Some(names?.join(";"))
    }
}

/// Returns a frame as the PyTorch profiler writes it: `file(line): function`.
pub fn frame_text(function: &str, file: &str, line: u64) -> String {
    match (file, line) {
        ("", _) => function.to_owned(),
        (file, 0) => format!("{file}: {function}"),
        (file, line) => format!("{file}({line}): {function}"),
    }
}

/// Reads a number and a name.
fn named(bytes: &[u8]) -> Result<(u64, Box<str>), Fault> {
    let (mut iid, mut name) = (0, "".into());
    let mut fields = Fields::of(bytes);
    while let Some(field) = fields.next()? {
        match field.number {
            1 => iid = field.uint()?,
            2 => name = text(field.bytes()?).into(),
            _ => {}
        }
    }
    Ok((iid, name))
}
