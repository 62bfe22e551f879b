//! Views agree on communication to the nanosecond, and the classes add up to the busy time of the
//! devices.

use std::path::{Path, PathBuf};

use crate::support::{TestStore, bottlenecks, fixtures, needs};

/// Queries for rows in which two definitions differ, each with a name. All results are empty if the
/// definitions agree.
const CHECKS: &[(&str, &str)] = &[
    (
        "the classes of a device add up to the union of its work",
        "WITH busy AS (
             SELECT trace_id, device, interval_union_len(ts_ns, end_ns) AS ns
             FROM kernels WHERE kind IN ('kernel', 'memcpy', 'memset') AND dur_ns >= 0
                 GROUP BY trace_id, device),
         classes AS (SELECT trace_id, device, sum(time_ns) AS ns, max(busy_ns) AS busy_ns
             FROM gpu_time_by_class GROUP BY trace_id, device)
         SELECT c.trace_id, c.device, b.ns, c.ns, c.busy_ns FROM classes c
         LEFT JOIN busy b ON b.trace_id = c.trace_id AND (b.device IS NOT DISTINCT FROM c.device)
         WHERE (b.ns IS DISTINCT FROM c.ns) OR (c.busy_ns IS DISTINCT FROM c.ns)",
    ),
    (
        "the parts of a device are those of its timeline",
        "WITH parts AS (
             SELECT trace_id, device, sum(time_ns) FILTER (WHERE part = 'computation')
                 AS computation_ns,
                    sum(time_ns) FILTER (WHERE part = 'communication') AS communication_ns,
                        sum(time_ns) FILTER (WHERE part = 'memcpy') AS memcpy_ns,
                    coalesce(max(union_ns) FILTER (WHERE class = 'communication'), 0) AS union_ns
             FROM gpu_time_by_class GROUP BY trace_id, device)
         SELECT p.* FROM parts p
         JOIN gpu_timeline_by_device t ON t.trace_id = p.trace_id
             AND (t.device IS NOT DISTINCT FROM p.device)
         WHERE coalesce(p.computation_ns, 0) <> t.computation_time_ns
             OR coalesce(p.communication_ns, 0) <> t.exposed_comm_time_ns
            OR coalesce(p.memcpy_ns, 0) <> t.exposed_memcpy_time_ns
                OR p.union_ns <> t.total_comm_time_ns",
    ),
    (
        "the timeline and the rank communicate for as long, and expose as much",
        "SELECT t.trace_id, t.total_comm_time_ns, r.communication_ns, t.exposed_comm_time_ns,
            r.exposed_communication_ns
         FROM gpu_timeline t JOIN rank_communication r ON r.trace_id = t.trace_id
         WHERE t.total_comm_time_ns <> r.communication_ns
             OR t.exposed_comm_time_ns <> r.exposed_communication_ns",
    ),
    (
        "the steps communicate as long as their kernels and the host do",
        "WITH ranges AS (
             SELECT trace_id, ts_ns, end_ns FROM kernel_classes
                 WHERE class = 'communication' AND dur_ns > 0
             UNION ALL
             SELECT e.trace_id, e.ts_ns, e.end_ns FROM events e
             LEFT JOIN (SELECT DISTINCT trace_id FROM kernels
                 WHERE kind <> 'sync' AND dur_ns > 0) d ON d.trace_id = e.trace_id
             WHERE e.dur_ns > 0 AND e.cat IN ('user_annotation', 'cpu_op', 'Operator', 'operator')
               AND (regexp_like(e.name, '^(gloo|mpi|ucc):') OR d.trace_id IS NULL
                   AND regexp_like(e.name, '^(nccl|xccl):'))),
         inside AS (
             SELECT s.trace_id, s.start_ns, interval_union_len(greatest(r.ts_ns, s.start_ns),
                 least(r.end_ns, s.end_ns)) AS ns
             FROM step_time s JOIN ranges r ON r.trace_id = s.trace_id AND r.ts_ns < s.end_ns
                 AND r.end_ns > s.start_ns
             GROUP BY s.trace_id, s.start_ns),
         wanted AS (SELECT trace_id, sum(ns) AS ns FROM inside GROUP BY trace_id),
         said AS (SELECT trace_id, sum(communication_ns) AS ns FROM step_overlap GROUP BY trace_id)
         SELECT s.trace_id, s.ns, w.ns FROM said s LEFT JOIN wanted w ON w.trace_id = s.trace_id
             WHERE s.ns <> coalesce(w.ns, 0)",
    ),
    (
        "the rule measures what the steps expose",
        "WITH said AS (SELECT trace_id, sum(exposed_communication_ns) AS ns FROM step_overlap
            GROUP BY trace_id)
         SELECT s.trace_id, s.ns, r.numerator FROM said s
             JOIN rule_communication r ON r.trace_id = s.trace_id
         WHERE r.status <> 'not_measurable' AND r.numerator <> s.ns",
    ),
    (
        "each communication kernel is a collective on the device, and no other",
        "(SELECT trace_id, event_id FROM kernel_classes
            WHERE class = 'communication' AND dur_ns IS NOT NULL
          EXCEPT SELECT trace_id, event_id FROM collectives WHERE place = 'device')
         UNION ALL
         (SELECT trace_id, event_id FROM collectives WHERE place = 'device'
          EXCEPT SELECT trace_id, event_id FROM kernel_classes WHERE class = 'communication')",
    ),
    (
        "all device work has a class, once",
        "SELECT k.trace_id, k.event_id FROM kernels k
         LEFT JOIN kernel_classes c ON c.trace_id = k.trace_id AND c.event_id = k.event_id
         WHERE k.kind IN ('kernel', 'memcpy', 'memset') GROUP BY k.trace_id, k.event_id
             HAVING count(c.class) <> 1",
    ),
    (
        "what the steps of a device's work add up to is no more than its work",
        "WITH steps AS (SELECT trace_id, device, step, sum(time_ns) AS ns, max(busy_ns) AS busy_ns
            FROM gpu_time_by_class_and_step GROUP BY trace_id, device, step)
         SELECT * FROM steps WHERE ns <> busy_ns",
    ),
];

fn disagreements(store: &TestStore) -> Vec<String> {
    let mut found = Vec::new();
    for (what, sql) in CHECKS {
        found.extend(store.lines(sql).into_iter().take(5).map(|row| format!("{what}: {row}")));
    }
    found
}

#[test]
fn views_agree_on_the_fixtures() {
    let store = fixtures();
    assert!(
        store.value("SELECT count(*) FROM kernel_classes WHERE class = 'communication'") != "0"
    );
    assert_eq!(disagreements(&store), [""; 0]);
    assert_eq!(disagreements(&bottlenecks()), [""; 0]);
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).expect("a folder").flatten().map(|e| e.path()) {
        if path.is_dir() { files(&path, out) } else { out.push(path) }
    }
}

#[test]
fn views_agree_on_public_traces() {
    let Some(corpus) = needs::corpus() else { return };
    let mut paths = Vec::new();
    files(&corpus, &mut paths);
    paths.sort();
    let store = TestStore::new();
    let traces = paths
        .iter()
        .filter(|p| {
            (p.starts_with(corpus.join("public")) || p.starts_with(corpus.join("made")))
                && store.ingest(p).is_ok()
        })
        .count();
    assert!(traces > 100, "only {traces} traces were read");
    assert_eq!(disagreements(&store), [""; 0]);
}
