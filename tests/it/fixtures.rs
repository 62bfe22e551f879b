//! Tests of the fixtures: every figure of an independent recount, every element of the broken
//! fixture, and PyTorch's own table.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tracesql_ingest::schema::TABLES;

use crate::recount::differences;
use crate::support::{PIPELINE, TestStore, fixture, root};

/// The JSON fixtures.
fn names() -> BTreeSet<String> {
    let entries = std::fs::read_dir(root().join("fixtures")).expect("fixtures").flatten();
    entries
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|n| n.contains(".json"))
        .collect()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// `tests/expected/fixtures.ndjson` is the output of `python3 tests/oracle/recount.py` for all
/// fixtures except the broken one.
#[test]
fn fixtures_equal_the_committed_recount() {
    let mut left = names();
    assert!(left.remove("nasty.json"), "its own test compares it element by element");
    let mut failures = Vec::new();
    for line in read("tests/expected/fixtures.ndjson").lines() {
        let want: Value = serde_json::from_str(line).expect("JSON");
        let file = want["file"].as_str().expect("a file");
        assert!(left.remove(file.trim_start_matches("fixtures/")), "{file} is no fixture");
        failures.extend(
            differences(&root().join(file), &want).into_iter().map(|d| format!("{file}: {d}")),
        );
    }
    assert!(left.is_empty(), "no figures for {left:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_broken_fixture_element_by_element() {
    let (store, outcome) = TestStore::with(&fixture("nasty.json"));
    let rows: BTreeSet<String> = store.lines("SELECT event_id FROM events").into_iter().collect();
    let (mut counts, mut wrong) = (BTreeMap::<String, i64>::new(), Vec::new());
    for line in read("fixtures/nasty.tsv").lines().skip(1) {
        let [element, left, why] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        *counts.entry(left.to_owned()).or_default() += 1;
        if rows.contains(element) != (left == "row") {
            wrong.push(format!("{element} should be {left}: {why}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let (row, skip) = (counts["row"], counts["skip"]);
    assert_eq!(
        store.ints("SELECT element_count, event_count, skipped_count FROM traces"),
        [row + skip, row, skip],
        "a cut element is not counted"
    );
    assert_eq!(store.ints("SELECT sum(skipped_count) FROM ingest_issues"), [skip]);
    assert_eq!(outcome.manifest.element_count as i64, row + skip);
}

#[test]
fn the_broken_fixture_has_its_issues() {
    let (store, _) = TestStore::with(&fixture("nasty.json"));
    assert_eq!(
        store.lines(
            "SELECT code, count, coalesce(first_event_id, -1) FROM ingest_issues ORDER BY code"
        ),
        [
            "args_type 1 31",
            "bad_escape 1 12",
            "control_character 2 8",
            "counter_value 2 46",
            "duplicate_key 1 16",
            "end_overflow 1 25",
            "extra_comma 1 42",
            "id_value 1 34",
            "invalid_utf8 2 10",
            "lone_surrogate 1 13",
            "malformed_event 1 14",
            "memory_value 1 47",
            "missing_comma 1 43",
            "missing_duration 2 27",
            "name_type 1 30",
            "negative_duration 1 26",
            "no_name 1 29",
            "no_phase 3 17",
            "no_timestamp 3 20",
            // Elements 1 to 7, and the world size before the events.
            "non_json_value 8 -1",
            "not_an_object 5 36",
            "timestamp_out_of_range 2 23",
            "top_level_value 1 -1",
            "truncated_input 1 -1",
            "unknown_phase 1 19",
            "unmatched_begin 1 44",
            "unmatched_end 1 45",
        ]
    );
}

#[test]
fn the_broken_fixture_is_stored_as_valid_json() {
    let (store, _) = TestStore::with(&fixture("nasty.json"));
    for text in store.lines(
        "SELECT args FROM events WHERE args IS NOT NULL UNION ALL SELECT extra \
        FROM events WHERE extra IS NOT NULL UNION ALL SELECT metadata FROM traces",
    ) {
        serde_json::from_str::<Value>(&text).unwrap_or_else(|e| panic!("{text}: {e}"));
    }
}

/// Columns that no fixture fills, with the reason.
const EMPTY: &[(&str, &str)] = &[
    (
        "events.module_hierarchy",
        "PyTorch writes it for scripted models only; ingest_rules::modules has it",
    ),
    ("kernels.activity_kind", "only ROCm writes it; ingest_rules::links has it"),
    ("et_nodes.extra", "only nodes with keys that are not known have it"),
];

#[test]
fn every_column_of_every_table_has_a_value_in_some_fixture() {
    let store = TestStore::new();
    for name in names() {
        if !name.contains("key_averages") {
            store.ingest(&fixture(&name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
    }
    let others = [
        "snapshots/oom.pickle",
        "snapshots/steps.pickle",
        "flight/chain/nccl_trace_rank_0",
        "flight/fine/nccl_trace_rank_0",
        "flight/not_started/nccl_trace_rank_0.json",
        "flight/odd_rank0.pickle",
        "beside/execution/rank0.et.json",
        "beside/execution_old/rank0.et.json",
        "beside/timeline.raw.json.gz",
    ];
    for name in PIPELINE.into_iter().chain(others) {
        store.ingest(&fixture(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    let mut empty = BTreeSet::new();
    for table in TABLES {
        let counts: Vec<String> =
            table.columns.iter().map(|c| format!("count(\"{}\")", c.name)).collect();
        let counts = store.ints(&format!("SELECT {} FROM {}", counts.join(", "), table.name));
        assert!(counts[0] > 0, "{} has no rows", table.name);
        empty.extend(
            table
                .columns
                .iter()
                .zip(counts)
                .filter(|(_, n)| *n == 0)
                .map(|(c, _)| format!("{}.{}", table.name, c.name)),
        );
    }
    let justified: BTreeSet<String> =
        EMPTY.iter().map(|(column, _)| (*column).to_owned()).collect();
    assert_eq!(empty, justified);
}

/// Nested operators and annotations. An only child with the same name as its parent is merged into
/// it.
const OPERATORS: &str = "
WITH ops AS (
    SELECT pre, post, dur_ns, CASE WHEN name LIKE 'ProfilerStep#%' THEN 'ProfilerStep*' ELSE name END AS name,
        cat
    FROM events WHERE ph = 'X' AND cat IN ('cpu_op', 'user_annotation')
), parents AS (
    SELECT child.pre, max(around.pre) AS parent FROM ops child
        JOIN ops around ON around.pre < child.pre AND child.pre <= around.post GROUP BY 1
), nested AS (
    SELECT ops.*, parent, count(parent) OVER (PARTITION BY parent) AS siblings FROM ops
        LEFT JOIN parents USING (pre)
), kept AS (
    SELECT n.* FROM nested n LEFT JOIN ops p ON p.pre = n.parent
        WHERE (n.siblings = 1 AND p.name = n.name) IS NOT TRUE
)";

#[test]
fn operators_are_those_of_pytorchs_own_table() {
    let averages: Value =
        serde_json::from_str(&read("fixtures/resnet_cpu.key_averages.json")).expect("JSON");
    let int = |row: &Value, key: &str| row[key].as_i64().expect("an integer");
    let rows = averages["rows"].as_array().expect("rows");
    let mut want: Vec<(String, i64, i64)> = rows
        .iter()
        .map(|r| {
            (
                r["name"].as_str().expect("a name").to_owned(),
                int(r, "count"),
                int(r, "cpu_time_total_ns"),
            )
        })
        .collect();
    want.sort();
    let (store, _) = TestStore::with(&fixture("resnet_cpu.pt.trace.json.gz"));
    let got =
        store.rows(&format!("{OPERATORS} SELECT name, count(*), sum(dur_ns) FROM kept GROUP BY 1"));
    let mut got: Vec<(String, i64, i64)> = got
        .into_iter()
        .map(|r| (r[0].clone(), r[1].parse().expect("count"), r[2].parse().expect("sum")))
        .collect();
    got.sort();
    assert_eq!(got.len(), 89);
    assert_eq!(got, want);
}

#[test]
fn self_times_of_operators_are_those_of_pytorchs_own_table() {
    let averages: Value =
        serde_json::from_str(&read("fixtures/resnet_cpu.key_averages.json")).expect("JSON");
    let rows = averages["rows"].as_array().expect("rows");
    let want: BTreeMap<&str, i64> = rows
        .iter()
        .map(|r| {
            (
                r["name"].as_str().expect("a name"),
                r["self_cpu_time_total_ns"].as_i64().expect("an integer"),
            )
        })
        .collect();
    let (store, _) = TestStore::with(&fixture("resnet_cpu.pt.trace.json.gz"));
    // Children of a merged operator count as children of the operator that it was merged into,
    // which spans it.
    let sql = format!(
        "{OPERATORS}, children AS (SELECT parent AS pre, sum(dur_ns) AS ns FROM nested
            WHERE parent IS NOT NULL GROUP BY 1),
         own AS (SELECT nested.pre, name, dur_ns - coalesce(ns, 0) AS ns FROM nested
             LEFT JOIN children USING (pre) WHERE cat = 'cpu_op')
         SELECT name, sum(ns) FROM own GROUP BY 1"
    );
    let got = store.rows(&sql);
    assert_eq!(got.len(), 83);
    for row in got {
        assert_eq!(row[1], want[row[0].as_str()].to_string(), "{}", row[0]);
    }
}

#[test]
fn the_synthetic_job_holds_what_its_description_says() {
    let (store, _) = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz"));
    assert_eq!(
        store.lines("SELECT kind, count(*) FROM kernels GROUP BY 1 ORDER BY 1"),
        ["kernel 303", "memcpy 15", "memset 8", "sync 33"]
    );
    assert_eq!(
        store.lines("SELECT link, count(*) FROM kernels GROUP BY 1 ORDER BY 1"),
        ["correlation 334", "graph 24", "none 1"]
    );
    assert_eq!(store.ints("SELECT count(*) FROM steps"), [4]);
    assert_eq!(
        store.lines("SELECT code, count FROM ingest_issues WHERE code = 'flow_half'"),
        ["flow_half 67"]
    );
    let overlaps = "SELECT count(*) FROM events JOIN tracks USING (track_id) \
        WHERE overlaps AND kind = 'cpu_thread'";
    assert_eq!(store.ints(overlaps), [0]);
    assert_eq!(
        store.ints(
            "SELECT count(*) FROM kernels k \
        JOIN events l ON l.event_id = k.launch_id WHERE k.ts_ns < l.ts_ns"
        ),
        [0]
    );
    assert_eq!(
        store.lines("SELECT format, rank, world_size, backend FROM traces"),
        ["kineto 0 2 nccl"]
    );
    let alive = "SELECT count(*) FROM (SELECT addr FROM memory WHERE device_type = 'cuda' \
        GROUP BY addr HAVING sum(bytes) > 0)";
    assert_eq!(store.ints(alive), [40]);
}
