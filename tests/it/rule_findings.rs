//! The result of each rule for traces that show its problem and for traces that do not. The table
//! `tests/expected/rules.tsv` has the figures, which follow from how the fixtures were made.
//!
//! `TRACESQL_BLESS=1` writes the current rows for the pairs of rule and trace in the table. Read
//! the difference before you keep it.

use std::collections::BTreeSet;

use crate::support::{TestStore, bottlenecks, fixture, root, rows_of};

const FILE: &str = "tests/expected/rules.tsv";

const COLUMNS: &str = "rule\ttrace\tdevice\tstatus\tseverity\tsubject\tvalue\tnumerator\t\
                       denominator\ttext";

/// The rule and the trace of a line.
fn pair(line: &str) -> (String, String) {
    let mut cells = line.split('\t').map(str::to_owned);
    (cells.next().unwrap_or_default(), cells.next().unwrap_or_default())
}

#[test]
fn rules_find_in_each_trace_what_the_table_says() {
    let path = root().join(FILE);
    let table = std::fs::read_to_string(&path).expect("the table is read");
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some(COLUMNS), "the first line of {FILE}");
    let wanted: BTreeSet<&str> = lines.collect();
    let pairs: BTreeSet<(String, String)> = wanted.iter().map(|line| pair(line)).collect();
    let sql = "SELECT concat('rule_', rule), split_part(trace_id, '-', 1), device, status, \
               severity, subject, round(value, 6), numerator, denominator, \
               coalesce(reason, message) FROM findings";
    let found: Vec<String> = bottlenecks()
        .rows(sql)
        .iter()
        .map(|row| row.join("\t").replace('\n', " "))
        .filter(|line| pairs.contains(&pair(line)))
        .collect();
    if std::env::var_os("TRACESQL_BLESS").is_some() {
        let found: BTreeSet<String> = found.into_iter().collect();
        let found: Vec<String> = found.into_iter().collect();
        std::fs::write(&path, format!("{COLUMNS}\n{}\n", found.join("\n"))).expect("write it");
        return;
    }
    let missing: Vec<&&str> = wanted.iter().filter(|w| !found.iter().any(|f| f == **w)).collect();
    let more: Vec<&String> = found.iter().filter(|f| !wanted.contains(f.as_str())).collect();
    assert!(
        missing.is_empty() && more.is_empty(),
        "not found:\n{missing:#?}\nnot expected:\n{more:#?}"
    );
    assert_eq!(found.len(), wanted.len(), "rows that are there twice");
}

/// A rule that has no line in the table has no test.
#[test]
fn every_rule_of_the_library_is_in_the_table() {
    let table = std::fs::read_to_string(root().join(FILE)).expect("the table is read");
    let tested: BTreeSet<String> = table.lines().skip(1).map(|line| pair(line).0).collect();
    let library = tracesql::library::Library::load(&[]).expect("the library loads");
    let rules: BTreeSet<String> = library.rules().map(|v| v.name.clone()).collect();
    assert_eq!(tested, rules);
}

/// Words of PyTorch's own options and functions.
const OF_TORCH: [&str; 9] = [
    "ProfilerActivity",
    "record_shapes",
    "with_stack",
    "prof.step",
    "torch.compile",
    "torch.autocast",
    "torch.distributed",
    "num_workers",
    "non_blocking",
];

#[test]
fn advice_is_for_the_profiler_that_wrote_the_file() {
    let files = [
        "databases/nsys.sqlite",
        "databases/rocpd.db",
        "databases/rocprofv3.json",
        "databases/small.rpd",
        "protobufs/gpu.xplane.pb",
        "protobufs/kinds.pftrace",
        "protobufs/rocprof.pftrace",
        "protobufs/tpu.xplane.pb",
    ];
    let texts = "SELECT rule, concat_ws(' ', message, advice, reason) FROM findings";
    for file in files {
        let store = TestStore::with(&fixture(file)).0;
        let rows = rows_of(&store.engine(), texts).unwrap_or_else(|e| panic!("{file}: {e}"));
        assert!(rows.len() >= 25, "{file}");
        for row in rows {
            let word = OF_TORCH.iter().find(|word| row[1].contains(**word));
            assert_eq!(word, None, "{file}: {}: {}", row[0], row[1]);
        }
    }
}

/// What is on a track of ranges or of asynchronous work may overlap; on a thread it may not.
#[test]
fn overlaps_of_ranges_are_no_damage() {
    for (pid, want) in [("\"Spans\"", "ok NULL"), ("7", "finding 1")] {
        let span = |ts: i64| {
            format!(r#"{{"ph":"X","name":"a","pid":{pid},"tid":"t","ts":{ts},"dur":10}}"#)
        };
        let list = format!("[{},{}]", span(0), span(5));
        let store = TestStore::of_text(list).0;
        assert_eq!(store.issues(), ["partial_overlap 1"]);
        assert_eq!(store.lines("SELECT status, numerator FROM rule_trace_damage"), [want]);
    }
}
