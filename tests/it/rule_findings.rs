//! The result of each rule for traces that show its problem and for traces that do not. The table
//! `tests/expected/rules.tsv` has the figures, which follow from how the fixtures were made.
//!
//! `TRACESQL_BLESS=1` writes the current rows for the pairs of rule and trace in the table. Read
//! the difference before you keep it.

use std::collections::BTreeSet;

use crate::support::{bottlenecks, root};

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
