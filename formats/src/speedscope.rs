//! Profiles for speedscope, in its JSON file format: one sampled profile for each measure.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::frames::Frames;
use crate::measure::{position, stacks_of};
use crate::pprof::{Builder, FrameName};

/// Writes the profile as a speedscope document with this name. It opens on the first measure in
/// nanoseconds.
///
/// # Errors
///
/// Fails if the document cannot be written as JSON.
pub fn speedscope(profile: &Builder, name: &str) -> Result<Vec<u8>> {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut frames: Vec<Value> = Vec::new();
    let mut profiles = Vec::new();
    for (at, sample_type) in profile.types().iter().enumerate() {
        let (mut samples, mut weights, mut end) = (Vec::new(), Vec::new(), 0i64);
        for stack in
            stacks_of(profile, at, false, str::to_owned).into_iter().filter(|s| s.value > 0)
        {
            let sample: Vec<usize> = stack
                .frames
                .iter()
                .map(|text| number(text, profile.frames(), &mut numbers, &mut frames))
                .collect();
            samples.push(sample);
            weights.push(stack.value);
            end = end.saturating_add(stack.value);
        }
        let unit = match sample_type.unit.as_str() {
            unit @ ("nanoseconds" | "microseconds" | "milliseconds" | "seconds" | "bytes") => unit,
            _ => "none",
        };
        profiles.push(json!({
            "type": "sampled",
            "name": sample_type.name,
            "unit": unit,
            "startValue": 0,
            "endValue": end,
            "samples": samples,
            "weights": weights,
        }));
    }
    let document = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": { "frames": frames },
        "profiles": profiles,
        "name": name,
        "activeProfileIndex": position(profile, None)?,
        "exporter": concat!("tracesql ", env!("CARGO_PKG_VERSION")),
    });
    serde_json::to_vec(&document).map_err(|e| Error::Document(e.to_string()))
}

/// Returns the number of a frame. A kernel with a short name has its full name as its file, because
/// speedscope shows a file next to the name and knows no other place for it.
fn number(
    text: &str,
    names: &Frames,
    numbers: &mut HashMap<String, usize>,
    frames: &mut Vec<Value>,
) -> usize {
    if let Some(&number) = numbers.get(text) {
        return number;
    }
    let parsed = FrameName::of(text);
    let shown = names.shown(text);
    let frame = if shown != text {
        json!({ "name": shown, "file": text })
    } else if parsed.file.is_empty() {
        json!({ "name": parsed.function })
    } else {
        json!({ "name": parsed.function, "file": parsed.file, "line": parsed.line })
    };
    frames.push(frame);
    numbers.insert(text.to_owned(), frames.len() - 1);
    frames.len() - 1
}
