//! Fixtures with random damage. Each is either read, with every element counted, or rejected.

use std::path::Path;

use tempfile::TempDir;
use tracesql_ingest::Store;

use crate::support::{TestStore, fixture, root, texts, tracesql};

/// Pseudo-random numbers that are the same in each run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

const PIECES: &[&[u8]] = &[
    b"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\\",
    b"\0",
    b"\xff",
    b"1e999",
    b"-",
    b"null",
    b"\"ph\"",
    b"\n",
    b"\\u",
    b"999999999999999999999999999999",
    b"{\"ph\":\"X\"",
    b"\"args\":{",
    b"\"ts\":",
    b"\"traceEvents\":[",
    b"\"deviceProperties\":[{\"id\":",
];

/// Deletes, inserts, changes or repeats some bytes.
fn damage(bytes: &mut Vec<u8>, r: &mut Random) {
    for _ in 0..[1, 1, 2, 5, 30][r.below(5)] {
        let at = r.below(bytes.len());
        match r.below(4) {
            0 => drop(bytes.drain(at..bytes.len().min(at + 1 + r.below(20)))),
            1 => drop(bytes.splice(at..at, PIECES[r.below(PIECES.len())].iter().copied())),
            2 if at < bytes.len() => bytes[at] = r.below(256) as u8,
            _ => {
                let from = r.below(bytes.len());
                let part = bytes[from..bytes.len().min(from + r.below(200))].to_vec();
                drop(bytes.splice(at..at, part));
            }
        }
    }
    if r.below(10) == 0 {
        bytes.truncate(r.below(bytes.len()));
    }
}

/// A complaint if the file was not handled correctly.
fn complaint(path: &Path) -> Option<String> {
    let folder = TempDir::new().expect("a folder");
    let root = folder.path().join("store");
    let run =
        tracesql(&["ingest", path.to_str().expect("a name"), "-o", root.to_str().expect("a name")]);
    let stderr = texts(&run).1;
    match run.status.code() {
        _ if stderr.contains("panicked") => Some(stderr),
        Some(3) => (!stderr.contains("error: ")).then(|| "no error is said".to_owned()),
        Some(0) => {
            let store = TestStore { folder, store: Store::open(&root).expect("the store") };
            let n = store.ints(
                "SELECT (SELECT sum(element_count) FROM traces) AS elements, (SELECT count(*) \
                    FROM events) AS rows, (SELECT sum(skipped_count) \
                    FROM ingest_issues) AS skipped, \
                 (SELECT count(*) FROM events e \
                 LEFT JOIN events p ON p.event_id = e.parent_id AND p.trace_id = e.trace_id \
                  WHERE e.parent_id IS NOT NULL AND (p.pre < e.pre AND e.post <= p.post) IS NOT \
                  TRUE) AS astray",
            );
            if n[0] != n[1] + n[2] || n[3] != 0 {
                return Some(format!(
                    "elements, rows, skipped, rows outside of their parents: {n:?}"
                ));
            }
            let json = "SELECT args FROM events WHERE args IS NOT NULL UNION ALL SELECT extra \
                FROM events WHERE extra IS NOT NULL \
                        UNION ALL SELECT metadata FROM traces";
            let broken = store
                .lines(json)
                .into_iter()
                .find(|text| serde_json::from_str::<serde_json::Value>(text).is_err());
            broken.map(|text| format!("not JSON: {text}"))
        }
        code => Some(format!("exit code {code:?}")),
    }
}

#[test]
fn damaged_fixtures_are_read_or_refused() {
    let number =
        std::env::var("TRACESQL_RANDOM_TRACES").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let data = root().join("tests/data");
    let sources = [
        fixture("chrome_mixed.json"),
        fixture("nasty.json"),
        fixture("perf_edge.json"),
        fixture("old_kineto.json.gz"),
        data.join("chrome_mixed.json.zst"),
        data.join("two_traces.zip"),
        data.join("two_traces.tar.gz"),
    ];
    let sources = sources.map(|path| std::fs::read(path).expect("a file"));
    let (folder, mut r, mut wrong) =
        (TempDir::new().expect("a folder"), Random(0x9e37_79b9_7f4a_7c15), Vec::new());
    for i in 0..number {
        let mut bytes = sources[r.below(sources.len())].clone();
        damage(&mut bytes, &mut r);
        let path = folder.path().join(format!("{i}.json"));
        std::fs::write(&path, bytes).expect("a file");
        wrong.extend(complaint(&path).map(|what| format!("{i}: {what}")));
    }
    if !wrong.is_empty() {
        panic!("{} files, kept in {}:\n{}", wrong.len(), folder.keep().display(), wrong.join("\n"));
    }
}
