//! Tests with hostile traces: time and memory stay within bounds, and every lost element is
//! counted.
//!
//! The sizes are chosen so that quadratic algorithms would take minutes, or more memory than the
//! machine has.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::fs::File;
use std::path::Path;

use arrow::array::AsArray;
use arrow::compute::concat_batches;
use arrow::datatypes::Int64Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use tempfile::TempDir;
use tracesql_ingest::{IngestOptions, Input, Progress, Result, Store, expand, ingest};

/// A store that contains one trace.
struct Stored {
    store: Store,
    _folder: TempDir,
}

impl Stored {
    fn of_file(path: &Path) -> Result<Self> {
        let folder = TempDir::new().expect("a folder");
        let store = Store::open_or_create(&folder.path().join("store"))?;
        for input in expand(&[path.display().to_string()])? {
            ingest(
                &input,
                &store,
                &IngestOptions { threads: 2, ..IngestOptions::default() },
                &Progress::default(),
            )?;
        }
        Ok(Self { store, _folder: folder })
    }

    /// Stores a trace with this text.
    fn of_text(text: &[u8]) -> Self {
        let file = tempfile::Builder::new().suffix(".json").tempfile().expect("a file");
        std::fs::write(file.path(), text).expect("written");
        Self::of_file(file.path()).expect("ingested")
    }

    /// Stores a trace with these elements.
    fn of(elements: impl IntoIterator<Item = String>) -> Self {
        let elements: Vec<String> = elements.into_iter().collect();
        Self::of_text(format!(r#"{{"traceEvents":[{}]}}"#, elements.join(",\n")).as_bytes())
    }

    fn column(&self, table: &str, column: &str) -> arrow::array::ArrayRef {
        let trace = self.store.traces().expect("traces").remove(0).trace_id;
        let file = File::open(self.store.root().join(trace).join(format!("{table}.parquet")))
            .expect("a table");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a table");
        let schema = reader.schema().clone();
        let batches: Vec<_> =
            reader.build().expect("a reader").map(|batch| batch.expect("rows")).collect();
        concat_batches(&schema, &batches)
            .expect("all rows")
            .column_by_name(column)
            .expect("a column")
            .clone()
    }

    fn ints(&self, table: &str, column: &str) -> Vec<Option<i64>> {
        self.column(table, column).as_primitive::<Int64Type>().iter().collect()
    }

    fn texts(&self, table: &str, column: &str) -> Vec<Option<String>> {
        self.column(table, column)
            .as_string::<i32>()
            .iter()
            .map(|text| text.map(str::to_owned))
            .collect()
    }

    /// Formats each issue as `code count`.
    fn issues(&self) -> Vec<String> {
        let (codes, counts) =
            (self.texts("ingest_issues", "code"), self.ints("ingest_issues", "count"));
        codes
            .iter()
            .zip(counts)
            .map(|(code, count)| {
                format!("{} {}", code.as_deref().expect("a code"), count.expect("a count"))
            })
            .collect()
    }
}

#[test]
fn one_external_id_for_all_operators_and_kernels_takes_little_time() {
    let n = 100_000;
    let op = |i| {
        format!(
            r#"{{"ph":"X","name":"op","cat":"cpu_op","pid":1,"tid":1,"ts":{i},"dur":0.5,"args":{{"External id":5}}}}"#
        )
    };
    let kernel = |i| {
        format!(
            r#"{{"ph":"X","name":"k","cat":"kernel","pid":0,"tid":7,"ts":{i},"dur":0.5,"args":{{"External id":5}}}}"#
        )
    };
    // External ids are trusted only if the External id of some launch differs from its correlation.
    let launch = r#"{"ph":"X","name":"cudaLaunchKernel","cat":"cuda_runtime","pid":1,"tid":2,"ts":0,"dur":0.5,"args":{"correlation":3,"External id":7}}"#;
    let stored = Stored::of((0..n).map(op).chain([launch.to_owned()]).chain((0..n).map(kernel)));
    assert!(stored.ints("kernels", "op_id").into_iter().eq((0..n).map(Some)));
}

#[test]
fn long_categories_are_kept() {
    let of = |n: usize| {
        format!(
            r#"{{"ph":"X","cat":"{}","name":"a","pid":1,"tid":1,"ts":1,"dur":1}}"#,
            "c".repeat(n)
        )
    };
    let stored = Stored::of([100, 17_000, (1 << 20) + 5].map(of));
    let lengths = |column| {
        stored
            .texts("events", column)
            .into_iter()
            .map(|text| text.map(|t| t.len()))
            .collect::<Vec<_>>()
    };
    assert_eq!(lengths("cat"), [Some(100), Some(17_000), Some(1 << 20)]);
    assert_eq!(lengths("extra"), [None; 3]);
    assert_eq!(stored.issues(), ["string_cut 1"]);
}

#[test]
fn long_names_of_counters_are_distinguished() {
    let of = |last: &str| {
        format!(
            r#"{{"ph":"C","name":"{}{last}","pid":1,"ts":1,"args":{{"a":1}}}}"#,
            "é".repeat(17_000)
        )
    };
    let stored = Stored::of(["x", "y", "x"].map(of));
    assert_eq!(stored.ints("tracks", "track_id").len(), 2);
    assert!(
        stored
            .texts("tracks", "thread_name")
            .iter()
            .flatten()
            .all(|name| name.len() < 1_100 && name.contains("… "))
    );
    let names = stored.texts("events", "name");
    assert_eq!(
        names.iter().flatten().filter(|name| name.len() == 34_001 && name.ends_with('x')).count(),
        2
    );
}

#[test]
fn a_duration_from_begin_to_end_that_overflows_is_null() {
    let of = |ph, ts| format!(r#"{{"ph":"{ph}","name":"a","pid":1,"tid":1,"ts":{ts}}}"#);
    let stored = Stored::of([of("B", -9_000_000_000_000_000i64), of("E", 9_000_000_000_000_000)]);
    assert_eq!(
        (stored.ints("events", "dur_ns"), stored.ints("events", "end_ns")),
        (vec![None; 2], vec![None; 2])
    );
    assert_eq!(stored.issues(), ["end_overflow 1"]);
}

#[test]
fn long_names_of_processes_are_cut() {
    let name = format!(
        r#"{{"ph":"M","name":"process_name","pid":1,"args":{{"name":"{}"}}}}"#,
        "é".repeat(1 << 20)
    );
    let stored = Stored::of([name].into_iter().chain(
        (0..20_000).map(|tid| format!(r#"{{"ph":"i","name":"i","pid":1,"tid":{tid},"ts":1}}"#)),
    ));
    let names = stored.texts("tracks", "process_name");
    assert_eq!(names.len(), 20_001);
    assert!(names.iter().flatten().all(|name| name.len() == 16 << 10));
    assert_eq!(stored.issues(), ["string_cut 1"]);
}

#[test]
fn deep_module_hierarchies_are_cut() {
    let text = vec!["a"; 50_000].join(".");
    let op = format!(
        r#"{{"ph":"X","name":"op","cat":"cpu_op","pid":1,"tid":1,"ts":1,"dur":1,"args":{{"Module Hierarchy":"{text}"}}}}"#
    );
    let stored = Stored::of([op]);
    assert!(stored.ints("modules", "depth").into_iter().eq((0..512).map(Some)));
    assert_eq!(stored.ints("modules", "call_count").last(), Some(&Some(1)));
    assert_eq!(stored.issues(), ["string_cut 1"]);
}

#[test]
fn paths_of_modules_in_modules_are_cut() {
    let n = 50_000;
    let call = |ts| {
        format!(
            r#"{{"ph":"X","name":"nn.Module: A","cat":"python_function","pid":1,"tid":1,"ts":{ts},"dur":{}}}"#,
            2 * (n - ts)
        )
    };
    let stored = Stored::of((0..n).map(call));
    assert!(stored.ints("modules", "depth").into_iter().eq((0..n).map(Some)));
    let paths = stored.texts("modules", "path");
    let longest = format!("{}…", "A.".repeat(2048));
    assert_eq!(
        (paths[1].as_deref(), paths[2047].as_deref(), paths[2048].as_deref()),
        (Some("A.A"), Some(&longest[..4095]), Some(&longest[..]))
    );
    assert_eq!(paths.last(), paths.get(2048));
    assert_eq!(stored.issues(), ["string_cut 47952"]);
}

#[test]
fn many_series_of_a_counter_share_its_long_name() {
    let series: Vec<String> = (0..100_000).map(|i| format!(r#""{i}":{i}"#)).collect();
    let stored = Stored::of([format!(
        r#"{{"ph":"C","name":"{}","pid":1,"ts":1,"args":{{{}}}}}"#,
        "n".repeat(20_000),
        series.join(",")
    )]);
    assert_eq!(stored.texts("events", "name")[0].as_ref().map(String::len), Some(20_000));
    let names = stored.texts("counters", "name");
    assert_eq!(names.len(), 100_000);
    let name = &stored.texts("tracks", "thread_name")[0];
    assert!(names.iter().all(|n| n == name));
}

#[test]
fn many_args_of_begin_and_end_are_merged_in_little_time() {
    let args =
        |what| (0..200_000).map(|i| format!(r#""{what}{i}":{i}"#)).collect::<Vec<_>>().join(",");
    let of = |ph, args: String| {
        format!(
            r#"{{"ph":"{ph}","name":"a","pid":1,"tid":1,"ts":1,"args":{{"both":"{ph}",{args}}}}}"#
        )
    };
    let (begin, end) = (args("b"), args("e"));
    let stored = Stored::of([of("B", begin.clone()), of("E", end.clone())]);
    let merged = format!(r#"{{{begin},"both":"E",{end}}}"#);
    assert!(stored.texts("events", "args")[0].as_ref() == Some(&merged));
}

#[test]
fn long_args_of_an_end_are_not_merged_into_its_begin() {
    let begin = r#"{"ph":"B","name":"a","pid":1,"tid":1,"ts":1,"args":{"kept":1}}"#.to_owned();
    let end = format!(
        r#"{{"ph":"E","name":"a","pid":1,"tid":1,"ts":2,"args":{{"x":"{}"}}}}"#,
        "x".repeat(64 << 20)
    );
    let stored = Stored::of([begin, end]);
    let args = stored.texts("events", "args");
    assert_eq!(
        (args[0].as_deref(), args[1].as_deref()),
        (Some(r#"{"kept":1}"#), Some(r#"{"dropped_bytes":67108872}"#))
    );
    assert_eq!(stored.issues(), ["args_cut 1"]);
}

#[test]
fn args_that_look_like_elements_make_no_tracks() {
    let inner = vec![
        r#"{"ph":"X","cat":"cpu_op","name":"inner","pid":777,"tid":777,"ts":1,"dur":1}"#;
        120_000
    ]
    .join(",");
    let outer = |args: &str| {
        format!(r#"{{"ph":"i","name":"i","pid":1,"tid":1,"ts":1,"args":{{"k":[{args}]}}}}"#)
    };
    let stored = Stored::of([outer(""), outer(&inner)]);
    assert_eq!(
        (stored.ints("tracks", "pid"), stored.ints("tracks", "track_id")),
        (vec![Some(1)], vec![Some(0)])
    );
    assert_eq!(stored.texts("traces", "format"), [Some("chrome".to_owned())]);
}

#[test]
fn long_top_level_values_are_not_kept() {
    let event = r#""traceEvents":[{"ph":"i","name":"i","pid":1,"tid":1,"ts":1}]"#;
    let stored = Stored::of_text(
        format!(r#"{{"a":1,"b":"{}",{event},"c":2}}"#, "\x01".repeat(45 << 20)).as_bytes(),
    );
    assert_eq!(stored.texts("traces", "metadata"), [Some(r#"{"a":1,"c":2}"#.to_owned())]);
    assert_eq!(stored.issues(), ["top_level_value 1"]);

    let devices = vec!["{}"; 1_500_000].join(",");
    let stored =
        Stored::of_text(format!(r#"{{"deviceProperties":[{devices}],{event}}}"#).as_bytes());
    assert_eq!(stored.ints("devices", "device"), []);
    assert_eq!(stored.texts("traces", "metadata")[0].as_ref().map(String::len), Some(4_500_022));
    assert_eq!(stored.issues(), ["top_level_value 1"]);
}

#[test]
fn too_many_top_level_keys_end_the_document() {
    let event = r#""traceEvents":[{"ph":"i","name":"i","pid":1,"tid":1,"ts":1}]"#;
    let keys: Vec<String> = (0..10_001).map(|i| format!(r#""{i}":1"#)).collect();
    let stored = Stored::of_text(format!("{{{event},{}}}", keys.join(",")).as_bytes());
    assert_eq!(stored.ints("events", "event_id"), [Some(0)]);
    assert_eq!(stored.issues(), ["top_level_value 1"]);

    let file = tempfile::Builder::new().suffix(".json").tempfile().expect("a file");
    std::fs::write(file.path(), format!("{{{},{event}}}", keys.join(","))).expect("written");
    let error = Stored::of_file(file.path()).err().expect("refused").to_string();
    assert!(error.contains("more than 10,000 keys"), "{error}");
}

#[test]
fn blobs_beyond_the_memory_limit_are_refused() {
    let text =
        format!(r#"{{"memory_blobs":[{}]}}"#, vec![r#"{"start_time":1}"#; 200_000].join(","));
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("perf.json");
    std::fs::write(&path, text).expect("written");
    let within = |memory_limit| {
        let store = Store::open_or_create(&folder.path().join(format!("store{memory_limit}")))?;
        let options = IngestOptions { threads: 1, memory_limit, ..IngestOptions::default() };
        ingest(&Input::File(path.clone()), &store, &options, &Progress::default())
    };
    let error = within(128 << 20).expect_err("refused").to_string();
    assert!(error.contains("raise the limit"), "{error}");
    assert_eq!(within(1 << 30).expect("ingested").manifest.rows("events"), 200_000);
}

#[test]
fn a_flow_id_may_be_the_lowest_integer() {
    let span = |ts| format!(r#"{{"ph":"X","name":"a","pid":1,"tid":1,"ts":{ts},"dur":5}}"#);
    let flow = |ph, ts| {
        format!(
            r#"{{"ph":"{ph}","name":"f","cat":"c","id":-9223372036854775808,"bp":"e","pid":1,"tid":1,"ts":{ts}}}"#
        )
    };
    let stored = Stored::of([span(0), span(10), flow("s", 1), flow("f", 11)]);
    assert_eq!(stored.texts("flows", "flow_id"), [Some("-9223372036854775808".to_owned())]);
    assert_eq!(
        (stored.ints("flows", "src_event_id"), stored.ints("flows", "dst_event_id")),
        (vec![Some(0)], vec![Some(1)])
    );
}

/// Reads a pickle with a memory limit in bytes.
fn read_pickle(bytes: &[u8], memory_limit: usize) -> Result<Stored> {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("snapshot.pickle");
    std::fs::write(&path, bytes).expect("written");
    let store = Store::open_or_create(&folder.path().join("store"))?;
    let options = IngestOptions { threads: 1, memory_limit, ..IngestOptions::default() };
    ingest(&Input::File(path), &store, &options, &Progress::default())?;
    Ok(Stored { store, _folder: folder })
}

fn text(key: &str) -> Vec<u8> {
    [&[0x8c, key.len() as u8], key.as_bytes()].concat()
}

/// A snapshot with one device, whose trace is a list of these items.
fn pickle_of_trace(items: &[u8]) -> Vec<u8> {
    let head = [b"\x80\x04}(".to_vec(), text("segments"), b"]".to_vec(), text("device_traces")];
    [&head.concat()[..], b"](](", items, b"eeu."].concat()
}

#[test]
fn values_beyond_the_memory_limit_are_refused() {
    // Each list takes two bytes of the file and sixteen and more of memory.
    let lists = [&b"\x80\x04]("[..], &b"]\x94".repeat(20_000_000), b"e."].concat();
    let error = read_pickle(&lists, 256 << 20).err().expect("refused").to_string();
    assert!(error.contains("--memory-limit"), "{error}");
}

#[test]
fn a_list_that_occurs_many_times_is_refused() {
    let entry = [b"}(".to_vec(), text("action"), text("alloc"), b"u".to_vec()].concat();
    let list = [&b"]\x94("[..], &entry.repeat(1000), b"e"].concat();
    let head = [b"\x80\x04}(".to_vec(), text("device_traces"), b"](".to_vec()].concat();
    let many = [&head[..], &list, &b"h\x00".repeat(100_000), b"eu."].concat();
    let error = read_pickle(&many, 0).err().expect("refused").to_string();
    assert!(error.contains("occurs in another place too"), "{error}");
}

#[test]
fn an_entry_that_occurs_many_times_is_a_row_each_time() {
    let entry = [
        b"}\x94(".to_vec(),
        text("action"),
        text("alloc"),
        text("addr"),
        b"K\x10".to_vec(),
        text("size"),
        b"K\x10u".to_vec(),
    ]
    .concat();
    let items = [&entry[..], &b"h\x00".repeat(200_000)].concat();
    let stored = read_pickle(&pickle_of_trace(&items), 0).expect("read");
    assert_eq!(stored.ints("memory", "total_allocated_bytes").len(), 200_001);
    assert_eq!(stored.issues(), ["missing_free 200000", "live_bytes 1"]);
}

#[test]
fn shared_settings_are_written_within_bounds() {
    let mut nested = b"]\x94".to_vec();
    for level in 0..28u8 {
        nested.extend([b"0]\x94(h", &[level][..], b"h", &[level], b"e"].concat());
    }
    let settings = [text("allocator_settings"), nested].concat();
    let mut bytes = pickle_of_trace(b"");
    bytes.truncate(bytes.len() - 2);
    bytes.extend([&settings[..], b"u."].concat());
    let stored = read_pickle(&bytes, 0).expect("read");
    let metadata = stored.texts("traces", "metadata").remove(0).expect("metadata");
    assert!(metadata.len() < 1000 && metadata.contains("(too long)"), "{metadata}");
}
