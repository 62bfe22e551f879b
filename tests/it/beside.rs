//! Files beside a trace: flight recorder dumps, execution traces, memory timelines, stacks of
//! samples, the files of one job, and hostile files of each kind.

mod hangs;
mod stacks;

use std::path::{Path, PathBuf};

use tracesql_ingest::IngestError;

use crate::support::{TestStore, fixture, needs, texts, tracesql};

fn made(name: &str) -> PathBuf {
    fixture(&format!("beside/{name}"))
}

fn lines_of(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().skip(1).map(|l| l.split('\t').map(str::to_owned).collect()).collect()
}

/// A store with the files of a folder.
fn folder(path: &Path) -> TestStore {
    let store = TestStore::new();
    let name = path.display().to_string();
    for input in tracesql_ingest::expand(&[name]).expect("the folder has inputs") {
        store.ingest(Path::new(&input.name())).expect("the file is read");
    }
    store
}

const SUM: &str = "SELECT t.element_count - t.event_count - t.skipped_count, \
    count(e.event_id) - t.event_count FROM traces t LEFT JOIN events e USING (trace_id) \
    GROUP BY t.trace_id, t.element_count, t.event_count, t.skipped_count";

/// `truth.tsv` states what `fixtures/make/flight_recorder.py` planted in each job.
#[test]
fn hangs_are_those_that_were_planted() {
    let truth = lines_of(&fixture("flight/truth.tsv"));
    let jobs = [
        "not_scheduled", "chain", "mismatch", "sizes", "not_started", "not_completed", "missing",
        "rolled", "fine", "old_version",
    ];
    for job in jobs {
        let store = folder(&fixture(&format!("flight/{job}")));
        let want: Vec<Vec<String>> =
            truth.iter().filter(|row| row[0] == job).map(|row| row[1..].to_vec()).collect();
        let found = store.rows(
            "SELECT group_name, seq, verdict, culprits, is_root FROM flight_hangs ORDER BY 1, 2",
        );
        assert_eq!(found, want, "{job}");
        assert!(store.lines(SUM).iter().all(|sum| sum == "0 0"), "{job}");
        // Old versions number the groups of each rank.
        let issues = if job == "old_version" { &["missing_reference 1"][..] } else { &[] };
        assert_eq!(store.issues(), issues, "{job}");
    }
    assert_eq!(truth.len(), 10);
}

#[test]
fn a_dump_has_records_groups_a_rank_and_stacks() {
    let store = folder(&fixture("flight/chain"));
    assert_eq!(
        store.lines("SELECT rank, world_size, backend, format FROM traces ORDER BY rank"),
        [
            "0 4 nccl flight_recorder",
            "1 4 nccl flight_recorder",
            "2 4 nccl flight_recorder",
            "3 4 nccl flight_recorder",
        ]
    );
    let groups = "SELECT group_name, description, ranks, size, last_enqueued_seq, \
        last_completed_seq FROM flight_groups g JOIN traces t USING (trace_id) WHERE t.rank = 3 \
        ORDER BY group_name";
    assert_eq!(store.lines(groups), ["0 default_pg [0, 1, 2, 3] 4 3 3", "2 data [2, 3] 2 4 3"]);
    let tracks = "SELECT thread_name, count(e.event_id), count(e.dur_ns), min(e.call_stack) \
        FROM tracks k JOIN events e USING (trace_id, track_id) JOIN traces t USING (trace_id) \
        WHERE t.rank = 3 GROUP BY 1 ORDER BY 1";
    let stack = "/app/train.py(80): <module>;/app/train.py(44): step;\
        /venv/torch/distributed/distributed_c10d.py(2806): all_reduce";
    assert_eq!(
        store.lines(tracks),
        [format!("data (2) 4 3 {stack}"), format!("default_pg (0) 3 3 {stack}")]
    );
    let waits = "SELECT rank, name, state, site, timeout_ns FROM flight_pending ORDER BY rank";
    assert_eq!(
        store.lines(waits),
        [
            "0 nccl:all_reduce started /app/train.py(44): step 600000000000",
            "1 nccl:all_reduce started /app/train.py(44): step 600000000000",
            "3 nccl:all_gather started /app/train.py(44): step 600000000000",
        ]
    );
}

#[test]
fn a_send_that_waits_is_pending() {
    let store = folder(&fixture("flight/fine"));
    let sql = "SELECT rank, is_p2p, name, seq, state FROM flight_pending";
    assert_eq!(store.lines(sql), ["0 true nccl:send 0->1 1 started"]);
    assert_eq!(
        store.value("SELECT count(*) FROM flight_collectives WHERE state = 'completed'"),
        "4"
    );
}

#[test]
fn odd_records_are_rows_or_are_counted() {
    let (store, _) = TestStore::with(&fixture("flight/odd_rank0.pickle"));
    assert_eq!(store.issues(), ["bad_record 2", "record_value 2"]);
    assert_eq!(
        store.ints("SELECT element_count, event_count, skipped_count, rank FROM traces"),
        [6, 4, 2, 0]
    );
    // The ranks of the group are not known, so nothing is said about its members.
    assert_eq!(
        store.lines("SELECT group_name, ranks, size FROM flight_groups ORDER BY 1"),
        ["0 NULL NULL", "NULL NULL NULL"]
    );
}

/// Both forms of one dump give the same rows; JSON has no stacks.
#[test]
fn pickles_and_json_of_a_dump_agree() {
    let Some(folder) = needs::in_corpus("../other/memory_snapshot") else { return };
    let (store, outcome) = TestStore::with(&folder.join("made_nccl_trace_rank_0"));
    assert!(!outcome.issues.has_warnings(), "{}", outcome.issues.summary());
    assert_eq!(store.value("SELECT rank FROM traces"), "0");
    assert_eq!(store.lines(SUM), ["0 0"]);
    assert!(outcome.manifest.rows("flight_records") > 0);
}

#[test]
fn an_execution_trace_is_joined_with_the_trace_of_its_run() {
    let store = folder(&made("execution"));
    let sql = "SELECT nodes, joined, no_record_function, no_trace, not_in_trace, name_differs, \
        round(joined_pct, 1) FROM et_coverage";
    assert_eq!(store.lines(sql), ["10 5 2 0 2 1 62.5"]);
    let sql = "SELECT node_id, name, link, reason, dur_ns, step FROM et_events ORDER BY event_id";
    assert_eq!(
        store.lines(sql)[..6],
        [
            "2 [pytorch|profiler|execution_trace|thread] none no_record_function NULL NULL",
            "3 ProfilerStep#3 record_function_id NULL 900000 3",
            "4 aten::linear record_function_id NULL 300000 3",
            "5 aten::mm record_function_id NULL 250000 3",
            "6 aten::relu record_function_id NULL 40000 3",
            "7 record_param_comms record_function_id NULL 30000 3",
        ]
    );
    let sql = "SELECT parent_id, rf_id, sequence_number, input_shapes, input_strides, attrs, \
        kernel_backend FROM et_nodes WHERE node_id IN (5, 7, 9) ORDER BY node_id";
    assert_eq!(
        store.lines(sql),
        [
            "4 3 11 [[16,8],[8,4]] [[8,1],[4,1]] NULL NULL",
            "3 5 -1 [] [] {\"collective_name\":\"allreduce\",\"pg_name\":\"0\",\
             \"pg_desc\":\"default_pg\",\"in_msg_nelems\":64} NULL",
            "3 7 -1 [] [] NULL triton",
        ]
    );
    // Ranks of a job are ranks with timelines.
    assert_eq!(store.value("SELECT count(*) FROM job_ranks"), "1");
}

#[test]
fn an_old_execution_trace_is_joined_by_external_id() {
    let store = folder(&made("execution_old"));
    let sql = "SELECT nodes, joined, not_in_trace FROM et_coverage";
    assert_eq!(store.lines(sql), ["5 4 0"]);
    assert_eq!(
        store.value("SELECT DISTINCT link FROM et_events WHERE reason IS NULL"),
        "external_id"
    );
    let (alone, _) = TestStore::with(&made("execution_old/rank0.et.json"));
    let sql = "SELECT nodes, joined, no_trace, profiler_trace_id FROM et_coverage";
    assert_eq!(alone.lines(sql), ["5 0 4 NULL"]);
}

/// A node without a record function id is not one that no function made.
#[test]
fn an_execution_trace_without_ids_says_so() {
    let text = std::fs::read_to_string(made("execution/rank0.et.json")).expect("a fixture");
    let store = TestStore::new();
    let path = store.folder.path().join("rank0.et.json");
    std::fs::write(&path, text.replace("\"rf_id\"", "\"other_id\"")).expect("a file");
    store.ingest(&path).expect("the trace is read");
    let sql = "SELECT nodes, joined, no_id, no_record_function, joined_pct FROM et_coverage";
    assert_eq!(store.lines(sql), ["10 0 10 0 0.0"]);
    assert_eq!(store.value("SELECT count(*) FROM et_events WHERE reason = 'no_id'"), "10");
}

/// A real execution trace of PyTorch 2.15 beside the profiler's trace. A plain loop over both files
/// finds an event of the same number and name for each node that a function made.
#[test]
fn real_execution_traces_are_joined() {
    let Some(corpus) = needs::in_corpus("made") else { return };
    let store = TestStore::new();
    for name in ["cnn_train_et_torch2.15.0.et.json.gz", "cnn_train_et_torch2.15.0.pt.trace.json.gz"]
    {
        store.ingest(&corpus.join(name)).expect(name);
    }
    let sql = "SELECT nodes, joined, no_record_function FROM et_coverage";
    assert_eq!(store.lines(sql), ["850 848 2"]);
}

/// `timeline.tsv` has figures of the script that made the files.
#[test]
fn both_forms_of_a_memory_timeline_have_the_same_categories() {
    let mut want = lines_of(&made("timeline.tsv"));
    want.sort();
    for name in ["timeline.raw.json.gz", "timeline.json"] {
        let (store, outcome) = TestStore::with(&made(name));
        assert!(!outcome.issues.has_warnings(), "{name}: {}", outcome.issues.summary());
        let found = store.rows(
            "SELECT category, peak_bytes, end_bytes FROM memory_categories ORDER BY category",
        );
        assert_eq!(found, want, "{name}");
        assert_eq!(store.lines(SUM), ["0 0"], "{name}");
        assert_eq!(store.value("SELECT base_time_ns FROM traces"), "0");
    }
    let (store, _) = TestStore::with(&made("timeline.raw.json.gz"));
    let sql = "SELECT action, count(*), sum(bytes), count(ts_ns) FROM memory GROUP BY 1 ORDER BY 1";
    assert_eq!(
        store.lines(sql),
        ["alloc 6 91226112 6", "free 5 -57671680 5", "preexisting 2 20971520 0", "version 2 0 2",]
    );
}

#[test]
fn folded_stacks_and_speedscope_profiles_have_stacks() {
    let (folded, _) = TestStore::with(&made("samples.folded"));
    assert_eq!(
        folded.lines("SELECT folded, samples, cpu_ns FROM stacks ORDER BY samples DESC"),
        [
            "main.py(3):_<module>;train.py(31):_step;aten::mm 120 0",
            "main.py(3):_<module>;data.py(8):_load 50 0",
            "main.py(3):_<module>;train.py(31):_step;aten::relu 30 0",
        ]
    );
    let (sampled, _) = TestStore::with(&made("sampled.speedscope.json"));
    assert_eq!(
        sampled.lines("SELECT folded, thread, cpu_ns FROM stacks ORDER BY cpu_ns DESC, folded"),
        [
            "/app/main.py(3): <module>;/app/train.py(31): step Thread 71 20000000",
            "/app/main.py(3): <module>;/app/data.py(8): load;read Thread 71 15000000",
            "/app/main.py(3): <module>;/app/data.py(8): load Thread 71 10000000",
        ]
    );
    assert_eq!(
        sampled.lines("SELECT ts_ns FROM events ORDER BY event_id"),
        ["0", "10000000", "20000000", "30000000", "45000000"]
    );
    let (evented, _) = TestStore::with(&made("evented.speedscope.json"));
    assert_eq!(
        evented.lines("SELECT folded, cpu_ns FROM stacks ORDER BY folded"),
        [
            "/app/main.py(3): <module> 300000",
            "/app/main.py(3): <module>;/app/data.py(8): load 149500",
            "/app/main.py(3): <module>;/app/data.py(8): load;read 250500",
            "/app/main.py(3): <module>;/app/train.py(31): step 300000",
        ]
    );
    for store in [&folded, &sampled, &evented] {
        assert_eq!(store.lines(SUM), ["0 0"]);
    }
}

#[test]
fn weights_keep_their_digits_and_those_beyond_64_bits_are_counted() {
    let store = TestStore::new();
    let path = store.folder.path().join("weights.folded");
    let lines = "a;b 1.5\na;c 9007199254740993\na;d 9223372036854775807\na;e 9223372036854775808\n";
    std::fs::write(&path, lines).expect("a file");
    store.ingest(&path).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        store.lines("SELECT samples FROM profile_samples ORDER BY event_id"),
        ["2", "9007199254740993", "9223372036854775807", "0"]
    );
    assert_eq!(store.issues(), ["record_value 1"]);
    assert_eq!(
        store.lines("SELECT args FROM events WHERE event_id = 3"),
        ["{\"weight\":9223372036854775808}"]
    );
}

#[test]
fn samples_become_a_flame_graph_and_folded_stacks_again() {
    let file = made("samples.folded");
    let out = tracesql(&["folded", &file.display().to_string(), "-o", "-", "--measure", "samples"]);
    let (stdout, stderr) = texts(&out);
    assert!(out.status.success(), "{stderr}");
    assert!(stdout.contains("main.py(3):_<module>;train.py(31):_step;aten::mm 120"), "{stdout}");
}

/// One clock for what the profiler, the allocator and the flight recorder saw of a job.
#[test]
fn files_of_one_job_share_a_clock() {
    let store = folder(&made("job"));
    let kinds = "SELECT kind, rank, start_unix_ns IS NOT NULL FROM job_files ORDER BY kind, rank";
    assert_eq!(
        store.lines(kinds),
        [
            "flight_recorder 0 true",
            "flight_recorder 1 true",
            "memory_snapshot 0 true",
            "timeline 0 true",
        ]
    );
    assert_eq!(store.value("SELECT count(DISTINCT job) FROM job_files"), "1");
    // The kernel of each collective runs 305 us after the recorder saw the call, and the buffer was
    // allocated 100 us before it.
    let sql = "WITH unix AS (
            SELECT t.format, e.name, e.cat, k.collective_seq, r.collective_seq AS flight_seq,
                t.base_time_ns + e.ts_ns AS at
            FROM events e JOIN traces t USING (trace_id)
            LEFT JOIN kernels k ON k.trace_id = e.trace_id AND k.event_id = e.event_id
            LEFT JOIN flight_records r ON r.trace_id = e.trace_id AND r.event_id = e.event_id
            WHERE t.rank = 0 OR t.format = 'torch_memory'
        )
        SELECT f.flight_seq, k.at - f.at AS kernel_after, f.at - max(m.at) AS buffer_before
        FROM unix f
        JOIN unix k ON k.cat = 'kernel' AND k.collective_seq = f.flight_seq
        JOIN unix m ON m.cat = 'cuda_memory' AND m.at < f.at
        WHERE f.cat = 'collective'
        GROUP BY f.flight_seq, k.at, f.at ORDER BY 1";
    assert_eq!(store.lines(sql), ["1 305000 100000", "2 305000 100000", "3 305000 100000"]);
    // The dumps are not ranks with timelines.
    assert_eq!(store.lines("SELECT rank, ranks FROM job_ranks WHERE backend = 'nccl'"), ["0 1"]);
}

/// Reads a file of these bytes; checks that its rows and skipped elements are all elements.
fn try_bytes(bytes: &[u8], name: &str) -> Option<u64> {
    let store = TestStore::new();
    let path = store.folder.path().join(name);
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
            Some(done.manifest.rows("events"))
        }
        Err(IngestError::Input { .. } | IngestError::NotATrace { .. } | IngestError::Io { .. }) => {
            None
        }
        Err(other) => panic!("{other}"),
    }
}

const ALL: [&str; 8] = [
    "flight/chain/nccl_trace_rank_0",
    "flight/not_started/nccl_trace_rank_0.json",
    "beside/execution/rank0.et.json",
    "beside/execution_old/rank0.et.json",
    "beside/timeline.json",
    "beside/samples.folded",
    "beside/sampled.speedscope.json",
    "beside/evented.speedscope.json",
];

#[test]
fn a_cut_file_keeps_its_whole_elements() {
    for name in ALL {
        let bytes = std::fs::read(fixture(name)).expect("a fixture");
        let counts: Vec<Option<u64>> =
            (1..=48).map(|at| try_bytes(&bytes[..bytes.len() * at / 48], "cut")).collect();
        let kept: Vec<u64> = counts.iter().flatten().copied().collect();
        assert!(kept.is_sorted() && !kept.is_empty(), "{name}: {counts:?}");
    }
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
    let mut read = 0;
    for name in ALL {
        let bytes = std::fs::read(fixture(name)).expect("a fixture");
        for _ in 0..40 {
            let mut damaged = bytes.clone();
            for _ in 0..=below(4) {
                let at = below(damaged.len());
                damaged[at] = below(256) as u8;
            }
            read += usize::from(try_bytes(&damaged, "flipped").is_some());
        }
    }
    assert!(read > 40, "{read} read");
}

#[test]
fn hostile_files_are_refused_or_counted() {
    let deep = format!("{{\"version\":\"2\",\"entries\":{}", "[".repeat(100_000));
    let wide = format!("[[-1,1,{},0]]", "9".repeat(400));
    for (text, events) in [
        // Other types in each place.
        (r#"{"entries":7,"version":"2.1","pg_config":{}}"#, Some(0)),
        (r#"{"entries":[1,null,[]],"version":"2.1"}"#, None),
        (
            r#"{"entries":[{"record_id":-1,"pg_id":9e99,"process_group":"x","state":[],"frames":7}],
            "version":1,"pg_config":[],"pg_status":3}"#,
            Some(1),
        ),
        (
            r#"{"entries":[{"time_created_ns":9223372036854775807,"record_id":1,
            "time_discovered_completed_ns":1,"timeout_ms":-5}],"version":1}"#,
            Some(1),
        ),
        (
            r#"{"schema":"1.1","nodes":[{"id":[],"name":7,"inputs":{"values":3},"attrs":[{},7]}]}"#,
            Some(1),
        ),
        (r#"{"schema":"1.1","nodes":[7]}"#, None),
        ("[[-1,1,-9007199254740993,0],[1,2,3]]", None),
        ("[[1,2,3,4],[[0,1,2,3,4,5,6,7,8],[],7]]", Some(1)),
        ("[[1],[[0,0,0,0,0,0,0,0,-5]],[[]]]", Some(1)),
        (
            r#"{"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"sampled","unit":"bytes",
            "samples":[[0],[9],[-1],0],"weights":[1e400]}]}"#,
            Some(1),
        ),
        (
            r#"{"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"evented","unit":"seconds",
            "events":[{"type":"C","frame":0,"at":1},{"type":"O","frame":0,"at":1e300},
            {"type":"O","frame":0,"at":2},{"type":"O","frame":0,"at":1}]}]}"#,
            Some(2),
        ),
        ("a;b 99999999999999999999999999\na;b 1\n", Some(2)),
        // A line without a number makes a text no folded stacks at all.
        ("a;b 1\nnothing\n", None),
        (&deep[..], None),
        (&wide[..], None),
    ] {
        assert_eq!(try_bytes(text.as_bytes(), "hostile.json"), events, "{:.200}", text);
    }
}

#[test]
fn a_page_is_refused_with_what_to_give() {
    let store = TestStore::new();
    let path = store.folder.path().join("timeline.html");
    std::fs::write(&path, "<html><head>\n<img src='data:image/png;base64,xx'>").expect("a file");
    let error = store.ingest(&path).expect_err("a page").to_string();
    assert!(error.contains(".raw.json.gz") && error.contains("HTML"), "{error}");
}
