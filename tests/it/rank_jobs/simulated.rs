//! Jobs of the generator next to the corpus, whose truth is known, and the comparison of all views
//! of jobs with that truth.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use tracesql::engine::{Engine, EngineOptions};

use crate::support::needs::{in_corpus, python};
use crate::support::{TestStore, rows_of};

/// No rank without a fault may lose more than this part of what the smallest fault loses.
const MAX_INNOCENT_SHARE: f64 = 0.1;
/// Paths may differ by this part of their length, and forecasts by this part of the step.
const MAX_PATH_SHARE: f64 = 0.01;
const MAX_FORECAST_SHARE: f64 = 0.005;

/// The store of a simulated job, and the truth about it.
pub struct Simulated {
    pub truth: Value,
    pub store: TestStore,
}

/// A call of the simulation.
struct Call<'a> {
    truth: &'a Value,
    /// The ranks whose traces hold the call.
    recorded: BTreeSet<i64>,
}

pub fn ints(value: &Value) -> Vec<i64> {
    value.as_array().expect("a list").iter().map(int).collect()
}

fn int(value: &Value) -> i64 {
    value.as_i64().expect("a number")
}

/// The number of a cell; `None` for NULL.
fn cell(text: &str) -> Option<i64> {
    (text != "NULL").then(|| text.parse().expect("a number"))
}

impl Simulated {
    /// A job that is next to the corpus.
    #[track_caller]
    pub fn recorded(name: &str) -> Option<Self> {
        Some(Self::read(&in_corpus(&format!("../ranks/{name}"))?))
    }

    /// Makes a job with the options of the generator.
    #[track_caller]
    pub fn made(options: &str) -> Option<Self> {
        let generator = in_corpus("../ranks/make_job.py")?;
        Some(Self::made_by(Command::new(python()?).arg(generator), options))
    }

    fn made_by(command: &mut Command, options: &str) -> Self {
        let folder = TempDir::new().expect("a folder");
        command.arg("--out").arg(folder.path()).args(options.split_whitespace());
        let out = command.output().expect("Python runs");
        assert!(out.status.success(), "{options}: {}", String::from_utf8_lossy(&out.stderr));
        Self::read(folder.path())
    }

    fn read(folder: &Path) -> Self {
        let text = std::fs::read_to_string(folder.join("truth.json")).expect("the truth is there");
        let truth: Value = serde_json::from_str(&text).expect("the truth is JSON");
        let store = TestStore::new();
        for rank in truth["ranks"].as_array().expect("ranks") {
            let file = folder.join(format!("rank{}.pt.trace.json.gz", rank["rank"]));
            if file.exists() {
                store.ingest(&file).expect("the trace is read");
            }
        }
        Self { truth, store }
    }

    fn calls(&self) -> Vec<Call<'_>> {
        let rows = self.store.rows(
            "SELECT j.rank, k.correlation FROM kernels k \
            JOIN job_ranks j ON j.trace_id = k.trace_id WHERE k.kind = 'kernel'",
        );
        let seen: BTreeSet<(i64, i64)> = rows
            .iter()
            .map(|row| (row[0].parse().expect("a rank"), row[1].parse().expect("an id")))
            .collect();
        let calls = self.truth["collectives"].as_array().expect("calls").iter();
        calls
            .map(|truth| {
                let members = ints(&truth["ranks"]).into_iter().zip(ints(&truth["correlation"]));
                let recorded =
                    members.filter(|member| seen.contains(member)).map(|m| m.0).collect();
                Call { truth, recorded }
            })
            .filter(|call| !call.recorded.is_empty())
            .collect()
    }

    /// Compares calls, statuses, last ranks, exchanges and waits. Of the waits of calls that are
    /// complete or partial, `least_share` must be known.
    pub fn check_calls(&self, least_share: f64) {
        let calls = self.calls();
        let mut of = HashMap::new();
        for (at, call) in calls.iter().enumerate() {
            let ranks = ints(&call.truth["ranks"]).into_iter().enumerate();
            for ((place, rank), id) in ranks.zip(ints(&call.truth["correlation"])) {
                of.insert((rank, id), (at, place));
            }
        }
        let rows = self.store.rows(
            "SELECT m.call_id, m.rank, k.correlation, m.status, m.wait_ns, c.transfer_ns, \
                c.last_rank, c.missing_was_last, coalesce(c.reason, '') \
            FROM collective_members m \
            JOIN kernels k ON k.trace_id = m.trace_id AND k.event_id = m.event_id \
            JOIN collective_calls c ON c.job = m.job AND c.call_id = m.call_id",
        );
        let (mut found, mut known, mut far, mut waits) = (HashMap::new(), 0, 0, 0);
        let mut judged = BTreeSet::new();
        for row in &rows {
            let (call, rank, id) = (&row[0], cell(&row[1]), cell(&row[2]));
            let (at, place) = of[&(rank.expect("a rank"), id.expect("an id"))];
            let (truth, recorded) = (calls[at].truth, &calls[at].recorded);
            assert_eq!(*found.entry(call.clone()).or_insert(at), at, "call {call}: rows of two");
            judged.insert(at);
            let members = ints(&truth["ranks"]).len();
            let status = if recorded.len() == members { "complete" } else { "members_missing" };
            if row[3] == "mismatch" {
                assert!(!row[8].is_empty(), "call {call}: no reason");
                continue;
            }
            assert_eq!(row[3], status, "call {call}");
            let starts = ints(&truth["start_ns"]);
            let mut order = starts.clone();
            order.sort_unstable();
            if status == "complete" && order[members - 1] - order[members - 2] > 5_000 {
                assert_eq!(cell(&row[6]), truth["last_rank"].as_i64(), "call {call}: last rank");
            }
            let is_last = |rank: i64| truth["last_rank"] == rank;
            if row[7] != "NULL" {
                let was_missing = !recorded.iter().any(|&rank| is_last(rank));
                let present: Vec<i64> = ints(&truth["ranks"])
                    .into_iter()
                    .zip(&starts)
                    .filter(|(rank, _)| recorded.contains(rank))
                    .map(|(_, &start)| start)
                    .collect();
                let later = order[members - 1] - present.iter().max().expect("a member");
                if later > 20_000 || !was_missing {
                    assert_eq!(row[7], was_missing.to_string(), "call {call}: missing was last");
                }
            }
            if let Some(transfer) = cell(&row[5]) {
                let error = (transfer - int(&truth["transfer_ns"])).abs();
                let most = if status == "complete" { 3_100 } else { 12_000 };
                assert!(error <= most, "call {call}: exchange {transfer}, {error} off");
            }
            if truth["kind"] == "broadcast" && place == 0 {
                continue;
            }
            waits += 1;
            let Some(wait) = cell(&row[4]) else { continue };
            known += 1;
            let error = (wait - ints(&truth["wait_ns"])[place]).abs();
            assert!(error <= 6_000, "call {call} rank {}: wait {wait}, {error} off", row[1]);
            // A missing rank that came last by less than the scatter of the exchange is not seen.
            far += usize::from(error > 2_000 && status == "complete");
        }
        assert_eq!(judged.len(), calls.len(), "calls that no view has");
        assert!(far * 100 <= known, "{far} of {known} waits are off by more than 2 µs");
        let share = f64::from(known as u32) / f64::from(waits.max(1));
        assert!(share >= least_share, "{known} of {waits} waits are known");
    }

    /// Compares the aligned ends of members with those on the true clock of the reference.
    pub fn check_clocks(&self) {
        let clocks: HashMap<i64, &Value> = self.truth["ranks"]
            .as_array()
            .expect("ranks")
            .iter()
            .map(|rank| (int(&rank["rank"]), rank))
            .collect();
        let zero = int(&self.truth["true_t0_unix_ns"]);
        let local = |rank: i64, at: i64| {
            let clock = clocks[&rank];
            let drift = clock["drift_ppm"].as_f64().expect("a drift") * 1e-6 * at as f64;
            let steps = clock["clock_steps"].as_array().expect("steps").iter();
            let stepped = steps.filter(|step| at >= int(&step["true_ns"]));
            let stepped: i64 = stepped.map(|step| int(&step["delta_ns"])).sum();
            zero + at + int(&clock["offset_ns"]) + drift.round() as i64 + stepped
        };
        let mut ends = HashMap::new();
        for call in self.truth["collectives"].as_array().expect("calls") {
            let members = ints(&call["ranks"]).into_iter().zip(ints(&call["correlation"]));
            ends.extend(members.zip(ints(&call["end_ns"])));
        }
        let rows = self.store.rows(
            "SELECT m.rank, k.correlation, m.end_job_ns, c.reference_rank \
            FROM collective_members m \
            JOIN kernels k ON k.trace_id = m.trace_id AND k.event_id = m.event_id \
            JOIN (SELECT DISTINCT job, rank, reference_rank FROM rank_clocks) c \
                ON c.job = m.job AND c.rank = m.rank \
            WHERE m.status IN ('complete', 'members_missing')",
        );
        let error = |row: &Vec<String>| {
            let row: Vec<i64> = row.iter().map(|text| cell(text).expect("a number")).collect();
            (row[2] - local(row[3], ends[&(row[0], row[1])])).abs()
        };
        let most = rows.iter().map(error).max().expect("there are ends");
        assert!(most <= 1_000, "an end is off by {most} ns");
    }

    /// Each fault is on top of the blame list, with rank or link, cause and step; what others lose
    /// is a small part of it. Faults of `hidden` ranks hold nobody up.
    pub fn check_blame(&self, hidden: &[i64]) {
        let rows = self.store.rows(
            "SELECT rank, coalesce(group_name, ''), cause, steps, worst_step, lost_ns \
            FROM straggler_ranks WHERE verdict <> 'weak' ORDER BY lost_ns DESC",
        );
        let written = |rank: i64| {
            let ranks = self.truth["ranks"].as_array().expect("ranks").iter();
            ranks.filter(|r| r["rank"] == rank).all(|r| r["written"] == true)
        };
        let is_of = |row: &Vec<String>, fault: &Value| {
            if fault["cause"] == "link" {
                return row[2] == "transfer" && fault["group"] == row[1].as_str();
            }
            let rank = int(&fault["rank"]);
            let cause = if written(rank) { &fault["cause"] } else { &Value::from("not_recorded") };
            let step = int(&fault["step"]);
            row[0] == rank.to_string()
                && *cause == row[2].as_str()
                && (step < 0 || row[4] == step.to_string())
        };
        let faults: Vec<&Value> = self.truth["faults"]
            .as_array()
            .expect("faults")
            .iter()
            .filter(|fault| !fault["rank"].as_i64().is_some_and(|rank| hidden.contains(&rank)))
            .collect();
        let lost = |row: &Vec<String>| row[5].parse::<f64>().expect("a number");
        let mut least = f64::INFINITY;
        for fault in &faults {
            let row = rows[..faults.len().min(rows.len())].iter().find(|row| is_of(row, fault));
            least = least.min(lost(row.unwrap_or_else(|| panic!("{fault} is not in {rows:?}"))));
        }
        assert!(!faults.is_empty() || rows.is_empty(), "innocent: {rows:?}");
        for row in rows.iter().filter(|row| !faults.iter().any(|fault| is_of(row, fault))) {
            assert!(lost(row) <= MAX_INNOCENT_SHARE * least, "innocent: {row:?}");
        }
    }

    /// The rows of a query, joined by blanks.
    pub fn lines(&self, sql: &str) -> Vec<String> {
        self.store.lines(sql)
    }

    /// Compares the paths of the steps of which all is known: at least `least` steps.
    pub fn check_paths(&self, least: usize) {
        let windows = self.store.rows(
            "SELECT step, window_ns, start_rank, end_rank, compute_ns, transfer_ns, \
                data_loading_ns, unknown_ns \
            FROM job_critical_path_windows WHERE window_id > 0 AND status = 'complete'",
        );
        assert!(windows.len() >= least, "the paths of {} steps are known", windows.len());
        for row in &windows {
            let steps = self.truth["steps"].as_array().expect("steps").iter();
            let step =
                steps.clone().find(|step| row[0].parse::<i64>().is_ok_and(|n| step["step"] == n));
            let path = &step.expect("the step")["critical_path"];
            let length = int(&path["length_ns"]);
            let near = |at: usize, wanted: i64, what: &str| {
                let error = (cell(&row[at]).unwrap_or(0) - wanted).abs() as f64;
                let most = MAX_PATH_SHARE * length as f64;
                assert!(error <= most, "step {}: {what} {}, truth {wanted}", row[0], row[at]);
            };
            near(1, length, "length");
            assert_eq!(row[2], path["start_rank"].to_string(), "step {}: start", row[0]);
            assert_eq!(row[3], path["end_rank"].to_string(), "step {}: end", row[0]);
            for (at, kind) in [(4, "compute"), (5, "transfer"), (6, "data_loading")] {
                near(at, path["by_kind_ns"][kind].as_i64().unwrap_or(0), kind);
            }
            near(7, 0, "unknown");
        }
    }

    /// Compares the forecasts that are given: at least `least`.
    pub fn check_forecasts(&self, least: usize) {
        self.check_forecasts_within(least, MAX_FORECAST_SHARE);
    }

    /// The same with another limit of the difference, as a part of the step.
    pub fn check_forecasts_within(&self, least: usize, max_share: f64) {
        let rows = |factor: &str| {
            let options = EngineOptions {
                settings: vec![("what_if_factor".to_owned(), factor.to_owned())],
                ..EngineOptions::default()
            };
            let engine = Engine::open(&self.store.store, None, &options).expect("the store opens");
            let sql = "SELECT target_kind, coalesce(name, ''), step, forecast_ns, status \
                FROM job_what_if WHERE window_id > 0";
            let rows = rows_of(&engine, sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
            let mut found: BTreeMap<(String, String, String), Vec<String>> = BTreeMap::new();
            for row in rows {
                let key = (row[0].clone(), row[1].clone(), row[2].clone());
                found.entry(key).or_default().push(row[3].clone());
            }
            found
        };
        let (half, none) = (rows("0.5"), rows("0"));
        let changes = [
            ("kernels of aten::mm x 0.5", &half, "operator", "aten::mm"),
            ("transfers x 0.5", &half, "communication", ""),
            ("transfers of all collectives = 0", &none, "communication", ""),
            ("no slow compute", &half, "straggler", "compute"),
            ("no slow data loading", &half, "straggler", "data_loading"),
            ("no host pause", &half, "straggler", "host_late"),
            ("no slow link", &half, "straggler", "transfer"),
        ];
        let (spans, mut given) = (&self.truth["what_if_step_span_ns"], 0);
        for (change, rows, kind, name) in changes {
            for (step, wanted) in spans[change].as_object().into_iter().flatten() {
                let key = (kind.to_owned(), name.to_owned(), step.clone());
                // Two stragglers of one cause are healed one by one, in the truth at once.
                let Some([forecast]) = rows.get(&key).map(Vec::as_slice) else { continue };
                let Some(forecast) = cell(forecast) else { continue };
                given += 1;
                let error = (forecast - int(wanted)).abs() as f64 / int(wanted) as f64;
                assert!(
                    error <= max_share,
                    "{change}, step {step}: {forecast}, truth {wanted}, {error:.4} off"
                );
            }
        }
        assert!(given >= least, "{given} forecasts are given");
    }

    /// Compares all views of a job whose ranks are all recorded.
    pub fn check_all(&self) {
        let steps = self.truth["steps"].as_array().expect("steps").len();
        self.check_calls(0.99);
        self.check_clocks();
        self.check_blame(&[]);
        self.check_paths(steps);
        self.check_forecasts(3 * steps);
        self.check_layout(0);
    }
}
