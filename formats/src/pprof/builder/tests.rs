//! Profiles as they are written and read again.

use super::*;

fn types() -> Vec<SampleType> {
    vec![SampleType::new("samples", "count"), SampleType::new("cpu", "nanoseconds")]
}

fn decode(bytes: &[u8]) -> proto::Profile {
    proto::Profile::decode(bytes).expect("a profile")
}

#[test]
fn samples_are_leaf_first_and_merged() {
    let mut builder = Builder::new(types()).expect("types");
    let labels = builder.group(&vec![
        ("step".to_owned(), LabelValue::Number(0)),
        ("thread".to_owned(), LabelValue::Text("main".to_owned())),
    ]);
    builder.add(["a.py(3): f", "mm"], labels, &[1, 5]).expect("added");
    builder.add(["a.py(3): f"], labels, &[1, 7]).expect("added");
    builder.add(["a.py(3): f", "mm"], labels, &[1, 6]).expect("added");
    builder.add(["zero"], labels, &[0, 0]).expect("added");
    let header = Header {
        time_ns: 5,
        duration_ns: 6,
        source: "trace.json".to_owned(),
        comments: vec!["made by a test".to_owned()],
        ..Header::default()
    };
    let profile = decode(&builder.encode(&header).expect("encoded"));
    let text = |at: i64| profile.string_table[at as usize].as_str();
    assert_eq!(profile.string_table[0], "");
    assert_eq!(text(profile.default_sample_type), "cpu");
    assert_eq!(
        (profile.time_nanos, profile.duration_nanos, text(profile.comment[0])),
        (5, 6, "made by a test")
    );
    let name = |id: &u64| text(profile.function[*id as usize - 1].name);
    let samples: Vec<_> = profile
        .sample
        .iter()
        .map(|s| (s.location_id.iter().map(name).collect::<Vec<_>>(), s.value.clone()))
        .collect();
    assert_eq!(samples, vec![(vec!["a.f"], vec![1, 7]), (vec!["mm", "a.f"], vec![2, 11])]);
    let function = profile.function[0];
    assert_eq!(
        (text(function.system_name), text(function.filename), function.start_line),
        ("a.py(3): f", "a.py", 3)
    );
    assert_eq!(profile.location[0].line, vec![proto::Line { function_id: 1, line: 3 }]);
    let labels: Vec<_> = profile.sample[0]
        .label
        .iter()
        .map(|l| (text(l.key), text(l.str), l.num, text(l.num_unit)))
        .collect();
    assert_eq!(labels, vec![("step", "", 0, "count"), ("thread", "main", 0, "")]);
}

#[test]
fn any_order_and_any_partition_give_the_same_bytes() {
    let samples = [("b", "x", 1), ("a", "y", 2), ("b", "", 3), ("a;b", "x", 4), ("b", "x", 5)];
    let add = |builder: &mut Builder, &(stack, label, value): &(&str, &str, i64)| {
        let group = builder.group(&vec![("label".to_owned(), LabelValue::Text(label.to_owned()))]);
        builder.add(stack.split(';'), group, &[1, value]).expect("added");
    };
    let mut whole = Builder::new(types()).expect("types");
    samples.iter().for_each(|s| add(&mut whole, s));
    let mut merged = Builder::new(types()).expect("types");
    for part in [&samples[3..], &samples[..3]] {
        let mut builder = Builder::new(types()).expect("types");
        part.iter().rev().for_each(|s| add(&mut builder, s));
        merged.merge(&builder.encode(&Header::default()).expect("encoded")).expect("merged");
    }
    assert_eq!(
        whole.encode(&Header::default()).expect("encoded"),
        merged.encode(&Header::default()).expect("encoded")
    );
}

#[test]
fn wrong_profiles_cannot_be_made() {
    assert!(Builder::new(vec![]).is_err());
    assert!(Builder::new(vec![SampleType::new("cpu", "")]).is_err());
    assert!(
        Builder::new(vec![SampleType::new("cpu", "count"), SampleType::new("cpu", "bytes")])
            .is_err()
    );
    let mut builder = Builder::new(types()).expect("types");
    assert!(builder.add(["a"], 0, &[1]).is_err());
    assert!(
        builder
            .encode(&Header { default_sample_type: Some("gpu".to_owned()), ..Header::default() })
            .is_err()
    );
    assert!(builder.merge(b"\xff\xff").is_err());
    let unknown = proto::Profile {
        sample: vec![proto::Sample { location_id: vec![7], value: vec![1, 2], label: vec![] }],
        ..proto::Profile::default()
    };
    assert!(builder.merge(&unknown.encode_to_vec()).is_err());
}
