//! Compares the findings of rules with rows that were reviewed one by one: every row for three
//! fixtures, and the number and a hash of the rows for each trace of the corpus.
//!
//! `TRACESQL_BLESS=1` writes the current findings into both files. Read the difference before you
//! keep it. The rows of all traces are written to a file among Cargo's temporary files, so that two
//! revisions can be compared.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::support::{TestStore, needs, root, rows_of};

/// A trace with a GPU, one without, and one of an old profiler.
const FIXTURES: [&str; 3] =
    ["old_kineto.json.gz", "resnet_cpu.pt.trace.json.gz", "synthetic_gpu_rank0.json.gz"];
const ROW_HEAD: &str = "trace\trule\tdevice\tsubject\tstatus\tseverity\tvalue";
const DIGEST_HEAD: &str = "trace\trows\thash";

/// The rows of each trace, in order.
type Rows = BTreeMap<String, Vec<String>>;

/// The rows with status finding, ok or not measurable for these traces, which are in a folder.
fn findings(folder: &Path, traces: &[String]) -> Rows {
    let store = TestStore::new();
    for trace in traces {
        store.ingest(&folder.join(trace)).unwrap_or_else(|e| panic!("{trace}: {e}"));
    }
    let sql = "SELECT t.path, f.rule, f.device, f.subject, f.status, f.severity, \
               round(f.value, 6) FROM findings f JOIN traces t ON t.trace_id = f.trace_id";
    let mut found = Rows::new();
    for row in rows_of(&store.engine(), sql).unwrap_or_else(|e| panic!("{e}")) {
        let path = Path::new(&row[0]).strip_prefix(folder).expect("a trace of the folder");
        let line = format!("{}\t{}", path.display(), row[1..].join("\t").replace('\n', " "));
        found.entry(path.display().to_string()).or_default().push(line);
    }
    found.values_mut().for_each(|rows| rows.sort());
    found
}

fn lines(rows: &Rows) -> String {
    format!("{ROW_HEAD}\n{}\n", rows.values().flatten().cloned().collect::<Vec<_>>().join("\n"))
}

/// A line for each trace.
fn digests(rows: &Rows) -> BTreeMap<&str, String> {
    let digest = |(trace, rows): (&'_ String, &Vec<String>)| {
        format!("{trace}\t{}\t{:016x}", rows.len(), hash(&rows.join("\n")))
    };
    rows.iter().map(|entry| (entry.0.as_str(), digest(entry))).collect()
}

/// The FNV-1a hash, which needs no library and will not change.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

fn blessing() -> bool {
    std::env::var_os("TRACESQL_BLESS").is_some()
}

#[test]
fn findings_in_fixtures_are_those_reviewed() {
    let found = lines(&findings(&root().join("fixtures"), &FIXTURES.map(str::to_owned)));
    let file = root().join("tests/expected/findings_of_fixtures.tsv");
    if blessing() {
        std::fs::write(&file, found).expect("write the expected findings");
        return;
    }
    let wanted = std::fs::read_to_string(&file).expect("the expected findings");
    let only = |a: &str, b: &str| {
        a.lines().filter(|line| !b.lines().any(|l| l == *line)).collect::<Vec<_>>().join("\n")
    };
    assert!(
        found == wanted,
        "not found:\n{}\nnot expected:\n{}",
        only(&wanted, &found),
        only(&found, &wanted)
    );
}

#[test]
fn findings_in_public_traces_are_those_reviewed() {
    let Some(corpus) = needs::corpus() else { return };
    let file = root().join("tests/expected/findings.tsv");
    if blessing() {
        let rows = findings(&corpus, &readable(&corpus));
        let lines: Vec<String> = digests(&rows).into_values().collect();
        std::fs::write(&file, format!("{DIGEST_HEAD}\n{}\n", lines.join("\n")))
            .expect("write the expected findings");
        eprintln!("all rows are in {}", written(&rows).display());
        return;
    }
    let text = std::fs::read_to_string(&file).expect("the expected findings");
    let trace = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
    let wanted: BTreeMap<String, &str> =
        text.lines().skip(1).map(|line| (trace(line), line)).collect();
    assert!(wanted.len() > 100, "only {} traces are expected", wanted.len());
    let found = findings(&corpus, &wanted.keys().cloned().collect::<Vec<_>>());
    let digests = digests(&found);
    let mut changed = String::new();
    for (trace, line) in &wanted {
        let now = digests.get(trace.as_str());
        if now.is_none_or(|now| now != line) {
            let rows = found.get(trace).map(|rows| rows.join("\n")).unwrap_or_default();
            let _ = writeln!(changed, "{line} is expected, and these rows are found:\n{rows}\n");
        }
    }
    assert!(
        changed.is_empty(),
        "{changed}the rows of all traces are in {}; run this test on the revision before, keep \
         that file and compare",
        written(&found).display()
    );
    written(&found);
}

/// Writes the rows of all traces to a file that people can compare.
fn written(rows: &Rows) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("findings.tsv");
    std::fs::write(&path, lines(rows)).expect("write the rows");
    path
}

/// All traces of the corpus that can be read, by their paths in the corpus.
fn readable(corpus: &Path) -> Vec<String> {
    fn files(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { files(&path, out) } else { out.push(path) }
        }
    }
    let mut paths = Vec::new();
    files(&corpus.join("public"), &mut paths);
    files(&corpus.join("made"), &mut paths);
    paths.sort();
    let store = TestStore::new();
    paths.retain(|path| store.ingest(path).is_ok());
    let name = |path: &PathBuf| {
        path.strip_prefix(corpus).expect("a file of the corpus").display().to_string()
    };
    paths.iter().map(name).collect()
}
