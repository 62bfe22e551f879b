//! Builds a profile. The API does not allow invalid profiles, and equal contents give equal bytes.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use prost::Message;

use super::collector::is_base;
use super::frame::FrameName;
use super::proto;
use crate::error::{Error, Result};
use crate::frames::{FrameOptions, Frames, Kernel};
use crate::stacks::{StackSums, Stacks};

/// The quantity and the unit of a value, for example `cpu` in `nanoseconds`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SampleType {
    /// The measured quantity.
    pub name: String,
    /// The unit: nanoseconds, bytes, count and so on.
    pub unit: String,
}

impl SampleType {
    /// Creates a sample type.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { name: name.into(), unit: unit.into() }
    }
}

/// The value of a label.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LabelValue {
    /// Text.
    Text(String),
    /// A number.
    Number(i64),
}

/// The labels of a sample: names and values, in the order in which they are written.
pub type Labels = Vec<(String, LabelValue)>;

/// The parts of a profile other than its samples.
#[derive(Debug, Clone, Default)]
pub struct Header {
    /// Unix time of the first sample in ns; 0 if unknown.
    pub time_ns: i64,
    /// Duration that the samples cover in ns; 0 if unknown.
    pub duration_ns: i64,
    /// The sample type that viewers show first. The default is the first type in nanoseconds, or
    /// the first type if none is in nanoseconds.
    pub default_sample_type: Option<String>,
    /// The origin of the stacks, which viewers show as the program name.
    pub source: String,
    /// Comments in free text.
    pub comments: Vec<String>,
}

/// A profile under construction: sample types, labels, and values summed by stack.
#[derive(Debug)]
pub struct Builder {
    types: Vec<SampleType>,
    sums: StackSums,
    labels: Vec<Labels>,
    groups: HashMap<Labels, u32>,
    frames: Frames,
}

impl Builder {
    /// Creates an empty profile with values of these types.
    ///
    /// # Errors
    ///
    /// Fails if there is no type, if a name or unit is empty, or if a name occurs twice.
    pub fn new(types: Vec<SampleType>) -> Result<Self> {
        if types.is_empty() {
            return Err(input("a profile has one sample type at least"));
        }
        for (i, a) in types.iter().enumerate() {
            if a.name.is_empty() || a.unit.is_empty() {
                return Err(input(
                    "a sample type of a profile has a name and a unit; one is empty",
                ));
            }
            if types[..i].iter().any(|b| b.name == a.name) {
                return Err(input(format!(
                    "the sample type '{}' occurs twice; viewers choose by name",
                    a.name
                )));
            }
        }
        let sums = StackSums::new(types.len());
        let frames = Frames::default();
        Ok(Self { types, sums, labels: Vec::new(), groups: HashMap::new(), frames })
    }

    /// Gives all steps the same frame in stacks that are added from now on.
    pub fn merge_steps(&mut self) {
        self.sums.merge_steps();
    }

    /// Chooses the names of frames, with the kernels that may be among them. Frames are added
    /// before.
    pub fn name_frames(&mut self, kernels: Vec<Kernel>, options: FrameOptions) {
        self.frames = Frames::new(kernels, self.sums.texts(), options);
    }

    /// Returns the names that are shown for frames.
    pub fn frames(&self) -> &Frames {
        &self.frames
    }

    /// Returns the number of a set of labels. Labels with empty text carry no information and are
    /// dropped.
    pub fn group(&mut self, labels: &Labels) -> u32 {
        let is_empty =
            |value: &LabelValue| matches!(value, LabelValue::Text(text) if text.is_empty());
        let labels: Labels = labels.iter().filter(|(_, value)| !is_empty(value)).cloned().collect();
        let next = self.labels.len() as u32;
        let group = *self.groups.entry(labels.clone()).or_insert(next);
        if group == next {
            self.labels.push(labels);
        }
        group
    }

    /// Adds values to a stack given as strings, root first.
    ///
    /// # Errors
    ///
    /// Fails if the number of values differs from the number of sample types, or if a sum does not
    /// fit into 64 bits.
    pub fn add<'t>(
        &mut self,
        frames: impl IntoIterator<Item = &'t str>,
        group: u32,
        values: &[i64],
    ) -> Result<()> {
        self.check(values)?;
        self.sums.add(frames, group, values)
    }

    /// Adds values to the stack of a row; returns false if the row has no stack.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Builder::add`].
    pub fn add_row(
        &mut self,
        stacks: &Stacks,
        row: usize,
        group: u32,
        values: &[i64],
    ) -> Result<bool> {
        self.check(values)?;
        self.sums.add_row(stacks, row, group, values)
    }

    fn check(&self, values: &[i64]) -> Result<()> {
        if values.len() != self.types.len() {
            return Err(input(format!(
                "a sample has a value for each of the {} sample types, not {}",
                self.types.len(),
                values.len()
            )));
        }
        Ok(())
    }

    /// Returns all texts of a label, without the base of a comparison. `None` if some samples do
    /// not have it, or if there are no labels at all.
    pub fn label_texts(&self, name: &str) -> Option<BTreeSet<String>> {
        let text = |labels: &Labels| {
            labels.iter().find_map(|(label, value)| match value {
                LabelValue::Text(text) if label == name => Some(text.clone()),
                _ => None,
            })
        };
        let found = self.labels.iter().filter(|labels| !is_base(labels)).map(text);
        (!self.labels.is_empty()).then(|| found.collect()).flatten()
    }

    /// Returns the sample types.
    pub fn types(&self) -> &[SampleType] {
        &self.types
    }

    /// Returns the number of samples.
    pub fn len(&self) -> usize {
        self.sums.len()
    }

    /// Whether the profile has no samples.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// Drops the sample types whose values are 0 in all samples. If this holds for every type, the
    /// first one is kept.
    pub fn drop_types_without_values(&mut self) {
        let mut used = self.sums.used();
        if !used.contains(&true) {
            used[0] = true;
        }
        self.sums.keep(&used);
        let mut used = used.into_iter();
        self.types.retain(|_| used.next() == Some(true));
    }

    /// Visits all samples in the order of writing, with frames (root first), labels and values.
    pub fn visit<E>(
        &self,
        mut visit: impl FnMut(&[&str], &Labels, &[i64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let none = Labels::new();
        self.sums.visit(&self.group_order(), |sum| {
            visit(sum.frames, self.labels.get(sum.group as usize).unwrap_or(&none), sum.values)
        })
    }

    /// Returns the approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        self.sums.bytes() + self.labels.len() * size_of::<Labels>() * 4
    }

    /// Adds all samples of a profile that this type wrote.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not such a profile, or if a sum does not fit into 64 bits.
    pub fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        let profile =
            proto::Profile::decode(bytes).map_err(|e| input(format!("not a profile: {e}")))?;
        let wrong = || input("a profile refers to what it does not hold");
        let text = |at: i64| {
            usize::try_from(at)
                .ok()
                .and_then(|at| profile.string_table.get(at))
                .map(String::as_str)
                .ok_or_else(wrong)
        };
        for sample in &profile.sample {
            let mut frames = Vec::with_capacity(sample.location_id.len());
            for id in sample.location_id.iter().rev() {
                // A location and its function have the same number. Numbers start at 1 and follow
                // the order of writing.
                let function = id
                    .checked_sub(1)
                    .and_then(|at| profile.function.get(at as usize))
                    .ok_or_else(wrong)?;
                frames.push(match text(function.system_name)? {
                    SAME => text(function.name)?,
                    EMPTY => "",
                    frame => frame,
                });
            }
            let mut labels = Labels::new();
            for label in &sample.label {
                let value = if label.str != 0 {
                    LabelValue::Text(text(label.str)?.to_owned())
                } else {
                    LabelValue::Number(label.num)
                };
                labels.push((text(label.key)?.to_owned(), value));
            }
            let group = self.group(&labels);
            self.add(frames, group, &sample.value)?;
        }
        Ok(())
    }

    /// Returns the profile's bytes, not compressed.
    ///
    /// # Errors
    ///
    /// Fails if the header names a default sample type that the profile does not have.
    pub fn encode(&self, header: &Header) -> Result<Vec<u8>> {
        let mut out = Writer {
            frames: &self.frames,
            texts: HashMap::new(),
            functions: HashMap::new(),
            profile: proto::Profile::default(),
        };
        out.text("");
        for sample_type in &self.types {
            let value_type = proto::ValueType {
                r#type: out.text(&sample_type.name),
                unit: out.text(&sample_type.unit),
            };
            out.profile.sample_type.push(value_type);
        }
        let default = self.default_sample_type(header)?;
        out.profile.default_sample_type = out.text(default);
        let filename = out.text(&header.source);
        out.profile.mapping.push(proto::Mapping {
            id: 1,
            filename,
            has_functions: true,
            has_filenames: true,
            has_line_numbers: true,
            has_inline_frames: true,
        });
        (out.profile.time_nanos, out.profile.duration_nanos) = (header.time_ns, header.duration_ns);
        for comment in &header.comments {
            let comment = out.text(comment);
            out.profile.comment.push(comment);
        }
        self.visit(|frames, labels, values| -> Result<()> {
            if values.iter().any(|&v| v != 0) {
                let location_id = frames.iter().rev().map(|frame| out.location(frame)).collect();
                let label = labels.iter().map(|(key, value)| out.label(key, value)).collect();
                out.profile.sample.push(proto::Sample {
                    location_id,
                    value: values.to_vec(),
                    label,
                });
            }
            Ok(())
        })?;
        Ok(out.profile.encode_to_vec())
    }

    fn default_sample_type<'a>(&'a self, header: &'a Header) -> Result<&'a str> {
        match &header.default_sample_type {
            Some(name) if self.types.iter().any(|t| t.name == *name) => Ok(name),
            Some(name) => Err(input(format!("there is no sample type '{name}' in the profile"))),
            None => Ok(self
                .types
                .iter()
                .find(|t| t.unit == "nanoseconds")
                .map_or(&self.types[0].name, |t| &t.name)),
        }
    }

    /// Returns the position of each set of labels in sorted order.
    fn group_order(&self) -> Vec<u32> {
        let mut groups: Vec<usize> = (0..self.labels.len()).collect();
        groups.sort_unstable_by_key(|&group| &self.labels[group]);
        let mut order = vec![0; groups.len()];
        groups.iter().enumerate().for_each(|(place, &group)| order[group] = place as u32);
        order
    }
}

/// The system name of a function whose frame equals its name.
const SAME: &str = "";
/// The system name of a function whose frame is empty.
const EMPTY: &str = " ";

fn input(message: impl Into<String>) -> Error {
    Error::Input(message.into())
}

/// A message under construction. Strings, functions and locations get a number when they are first
/// used.
struct Writer<'a> {
    frames: &'a Frames,
    texts: HashMap<String, i64>,
    functions: HashMap<String, u64>,
    profile: proto::Profile,
}

impl Writer<'_> {
    fn text(&mut self, text: &str) -> i64 {
        if let Some(&at) = self.texts.get(text) {
            return at;
        }
        let at = self.profile.string_table.len() as i64;
        self.profile.string_table.push(text.to_owned());
        self.texts.insert(text.to_owned(), at);
        at
    }

    fn location(&mut self, frame: &str) -> u64 {
        if let Some(&id) = self.functions.get(frame) {
            return id;
        }
        let id = self.functions.len() as u64 + 1;
        self.functions.insert(frame.to_owned(), id);
        let mut parsed = FrameName::of(frame);
        if let shown = self.frames.shown(frame)
            && shown != frame
        {
            parsed.function = shown.to_owned();
        }
        // The original frame is kept as the system name, so that `merge` can read it back. It is
        // left out where it equals the name: if both names are equal, pprof treats them as a
        // mangled name and removes everything in brackets.
        let system_name = match frame {
            "" => EMPTY,
            frame if frame == parsed.function => SAME,
            frame => frame,
        };
        let (name, system_name, filename) =
            (self.text(&parsed.function), self.text(system_name), self.text(&parsed.file));
        self.profile.function.push(proto::Function {
            id,
            name,
            system_name,
            filename,
            start_line: parsed.line,
        });
        let line = vec![proto::Line { function_id: id, line: parsed.line }];
        self.profile.location.push(proto::Location { id, mapping_id: 1, line });
        id
    }

    fn label(&mut self, key: &str, value: &LabelValue) -> proto::Label {
        let key = self.text(key);
        match value {
            LabelValue::Text(text) => {
                proto::Label { key, str: self.text(text), num: 0, num_unit: 0 }
            }
            // Readers ignore a label without text, number and unit. The unit makes 0 count as a
            // number.
            LabelValue::Number(num) => {
                proto::Label { key, str: 0, num: *num, num_unit: self.text("count") }
            }
        }
    }
}

#[cfg(test)]
mod tests;
