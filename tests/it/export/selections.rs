//! Exports of parts of traces: events that belong together stay together.

use serde_json::Value;
use tracesql::export::Selection;

use super::{again, elements, export};
use crate::support::{TestStore, fixture};

fn condition(sql: &str) -> Selection {
    Selection { condition: Some(sql.to_owned()), ..Selection::default() }
}

#[test]
fn a_step_is_what_the_tables_say_it_is() {
    let (store, _) = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz"));
    let (other, _, _) = again(&store, Selection { steps: Some((11, 12)), ..Selection::default() });
    for sql in [
        "SELECT name, count(*), sum(dur_ns) FROM kernels WHERE step IN (11, 12) GROUP BY 1 \
            ORDER BY 1",
        "SELECT cat, name, count(*), sum(dur_ns) FROM events \
            WHERE step IN (11, 12) AND ph = 'X' GROUP BY 1, 2 ORDER BY 1, 2",
        // A wait on a stream can also enclose work of other steps.
        "SELECT name, sum(self_ns) FROM events \
            WHERE step IN (11, 12) AND ph = 'X' AND cat <> 'cuda_sync' GROUP BY 1 ORDER BY 1",
        "SELECT sum(bytes), count(*) FROM memory WHERE step IN (11, 12)",
        "SELECT name, step FROM steps WHERE step IN (11, 12) ORDER BY step",
    ] {
        assert_eq!(other.lines(sql), store.lines(sql), "{sql}");
    }
    assert_eq!(other.ints("SELECT count(*) FROM steps"), [2]);
    assert_eq!(
        other.ints("SELECT count(*) FROM kernels WHERE step IS NULL OR step NOT IN (11, 12)"),
        [0]
    );
    assert_eq!(
        other.lines(
            "SELECT DISTINCT process_name, thread_name FROM tracks \
            WHERE kind = 'gpu_stream' ORDER BY 1, 2"
        ),
        store.lines(
            "SELECT DISTINCT process_name, thread_name FROM tracks \
            WHERE kind = 'gpu_stream' ORDER BY 1, 2"
        ),
        "tracks keep their names"
    );
}

#[test]
fn arrows_stay_where_both_ends_do() {
    let (store, _) = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz"));
    let (both, _, _) = again(&store, condition("cat IN ('kernel', 'cuda_runtime')"));
    let want = "SELECT count(*) FROM flows f JOIN events a ON a.event_id = f.src_event_id
        JOIN events b ON b.event_id = f.dst_event_id
        WHERE a.cat = 'cuda_runtime' AND b.cat = 'kernel'";
    let arrows = store.ints(want)[0];
    assert!(arrows > 100);
    assert_eq!(both.ints(want), [arrows]);
    assert_eq!(
        both.ints("SELECT count(*), count(src_event_id), count(dst_event_id) FROM flows"),
        [arrows; 3]
    );
    assert!(both.issues().iter().all(|i| !i.starts_with("flow")), "{:?}", both.issues());
    let (one, _, _) = again(&store, condition("cat = 'kernel' -- a comment"));
    assert_eq!(one.ints("SELECT count(*) FROM events WHERE ph IN ('s', 'f')"), [0]);
}

#[test]
fn begins_keep_their_ends() {
    let (store, _) = TestStore::with(&fixture("chrome_mixed.json"));
    let (other, _, _) = again(&store, condition("ph IN ('B', 'b')"));
    let pairs = "SELECT ph, name, ts_ns, dur_ns, args FROM events WHERE ph IN ('B', 'b') \
        ORDER BY 1, 3, 2, 4";
    assert_eq!(other.lines(pairs), store.lines(pairs));
    assert_eq!(
        other.lines(
            "SELECT CASE ph WHEN 'E' THEN 'B' ELSE 'b' END, count(*) FROM events \
            WHERE ph IN ('E', 'e') GROUP BY 1 ORDER BY 1"
        ),
        store.lines(
            "SELECT ph, count(*) FROM events \
            WHERE ph IN ('B', 'b') AND dur_ns IS NOT NULL GROUP BY 1 ORDER BY 1"
        ),
        "each begin that had an end has one"
    );
    let only_inner = again(&store, condition("name = 'inner'")).0;
    assert_eq!(only_inner.lines("SELECT name, dur_ns FROM events WHERE ph = 'B'"), ["inner 10000"]);
}

#[test]
fn a_query_names_events() {
    let (store, _) = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz"));
    let query =
        "SELECT trace_id, event_id FROM kernels UNION ALL SELECT trace_id, launch_id FROM kernels;";
    let (other, _, _) =
        again(&store, Selection { query: Some(query.to_owned()), ..Selection::default() });
    let sql =
        "SELECT name, count(*), sum(dur_ns), count(launch_id) FROM kernels GROUP BY 1 ORDER BY 1";
    assert_eq!(other.lines(sql), store.lines(sql));
    assert_eq!(other.ints("SELECT count(*) FROM events WHERE cat = 'cpu_op'"), [0]);
}

#[test]
fn what_was_skipped_and_selected_is_said() {
    let (store, _) = TestStore::with(&fixture("nasty.json"));
    let path = store.folder.path().join("x.json");
    let written = export(&store, condition("ph = 'X'"), &path);
    assert_eq!(written.skipped, 14);
    let document: Value =
        serde_json::from_str(&std::fs::read_to_string(&path).expect("a file")).expect("JSON");
    assert_eq!(document["tracesqlExport"]["skipped_elements"], 14);
    assert_eq!(document["tracesqlExport"]["selection"], "ph = 'X'");
}

#[test]
fn blobs_become_events() {
    let (store, _) = TestStore::with(&fixture("perf.json"));
    let path = store.folder.path().join("x.json");
    export(&store, Selection::default(), &path);
    let elements = elements(&path);
    let count = |ph: &str| elements.iter().filter(|e| e["ph"] == ph).count() as i64;
    let blobs = store.ints(
        "SELECT count(*) FILTER (WHERE cat = 'op_blob'), count(*) FILTER (WHERE \
        cat = 'memory_blob'), count(*) FILTER (WHERE cat = 'memory_blob' AND dur_ns IS NOT NULL) \
        FROM events",
    );
    assert_eq!([count("X"), count("b"), count("e")][..], blobs[..]);
    assert!(elements.iter().all(|e| e["pid"] == 1));
    let names = store.ints("SELECT count(*) FROM tracks")[0];
    assert_eq!(elements.iter().filter(|e| e["name"] == "thread_name").count() as i64, names);
}
