//! What the rules find in every trace of the corpus, against a file whose lines were read one by
//! one; left out where the corpus is not at hand.
//!
//! `TRACESQL_BLESS=1` writes the findings of today into the file; read the difference before you keep it.

use std::path::{Path, PathBuf};

use crate::support::{TestStore, corpus, root, rows_of};

const HEAD: &str = "trace\trule\tdevice\tsubject\tstatus\tseverity\tvalue";

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
        if path.is_dir() { files(&path, out) } else { out.push(path) }
    }
}

/// A line for each finding, ok and not measurable of these traces, which are files of the corpus.
fn findings(corpus: &Path, traces: &[String]) -> Vec<String> {
    let store = TestStore::new();
    for trace in traces {
        store.ingest(&corpus.join(trace)).unwrap_or_else(|e| panic!("{trace}: {e}"));
    }
    let sql = "SELECT t.path, f.rule, f.device, f.subject, f.status, f.severity, round(f.value, 6) FROM findings f JOIN traces t ON t.trace_id = f.trace_id";
    let rows = rows_of(&store.engine(), sql).unwrap_or_else(|e| panic!("{e}"));
    let mut lines: Vec<String> = rows
        .into_iter()
        .map(|mut row| {
            let path = Path::new(&row[0])
                .strip_prefix(corpus)
                .expect("a file of the corpus")
                .to_string_lossy()
                .into_owned();
            row[0] = path;
            row.join("\t").replace('\n', " ")
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn findings_in_public_traces_are_those_reviewed() {
    let Some(corpus) = corpus() else {
        eprintln!("left out: the corpus of public traces is not beside the project");
        return;
    };
    let file = root().join("tests/expected/findings.tsv");
    if std::env::var_os("TRACESQL_BLESS").is_some() {
        let mut paths = Vec::new();
        files(&corpus, &mut paths);
        paths.sort();
        let store = TestStore::new();
        paths.retain(|p| {
            (p.starts_with(corpus.join("public")) || p.starts_with(corpus.join("made")))
                && store.ingest(p).is_ok()
        });
        let traces: Vec<String> = paths
            .iter()
            .map(|p| p.strip_prefix(&corpus).expect("below").to_string_lossy().into_owned())
            .collect();
        std::fs::write(&file, format!("{HEAD}\n{}\n", findings(&corpus, &traces).join("\n")))
            .expect("write the expected findings");
        return;
    }
    let text = std::fs::read_to_string(&file).expect("the expected findings");
    let mut wanted: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    wanted.sort();
    let mut traces: Vec<String> =
        wanted.iter().filter_map(|l| l.split('\t').next()).map(str::to_owned).collect();
    traces.dedup();
    assert!(traces.len() > 100, "only {} traces are expected", traces.len());
    let found = findings(&corpus, &traces);
    let only = |a: &[String], b: &[String]| {
        a.iter().filter(|l| b.binary_search(l).is_err()).cloned().collect::<Vec<_>>().join("\n")
    };
    assert!(
        found == wanted,
        "not found:\n{}\nnot expected:\n{}",
        only(&wanted, &found),
        only(&found, &wanted)
    );
}
