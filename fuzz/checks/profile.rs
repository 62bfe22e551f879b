//! A reader of profile.proto that shares no code with the writer.

use std::collections::BTreeMap;

/// The samples of a profile: frames (root first) and labels as text, with their values.
pub type Samples = BTreeMap<(Vec<String>, Vec<(String, String)>), Vec<i64>>;

/// Reads the samples of a profile; panics if a reference has no target.
pub fn samples(profile: &[u8]) -> Samples {
    let fields = fields(profile);
    let all = |number| fields.iter().filter(move |f| f.0 == number).map(|f| f.1.bytes());
    let texts: Vec<&str> =
        all(6).map(|bytes| std::str::from_utf8(bytes).expect("texts are UTF-8")).collect();
    assert_eq!(texts[0], "", "the first text is empty");
    let types = all(1).count();
    let functions: BTreeMap<u64, &[u8]> = all(5).map(|bytes| (number(bytes, 1), bytes)).collect();
    let locations: BTreeMap<u64, &[u8]> = all(4).map(|bytes| (number(bytes, 1), bytes)).collect();
    assert!(!functions.contains_key(&0) && !locations.contains_key(&0), "0 is no id");
    let frame = |location: u64| {
        let line = self::fields(locations[&location])
            .into_iter()
            .find(|f| f.0 == 4)
            .expect("a location has a line")
            .1;
        let function = functions[&number(line.bytes(), 1)];
        match texts[number(function, 3) as usize] {
            "" => texts[number(function, 2) as usize],
            " " => "",
            system_name => system_name,
        }
    };
    let mut samples = Samples::new();
    for sample in all(2) {
        let mut frames: Vec<String> =
            numbers(sample, 1).into_iter().map(|id| frame(id).to_owned()).collect();
        frames.reverse();
        let labels = self::fields(sample).into_iter().filter(|f| f.0 == 3).map(|f| {
            let label = f.1.bytes();
            let text = match number(label, 2) {
                0 => (number(label, 3) as i64).to_string(),
                at => format!("{:?}", texts[at as usize]),
            };
            (texts[number(label, 1) as usize].to_owned(), text)
        });
        let values: Vec<i64> = numbers(sample, 2).into_iter().map(|v| v as i64).collect();
        assert_eq!(values.len(), types, "a value for each type");
        let before = samples.insert((frames, labels.collect()), values);
        assert!(before.is_none(), "equal samples are added up");
    }
    samples
}

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    fn bytes(&self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Number(n) => panic!("{n} where bytes are expected"),
        }
    }
}

/// Returns the fields of a message.
fn fields(mut message: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let tag = varint(&mut message);
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut message)),
            2 => {
                let len = varint(&mut message) as usize;
                let (bytes, rest) = message.split_at(len);
                message = rest;
                Value::Bytes(bytes)
            }
            other => panic!("wire type {other} is not used by profiles"),
        };
        fields.push((tag >> 3, value));
    }
    fields
}

fn varint(message: &mut &[u8]) -> u64 {
    let (mut n, mut shift) = (0u64, 0);
    loop {
        let (byte, rest) = message.split_first().expect("a number ends");
        *message = rest;
        n |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            return n;
        }
    }
}

/// Returns a numeric field; 0 if it is missing.
fn number(message: &[u8], field: u64) -> u64 {
    fields(message)
        .into_iter()
        .filter(|f| f.0 == field)
        .map(
            |f| {
                if let Value::Number(n) = f.1 { n } else { panic!("field {field} is not a number") }
            },
        )
        .next_back()
        .unwrap_or(0)
}

/// Returns a field that is a list of numbers, packed or not.
fn numbers(message: &[u8], field: u64) -> Vec<u64> {
    let mut numbers = Vec::new();
    for (_, value) in fields(message).into_iter().filter(|f| f.0 == field) {
        match value {
            Value::Number(n) => numbers.push(n),
            Value::Bytes(mut packed) => {
                while !packed.is_empty() {
                    numbers.push(varint(&mut packed));
                }
            }
        }
    }
    numbers
}
