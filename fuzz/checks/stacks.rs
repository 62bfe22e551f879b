//! Stacks in the formats of other tools: each output is readable and contains the sums of the
//! input.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use arrow::array::{Int64Array, ListBuilder, RecordBatch, StringArray, StringBuilder};
use arrow::datatypes::{DataType, Field, Schema};
use tracesql_formats::pprof::{
    BASE, Builder, Collector, FILE, Header, LabelValue, Labels, SampleType, gzipped,
};
use tracesql_formats::{Direction, flamegraph, folded, speedscope};

use super::profile::{Samples, samples};

/// Separates samples from each other, and the title from the first sample. UTF-8 never contains
/// this byte.
const SAMPLE: u8 = 0xff;
/// Separates the frames of a sample.
const FRAME: u8 = 0xfe;

/// Checks a title and samples; see [`Sample::read`].
pub fn stacks(data: &[u8]) {
    let mut parts = data.split(|&b| b == SAMPLE);
    let title = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let given: Vec<Sample> = parts.filter_map(Sample::read).collect();
    let Some((mut profile, sums)) = summed(&given) else { return };
    profiles(&profile, &title, sums);
    folded_lines(&profile, &given);
    documents(&profile, &title, &given);
    drawing(&profile, &title, &given);
    profile.drop_types_without_values();
    columns(&profile, &given);
}

#[derive(Debug)]
struct Sample {
    frames: Vec<String>,
    step: Option<i64>,
    thread: Option<String>,
    is_base: bool,
    values: [i64; 2],
}

impl Sample {
    /// Reads one byte of label flags, two bytes of the value, one byte that shifts the value, and
    /// the frames.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (&[kind, low, high, shift], frames) = bytes.split_first_chunk::<4>()?;
        let value = i64::from(i16::from_le_bytes([low, high])).wrapping_shl(u32::from(shift));
        let frames = if frames.is_empty() {
            Vec::new()
        } else {
            frames.split(|&b| b == FRAME).map(|f| String::from_utf8_lossy(f).into_owned()).collect()
        };
        let number = i64::from(kind >> 4);
        Some(Self {
            frames,
            step: (kind & 1 != 0).then_some(number),
            thread: (kind & 2 != 0).then(|| "t".repeat(number as usize % 3)),
            is_base: kind & 4 != 0,
            values: [i64::from(kind & 8 != 0), value],
        })
    }

    /// Values of a base are negated.
    fn signed(&self) -> [i64; 2] {
        self.values.map(|v| if self.is_base { v.saturating_mul(-1) } else { v })
    }

    fn labels(&self) -> Labels {
        let step = self.step.map(|n| ("step".to_owned(), LabelValue::Number(n)));
        let thread =
            self.thread.as_ref().map(|t| ("thread".to_owned(), LabelValue::Text(t.clone())));
        let base = self.is_base.then(|| (BASE.to_owned(), LabelValue::Text("true".to_owned())));
        step.into_iter().chain(thread).chain(base).collect()
    }
}

fn types() -> Vec<SampleType> {
    vec![SampleType::new("samples", "count"), SampleType::new("cpu", "nanoseconds")]
}

/// Returns a profile of the samples and the expected sums, or `None` if a sum does not fit into 64
/// bits. The profile must refuse such a sum.
fn summed(given: &[Sample]) -> Option<(Builder, Samples)> {
    let mut profile = Builder::new(types()).expect("types");
    let mut sums = Samples::new();
    for sample in given {
        let group = profile.group(&sample.labels());
        let added = profile.add(sample.frames.iter().map(String::as_str), group, &sample.signed());
        let labels = sample.labels().into_iter().filter_map(|(name, value)| match value {
            LabelValue::Text(text) => (!text.is_empty()).then(|| (name, format!("{text:?}"))),
            LabelValue::Number(n) => Some((name, n.to_string())),
        });
        let sum =
            sums.entry((sample.frames.clone(), labels.collect())).or_insert_with(|| vec![0, 0]);
        for (sum, value) in sum.iter_mut().zip(sample.signed()) {
            let Some(more) = sum.checked_add(value) else {
                assert!(added.is_err(), "a sum beyond 64 bits is refused");
                return None;
            };
            *sum = more;
        }
        added.expect("what fits is added");
    }
    Some((profile, sums))
}

/// An encoded profile contains all sums other than 0, and does not change when it is read and
/// written again.
fn profiles(profile: &Builder, title: &str, mut sums: Samples) {
    let header =
        Header { source: title.to_owned(), comments: vec![title.to_owned()], ..Header::default() };
    let bytes = profile.encode(&header).expect("a profile");
    sums.retain(|_, values| values.iter().any(|&v| v != 0));
    assert_eq!(samples(&bytes), sums);
    let mut again = Builder::new(types()).expect("types");
    again.merge(&bytes).expect("our profiles are read");
    assert_eq!(again.encode(&header).expect("a profile"), bytes);
    let mut unpacked = Vec::new();
    let packed = gzipped(profile, &header).expect("a packed profile");
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).expect("gzip");
    assert_eq!(unpacked, bytes);
}

/// Folded stacks have one line per stack with a value, which is the sum over its labels.
fn folded_lines(profile: &Builder, given: &[Sample]) {
    let mut sums: BTreeMap<String, i128> = BTreeMap::new();
    for sample in given.iter().filter(|s| !s.is_base) {
        let held = |c| {
            if c == ';' {
                ':'
            } else if char::is_control(c) {
                '\u{fffd}'
            } else {
                c
            }
        };
        let text = |frame: &String| match frame.split(FILE).next().unwrap_or_default() {
            "" => "(empty)".to_owned(),
            name => name.chars().map(held).collect(),
        };
        let frames: Vec<String> = sample.frames.iter().map(text).collect();
        *sums.entry(frames.join(";")).or_default() += i128::from(sample.values[1]);
    }
    sums.retain(|_, sum| *sum != 0);
    let lines = folded(profile, Some("cpu"), false).expect("folded stacks");
    let mut found = BTreeMap::new();
    for line in lines.lines() {
        let (stack, value) = line.rsplit_once(' ').expect("a line ends with a value");
        let before = found.insert(stack.to_owned(), value.parse::<i128>().expect("a value"));
        assert!(before.is_none(), "a stack has one line: {line}");
    }
    // Values of different labels are added with saturation at 64 bits.
    if sums.values().all(|&sum| i64::try_from(sum).is_ok()) {
        assert_eq!(found, sums);
    }
    for line in folded(profile, None, true).expect("folded stacks").lines() {
        let mut words = line.rsplitn(3, ' ');
        let is_number = |word: Option<&str>| word.is_some_and(|w| w.parse::<i64>().is_ok());
        assert!(
            is_number(words.next()) && is_number(words.next()) && words.next().is_some(),
            "{line}"
        );
    }
}

/// The weights of speedscope's profiles are the positive sums, and each frame number refers to a
/// frame of the document.
fn documents(profile: &Builder, title: &str, given: &[Sample]) {
    let document: serde_json::Value =
        serde_json::from_slice(&speedscope(profile, title).expect("a document")).expect("JSON");
    assert_eq!(document["name"], title);
    let frames = document["shared"]["frames"].as_array().expect("frames").len() as u64;
    for (at, profile) in document["profiles"].as_array().expect("profiles").iter().enumerate() {
        let mut sums: BTreeMap<Vec<&str>, i128> = BTreeMap::new();
        for sample in given.iter().filter(|s| !s.is_base) {
            let stack =
                sample.frames.iter().map(|f| f.split(FILE).next().unwrap_or_default()).collect();
            *sums.entry(stack).or_default() += i128::from(sample.values[at]);
        }
        let lists = |key: &str| profile[key].as_array().expect("a list").clone();
        for stack in lists("samples") {
            assert!(
                stack
                    .as_array()
                    .expect("a stack")
                    .iter()
                    .all(|n| n.as_u64().is_some_and(|n| n < frames)),
                "{stack}"
            );
        }
        let mut weights: Vec<i128> =
            lists("weights").iter().map(|w| i128::from(w.as_i64().expect("a weight"))).collect();
        assert_eq!(weights.len(), lists("samples").len());
        if sums.values().all(|&sum| i64::try_from(sum).is_ok()) {
            let mut wanted: Vec<i128> = sums.into_values().filter(|&sum| sum > 0).collect();
            weights.sort_unstable();
            wanted.sort_unstable();
            assert_eq!(weights, wanted);
        }
    }
}

/// A flame graph of stacks with values is drawn, is valid XML, and contains the name of each frame
/// and the sum.
fn drawing(profile: &Builder, title: &str, given: &[Sample]) {
    let total: i128 = given.iter().map(|s| i128::from(s.values[1])).sum();
    if given.iter().any(|s| s.values[1] < 0 || s.is_base) || total > i128::from(i64::MAX) {
        return;
    }
    match flamegraph(profile, Some("cpu"), title, Direction::Icicle, false) {
        Ok(svg) => drop(titles(svg)),
        Err(e) => assert_eq!(total, 0, "{e}"),
    }
    let drawn: Vec<&Sample> = given.iter().filter(|s| s.values[0] > 0).collect();
    let Ok(svg) = flamegraph(profile, Some("samples"), title, Direction::Flame, false) else {
        return assert!(drawn.is_empty());
    };
    let titles = titles(svg);
    let noun = if drawn.len() == 1 { "sample" } else { "samples" };
    let all = format!("all\n{} {noun} 100 % of all", drawn.len());
    assert!(titles.iter().any(|title| title.replace(',', "") == all), "{titles:?}");
    // A frame of less than a 10,000th of the whole is not drawn.
    if drawn.len() > 5_000 {
        return;
    }
    for frame in drawn.iter().flat_map(|s| &s.frames) {
        let name = frame.split(FILE).next().unwrap_or_default();
        let plain = !name.trim().is_empty()
            && name.len() <= 500
            && !name.starts_with("_Z")
            && !name.chars().any(|c| c.is_control() || c >= '\u{e000}');
        let shown = |title: &String| title.split('\n').next() == Some(name);
        assert!(!plain || titles.iter().any(shown), "{name:?} is not in {titles:?}");
    }
}

/// Returns the names that an SVG shows; panics if it is not XML.
fn titles(svg: Vec<u8>) -> Vec<String> {
    use quick_xml::events::Event;
    let svg = String::from_utf8(svg).expect("UTF-8");
    let allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
    assert!(
        svg.chars().all(allowed),
        "a character that XML cannot hold: {:?}",
        svg.chars().find(|&c| !allowed(c))
    );
    let mut reader = quick_xml::Reader::from_str(&svg);
    let (mut titles, mut open) = (Vec::new(), None);
    loop {
        match reader.read_event().expect("XML") {
            Event::Eof => return titles,
            Event::Start(tag) | Event::Empty(tag) => {
                assert!(tag.attributes().all(|attribute| attribute.is_ok()), "{tag:?}");
                open = (tag.name().as_ref() == b"title").then(String::new);
            }
            Event::Text(text) => {
                open.iter_mut().for_each(|title| title.push_str(&text.decode().expect("UTF-8")))
            }
            Event::GeneralRef(name) => {
                let name = name.decode().expect("UTF-8");
                let entity = format!("&{name};");
                open.iter_mut().for_each(|title| {
                    title.push_str(&quick_xml::escape::unescape(&entity).expect("an entity"))
                });
            }
            Event::End(_) => titles.extend(open.take()),
            _ => {}
        }
    }
}

/// The columns of a query give the same profile as strings.
fn columns(profile: &Builder, given: &[Sample]) {
    let field = |name: &str, data_type| Field::new(name, data_type, true);
    let stack = DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)));
    let fields = [
        ("stack", stack),
        ("samples", DataType::Int64),
        ("cpu_ns", DataType::Int64),
        ("step", DataType::Int64),
        ("thread", DataType::Utf8),
    ];
    let schema =
        Arc::new(Schema::new(fields.map(|(name, data_type)| field(name, data_type)).to_vec()));
    let mut collector = Collector::new(&schema).expect("columns of samples");
    for is_base in [false, true] {
        let rows: Vec<&Sample> = given.iter().filter(|s| s.is_base == is_base).collect();
        let mut stacks = ListBuilder::new(StringBuilder::new());
        for sample in &rows {
            sample.frames.iter().for_each(|frame| stacks.values().append_value(frame));
            stacks.append(true);
        }
        let value = |at: usize| Arc::new(rows.iter().map(|s| s.values[at]).collect::<Int64Array>());
        let steps: Int64Array = rows.iter().map(|s| s.step).collect();
        let threads: StringArray = rows.iter().map(|s| s.thread.as_deref()).collect();
        let columns: Vec<arrow::array::ArrayRef> =
            vec![Arc::new(stacks.finish()), value(0), value(1), Arc::new(steps), Arc::new(threads)];
        let batch = RecordBatch::try_new(schema.clone(), columns).expect("a batch");
        // In another order, an intermediate sum can exceed 64 bits.
        if collector.add(&batch, is_base).is_err() {
            return;
        }
    }
    assert_eq!(
        collector.finish().encode(&Header::default()).expect("a profile"),
        profile.encode(&Header::default()).expect("a profile")
    );
}
