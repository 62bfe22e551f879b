//! Files of Nsight Systems, rocpd, RPD and rocprofv3: rows as the fixtures' scripts state them,
//! public files against counts of SQLite, hostile schemas, cut and damaged files.

mod amd;
mod otherwise;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tracesql_ingest::IngestError;

use crate::support::{TestStore, fixture, needs};

fn made(name: &str) -> PathBuf {
    fixture(&format!("databases/{name}"))
}

fn lines_of(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().skip(1).map(|l| l.split('\t').map(str::to_owned).collect()).collect()
}

/// Device rows with their links, as the truth files have them.
const LINKS: &str = "SELECT k.ts_ns, k.kind, k.name, k.link, l.name, l.ts_ns, o.name, LAST \
    FROM kernels k \
    LEFT JOIN events l ON l.trace_id = k.trace_id AND l.event_id = k.launch_id \
    LEFT JOIN events o ON o.trace_id = k.trace_id AND o.event_id = k.op_id";

fn links(store: &TestStore, last: &str) -> Vec<Vec<String>> {
    let mut rows = store.rows(&LINKS.replace("LAST", last));
    rows.iter_mut().flatten().filter(|cell| *cell == "NULL").for_each(String::clear);
    rows.sort();
    rows
}

#[test]
fn device_rows_and_their_links_equal_the_truth() {
    for (file, truth, last) in [
        ("nsys.sqlite", "nsys.truth.tsv", "k.step"),
        ("rocpd.db", "rocpd.truth.tsv", "k.step"),
        ("small.rpd", "small.rpd.truth.tsv", "k.grid_x"),
        ("rocprofv3.json", "rocprofv3.truth.tsv", "k.step"),
    ] {
        let (store, _) = TestStore::with(&made(file));
        let mut want = lines_of(&made(truth));
        want.sort();
        assert_eq!(links(&store, last), want, "{file}");
        let sum = "SELECT element_count - event_count - skipped_count, event_count > 0, \
            (SELECT count(*) FROM events) - event_count FROM traces";
        assert_eq!(store.lines(sum), ["0 true 0"], "{file}");
    }
}

#[test]
fn an_export_of_nsight_systems_has_all_kinds_of_rows() {
    let (store, outcome) = TestStore::with(&made("nsys.sqlite"));
    assert_eq!(
        store.issues(),
        [
            "column_type 2",
            "missing_reference 1",
            "negative_duration 1",
            "no_name 1",
            "no_timestamp 1",
            "partial_overlap 1",
            "unlinked_device_activity 3",
            "unmatched_begin 1",
        ]
    );
    assert_eq!(outcome.manifest.rows("memory"), 2);
    assert_eq!(
        store.lines("SELECT format, host, framework, base_time_ns FROM traces"),
        ["nsys NULL NULL 1790000000000000123"]
    );
    let categories = "SELECT cat, ph, count(*) FROM events GROUP BY 1, 2 ORDER BY 1, 2";
    assert_eq!(
        store.lines(categories),
        [
            "cuda_driver X 1",
            "cuda_graph X 1",
            "cuda_memory i 2",
            "cuda_runtime X 20",
            "cuda_sync X 5",
            "gpu_memcpy X 5",
            "gpu_memset X 4",
            "gpu_metrics C 3",
            "kernel X 9",
            "osrt X 1",
            "overhead X 1",
            "user_annotation B 1",
            "user_annotation M 3",
            "user_annotation X 16",
            "user_annotation i 1",
        ]
    );
    // Shapes, sizes and the wait that follows from the function.
    assert_eq!(
        store.lines(
            "SELECT DISTINCT grid_x, grid_y, block_x, block_y, registers_per_thread, \
             shared_memory_bytes FROM kernels WHERE name LIKE 'gemm%'"
        ),
        ["64 2 128 2 40 1536"]
    );
    assert_eq!(
        store.lines(
            "SELECT DISTINCT bytes, bandwidth_gb_s FROM kernels WHERE name LIKE '%HtoD (P%'"
        ),
        ["40000 4.0"]
    );
    assert_eq!(
        store.lines("SELECT sync_kind, stream, count(*) FROM kernels WHERE kind = 'sync' GROUP BY 1, 2 ORDER BY 1"),
        ["Context Sync NULL 1", "Stream Sync 7 4"]
    );
    assert_eq!(
        store
            .lines("SELECT graph_id, activity_kind, link FROM kernels WHERE name = 'CUDA graph 9'"),
        ["9 graph graph"]
    );
    assert_eq!(
        store.lines("SELECT action, bytes, addr, device_type, device FROM memory ORDER BY ts_ns"),
        ["alloc 2048 4096 cuda 0", "free -2048 4096 cuda 0"]
    );
    assert_eq!(
        store.lines("SELECT name, series, value FROM counters ORDER BY ts_ns"),
        [
            "SM Active [Throughput %] value 0.0",
            "SM Active [Throughput %] value 10.0",
            "SM Active [Throughput %] value 20.0"
        ]
    );
    assert_eq!(
        store.lines(
            "SELECT device, name, total_memory_bytes, sm_count, max_threads_per_sm, warp_size \
             FROM devices"
        ),
        ["0 Test GPU 85899345920 132 2048 32"]
    );
    assert_eq!(
        store.lines(
            "SELECT step, name, dur_ns FROM steps WHERE start_ns < 1600000 ORDER BY start_ns"
        ),
        ["1 ProfilerStep#1 400000", "1 ProfilerStep#1 400000"]
    );
}

#[test]
fn tracks_of_an_export_are_told_apart() {
    let (store, _) = TestStore::with(&made("nsys.sqlite"));
    assert_eq!(
        store.lines(
            "SELECT pid, coalesce(tid_text, '-'), kind, process_name, thread_name FROM tracks \
             ORDER BY kind, pid, tid_text"
        ),
        [
            "0 - counter NULL SM Active [Throughput %]",
            "101 101 cpu_thread python 101 main thread",
            "101 102 cpu_thread python 101 worker thread",
            "101 103 cpu_thread python 101 NULL",
            "202 202 cpu_thread python 202 main thread",
            "NULL - cpu_thread NULL NULL",
            "0 7 gpu_stream NULL stream 7",
            "0 stream 7 (process 101, context 2) gpu_stream NULL stream 7 (process 101, context 2)",
            "0 stream 7 (process 202, context 1) gpu_stream NULL stream 7 (process 202, context 1)",
            "0 - gpu_stream NULL no stream",
            "101 - span python 101 NVTX Library",
            "101 - span python 101 cuda_memory device memory",
            "101 - span python 101 overhead thread 101",
        ]
    );
}

#[test]
fn ranges_keep_what_the_program_gave_them() {
    let (store, _) = TestStore::with(&made("nsys.sqlite"));
    let args = |name: &str| {
        store
            .value(&format!("SELECT args FROM events WHERE name = '{name}' ORDER BY ts_ns LIMIT 1"))
    };
    assert_eq!(args("layer 1"), r#"{"domain":"Library","payload":{"size":[1,2]},"int64Value":-7}"#);
    assert_eq!(args("forward"), r#"{"category":"loader","color":4278255360}"#);
    assert_eq!(
        args("async b"),
        format!(
            r#"{{"domain":"Library","rangeId":2,"endGlobalTid":{}}}"#,
            257i64 << 48 | 101 << 24 | 101
        )
    );
    assert_eq!(args("nvtx_domain_create"), r#"{"domain":"Library","name":"Library"}"#);
    let long = "SELECT length(name), length(json_get_str(args, 'text')) FROM events WHERE name LIKE 'xxx%'";
    assert_eq!(store.lines(long).len(), 1);
    assert_eq!(
        store.lines(
            "SELECT call_stack FROM events WHERE call_stack IS NOT NULL GROUP BY 1 ORDER BY 1"
        ),
        ["main;wait", "root;middle;leaf"]
    );
    let parent = "SELECT p.name FROM events e JOIN events p ON p.event_id = e.parent_id \
        WHERE e.name = 'layer 1' LIMIT 1";
    assert_eq!(store.value(parent), "forward");
}

/// The files contain this text only where an environment or an unrelated process is stored.
const SECRET: &str = "TOKEN-THAT-MUST-NOT-BE-READ";

#[test]
fn environments_are_not_read() {
    for file in ["nsys.sqlite", "rocpd.db"] {
        let bytes = std::fs::read(made(file)).expect("bytes");
        assert!(bytes.windows(SECRET.len()).any(|w| w == SECRET.as_bytes()), "{file}");
        let (store, _) = TestStore::with(&made(file));
        for table in tracesql_ingest::schema::TABLES {
            let table = table.name;
            for row in store.rows(&format!("SELECT * FROM {table}")) {
                assert!(row.iter().all(|cell| !cell.contains(SECRET)), "{file}: {table}: {row:?}");
            }
        }
    }
}

#[test]
fn rocpd_links_by_stack_and_counts_blocks() {
    let (store, _) = TestStore::with(&made("rocpd.db"));
    assert_eq!(
        store.lines(
            "SELECT DISTINCT grid_x, grid_y, block_x, registers_per_thread, shared_memory_bytes \
             FROM kernels WHERE name LIKE 'gemm%'"
        ),
        ["4 2 256 32 1024"]
    );
    assert_eq!(
        store.lines("SELECT action, sum(bytes), count(*) FROM memory GROUP BY 1 ORDER BY 1"),
        ["alloc 24576 6", "free -24576 6"]
    );
    assert_eq!(
        store.lines("SELECT name, count(*), min(value), max(value) FROM counters GROUP BY 1"),
        ["SQ_WAVES 12 2.5 4.5"]
    );
    assert_eq!(
        store.lines("SELECT device, name, sm_count, warp_size, max_threads_per_sm FROM devices"),
        ["1 Test MI 304 64 2048"]
    );
    assert_eq!(store.lines("SELECT format, host, base_time_ns FROM traces"), ["rocpd node7 NULL"]);
    assert_eq!(store.issues(), ["missing_reference 6", "no_name 2", "unlinked_device_activity 2"]);
    assert_eq!(
        store
            .lines("SELECT pid, tid, thread_name FROM tracks WHERE kind = 'cpu_thread' ORDER BY 1"),
        ["4001 4011 main", "4002 4012 main"]
    );
}

#[test]
fn rocprofv3_json_has_the_same_rows_as_its_database_would() {
    let (store, _) = TestStore::with(&made("rocprofv3.json"));
    assert_eq!(
        store.lines(
            "SELECT DISTINCT grid_x, grid_y, block_x, block_y, registers_per_thread, \
             shared_memory_bytes, stream, device FROM kernels WHERE name LIKE 'gemm%'"
        ),
        ["3 2 64 2 32 256 3 0"]
    );
    assert_eq!(
        store.issues(),
        [
            "missing_reference 2",
            "no_name 2",
            "no_timestamp 2",
            "not_an_object 2",
            "unlinked_device_activity 2",
        ]
    );
    assert_eq!(
        store.lines("SELECT action, sum(bytes), count(*) FROM memory GROUP BY 1 ORDER BY 1"),
        ["alloc 16384 4", "free -16384 4"]
    );
    assert_eq!(
        store.lines("SELECT format, host, element_count, skipped_count FROM traces"),
        ["rocprofv3 node7 34 4"]
    );
}

#[test]
fn definitions_of_a_hostile_schema_are_not_run() {
    let (store, outcome) = TestStore::with(&made("hostile.sqlite"));
    assert_eq!(
        store.lines("SELECT name, ts_ns, dur_ns FROM events ORDER BY ts_ns"),
        ["cudaLaunchKernel 0 5", "cudaLaunchKernel 10 5", "cudaLaunchKernel 20 5"]
    );
    assert_eq!(outcome.manifest.rows("kernels"), 0, "a view with endless rows has their name");
}

#[test]
fn other_databases_are_refused_by_name() {
    let store = TestStore::new();
    let error = store.ingest(&made("values.sqlite")).expect_err("refused").to_string();
    assert!(error.contains("tables such as values"), "{error}");
    let path = store.folder.path().join("report.nsys-rep");
    std::fs::write(&path, b"NVIDIA Tegra Profiler Report 2024@6").expect("a file");
    let error = store.ingest(&path).expect_err("refused").to_string();
    assert!(error.contains("nsys export --type sqlite"), "{error}");
}

/// Reads a file of these bytes; checks that its rows and skipped elements are all elements.
fn try_bytes(bytes: &[u8]) -> bool {
    let store = TestStore::new();
    let path = store.folder.path().join("damaged");
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
            true
        }
        Err(IngestError::Input { .. } | IngestError::NotATrace { .. }) => false,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn cut_databases_are_refused_and_cut_json_keeps_its_whole_records() {
    for file in ["nsys.sqlite", "rocpd.db", "small.rpd"] {
        let bytes = std::fs::read(made(file)).expect("bytes");
        for part in 1..16 {
            assert!(!try_bytes(&bytes[..bytes.len() * part / 16]), "{file}: {part} of 16");
        }
    }
    let text = std::fs::read(made("rocprofv3.json")).expect("text");
    let store = TestStore::new();
    let path = store.folder.path().join("cut.json");
    std::fs::write(&path, &text[..text.len() * 4 / 5]).expect("a file");
    store.ingest(&path).expect("whole records are kept");
    assert!(store.issues().contains(&"truncated_input 1".to_owned()), "{:?}", store.issues());
    for part in 1..16 {
        try_bytes(&text[..text.len() * part / 16]);
    }
}

#[test]
fn flipped_bytes_of_databases_are_read_or_refused() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % n
    };
    let (mut read, mut refused) = (0, 0);
    for file in ["nsys.sqlite", "rocpd.db", "small.rpd", "rocprofv3.json"] {
        let bytes = std::fs::read(made(file)).expect("bytes");
        for _ in 0..60 {
            let mut damaged = bytes.clone();
            for _ in 0..=below(6) {
                let at = below(damaged.len());
                damaged[at] = below(256) as u8;
            }
            match try_bytes(&damaged) {
                true => read += 1,
                false => refused += 1,
            }
        }
    }
    assert!(read > 20 && refused > 5, "{read} read, {refused} refused");
}

/// The category of the rows that come from a table of an export.
const CATEGORIES: [(&str, &str); 7] = [
    ("CUPTI_ACTIVITY_KIND_RUNTIME", "'cuda_runtime', 'cuda_driver'"),
    ("CUPTI_ACTIVITY_KIND_KERNEL", "'kernel'"),
    ("CUPTI_ACTIVITY_KIND_MEMCPY", "'gpu_memcpy'"),
    ("CUPTI_ACTIVITY_KIND_MEMSET", "'gpu_memset'"),
    ("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "'cuda_sync'"),
    ("NVTX_EVENTS", "'user_annotation'"),
    ("PROFILER_OVERHEAD", "'overhead'"),
];

/// `expected/tables.tsv` holds counts and sums that SQLite computed.
#[test]
fn public_exports_equal_the_counts_of_sqlite() {
    let Some(folder) = needs::in_corpus("../other/nsys") else { return };
    let mut stores: BTreeMap<String, TestStore> = BTreeMap::new();
    let mut compared = 0;
    for row in lines_of(&folder.join("expected/tables.tsv")) {
        let [file, table, rows, sum, first, last, _, linked, top] = &row[..] else {
            panic!("{row:?}")
        };
        let store =
            stores.entry(file.clone()).or_insert_with(|| TestStore::with(&folder.join(file)).0);
        let Some((_, cats)) = CATEGORIES.iter().find(|(name, _)| name == table) else {
            // Tables that hold no events are counted in the metadata, except private ones.
            let held = store.value("SELECT metadata FROM traces");
            let is_private = table.contains("ENV") || *table == "META_DATA_CAPTURE";
            let count = format!("\"{table}\":{rows}");
            assert_eq!(held.contains(&count), !is_private, "{file}: {table}");
            continue;
        };
        let found = store.lines(&format!(
            "SELECT count(*), coalesce(sum(dur_ns), 0), min(ts_ns), max(end_ns) FROM events \
             WHERE cat IN ({cats})"
        ));
        assert_eq!(found, [format!("{rows} {sum} {first} {last}")], "{file}: {table}");
        if !linked.is_empty() {
            let sql = format!(
                "SELECT count(launch_id) FROM kernels k JOIN events e ON e.event_id = k.event_id \
                 WHERE cat IN ({cats})"
            );
            assert_eq!(store.value(&sql), *linked, "{file}: {table}");
        }
        if !top.is_empty() {
            let sql = "SELECT json_get_str(args, 'shortName') || ' x' || count(*) || ' ' || \
                sum(dur_ns) FROM events WHERE cat = 'kernel' GROUP BY \
                json_get_str(args, 'shortName') ORDER BY sum(dur_ns) DESC LIMIT 1";
            assert_eq!(store.value(sql), *top, "{file}");
        }
        compared += 1;
    }
    assert!(compared >= 12, "{compared} tables");
    assert_eq!(stores.len(), 4);
    let report = folder.join("refuse_me.nsys-rep");
    let error = TestStore::new().ingest(&report).expect_err("refused").to_string();
    assert!(error.contains("nsys export --type sqlite"), "{error}");
}

#[test]
fn public_files_of_amd_have_the_rows_that_were_written() {
    let Some(folder) = needs::in_corpus("../other/rocm") else { return };
    // The numbers of rows are those of the generators and of the tables.
    for (file, elements, kernels, linked) in [
        ("made_rocpd_v3.db", 60 + 69 + 6 + 6, 66, 66),
        ("made_rocprofv3_results.json", 30 + 33 + 3, 33, 33),
        ("rpd_matmul.rpd", 125 + 85 + 15, 85, 85),
    ] {
        let (store, outcome) = TestStore::with(&folder.join(file));
        assert_eq!(outcome.manifest.element_count, elements, "{file}");
        assert_eq!(
            store.ints("SELECT count(*), count(launch_id) FROM kernels"),
            [kernels, linked],
            "{file}"
        );
        assert_eq!(store.ints("SELECT skipped_count FROM traces"), [0], "{file}");
    }
}
