//! XPlane files and Perfetto traces: the truth of the fixtures, tables of other readers, damage.

mod made;
mod tpu;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::support::{TestStore, fixture, needs};

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The queries of the figures in `fixtures/protobufs/truth.tsv`. Their results are joined by blanks.
const FIGURES: &[(&str, &str)] = &[
    ("format", "SELECT format FROM traces"),
    ("framework", "SELECT framework FROM traces"),
    ("host", "SELECT host FROM traces"),
    ("elements", "SELECT element_count FROM traces"),
    ("skipped", "SELECT skipped_count FROM traces"),
    ("rows", "SELECT count(*) FROM events"),
    ("base_time_ns", "SELECT base_time_ns FROM traces"),
    ("kernels", "SELECT count(*) FROM kernels WHERE kind = 'kernel'"),
    ("copies", "SELECT count(*) FROM kernels WHERE kind = 'memcpy'"),
    ("linked", "SELECT count(*) FROM kernels k JOIN events e ON e.event_id = k.launch_id"),
    ("link", "SELECT DISTINCT link FROM kernels"),
    ("steps", "SELECT count(*) FROM steps"),
    (
        "kernel_steps",
        "SELECT string_agg(s || ':' || n, ',' ORDER BY s) FROM (SELECT step AS s, count(*) AS n \
         FROM kernels GROUP BY step)",
    ),
    (
        "kernel_ps",
        "SELECT sum(coalesce(json_get_int(e.args, 'dur_ps'), e.dur_ns * 1000)) FROM kernels k \
         JOIN events e ON e.event_id = k.event_id WHERE kind = 'kernel'",
    ),
    ("kernel_ns", "SELECT sum(dur_ns) FROM kernels WHERE kind = 'kernel'"),
    ("copied_bytes", "SELECT sum(bytes) FROM kernels"),
    ("grid_sum", "SELECT sum(grid_x * grid_y * grid_z) FROM kernels"),
    ("registers", "SELECT max(registers_per_thread) FROM kernels"),
    ("shared_memory", "SELECT max(shared_memory_bytes) FROM kernels"),
    ("memory_rows", "SELECT count(*) FROM memory WHERE device = 0 AND device_type = 'cuda'"),
    ("memory_bytes", "SELECT sum(bytes) FROM memory"),
    ("peak_bytes", "SELECT max(total_allocated_bytes) FROM memory"),
    (
        "device",
        "SELECT concat_ws(' ', name, total_memory_bytes, sm_count, compute_major, compute_minor) \
         FROM devices",
    ),
    ("python_functions", "SELECT count(*) FROM events WHERE cat = 'python_function'"),
    ("operators", "SELECT count(*) FROM events WHERE cat = 'cpu_op'"),
    ("first_kernel_ts", "SELECT min(ts_ns) FROM kernels"),
    (
        "first_start_ps",
        "SELECT min(json_as_text(e.args, 'start_ps')) FROM events e JOIN kernels k ON k.event_id \
         = e.event_id WHERE k.ts_ns = (SELECT min(ts_ns) FROM kernels)",
    ),
    ("flows", "SELECT count(*) FROM flows"),
    ("halves", "SELECT \"count\" FROM ingest_issues WHERE code = 'flow_half'"),
    (
        "self_ps",
        "SELECT string_agg(name || ':' || total_ps, ' ' ORDER BY name) FROM hlo_operators WHERE \
         category <> 'while'",
    ),
    ("flops", "SELECT sum(flops) FROM hlo_operators"),
    ("loops", "SELECT calls FROM hlo_operators WHERE category = 'while'"),
    (
        "loop_children",
        "SELECT count(*) FROM events c JOIN events p ON p.event_id = c.parent_id WHERE p.name = \
         'while.9'",
    ),
    ("issues", "SELECT string_agg(code || ' ' || \"count\", ';' ORDER BY code) FROM ingest_issues"),
    ("repeated", "SELECT json_get_json(args, '_src') FROM events WHERE name = 'twice'"),
    ("tracks", "SELECT count(*) FROM tracks"),
    ("first_ts", "SELECT min(ts_ns) FROM events"),
    (
        "streams",
        "SELECT DISTINCT concat_ws('/', device, stream) FROM kernels WHERE kind = 'kernel'",
    ),
    ("counter_last", "SELECT max(value)::BIGINT FROM counters"),
    (
        "thread",
        "SELECT concat_ws(' ', pid, tid, process_name, thread_name) FROM tracks WHERE tid IS NOT \
         NULL",
    ),
    ("annotations", "SELECT count(*) FROM events WHERE cat = 'user_annotation' AND ph = 'B'"),
    ("slices", "SELECT count(*) FROM events WHERE ph IN ('B', 'b', 'X') AND cat IS NULL"),
    ("cycles_last", "SELECT max(value)::BIGINT FROM counters WHERE name = 'cycles'"),
    ("load", "SELECT value FROM counters WHERE name = 'load'"),
    ("outer", "SELECT dur_ns FROM events WHERE name = 'outer' AND ph = 'B'"),
    ("inner", "SELECT dur_ns FROM events WHERE name = 'inner' AND ph = 'B'"),
    ("unmatched", "SELECT \"count\" FROM ingest_issues WHERE code = 'unmatched_end'"),
    ("old_ns", "SELECT dur_ns FROM events WHERE name = 'old'"),
    ("request_ns", "SELECT dur_ns FROM events WHERE name = 'request' AND ph = 'b'"),
    ("packed", "SELECT count(*) FROM events WHERE name = 'packed'"),
    ("stack", "SELECT call_stack FROM events WHERE call_stack IS NOT NULL"),
    ("tree", "SELECT json_get_json(args, 'tree') FROM events WHERE json_contains(args, 'tree')"),
    (
        "gpu",
        "SELECT concat_ws(' ', name, dur_ns, device, grid_x, grid_y, grid_z, block_x, \
         registers_per_thread) FROM kernels WHERE kind = 'kernel'",
    ),
    ("gpu_copy", "SELECT concat_ws(' ', name, bytes) FROM kernels WHERE kind = 'memcpy'"),
    ("states", "SELECT count(*) FROM events WHERE json_contains(args, 'track_event_type')"),
    ("extra_counters", "SELECT count(*) FROM counters WHERE name = 'cycles'"),
    (
        "scheduler",
        "SELECT split_part(detail, '; ', -1) FROM ingest_issues WHERE code = \
      'scheduler_packet'",
    ),
    ("moved", "SELECT ts_ns FROM events WHERE name = 'moved'"),
];

/// `truth.tsv` comes from `fixtures/make/protobufs.py`, which counts while it makes the events.
#[test]
fn figures_equal_the_truth_of_the_fixtures() {
    let truth = read(&fixture("protobufs/truth.tsv"));
    let mut by_file: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for line in truth.lines().skip(1) {
        let [file, figure, value] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("three fields: {line}");
        };
        by_file.entry(file).or_default().push((figure, value));
    }
    assert_eq!(by_file.len(), 6);
    let mut wrong = Vec::new();
    for (file, figures) in by_file {
        let (store, outcome) = TestStore::with(&fixture(&format!("protobufs/{file}")));
        for (figure, want) in figures {
            let sql = FIGURES.iter().find(|(name, _)| *name == figure);
            let sql = sql.unwrap_or_else(|| panic!("no query for {figure}")).1;
            let found = store.rows(sql).concat().join(" ");
            let found = match figure {
                "scheduler" => found.rsplit("kinds. ").next().unwrap_or_default().to_owned(),
                _ => found,
            };
            if found != want {
                wrong.push(format!("{file} {figure}: {found}, not {want}"));
            }
        }
        // Rows and skipped elements are all elements.
        let sql = "SELECT element_count - event_count - skipped_count, (SELECT count(*) FROM \
                   events) - event_count, coalesce((SELECT sum(skipped_count) FROM \
                   ingest_issues), 0) - skipped_count FROM traces";
        assert_eq!(store.ints(sql), [0, 0, 0], "{file}");
        assert!(outcome.manifest.element_count > 0);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The folder of other profilers' files next to the corpus.
#[track_caller]
fn others(folder: &str) -> Option<PathBuf> {
    needs::in_corpus(&format!("../other/{folder}"))
}

/// `lines.tsv` has the sums of each line in picoseconds, checked against JAX's own reader.
#[test]
fn lines_of_public_xplane_files_equal_those_of_another_reader() {
    let Some(folder) = others("xplane") else { return };
    let expected = read(&folder.join("expected/lines.tsv"));
    let mut want: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in expected.lines().skip(1) {
        let f: Vec<&str> = line.split('\t').collect();
        if f[5] != "0" {
            let row = [f[1], f[2], f[5], f[6], f[7], f[8]].join(" ");
            want.entry(f[0].to_owned()).or_default().push(row);
        }
    }
    let mut compared = 0;
    for (file, mut rows) in want {
        let (store, outcome) = TestStore::with(&folder.join(&file));
        let start = "coalesce(json_get_int(e.args, 'start_ps'), e.ts_ns * 1000)";
        let dur = "coalesce(json_get_int(e.args, 'dur_ps'), e.dur_ns * 1000, 0)";
        let mut found: Vec<String> = store
            .rows(&format!(
                "SELECT t.process_name, t.tid, count(*), sum({dur}), min({start}), \
                 max({start} + {dur}) FROM events e JOIN tracks t ON t.track_id = e.track_id \
                 GROUP BY t.process_name, t.tid"
            ))
            .into_iter()
            .map(|row| row.join(" "))
            .collect();
        rows.sort();
        found.sort();
        assert_eq!(found, rows, "{file}");
        let issues = outcome.issues.iter().map(|(code, _)| code.as_str()).collect::<Vec<_>>();
        assert_eq!(outcome.issues.skipped(), 0, "{file}: {issues:?}");
        compared += rows.len();
    }
    assert!(compared > 200, "{compared} lines");
}

/// A table of xprof: rows of named values.
fn xprof(folder: &Path, name: &str) -> Vec<BTreeMap<String, serde_json::Value>> {
    let packed = std::fs::read(folder.join(format!("expected/{name}.json.gz"))).expect("a table");
    let mut text = String::new();
    let mut reader = flate2::read::GzDecoder::new(&packed[..]);
    std::io::Read::read_to_string(&mut reader, &mut text).expect("unpacked");
    let table: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let table = if table.is_array() { &table[0] } else { &table };
    let ids: Vec<&str> = table["cols"]
        .as_array()
        .expect("columns")
        .iter()
        .map(|c| c["id"].as_str().expect("id"))
        .collect();
    let rows = table["rows"].as_array().expect("rows").iter();
    rows.map(|row| {
        let cells = row["c"].as_array().expect("cells").iter().map(|cell| cell["v"].clone());
        ids.iter().map(|id| (*id).to_owned()).zip(cells).collect()
    })
    .collect()
}

/// Microseconds with digits of picoseconds, as picoseconds.
fn picoseconds(us: &serde_json::Value) -> i64 {
    (us.as_f64().expect("a number") * 1e6).round() as i64
}

#[test]
fn kernels_of_public_xplane_files_equal_those_of_xprof() {
    let Some(folder) = others("xplane") else { return };
    for file in ["jax08_attention", "jax_mi300x_conv_legacy", "jax_mi300x_conv_new"] {
        let mut want: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        for row in xprof(&folder, &format!("{file}.kernel_stats")) {
            let key = ["kernel_name", "grid_dim", "block_dim"].map(|k| row[k].as_str().expect(k));
            let sums = want.entry(key.join(" ")).or_default();
            sums.0 += row["occurrences"].as_f64().expect("a count") as i64;
            sums.1 += picoseconds(&row["total_duration_us"]);
        }
        let (store, _) = TestStore::with(&folder.join(format!("{file}.xplane.pb")));
        let found: BTreeMap<String, (i64, i64)> = store
            .rows(
                "SELECT k.name || ' ' || grid_x || ',' || grid_y || ',' || grid_z || ' ' || \
                 block_x || ',' || block_y || ',' || block_z, count(*), \
                 sum(coalesce(json_get_int(e.args, 'dur_ps'), k.dur_ns * 1000)) FROM kernels k \
                 JOIN events e ON e.event_id = k.event_id WHERE k.kind = 'kernel' GROUP BY 1",
            )
            .into_iter()
            .map(|row| (row[0].clone(), (row[1].parse().expect("n"), row[2].parse().expect("n"))))
            .collect();
        assert_eq!(found, want, "{file}");
    }
}

#[test]
fn operators_of_a_public_tpu_file_equal_those_of_xprof() {
    let Some(folder) = others("xplane") else { return };
    let want: BTreeMap<String, (i64, i64)> = xprof(&folder, "tpu_v6e_inference.hlo_stats")
        .into_iter()
        .map(|row| {
            let text = |k: &str| row[k].as_str().expect("text").to_owned();
            let calls = row["occurrences"].as_f64().expect("a count") as i64;
            let key =
                format!("{} {} {}", text("program_id"), text("category"), text("hlo_op_name"));
            (key, (calls, picoseconds(&row["total_self_time"])))
        })
        .collect();
    let (store, _) = TestStore::with(&folder.join("tpu_v6e_inference.xplane.pb"));
    let found: BTreeMap<String, (i64, i64)> = store
        .rows(
            "SELECT program_id || ' ' || category || ' ' || name, sum(calls), sum(device_ps) FROM \
             hlo_operators WHERE category IS NOT NULL GROUP BY 1",
        )
        .into_iter()
        .map(|row| (row[0].clone(), (row[1].parse().expect("n"), row[2].parse().expect("n"))))
        .collect();
    assert_eq!(found, want);
    // Fusions of one operator of the framework are one row; xprof calls those without one unknown.
    let want: BTreeMap<String, i64> = xprof(&folder, "tpu_v6e_inference.framework_op_stats")
        .into_iter()
        .filter(|row| row["host_or_device"] == "Device" && row["operation"] != "IDLE")
        .map(|row| {
            let text = |k: &str| row[k].as_str().expect("text").replace("Unknown", "NULL");
            let key = format!("{} {}", text("type"), text("operation"));
            (key, picoseconds(&row["total_self_time"]))
        })
        .collect();
    let found: BTreeMap<String, i64> = store
        .rows(
            "SELECT coalesce(type, 'NULL') || ' ' || name, sum(device_ps) FROM framework_operators \
             WHERE device_ps > 0 GROUP BY 1",
        )
        .into_iter()
        .map(|row| (row[0].clone(), row[1].parse().expect("n")))
        .collect();
    assert_eq!(found, want);
    // All work belongs to a run of its program, which a call of the host started.
    let sql = "SELECT count(*), count(launch_id) FROM kernels";
    let counts = store.ints(sql);
    assert_eq!(counts[0], 6013);
    assert!(counts[1] > 5_900, "{counts:?}");
}

/// Sections of what the trace processor printed: slices, counters, flows.
fn sections(text: &str) -> Vec<Vec<Vec<&str>>> {
    text.split("--\n")
        .map(|part| part.lines().skip(1).map(|line| line.split('\t').collect()).collect())
        .collect()
}

#[test]
fn rows_of_perfetto_traces_equal_those_of_the_trace_processor() {
    let Some(folder) = others("perfetto") else { return };
    let mut compared = 0;
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder.join("expected"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    for path in files {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let (store, _) = TestStore::with(&folder.join(format!("{name}.pftrace")));
        let text = read(&path);
        let parts = sections(&text);
        let mut slices: Vec<String> =
            parts[0].iter().map(|r| [r[1], r[2], r[3], r[4], r[5]].join("\t")).collect();
        // Version 55 of the trace processor does not read states.
        let mut found: Vec<String> = store
            .rows(
                "SELECT ts_ns, CASE WHEN ph IN ('B', 'b') THEN coalesce(dur_ns, -1) WHEN ph = 'X' \
                 THEN dur_ns ELSE 0 END, coalesce(name, 'null'), coalesce(json_as_text(args, \
                 'category'), cat, 'null'), depth FROM events WHERE ph IN ('B', 'b', 'X', 'i', \
                 'I', 'n') AND json_as_text(args, 'track_event_type') IS NULL",
            )
            .into_iter()
            .map(|row| row.join("\t"))
            .collect();
        slices.sort();
        found.sort();
        assert_eq!(found, slices, "{name}");
        let point = |ts: &str, value: &str, name: &str| {
            format!("{ts} {} {name}", value.parse::<f64>().expect("a number"))
        };
        let mut counters: Vec<String> = parts[1].iter().map(|r| point(r[0], r[1], r[2])).collect();
        let mut found: Vec<String> = store
            .rows("SELECT ts_ns, value, name FROM counters")
            .iter()
            .map(|r| point(&r[0], &r[1], &r[2]))
            .collect();
        counters.sort();
        found.sort();
        assert_eq!(found, counters, "{name}");
        let slice = |id: &str| {
            let row = parts[0].iter().find(|r| r[0] == id).expect("a slice");
            format!("{} {}", row[1], row[3])
        };
        let mut flows: Vec<String> =
            parts[2].iter().map(|r| format!("{} {}", slice(r[0]), slice(r[1]))).collect();
        let mut found: Vec<String> = store
            .rows(
                "SELECT a.ts_ns, a.name, b.ts_ns, b.name FROM flows f JOIN events a ON a.event_id \
                 = f.src_event_id JOIN events b ON b.event_id = f.dst_event_id",
            )
            .iter()
            .map(|r| r.join(" "))
            .collect();
        flows.sort();
        found.sort();
        assert_eq!(found, flows, "{name}");
        compared += slices.len() + counters.len() + flows.len();
    }
    assert!(compared > 1_000, "{compared} rows");
}

#[test]
fn a_file_that_a_text_tool_damaged_is_refused_with_that_reason() {
    let Some(folder) = others("xplane") else { return };
    let store = TestStore::new();
    let error = store.ingest(&folder.join("bad_utf8_mangled.xplane.pb")).expect_err("refused");
    assert!(error.to_string().contains("a text tool damaged this XPlane file"), "{error}");
}

/// A cut at any byte leaves whole elements, or is refused with a place.
#[test]
fn cut_files_keep_their_whole_elements() {
    for file in ["gpu.xplane.pb", "tpu.xplane.pb", "rocprof.pftrace", "kinds.pftrace"] {
        let whole = std::fs::read(fixture(&format!("protobufs/{file}"))).expect("the fixture");
        let folder = tempfile::tempdir().expect("a folder");
        let (mut last, mut most) = (0, 0);
        for len in (0..whole.len()).step_by(whole.len() / 40) {
            let path = folder.path().join(format!("{len}.bin"));
            std::fs::write(&path, &whole[..len]).expect("a file");
            let store = TestStore::new();
            match store.ingest(&path) {
                Ok(outcome) => {
                    let rows = outcome.manifest.rows("events");
                    assert!(rows >= last || file.contains("xplane"), "{file} {len}");
                    (last, most) = (rows, most.max(rows));
                    let skipped = outcome.issues.skipped();
                    assert_eq!(rows + skipped, outcome.manifest.element_count, "{file} {len}");
                }
                Err(error) => {
                    assert!(error.to_string().contains(".bin: "), "{file} {len}: {error}")
                }
            }
        }
        assert!(most > 5, "{file}");
    }
}

/// The start of a profiler's folder: the other files of a run are left out.
#[test]
fn the_other_files_of_a_run_are_left_out_of_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("plugins/profile/2026_01_01");
    std::fs::create_dir_all(&run).expect("a folder");
    std::fs::copy(fixture("protobufs/gpu.xplane.pb"), run.join("host.xplane.pb")).expect("copied");
    for name in ["host.trace.json.gz", "perfetto_trace.json.gz", "host.memory_profile.json.gz"] {
        std::fs::write(run.join(name), b"{}").expect("a file");
    }
    let inputs = tracesql_ingest::expand(&[folder.path().display().to_string()]).expect("inputs");
    let names: Vec<String> = inputs.iter().map(tracesql_ingest::Input::name).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(names[0].ends_with("host.xplane.pb"), "{names:?}");
    // Packed files are recognised by their content.
    let packed = folder.path().join("packed.gz");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let raw = std::fs::read(fixture("protobufs/rocprof.pftrace")).expect("the fixture");
    std::io::Write::write_all(&mut encoder, &raw).expect("packed");
    std::fs::write(&packed, encoder.finish().expect("packed")).expect("a file");
    let (store, _) = TestStore::with(&packed);
    assert_eq!(store.value("SELECT format FROM traces"), "perfetto");
}

/// Places of issues that are found after reading are those of the input.
#[test]
fn places_of_issues_lie_in_the_input() {
    for file in ["odd.xplane.pb", "odd.pftrace", "kinds.pftrace", "tpu.xplane.pb"] {
        let path = fixture(&format!("protobufs/{file}"));
        let bytes = std::fs::metadata(&path).expect("the fixture").len() as i64;
        let (store, _) = TestStore::with(&path);
        for at in store.rows(
            "SELECT code, first_byte_offset FROM ingest_issues WHERE first_byte_offset IS NOT NULL",
        ) {
            let place: i64 = at[1].parse().expect("a number");
            assert!((0..bytes).contains(&place), "{file}: {} at {place} of {bytes}", at[0]);
        }
    }
}
