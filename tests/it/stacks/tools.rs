//! Compares the rules for compatibility with torch2pprof and trace2profile: with profiles that
//! these tools wrote, and with a second count by their rules in Python.
//!
//! Profiles are compared by a digest of all their stacks and values. Every profile that differs is
//! listed in `tests/expected/profile_differences.tsv` with the digest of ours and a reason that
//! docs/stacks.md explains. The test fails if a difference is not listed, has changed or no longer
//! exists.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tracesql::stacks::{Request, Rule};
use tracesql_formats::pprof::{FILE, Labels};
use tracesql_ingest::Store;

use super::oracle::adler;
use super::samples;
use crate::support::{TestStore, needs, root};

const RULES: [(&str, Rule); 2] = [("inclusive", Rule::Inclusive), ("flat", Rule::Flat)];

/// The digest of a profile by `tests/oracle/profiles.py`: the number of stacks, the number of
/// stacks whose values are all 0, the sum of the last value, and the Adler-32 checksum of the
/// lines.
#[derive(Debug, PartialEq, Eq)]
struct Digest {
    stacks: u64,
    zeros: u64,
    ns: i64,
    adler32: u64,
}

impl Digest {
    fn read(value: &Value) -> Option<Self> {
        let whole = |field: &str| value[field].as_u64().expect("a number");
        value.is_object().then(|| Self {
            stacks: whole("stacks"),
            zeros: whole("zeros"),
            ns: value["ns"].as_i64().expect("ns"),
            adler32: whole("adler32"),
        })
    }

    /// Our profile of a trace. Stacks whose values are all 0 are not written to profiles.
    fn ours(store: &Store, rule: Rule, trace_id: Option<&str>) -> Self {
        let filter = trace_id.map(|id| format!("trace_id = '{id}'"));
        let samples = samples(store, &Request { rule, filter, ..Request::default() });
        let (mut lines, mut ns, mut zeros) = (Vec::new(), 0, 0);
        let add = |frames: &[&str], _: &Labels, values: &[i64]| -> Result<(), ()> {
            if values.iter().all(|v| *v == 0) {
                zeros += 1;
                return Ok(());
            }
            let frames: Vec<String> = frames.iter().map(|f| f.replace(FILE, "\t")).collect();
            let texts: Vec<String> = values.iter().map(i64::to_string).collect();
            lines.push(format!("{}\t{}", frames.join(";;"), texts.join(" ")));
            ns += values.last().expect("a value");
            Ok(())
        };
        samples.profile.visit(add).expect("visited");
        lines.sort();
        Self { stacks: lines.len() as u64 + zeros, zeros, ns, adler32: adler(&lines) }
    }

    /// The digest without stacks whose values are all 0.
    fn without_zeros(self) -> Self {
        Self { stacks: self.stacks - self.zeros, zeros: 0, ..self }
    }
}

/// A documented difference: the digest of our profile, and the reason.
type Known = BTreeMap<(String, String), (String, String)>;

/// Compares the profiles of all traces under both rules.
pub fn check(set: &str, store: &TestStore, wanted: &[Value]) {
    let ids: BTreeMap<String, String> = store
        .rows("SELECT path, trace_id FROM traces")
        .into_iter()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    let mut known = known(set);
    let mut wrong = Vec::new();
    let mut table = vec![
        "| rule | set | profiles equal / all | without stacks of value 0 |".to_owned(),
        "| --- | --- | ---: | ---: |".to_owned(),
    ];
    for (name, rule) in RULES {
        let (mut equal, mut all, mut zeros) = (0, 0, 0);
        for want in wanted {
            let path = want["path"].as_str().expect("a path");
            let Some(theirs) = Digest::read(&want[name]) else { continue };
            zeros += usize::from(theirs.zeros > 0);
            let theirs = theirs.without_zeros();
            let ours = Digest::ours(&store.store, rule, Some(&ids[path])).without_zeros();
            let documented = known.remove(&(short(path), name.to_owned()));
            let found = format!("{:08x}", ours.adler32);
            all += 1;
            equal += usize::from(ours == theirs);
            let accepted =
                documented.map_or(ours == theirs, |(digest, _)| ours != theirs && digest == found);
            if !accepted {
                wrong.push(format!(
                    "{set}\t{}\t{name}\t{found}: want {theirs:?}, got {ours:?}",
                    short(path)
                ));
            }
        }
        table.push(format!("| `{name}` | {set} | {equal} / {all} | {zeros} |"));
        assert!(equal > 0, "no profile of rule {name} is equal");
    }
    wrong.extend(known.into_keys().map(|key| format!("{key:?} is listed, and was not compared")));
    assert!(
        wrong.is_empty(),
        "{} differences from what is documented:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let docs = std::fs::read_to_string(root().join("docs/evidence/profiles.md"))
        .expect("docs/evidence/profiles.md");
    for line in &table {
        assert!(
            docs.contains(line),
            "docs/evidence/profiles.md does not have this table:\n{}",
            table.join("\n")
        );
    }
}

/// The last three parts of a path.
fn short(path: &str) -> String {
    let mut parts: Vec<&str> = path.rsplit('/').take(3).collect();
    parts.reverse();
    parts.join("/")
}

/// The documented differences in a set of traces.
fn known(set: &str) -> Known {
    let text = std::fs::read_to_string(root().join("tests/expected/profile_differences.tsv"))
        .expect("profile_differences.tsv");
    let docs = std::fs::read_to_string(root().join("docs/stacks.md")).expect("docs/stacks.md");
    let mut known = Known::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [of, trace, rule, digest, reason] = fields[..] else {
            panic!("{line:?} has not five fields")
        };
        assert!(
            docs.contains(&format!("- `{reason}`: ")),
            "the reason {reason} is not explained in docs/stacks.md"
        );
        if of == set {
            let old = known.insert(
                (trace.to_owned(), rule.to_owned()),
                (digest.to_owned(), reason.to_owned()),
            );
            assert!(old.is_none(), "{trace} {rule} is listed twice");
        }
    }
    known
}

/// Profiles that torch2pprof itself wrote, as JSON of their stacks.
#[test]
fn profiles_of_torch2pprof_are_equal() {
    let Some(corpus) = needs::corpus() else { return };
    let hta = corpus.join("public/HolisticTraceAnalysis/tests/data");
    let cases = [
        ("triton_example/triton_example.json.gz", "hta_triton_example.torch2pprof.json"),
        ("amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz", "hta_amd_mi250.torch2pprof.json"),
        (
            "critical_path/end_to_end/simple_add/input/trace.json.gz",
            "hta_simple_add.torch2pprof.json",
        ),
    ];
    for (trace, profile) in cases {
        let Some(profile) = needs::in_corpus(&format!("../oracle/expected/{profile}")) else {
            continue;
        };
        let profile = std::fs::read(profile).expect("the profile is read");
        let want: Value = serde_json::from_slice(&profile).expect("JSON");
        let (store, _) = TestStore::with(&hta.join(trace));
        let samples =
            samples(&store.store, &Request { rule: Rule::Inclusive, ..Request::default() });
        let mut found = serde_json::Map::new();
        let add = |frames: &[&str], _: &Labels, values: &[i64]| -> Result<(), ()> {
            let frames: Vec<String> = frames.iter().map(|f| f.replace(FILE, "\t")).collect();
            found.insert(frames.join(";;"), Value::from(values.to_vec()));
            Ok(())
        };
        samples.profile.visit(add).expect("visited");
        assert_eq!(Value::Object(found), want["stacks"], "{trace}");
    }
}

/// Profiles that trace2profile itself wrote.
#[test]
fn profiles_of_trace2profile_are_equal() {
    let Some(corpus) = needs::corpus() else { return };
    let cases = [
        ("made/cnn_train_torch2.4.1.pt.trace.json.gz", "cnn_train_torch2.4.1"),
        (
            "public/TraceLens/tests/traces/h100/gaunernst_bert-small-uncased__1016001.json.gz",
            "h100_bert_small",
        ),
        (
            "public/param/dlrm_kineto/worker0_step_12.1694128201545.pt.trace.json.gz",
            "param_dlrm_worker0",
        ),
    ];
    for (trace, profile) in cases {
        let want = read_profile(&corpus.join(format!("made/pprof/{profile}.trace2profile.pb")));
        let (store, _) = TestStore::with(&corpus.join(trace));
        assert_eq!(
            Digest::ours(&store.store, Rule::Flat, None).without_zeros(),
            want.without_zeros(),
            "{trace}"
        );
    }
}

/// The digest of a profile.
fn read_profile(path: &Path) -> Digest {
    let out = Command::new("python3")
        .arg(root().join("tests/oracle/profiles.py"))
        .arg(path)
        .output()
        .expect("python3 runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    Digest::read(&serde_json::from_slice(&out.stdout).expect("JSON")).expect("a digest")
}

/// Threads of two traces are different threads, even if they have the same number.
#[test]
fn traces_of_a_store_do_not_nest_into_each_other() {
    let store = TestStore::new();
    let outer = r#"{"traceEvents":[{"ph":"X","name":"outer","pid":1,"tid":1,"ts":0,"dur":100}]}"#;
    let inner = r#"{"traceEvents":[{"ph":"X","name":"inner","pid":1,"tid":1,"ts":10,"dur":50}]}"#;
    for (name, text) in [("a.json", outer), ("b.json", inner)] {
        let path = store.folder.path().join(name);
        std::fs::write(&path, text).expect("write a trace");
        store.ingest(&path).expect("the trace is read");
    }
    let (mut stacks, samples) = (
        Vec::new(),
        samples(&store.store, &Request { rule: Rule::Inclusive, ..Request::default() }),
    );
    let add = |frames: &[&str], _: &Labels, values: &[i64]| -> Result<(), ()> {
        stacks.push(format!("{} {}", frames.len(), values[1]));
        Ok(())
    };
    samples.profile.visit(add).expect("visited");
    stacks.sort();
    assert_eq!(stacks, ["1 100000", "1 50000"]);
}
