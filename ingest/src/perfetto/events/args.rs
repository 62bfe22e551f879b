//! The args and categories of track events.

use super::EventWriter;
use crate::error::Result;
use crate::issues::Code;
use crate::perfetto::annotations::{Plain, Writer};
use crate::perfetto::sequence::{Sequence, frame_text};
use crate::perfetto::track_event::TrackEvent;
use crate::trace::Class;
use crate::typed::TypedElements;
use crate::wire::{Fault, Fields, text};

/// Values of annotations from which columns are filled.
#[derive(Debug, Default)]
pub(super) struct Captured {
    pub(super) correlation: Option<i64>,
    /// The correlation as rocprofv3 names it.
    pub(super) corr_id: Option<i64>,
    pub(super) external_id: Option<i64>,
    pub(super) stream: Option<i64>,
    pub(super) vgprs: Option<i64>,
    pub(super) accum_vgprs: Option<i64>,
    pub(super) shared_memory: Option<i64>,
    pub(super) copied: Option<i64>,
    pub(super) device: Option<i64>,
    /// Which of the derived values the annotations hold themselves.
    pub(super) has: [bool; 6],
    /// The first text, for elements that name a process or thread.
    pub(super) text: Option<String>,
    pub(super) wants_text: bool,
}

/// Names of derived values, in the order of [`Captured::has`].
const DERIVED: [&str; 6] =
    ["correlation", "stream", "device", "bytes", "registers per thread", "shared memory"];

impl Captured {
    pub(super) fn take(&mut self, name: &str, value: Plain<'_>) {
        if let Some(at) = DERIVED.iter().position(|derived| *derived == name) {
            self.has[at] = true;
        }
        if let Plain::Text(value) = value {
            // Agents are named by kind and number: `GPU-0`.
            let device = || value.strip_prefix("GPU")?.trim_start_matches(['-', ' ']).parse().ok();
            if name == "agent" {
                self.device = device();
            }
            if self.wants_text && self.text.is_none() {
                self.text = Some(value.to_owned());
            }
            return;
        }
        let Plain::Int(value) = value else { return };
        match name {
            "correlation" => self.correlation = Some(value),
            "corr_id" => self.corr_id = Some(value),
            "External id" | "external id" => self.external_id = Some(value),
            "stream_ID" => self.stream = Some(value),
            "VGPR_Count" => self.vgprs = Some(value),
            "Accum_VGPR_Count" => self.accum_vgprs = Some(value),
            "LDS_Block_Size" => self.shared_memory = Some(value),
            "copy_bytes" => self.copied = Some(value),
            _ => {}
        }
    }
}

impl EventWriter {
    /// Joins the categories of an event.
    pub(super) fn categories(
        &mut self,
        event: &TrackEvent<'_>,
        sequence: &Sequence,
        is_missing: &mut bool,
    ) {
        self.category.clear();
        for iid in &event.category_iids {
            if !self.category.is_empty() {
                self.category.push(',');
            }
            match sequence.categories.get(iid) {
                Some(name) => self.category.push_str(name),
                None => {
                    *is_missing = true;
                    self.category.push_str(&format!("unknown({iid})"));
                }
            }
        }
        for category in &event.categories {
            if !self.category.is_empty() {
                self.category.push(',');
            }
            self.category.push_str(&text(category));
        }
    }

    /// Writes the annotations and the other values of an event, without the last bracket.
    pub(super) fn args(
        &mut self,
        event: &TrackEvent<'_>,
        sequence: &Sequence,
        captured: &mut Captured,
        is_missing: &mut bool,
        at: u64,
        elements: &mut TypedElements<'_>,
    ) -> Result<(), Fault> {
        let out = &mut self.args;
        out.clear();
        out.open(b'{');
        let mut writer = Writer { sequence, is_missing: false, is_invalid: false };
        for annotation in &event.annotations {
            writer.member(annotation, out, &mut |name, value| captured.take(name, value))?;
        }
        *is_missing |= writer.is_missing;
        if writer.is_invalid {
            elements.issue(Code::InvalidUtf8, at, b"");
        }
        if let Some(id) = event.correlation {
            out.key("correlation_id");
            out.uint(id);
        }
        let by_iid = event.correlation_iid.map(|iid| sequence.correlations.get(&iid));
        *is_missing |= by_iid == Some(None);
        let by_iid = by_iid.flatten().map(|id| std::borrow::Cow::Borrowed(&**id));
        if let Some(id) = event.correlation_text.map(text).or(by_iid) {
            out.key("correlation_id");
            out.text(&id);
        }
        let stack = match (event.stack, event.stack_iid) {
            (Some(message), _) => Some(inline_stack(message)?),
            (None, Some(iid)) => {
                let stack = sequence.stack_text(iid);
                *is_missing |= stack.is_none();
                stack
            }
            _ => None,
        };
        if let Some(stack) = stack {
            out.key("Call stack");
            out.text(&stack);
        }
        let inline = event.location.map(location).transpose()?;
        let by_iid = event.location_iid.map(|iid| sequence.locations.get(&iid));
        *is_missing |= by_iid == Some(None);
        if let Some((file, function, line)) = inline.as_ref().or(by_iid.flatten()) {
            out.key("source_location");
            out.text(&frame_text(function, file, *line));
        }
        if let Some(message) = event.log {
            let mut fields = Fields::of(message);
            while let Some(field) = fields.next()? {
                if field.number == 2 {
                    let body = sequence.log_texts.get(&field.uint()?);
                    *is_missing |= body.is_none();
                    out.key("log_message");
                    out.text(body.map_or("", |body| body));
                }
            }
        }
        if event.kind == 5 {
            out.key("track_event_type");
            out.text("TYPE_STATE");
        }
        Ok(())
    }

    /// Writes the values from which columns are filled.
    pub(super) fn derived(&mut self, captured: &Captured, class: Class, stream: Option<i64>) {
        let registers = match (captured.vgprs, captured.accum_vgprs) {
            (Some(a), b) => a.checked_add(b.unwrap_or(0)),
            (None, b) => b,
        };
        let is_device = class.is_device();
        let values = [
            captured.corr_id,
            captured.stream.or(stream).filter(|_| is_device),
            captured.device.filter(|_| is_device),
            captured.copied.filter(|_| is_device),
            registers.filter(|_| is_device),
            captured.shared_memory.filter(|_| is_device),
        ];
        for ((key, value), has) in DERIVED.iter().zip(values).zip(captured.has) {
            if let Some(value) = value
                && !has
            {
                self.args.key(key);
                self.args.int(value);
            }
        }
    }
}

/// Returns a call stack that is written in full, outermost function first.
fn inline_stack(message: &[u8]) -> Result<String, Fault> {
    let mut frames = Vec::new();
    let mut fields = Fields::of(message);
    while let Some(field) = fields.next()? {
        if field.number != 1 {
            continue;
        }
        let within = |f: Fault| f.within(field.start());
        let (mut function, mut file, mut line) = (Default::default(), Default::default(), 0);
        let mut inner = Fields::of(field.bytes()?);
        while let Some(field) = inner.next().map_err(within)? {
            match field.number {
                1 => function = text(field.bytes().map_err(within)?),
                2 => file = text(field.bytes().map_err(within)?),
                3 => line = field.uint().map_err(within)?,
                _ => {}
            }
        }
        frames.push(frame_text(&function, &file, line));
    }
    Ok(frames.join(";"))
}

/// Reads a place in source code: file, function, line.
fn location(message: &[u8]) -> Result<(String, String, u64), Fault> {
    let mut location = (String::new(), String::new(), 0);
    let mut fields = Fields::of(message);
    while let Some(field) = fields.next()? {
        match field.number {
            2 => location.0 = text(field.bytes()?).into_owned(),
            3 => location.1 = text(field.bytes()?).into_owned(),
            4 => location.2 = field.uint()?,
            _ => {}
        }
    }
    Ok(location)
}
