//! Memory snapshots: figures of a separate walk through each snapshot, hostile pickles, cut and
//! damaged files.

mod verdicts;

use std::path::{Path, PathBuf};

use tracesql_ingest::IngestError;

use crate::support::{TestStore, fixture, needs, root};

/// The figures of a device in the order of the expected files.
const FIGURES: &str = "SELECT entries, segments, reserved_bytes, allocated_bytes, \
    requested_bytes, pending_bytes, inactive_bytes, largest_inactive_bytes, initial_bytes, \
    peak_bytes, peak_entry, (SELECT count(*) FROM snapshot_live_at_peak l WHERE l.device = \
    p.device), end_bytes FROM snapshot_peaks p";

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The file of a snapshot by its name without endings.
fn named(name: &str) -> PathBuf {
    let plain = fixture(&format!("snapshots/{name}.pickle"));
    if plain.is_file() { plain } else { fixture(&format!("snapshots/{name}.pickle.gz")) }
}

/// `truth.tsv` comes from `fixtures/make/snapshots.py`, which walks through each snapshot backwards.
#[test]
fn figures_equal_the_truth_of_the_fixtures() {
    let truth = read(&fixture("snapshots/truth.tsv"));
    let mut compared = 0;
    for line in truth.lines().skip(1) {
        let mut want = line.split('\t');
        let name = want.next().expect("a name");
        let (store, outcome) = TestStore::with(&named(name));
        let found = store.rows(&format!("{FIGURES} WHERE device = 0")).remove(0);
        let want: Vec<&str> = want.map(|v| if v.is_empty() { "NULL" } else { v }).collect();
        assert_eq!(found, want, "{name}");
        assert!(!outcome.issues.has_warnings(), "{name}: {}", outcome.issues.summary());
        compared += 1;
    }
    assert_eq!(compared, 3);
}

/// The folder of other profilers' files next to the corpus.
#[track_caller]
fn others() -> Option<PathBuf> {
    needs::in_corpus("../other/memory_snapshot")
}

/// `tests/expected/snapshots.tsv` holds figures of a script that PyTorch's viewer inspired.
#[test]
fn figures_of_public_snapshots_equal_the_expected_ones() {
    let Some(folder) = others() else { return };
    let expected = read(&root().join("tests/expected/snapshots.tsv"));
    let mut compared = 0;
    for line in expected.lines().skip(1) {
        let mut want = line.split('\t');
        let name = want.next().expect("a name");
        let (store, outcome) = TestStore::with(&folder.join(name));
        let found = store.rows(&format!("{FIGURES} WHERE device = 0")).remove(0);
        let want: Vec<&str> = want.map(|v| if v.is_empty() { "NULL" } else { v }).collect();
        assert_eq!(found, want, "{name}");
        assert!(!outcome.issues.has_warnings(), "{name}: {}", outcome.issues.summary());
        compared += 1;
    }
    assert!(compared >= 10, "{compared} snapshots");
}

/// What each hostile pickle must lead to: the text of its refusal, or its issues.
const HOSTILE: &[(&str, &str)] = &[
    ("bad_cycle", "item 0 is a list, not a dict"),
    ("bad_deep", "item 0 is a list, not a dict"),
    ("bad_extension_opcode", "EXT1 (0x82)"),
    ("bad_frame_len", "without `segments`"),
    ("bad_huge_long4", "LONG4 (0x8b)"),
    ("bad_huge_string", "2147483647 bytes needed, 4 left (at byte 3)"),
    ("bad_laughs", "item 0 is a list, not a dict"),
    ("bad_memo_gap", "a memo index far beyond"),
    ("bad_memo_missing", "the memo has no value"),
    ("bad_odd_setitems", "a key without a value"),
    ("bad_persid", "PERSID (0x50)"),
    ("bad_reduce", "STACK_GLOBAL (0x93)"),
    ("bad_stack_underflow", "needs a container"),
    ("bad_unhashable_key", "a key that is not text"),
    ("bad_wrong_types", "`segments` is text, not a list"),
    ("made_snapshot_proto0_refuse", "pickle of protocol 0"),
];

#[test]
fn hostile_pickles_are_refused_with_a_place_and_a_reason() {
    let Some(folder) = others() else { return };
    for (name, reason) in HOSTILE {
        let store = TestStore::new();
        let path = folder.join(format!("{name}.pickle"));
        let error = store.ingest(&path).expect_err(name).to_string();
        assert!(error.contains(reason) && error.contains("(at byte "), "{name}: {error}");
        assert!(error.contains(&path.display().to_string()), "{name}: {error}");
    }
    for (name, issues) in [
        ("bad_big_int", vec!["snapshot_address 1"]),
        ("bad_no_stop", vec!["truncated_input 1"]),
        // It is cut after its first segment.
        ("bad_truncated", vec!["truncated_input 1"]),
        ("bad_trailing", vec!["trailing_data 1"]),
    ] {
        let (store, _) = TestStore::with(&folder.join(format!("{name}.pickle")));
        assert_eq!(store.issues(), issues, "{name}");
    }
}

#[test]
fn pickles_of_another_kind_or_length_are_refused_with_the_right_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let cases: [(&str, &[u8], &str); 2] = [
        // A list of two dicts, as of two snapshots.
        ("list", b"\x80\x02](}}e.", "save each snapshot in a file of its own"),
        // A text of 2^40 bytes.
        ("text", b"\x80\x04\x95\x40\0\0\0\0\0\0\0}\x8d\0\0\0\0\0\x01\0\0segments", "1099511627776"),
    ];
    for (name, bytes, reason) in cases {
        let path = folder.path().join(format!("{name}.pickle"));
        std::fs::write(&path, bytes).expect("a file");
        let error = TestStore::new().ingest(&path).expect_err(name).to_string();
        assert!(error.contains(reason) && !error.contains("--memory-limit"), "{name}: {error}");
    }
}

#[test]
fn odd_entries_are_rows_or_are_counted() {
    let (store, outcome) = TestStore::with(&named("odd"));
    assert_eq!(
        store.issues(),
        [
            "live_bytes 1",
            "missing_free 3",
            "not_an_object 1",
            "snapshot_address 2",
            "snapshot_segment 1",
            "snapshot_value 2",
            "unknown_action 2",
            "unmatched_begin 1",
            "unmatched_end 1",
        ]
    );
    assert_eq!(
        store.ints("SELECT element_count, event_count, skipped_count FROM traces"),
        [15, 12, 3]
    );
    assert_eq!(outcome.manifest.rows("memory"), 9);
}

/// Pickles of few opcodes, without a writer's framing.
#[test]
fn opcodes_that_would_run_code_are_refused_by_name() {
    for (bytes, reason) in [
        (&b"\x80\x02cos\nsystem\n."[..], "GLOBAL (0x63)"),
        (b"\x80\x02}(X\x08\x00\x00\x00segments]R.", "REDUCE (0x52)"),
        (b"\x80\x04}\x94b.", "BUILD (0x62)"),
        (b"\x80\x02)\x81.", "NEWOBJ (0x81)"),
        (b"\x80\x02(i__main__\nX\n.", "INST (0x69)"),
        (b"\x80\x05\x97.", "NEXT_BUFFER (0x97)"),
        (b"\x80\x09}.", "a protocol above 5"),
        (b"\x80\x04N.", "its value is None"),
        (b"\x80\x04.", "the stack is empty"),
        (b"\x80\x04(.", "the stack is empty"),
        (b"\x80\x04}(X\x07\x00\x00\x00versionK\x01X\x07\x00\x00\x00entriesK\x01u.", "not a list"),
    ] {
        let store = TestStore::new();
        let path = store.folder.path().join("bad.pickle");
        std::fs::write(&path, bytes).expect("a file");
        let error = store.ingest(&path).expect_err(reason).to_string();
        assert!(error.contains(reason), "{error}");
    }
}

/// Reads a file of these bytes; checks that its rows and skipped elements are all elements.
fn try_bytes(bytes: &[u8], gz: bool) -> Option<i64> {
    let store = TestStore::new();
    let path = store.folder.path().join(if gz { "cut.pickle.gz" } else { "cut.pickle" });
    std::fs::write(&path, bytes).expect("a file");
    match store.ingest(&path) {
        Ok(done) => {
            let skipped: u64 = done
                .issues
                .iter()
                .filter(|(code, _)| code.skips())
                .map(|(_, issue)| issue.count)
                .sum();
            assert_eq!(done.manifest.rows("events") + skipped, done.manifest.element_count);
            Some(done.manifest.rows("events") as i64)
        }
        Err(IngestError::Input { .. } | IngestError::NotATrace { .. } | IngestError::Io { .. }) => {
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// Bytes that are missing can join two entries, which leaves a dict with one key twice.
#[test]
fn keys_that_occur_twice_are_counted() {
    let pickle = b"\x80\x02}(X\x08\0\0\0segments]X\x0d\0\0\0device_traces](](}(\
        X\x06\0\0\0actionX\x05\0\0\0allocX\x04\0\0\0addrK\x01X\x04\0\0\0sizeK\x02\
        X\x04\0\0\0addrK\x03ueeu.";
    let store = TestStore::new();
    let path = store.folder.path().join("twice.pickle");
    std::fs::write(&path, pickle).expect("a file");
    store.ingest(&path).expect("a snapshot");
    assert_eq!(store.lines("SELECT addr, bytes FROM memory"), ["3 2"]);
    assert_eq!(store.issues(), ["duplicate_key 1", "live_bytes 1"]);
}

#[test]
fn a_cut_file_keeps_its_whole_entries() {
    for name in ["oom", "steps", "early"] {
        let path = named(name);
        let gz = path.extension().is_some_and(|e| e == "gz");
        let bytes = std::fs::read(path).expect("a fixture");
        let counts: Vec<Option<i64>> =
            (1..=64).map(|at| try_bytes(&bytes[..bytes.len() * at / 64], gz)).collect();
        let kept: Vec<i64> = counts.iter().flatten().copied().collect();
        assert!(kept.is_sorted(), "{name}: longer files have more rows: {counts:?}");
        let all = kept.last().copied().unwrap_or_default();
        let parts = kept.iter().filter(|n| (1..all).contains(*n)).count();
        assert!(gz || parts > 8, "{name}: {counts:?}");
        assert!(counts[0].is_none(), "{name}: nothing is whole yet");
    }
}

#[test]
fn totals_of_a_cut_history_are_not_known() {
    let bytes = std::fs::read(named("steps")).expect("a fixture");
    let (store, _) = TestStore::of_text(&bytes[..bytes.len() * 3 / 4]);
    assert_eq!(store.issues(), ["truncated_input 1"]);
    let sql = "SELECT count(*) > 20, count(total_allocated_bytes) FROM memory";
    assert_eq!(store.lines(sql), ["true 0"]);
}

#[test]
fn flipped_bytes_are_read_or_refused() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % n
    };
    let (mut read, mut refused) = (0, 0);
    for name in ["oom", "steps", "odd"] {
        let bytes = std::fs::read(named(name)).expect("a fixture");
        for _ in 0..100 {
            let mut damaged = bytes.clone();
            for _ in 0..=below(3) {
                let at = below(damaged.len());
                damaged[at] = below(256) as u8;
            }
            match try_bytes(&damaged, false) {
                Some(_) => read += 1,
                None => refused += 1,
            }
        }
    }
    assert!(read > 20 && refused > 20, "{read} read, {refused} refused");
}

#[test]
fn protocols_and_containers_give_equal_rows() {
    let Some(folder) = others() else { return };
    let figures = |path: PathBuf| {
        let (store, _) = TestStore::with(&path);
        let live = "SELECT event_id, action, bytes, total_allocated_bytes, total_reserved_bytes, \
            stack_id, allocation_id, pool FROM memory ORDER BY event_id";
        (store.lines(live), store.lines(&format!("{FIGURES} ORDER BY device")))
    };
    let all: Vec<_> =
        (2..=5).map(|p| figures(folder.join(format!("made_snapshot_proto{p}.pickle")))).collect();
    assert_eq!(all[0].0.len(), 10);
    assert!(all.iter().all(|found| *found == all[0]));
}

#[test]
fn marks_choose_what_leaks_counts() {
    let (store, _) = TestStore::with(&named("steps"));
    let engine = store.engine();
    let leaks = |start: &str, end: &str| {
        assert!(engine.settings().set("snapshot_mark_start", start));
        assert!(engine.settings().set("snapshot_mark_end", end));
        let sql = "SELECT site, allocations, bytes FROM snapshot_leaks ORDER BY bytes DESC, site";
        crate::support::rows_of(&engine, sql).expect("an answer").concat()
    };
    // The last entries of the steps.
    let ends = store.rows(
        "SELECT max(event_id) FROM memory m JOIN (SELECT ts_ns AS t FROM events WHERE name LIKE \
         'step %' AND ph = 'E') e ON m.ts_ns < e.t GROUP BY t ORDER BY t",
    );
    let ends: Vec<&str> = ends.iter().map(|row| &row[0][..]).collect();
    assert_eq!(ends.len(), 4);
    let log = "/app/log.py(5): remember";
    assert_eq!(leaks(ends[0], ends[2]), [log, "2", "6291456"], "3 MiB in each of two steps");
    assert_eq!(leaks(ends[3], "-1"), [""; 0]);
}

/// A trace of each format, as `docs/formats.md` names it.
const FORMATS: [(&str, &str); 14] = [
    ("Kineto", "synthetic_gpu_rank0.json.gz"),
    ("Chrome JSON", "chrome_mixed.json"),
    ("`perf.json`", "perf.json"),
    ("memory snapshot", "snapshots/oom.pickle"),
    ("Nsight Systems", "databases/nsys.sqlite"),
    ("rocpd", "databases/rocpd.db"),
    ("RPD", "databases/small.rpd"),
    ("rocprofv3 JSON", "databases/rocprofv3.json"),
    ("XPlane", "protobufs/gpu.xplane.pb"),
    ("Perfetto", "protobufs/rocprof.pftrace"),
    ("flight recorder", "flight/chain/nccl_trace_rank_0"),
    ("execution trace", "beside/execution/rank0.et.json"),
    ("memory timeline", "beside/timeline.raw.json.gz"),
    ("stacks", "beside/evented.speedscope.json"),
];

/// What a format has beyond the rows of a table: whether a query gives true.
const COLUMNS: [(&str, &str); 6] = [
    ("times (`events.ts_ns`)", "SELECT count(ts_ns) > 0 FROM events WHERE ph <> 'M'"),
    ("Unix time (`traces.base_time_ns`)", "SELECT count(base_time_ns) > 0 FROM traces"),
    ("nesting (`events.depth`)", "SELECT coalesce(max(depth), 0) > 0 FROM events"),
    ("launch links (`kernels.link`)", "SELECT count(launch_id) > 0 FROM kernels"),
    ("steps (`events.step`)", "SELECT count(step) > 0 FROM events"),
    (
        "stacks (`stack_samples`)",
        "SELECT count(*) FILTER (WHERE array_length(stack) > 1) > 0 FROM stack_samples",
    ),
];

/// A table of the page: a row of cells for each name.
fn table_of(head: &str, rows: impl Iterator<Item = (String, Vec<bool>)>) -> String {
    let mut table = format!("\n| {head} | {} |\n|", FORMATS.map(|(name, _)| name).join(" | "));
    table.push_str(&" --- |".repeat(FORMATS.len() + 1));
    table.push('\n');
    for (name, has) in rows {
        let cells: Vec<&str> = has.iter().map(|has| if *has { "yes" } else { "–" }).collect();
        table.push_str(&format!("| {name} | {} |\n", cells.join(" | ")));
    }
    table.push('\n');
    table
}

/// `TRACESQL_BLESS=1` writes the tables into the page.
#[test]
fn the_table_of_formats_is_true() {
    let tables = [
        "events",
        "tracks",
        "kernels",
        "flows",
        "steps",
        "modules",
        "counters",
        "memory",
        "memory_segments",
        "memory_blocks",
        "memory_stacks",
        "flight_records",
        "flight_groups",
        "et_nodes",
        "devices",
    ];
    let stores = FORMATS.map(|(_, trace)| TestStore::with(&fixture(trace)));
    let of_tables = table_of(
        "table",
        tables.into_iter().map(|name| {
            let has = stores.iter().map(|(_, outcome)| outcome.manifest.rows(name) > 0);
            (format!("`{name}`"), has.collect())
        }),
    );
    let of_columns = table_of(
        "information",
        COLUMNS.into_iter().map(|(name, sql)| {
            (name.to_owned(), stores.iter().map(|(store, _)| store.value(sql) == "true").collect())
        }),
    );
    let path = root().join("docs/formats.md");
    let page = read(&path);
    let mut blessed = page.clone();
    for (start, end, table) in [
        ("<!-- formats -->\n", "<!-- end -->", of_tables),
        ("<!-- columns -->\n", "<!-- end of columns -->", of_columns),
    ] {
        let (before, rest) = blessed.split_once(start).expect("the table's place");
        let (found, after) = rest.split_once(end).expect("its end");
        if std::env::var_os("TRACESQL_BLESS").is_none() {
            assert_eq!(found, table, "docs/formats.md");
        }
        blessed = format!("{before}{start}{table}{end}{after}");
    }
    if blessed != page {
        std::fs::write(&path, blessed).expect("the page is written");
    }
}
