//! Stages of GPUs (`GpuRenderStageEvent`): work on a hardware queue with a start and a duration.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::gpu_args::{StageArgs, StageValues};
use super::sequence::{Kernel, Sequence, Specification};
use crate::error::Result;
use crate::issues::Code;
use crate::trace::*;
use crate::typed::{DeviceFacts, JsonText, TrackFacts, TypedElement, TypedElements};
use crate::wire::{Fault, Fields, text};

/// The category of compute stages.
const COMPUTE: u64 = 2;

/// A stage as it is written.
#[derive(Debug, Default)]
struct Stage<'a> {
    event_id: Option<u64>,
    duration: Option<u64>,
    queue_iid: Option<u64>,
    stage_iid: Option<u64>,
    old_queue: Option<i64>,
    old_stage: Option<i64>,
    gpu: i64,
    context: Option<u64>,
    name: Option<&'a [u8]>,
    name_iid: Option<u64>,
    kernel_iid: Option<u64>,
    launch: Option<&'a [u8]>,
    extra: Vec<&'a [u8]>,
    waits: Vec<u64>,
    specifications: Option<&'a [u8]>,
    /// Other numbers of the stage, by the name of their field.
    others: Vec<(&'static str, u64)>,
}

impl<'a> Stage<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Fault> {
        let mut s = Self::default();
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => s.event_id = Some(field.uint()?),
                2 => s.duration = Some(field.uint()?),
                3 => s.old_queue = Some(field.int()?),
                4 => s.old_stage = Some(field.int()?),
                5 => s.context = Some(field.uint()?),
                6 => s.extra.push(field.bytes()?),
                7 => s.specifications = Some(field.bytes()?),
                8 => s.others.push(("render_target", field.uint()?)),
                9 => s.others.push(("render_pass", field.uint()?)),
                10 => s.others.push(("submission_id", field.uint()?)),
                11 => s.gpu = i64::from(field.int()? as i32),
                12 => s.others.push(("command_buffer", field.uint()?)),
                13 => s.queue_iid = Some(field.uint()?),
                14 => s.stage_iid = Some(field.uint()?),
                16 => s.others.push(("render_pass_instance_id", field.uint()?)),
                17 => s.name = Some(field.bytes()?),
                18 => field.each_uint(|id| s.waits.push(id))?,
                19 => s.kernel_iid = Some(field.uint()?),
                20 => s.name_iid = Some(field.uint()?),
                21 => s.launch = Some(field.bytes()?),
                _ => {}
            }
        }
        Ok(s)
    }
}

/// The stages of a trace.
#[derive(Debug, Default)]
pub struct GpuStages {
    queues: FxHashMap<(i64, u64), u32>,
    gpus: BTreeSet<i64>,
    /// Names of queues and stages of the older form, by position.
    old_queues: Vec<String>,
    old_stages: Vec<String>,
    args: JsonText,
}

impl GpuStages {
    /// Writes a stage that starts at a time, ns, and whose packet is at an offset.
    pub fn stage(
        &mut self,
        bytes: &[u8],
        sequence: &Sequence,
        (ts, at): (i64, u64),
        elements: &mut TypedElements<'_>,
    ) -> Result<()> {
        let Ok(stage) = Stage::read(bytes) else {
            return elements.skip(Code::BadMessage, at, b"");
        };
        if let Some(specifications) = stage.specifications
            && self.specifications(specifications).is_err()
        {
            elements.issues.add(Code::UnreadMessage, None, Some(at), b"");
        }
        let is_described = stage.queue_iid.or(stage.stage_iid).is_some()
            || stage.old_queue.or(stage.old_stage).is_some()
            || stage.duration.or(stage.event_id).is_some();
        if stage.specifications.is_some() && !is_described {
            // The packet only names queues and stages.
            return Ok(());
        }
        let spec = stage.stage_iid.and_then(|iid| sequence.specifications.get(&iid));
        let kernel = stage.kernel_iid.and_then(|iid| sequence.kernels.get(&iid));
        let mut is_missing = stage.stage_iid.is_some() && spec.is_none();
        is_missing |= stage.kernel_iid.is_some() && kernel.is_none();
        let name = self.name(&stage, sequence, spec, kernel);
        let (class, cat) = class(&stage, spec, kernel, &name);
        let track = self.queue(&stage, sequence, elements);
        self.gpus.insert(stage.gpu);
        let mut args = StageArgs::new(sequence);
        let values = StageValues {
            gpu: stage.gpu,
            queue: stage.queue_iid.map(|iid| iid as i64).or(stage.old_queue),
            event_id: stage.event_id,
            context: stage.context,
            launch: stage.launch,
            extra: &stage.extra,
            waits: &stage.waits,
            others: &stage.others,
        };
        if args.write(&values, spec, kernel, &mut self.args).is_err() {
            return elements.skip(Code::BadMessage, at, b"");
        }
        if is_missing || args.is_missing {
            elements.issue(Code::MissingEntry, at, b"");
        }
        let dur = stage.duration.map(i64::try_from);
        let dur = match dur {
            Some(Ok(dur)) if ts.checked_add(dur).is_some() => dur,
            Some(_) => {
                elements.issue(Code::EndOverflow, at, b"");
                NO_TIME
            }
            // Without a duration it is a point in time.
            None => NO_TIME,
        };
        let cat = elements.short_text(cat);
        let e = TypedElement {
            ph: if stage.duration.is_some() { b'X' } else { b'i' },
            class,
            ts,
            dur,
            track,
            name: if name.is_empty() { NO_TEXT } else { elements.text(&name) },
            long_name: &name,
            cat,
            link: args.correlation.filter(|&id| is_real_id(id)).unwrap_or(NO_LINK),
            offset: at,
            args: self.args.bytes(),
            ..TypedElement::default()
        };
        elements.push(e)?;
        Ok(())
    }

    fn name(
        &self,
        stage: &Stage<'_>,
        sequence: &Sequence,
        spec: Option<&Specification>,
        kernel: Option<&Kernel>,
    ) -> String {
        if let Some(name) = stage.name {
            return text(name).into_owned();
        }
        let named = stage.name_iid.and_then(|iid| sequence.event_names.get(&iid));
        if let Some(name) = named {
            return name.to_string();
        }
        if let Some(kernel) = kernel {
            let is_plain = kernel.demangled.is_empty();
            return if is_plain { kernel.name.clone() } else { kernel.demangled.clone() };
        }
        let old = stage.old_stage.and_then(|no| usize::try_from(no).ok());
        let old = old.and_then(|no| self.old_stages.get(no));
        spec.map(|spec| spec.name.clone()).or(old.cloned()).unwrap_or_default()
    }

    /// Returns the track of a stage's queue.
    fn queue(
        &mut self,
        stage: &Stage<'_>,
        sequence: &Sequence,
        elements: &mut TypedElements<'_>,
    ) -> u32 {
        let number = stage.queue_iid.unwrap_or_else(|| {
            stage.old_queue.map_or(u64::MAX, |no| u64::from(no as u32) | 1 << 32)
        });
        if let Some(track) = self.queues.get(&(stage.gpu, number)) {
            return *track;
        }
        let named = stage.queue_iid.and_then(|iid| sequence.specifications.get(&iid));
        let old = stage.old_queue.and_then(|no| usize::try_from(no).ok());
        let old = old.and_then(|no| self.old_queues.get(no));
        let name = named.map(|spec| spec.name.clone()).or(old.cloned()).unwrap_or_else(|| {
            match stage.queue_iid.map(|iid| iid as i64).or(stage.old_queue) {
                Some(no) => format!("GPU queue {no}"),
                None => "GPU queue".to_owned(),
            }
        });
        let id = elements.short_text(&format!("gpu {} queue {number}", stage.gpu));
        let track = elements.track(Track::Async { pid: Id::None, cat: NO_TEXT, id });
        let facts =
            TrackFacts { name: Some(name), kind: Some("gpu_stream"), ..TrackFacts::default() };
        elements.facts.tracks.insert(track, facts);
        self.queues.insert((stage.gpu, number), track);
        track
    }

    /// Reads the names of the older form.
    fn specifications(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let mut fields = Fields::of(bytes);
        while let Some(field) = fields.next()? {
            let list = match field.number {
                2 => &mut self.old_queues,
                3 => &mut self.old_stages,
                _ => continue,
            };
            let mut inner = Fields::of(field.bytes()?);
            let mut name = String::new();
            while let Some(field) = inner.next()? {
                if field.number == 1 {
                    name = text(field.bytes()?).into_owned();
                }
            }
            list.push(name);
        }
        Ok(())
    }

    /// Returns the approximate memory of the queues, bytes.
    pub fn memory(&self) -> usize {
        self.queues.len() * 600
    }

    /// Adds a device for each GPU.
    pub fn finish(self, elements: &mut TypedElements<'_>) {
        for device in self.gpus {
            let metadata = "{}".to_owned();
            elements.facts.devices.push(DeviceFacts { device, metadata, ..Default::default() });
        }
    }
}

/// Determines the class and the category of a stage.
fn class(
    stage: &Stage<'_>,
    spec: Option<&Specification>,
    kernel: Option<&Kernel>,
    name: &str,
) -> (Class, &'static str) {
    if kernel.is_some() || stage.launch.is_some() {
        return (Class::Kernel, "kernel");
    }
    let kind = spec.map_or(name, |spec| &spec.name).to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| kind.contains(word));
    if has(&["memcpy", "copy"]) {
        (Class::Memcpy, "gpu_memcpy")
    } else if has(&["memset"]) {
        (Class::Memset, "gpu_memset")
    } else if spec.is_some_and(|spec| spec.category == COMPUTE) {
        (Class::Kernel, "kernel")
    } else {
        (Class::Kernel, "gpu_render_stage")
    }
}
