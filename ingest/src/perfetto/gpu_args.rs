//! The args of a stage of a GPU.

use super::sequence::{Kernel, Sequence, Specification};
use crate::typed::JsonText;
use crate::wire::{Fault, Fields, text};

/// The values of a stage that become args.
pub struct StageValues<'a> {
    /// Number of the GPU.
    pub gpu: i64,
    /// Number of the queue.
    pub queue: Option<i64>,
    /// Id of the stage.
    pub event_id: Option<u64>,
    /// Graphics context.
    pub context: Option<u64>,
    /// Launch of a kernel.
    pub launch: Option<&'a [u8]>,
    /// Named texts.
    pub extra: &'a [&'a [u8]],
    /// Ids of stages that it waited for.
    pub waits: &'a [u64],
    /// Other numbers, by name.
    pub others: &'a [(&'static str, u64)],
}

/// Writes args and finds the values that links need.
pub struct StageArgs<'s> {
    /// The state of the sequence.
    pub sequence: &'s Sequence,
    /// Whether a name or text was not defined.
    pub is_missing: bool,
    /// The correlation, if the stage has one.
    pub correlation: Option<i64>,
    names: Vec<String>,
}

impl<'s> StageArgs<'s> {
    /// Creates a writer.
    pub fn new(sequence: &'s Sequence) -> Self {
        Self { sequence, is_missing: false, correlation: None, names: Vec::new() }
    }

    /// Writes all args.
    pub fn write(
        &mut self,
        values: &StageValues<'_>,
        spec: Option<&Specification>,
        kernel: Option<&Kernel>,
        out: &mut JsonText,
    ) -> Result<(), Fault> {
        out.clear();
        out.open(b'{');
        for message in values.extra {
            self.extra(message, out)?;
        }
        for args in kernel.map_or(&[][..], |kernel| &kernel.args) {
            self.compute(args, out)?;
        }
        if let Some(launch) = values.launch {
            self.launch(launch, out)?;
        }
        self.number("device", values.gpu, out);
        if let Some(queue) = values.queue {
            self.number("stream", queue, out);
        }
        if let Some(spec) = spec {
            out.key("stage");
            out.text(&spec.name);
        }
        if let Some(kernel) = kernel.filter(|kernel| !kernel.demangled.is_empty()) {
            out.key("mangled_name");
            out.text(&kernel.name);
        }
        let ids = [("event_id", values.event_id), ("context", values.context)];
        for (key, value) in ids {
            if let Some(value) = value {
                out.key(key);
                out.uint(value);
            }
        }
        if let Some(pid) = values.context.and_then(|iid| self.sequence.contexts.get(&iid)) {
            self.number("pid", *pid, out);
        }
        for (key, value) in values.others {
            out.key(key);
            out.uint(*value);
        }
        if !values.waits.is_empty() {
            out.key("event_wait_ids");
            out.open(b'[');
            values.waits.iter().for_each(|id| out.uint(*id));
            out.close(b']');
        }
        out.close(b'}');
        Ok(())
    }

    /// Writes a number, unless the stage has a value of this name itself.
    fn number(&self, key: &str, value: i64, out: &mut JsonText) {
        if !self.names.iter().any(|name| name == key) {
            out.key(key);
            out.int(value);
        }
    }

    /// Writes a named text. A text that is a whole number becomes a number.
    fn extra(&mut self, message: &[u8], out: &mut JsonText) -> Result<(), Fault> {
        let (mut name, mut value) = (Default::default(), Default::default());
        let mut fields = Fields::of(message);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => name = text(field.bytes()?),
                2 => value = text(field.bytes()?),
                _ => {}
            }
        }
        out.key(&name);
        match value.parse::<i64>() {
            // `007` and `+7` are texts.
            Ok(number) if number.to_string() == *value => {
                out.int(number);
                if name == "correlation" {
                    self.correlation = Some(number);
                }
            }
            _ => out.text(&value),
        }
        self.names.push(name.into_owned());
        Ok(())
    }

    /// Writes an argument of a kernel or launch.
    fn compute(&mut self, message: &[u8], out: &mut JsonText) -> Result<(), Fault> {
        let mut name = None;
        let mut value = None;
        let mut fields = Fields::of(message);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => {
                    let iid = field.uint()?;
                    let known = self.sequence.argument_names.get(&iid);
                    self.is_missing |= known.is_none();
                    name = Some(known.map_or_else(|| format!("#{iid}"), |name| name.to_string()));
                }
                2 => name = Some(text(field.bytes()?).into_owned()),
                3..=7 => value = Some(field),
                _ => {}
            }
        }
        // The names of our columns.
        let name = name.unwrap_or_default();
        let name = match &*name {
            "registers_per_thread" => "registers per thread",
            other => other,
        };
        out.key(name);
        match value {
            Some(field) => match field.number {
                3 => {
                    out.int(field.int()?);
                    if name == "correlation" {
                        self.correlation = Some(field.int()?);
                    }
                }
                4 => {
                    out.uint(field.uint()?);
                    if name == "correlation" {
                        self.correlation = i64::try_from(field.uint()?).ok();
                    }
                }
                5 => out.double(field.double()?),
                6 => out.text(&text(field.bytes()?)),
                _ => match self.sequence.annotation_texts.get(&field.uint()?) {
                    Some(value) => out.text(value),
                    None => {
                        self.is_missing = true;
                        out.ready(b"null");
                    }
                },
            },
            None => out.ready(b"null"),
        }
        self.names.push(name.to_owned());
        Ok(())
    }

    /// Writes the sizes and arguments of a launch.
    fn launch(&mut self, message: &[u8], out: &mut JsonText) -> Result<(), Fault> {
        let mut fields = Fields::of(message);
        while let Some(field) = fields.next()? {
            let key = match field.number {
                1 => "grid",
                2 => "block",
                3 => {
                    let within = |f: Fault| f.within(field.start());
                    self.compute(field.bytes()?, out).map_err(within)?;
                    continue;
                }
                _ => continue,
            };
            let mut sizes = [1u64; 3];
            let mut inner = Fields::of(field.bytes()?);
            while let Some(field) = inner.next()? {
                if let 1..=3 = field.number {
                    sizes[field.number as usize - 1] = field.uint()?;
                }
            }
            out.key(key);
            out.open(b'[');
            sizes.iter().for_each(|size| out.uint(*size));
            out.close(b']');
        }
        Ok(())
    }
}
