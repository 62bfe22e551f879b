//! Compares a store with the counts of the recount oracle.

use std::path::Path;

use serde_json::Value;

use crate::support::TestStore;

const MODULUS: i128 = (1 << 61) - 1;

/// Ingests a file and compares it with everything that the oracle counted. Returns the differences.
pub fn differences(path: &Path, want: &Value) -> Vec<String> {
    let store = TestStore::new();
    let outcome = store.ingest(path);
    let mut c = Comparison { store: &store, differences: Vec::new() };
    match (want["kind"].as_str().unwrap_or_default(), outcome) {
        ("trace", Ok(_)) => c.trace(want),
        ("mllm_perf", Ok(outcome)) => {
            let blobs =
                want["memory_blobs"].as_i64().unwrap_or(0) + want["op_blobs"].as_i64().unwrap_or(0);
            c.same("blobs", blobs, outcome.manifest.element_count as i64);
        }
        ("not_a_trace", Err(e)) if e.to_string().len() > 20 => {}
        // Files beside a trace, which the recount does not know.
        ("not_a_trace", Ok(_))
            if ["execution_trace", "memory_timeline", "stacks"]
                .contains(&store.value("SELECT format FROM traces").as_str()) => {}
        ("not_a_trace", Ok(_)) => c.differences.push("it is no trace, yet it was read".into()),
        (kind, outcome) => {
            c.differences.push(format!("{kind}: {:?}", outcome.map(|o| o.manifest.trace_id)))
        }
    }
    c.differences
}

struct Comparison<'a> {
    store: &'a TestStore,
    differences: Vec<String>,
}

impl Comparison<'_> {
    fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, want: T, got: T) {
        if want != got {
            self.differences.push(format!("{what}: want {want:?}, got {got:?}"));
        }
    }

    fn trace(&mut self, want: &Value) {
        let int = |v: &Value| v.as_i64().unwrap_or_default();
        let got = self.store.ints(
            "SELECT element_count, event_count, skipped_count, event_count + \
            skipped_count FROM traces",
        );
        self.same("elements", int(&want["elements"]), got[0]);
        self.same("rows", int(&want["rows"]), got[1]);
        self.same("rows + skipped", got[0], got[3]);
        self.same("events", got[1], self.store.ints("SELECT count(*) FROM events")[0]);
        self.groups(want);
        self.pairs(&want["pairs"], &want["async_pairs"]);
        self.nesting(want);
        self.links(&want["links"]);
        self.rest(want);
    }

    fn groups(&mut self, want: &Value) {
        let mut by_ph: Vec<(String, i64)> = want["by_ph"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(k, v)| (k.clone(), v.as_i64().unwrap_or(0)))
            .collect();
        by_ph.sort();
        let got = self.store.rows("SELECT ph, count(*) FROM events GROUP BY 1 ORDER BY 1");
        let mut got: Vec<(String, i64)> =
            got.into_iter().map(|r| (r[0].clone(), r[1].parse().expect("count"))).collect();
        got.sort();
        self.same("by_ph", by_ph, got);
        let mut by_cat: Vec<(String, i64, i64)> = want["by_cat"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(k, v)| (k.clone(), v[0].as_i64().unwrap_or(0), v[1].as_i64().unwrap_or(0)))
            .collect();
        by_cat.sort();
        let got = self.store.rows(
            "SELECT coalesce(cat, '(null)'), count(*), coalesce(sum(dur_ns), \
            0) FROM events GROUP BY 1",
        );
        let mut got: Vec<(String, i64, i64)> = got
            .into_iter()
            .map(|r| (r[0].clone(), r[1].parse().expect("count"), r[2].parse().expect("sum")))
            .collect();
        got.sort();
        self.same("by_cat", by_cat, got);
    }

    fn pairs(&mut self, sync: &Value, of_async: &Value) {
        let of = |pairs: &Value, what: &str| pairs[what].as_i64().unwrap_or(0);
        let got = self.store.ints(
            "SELECT count(*) FILTER (WHERE ph = 'B'), count(*) FILTER (WHERE \
            ph = 'b') FROM events WHERE dur_ns IS NOT NULL",
        );
        self.same("pairs", of(sync, "matched"), got[0]);
        self.same("async pairs", of(of_async, "matched"), got[1]);
        for (what, code) in [
            ("unmatched_begin", "unmatched_begin"),
            ("unmatched_end", "unmatched_end"),
            ("name_mismatches", "begin_end_name_mismatch"),
        ] {
            let got = self
                .store
                .ints(&format!("SELECT sum(count) FROM ingest_issues WHERE code = '{code}'"));
            self.same(code, of(sync, what) + of(of_async, what), got[0]);
        }
    }

    fn nesting(&mut self, want: &Value) {
        let open_begins = want["pairs"]["unmatched_begin"].as_i64().unwrap_or(0);
        if open_begins > 0 {
            // The oracle leaves begin events without an end out of nesting. Here they enclose the
            // events after them.
            return;
        }
        let (nest, phases) = if want["nest_xb"].is_object() {
            (&want["nest_xb"], "('X', 'B')")
        } else {
            (&want["nest"], "('X')")
        };
        let span = format!("FROM events WHERE ph IN {phases} AND dur_ns IS NOT NULL");
        let got = self.store.ints(&format!(
            "SELECT count(*), count(parent_id), count(*) FILTER (WHERE overlaps), sum(dur_ns), \
                sum(self_ns), min(ts_ns), max(ts_ns + dur_ns) {span}"
        ));
        let names = [
            "nest_count",
            "with_parent",
            "partial_overlaps",
            "sum_dur_ns",
            "sum_self_ns",
            "min_ts_ns",
            "max_end_ns",
        ];
        for (name, got) in names.iter().zip(got) {
            self.same(name, nest[name].as_i64().unwrap_or(0), got);
        }
        let got = self.store.rows(&format!("SELECT depth, count(*) {span} GROUP BY 1 ORDER BY 1"));
        let got: Vec<(i64, i64)> = got
            .iter()
            .map(|r| (r[0].parse().expect("depth"), r[1].parse().expect("count")))
            .collect();
        let hist: Vec<(i64, i64)> = nest["depth_hist"]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(d, n)| (d as i64, n.as_i64().unwrap_or(0)))
            .filter(|(_, n)| *n > 0)
            .collect();
        self.same("depth_hist", hist, got);
        let got = self.store.ints(&format!(
            "SELECT sum((event_id + 1) * 1000003 + \
            (coalesce(parent_id, -1) + 1) * 10007 + depth * 101) {span}"
        ));
        self.same(
            "parents",
            nest["checksum"].as_i64().unwrap_or(0),
            (got[0] as i128 % MODULUS) as i64,
        );
    }

    fn links(&mut self, want: &Value) {
        let linked = "link IN ('correlation', 'graph')";
        let got = self.store.ints(&format!(
            "SELECT count(*), count(*) FILTER (WHERE {linked}), count(op_id) FILTER (WHERE \
                {linked}), \
             sum((event_id + 1) * 1000003 + (CASE WHEN {linked} THEN launch_id ELSE -1 END + 1) * \
             10007 \
             + (CASE WHEN {linked} THEN coalesce(op_id, -1) ELSE -1 END + 1) * 101) FROM kernels"
        ));
        for (name, got) in ["device_rows", "linked", "with_op"].iter().zip(&got) {
            self.same(name, want[name].as_i64().unwrap_or(0), *got);
        }
        self.same(
            "links",
            want["checksum"].as_i64().unwrap_or(0),
            (got[3] as i128 % MODULUS) as i64,
        );
        if let [linked, with_op] = want["shared_id"].as_array().map_or(&[][..], Vec::as_slice) {
            let by_call = "link = 'external_id' AND launch_id IS NOT NULL";
            let got = self.store.ints(&format!(
                "SELECT count(*) FILTER (WHERE {by_call}), \
                count(op_id) FILTER (WHERE {by_call}) FROM kernels"
            ));
            self.same("linked by a shared id", linked.as_i64().unwrap_or(0), got[0]);
            self.same("operators by a shared id", with_op.as_i64().unwrap_or(0), got[1]);
        }
        // An ID that really belongs to the operator must be that of the operator found by time.
        let trusted = &want["ext_check"];
        if trusted.is_object() {
            let got = self.store.ints(
                "SELECT count(DISTINCT l.event_id) FILTER (WHERE o.external_id = l.external_id), \
                 count(DISTINCT l.event_id) FILTER (WHERE l.external_id IS NOT NULL AND \
                 o.external_id IS DISTINCT FROM l.external_id) \
                 FROM kernels k JOIN events l ON l.event_id = k.launch_id JOIN events o ON \
                 o.event_id = k.op_id \
                 WHERE k.link IN ('correlation', 'graph') AND l.external_id IS DISTINCT FROM \
                 l.correlation",
            );
            self.same("operators by true id", trusted["equal"].as_i64().unwrap_or(0), got[0]);
            self.same(
                "operators against true id",
                trusted["differs"].as_i64().unwrap_or(0),
                got[1],
            );
        }
    }

    fn rest(&mut self, want: &Value) {
        let times = &want["times"];
        let text = |v: &Value| v.as_i64().map_or_else(|| "NULL".to_owned(), |ns| ns.to_string());
        self.same(
            "start and end",
            vec![text(&times["start"]), text(&times["end"])],
            self.store.rows("SELECT start_ns, end_ns FROM traces").remove(0),
        );
        let unset =
            self.store.ints("SELECT sum(count) FROM ingest_issues WHERE code = 'time_not_set'")[0];
        self.same("times that were not set", times["unset"].as_i64().unwrap_or(0), unset);
        let steps = self.store.rows("SELECT step, start_ns, end_ns FROM steps ORDER BY 1, 2, 3");
        let steps: Vec<Vec<i64>> =
            steps.iter().map(|r| r.iter().map(|v| v.parse().expect("integer")).collect()).collect();
        let mut wanted: Vec<Vec<i64>> = want["steps"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|s| s.as_array().into_iter().flatten().filter_map(Value::as_i64).collect())
            .collect();
        wanted.sort();
        self.same("steps", wanted, steps);
        let counters = self.store.ints("SELECT count(DISTINCT event_id), count(*) FROM counters");
        self.same("counter values", want["counters"]["values"].as_i64().unwrap_or(0), counters[1]);
        let memory = self.store.ints("SELECT count(*), sum(bytes) FROM memory");
        self.same("memory rows", want["memory"]["rows"].as_i64().unwrap_or(0), memory[0]);
        self.same("memory bytes", want["memory"]["bytes"].as_i64().unwrap_or(0), memory[1]);
        let only_threads = self.store.ints(
            "SELECT count(*) FROM tracks \
                WHERE kind IN ('counter', 'span') AND tid_text IS NULL \
                AND thread_name IS NOT NULL",
        )[0];
        if only_threads == 0 {
            let got = self.store.ints("SELECT count(*) FROM tracks")[0];
            self.same("tracks", want["tracks"].as_i64().unwrap_or(0), got);
        }
    }
}
