//! Hangs in made dumps of the flight recorder.

use crate::support::{TestStore, fixture, texts, tracesql};

/// A collective of a made dump: group, number of the group on its rank, number of the collective,
/// number of the operation, and state.
type Call = (&'static str, i64, i64, i64, &'static str);

/// A store with one dump for each rank that has calls. `first` is the number of the first record.
/// Without `has_starts` no record says when its collective started.
fn made_job(
    groups: &[(&str, &str)],
    ranks: &[&[Call]],
    has_starts: bool,
    first: usize,
) -> TestStore {
    let store = TestStore::new();
    let groups: Vec<String> = groups
        .iter()
        .map(|(name, ranks)| {
            format!(r#""{name}":{{"name":"{name}","desc":"{name}","ranks":"{ranks}"}}"#)
        })
        .collect();
    for (rank, calls) in ranks.iter().enumerate() {
        let mut entries = Vec::new();
        for (at, (group, id, seq, op, state)) in calls.iter().enumerate() {
            let record = first + at;
            let created = 1_790_000_000_000_000_000 + at * 1_000_000 + rank;
            let started = match has_starts && *state != "scheduled" {
                true => (created + 10).to_string(),
                false => "null".to_owned(),
            };
            let completed = match *state == "completed" {
                true => (created + 20).to_string(),
                false => "null".to_owned(),
            };
            entries.push(format!(
                r#"{{"record_id":{record},"pg_id":{id},"process_group":["{group}","{group}"],
                "collective_seq_id":{seq},"p2p_seq_id":0,"op_id":{op},
                "profiling_name":"nccl:all_reduce","time_created_ns":{created},
                "input_sizes":[[8]],"input_dtypes":["Float"],"output_sizes":[[8]],
                "output_dtypes":["Float"],"state":"{state}",
                "time_discovered_started_ns":{started},
                "time_discovered_completed_ns":{completed},"retired":false,
                "timeout_ms":600000,"is_p2p":false}}"#
            ));
        }
        let text = format!(
            r#"{{"version":"2.10","pg_config":{{{}}},"entries":[{}]}}"#,
            groups.join(","),
            entries.join(",")
        );
        let path = store.folder.path().join(format!("nccl_trace_rank_{rank}.json"));
        std::fs::write(&path, text).expect("a file");
        store.ingest(&path).expect("the dump is read");
    }
    store
}

const HANGS: &str = "SELECT group_name, generation, seq, verdict, culprits, is_root, is_cycle, \
    reason FROM flight_hangs ORDER BY 1, 2, 3";

const DONE: Call = ("0", 0, 1, 1, "completed");
const WORLD: [(&str, &str); 1] = [("0", "[0, 1, 2]")];

/// PyTorch records starts only on request, so the state `scheduled` alone blames nobody.
#[test]
fn a_job_without_starts_has_no_culprit() {
    let waits: Call = ("0", 0, 2, 2, "scheduled");
    let done: Call = ("0", 0, 2, 2, "completed");
    let starts: Call = ("0", 0, 2, 2, "started");
    let without = ["0 1 2 not_completed NULL true false starts are not recorded"];
    let all = made_job(&WORLD, &[&[DONE, waits], &[DONE, waits], &[DONE, waits]], false, 0);
    assert_eq!(all.lines(HANGS), without);
    let some = made_job(&WORLD, &[&[DONE, done], &[DONE, waits], &[DONE, waits]], false, 0);
    assert_eq!(some.lines(HANGS), without);
    // Nothing tells whether starts are recorded.
    let first: Call = ("0", 0, 1, 1, "scheduled");
    let none = made_job(&WORLD, &[&[first], &[first], &[first]], true, 0);
    assert_eq!(none.lines(HANGS), ["0 1 1 not_completed NULL true false starts are not recorded"]);
    // With starts, the rank that has not started is known, also by what other ranks record.
    let timed = made_job(&WORLD, &[&[DONE, starts], &[DONE, waits], &[DONE, starts]], true, 0);
    assert_eq!(timed.lines(HANGS), ["0 1 2 not_started [1] true false NULL"]);
    let first_starts: Call = ("0", 0, 1, 1, "started");
    let timed = made_job(&WORLD, &[&[first_starts], &[first], &[first_starts]], true, 0);
    assert_eq!(timed.lines(HANGS), ["0 1 1 not_started [1] true false NULL"]);
    let timed = made_job(&WORLD, &[&[DONE, waits], &[DONE, waits], &[DONE, waits]], true, 0);
    assert_eq!(timed.lines(HANGS), ["0 1 2 not_started NULL true false NULL"]);
}

/// A group that was made again under its name has numbers that start again.
#[test]
fn generations_of_a_group_are_told_apart() {
    let second: Call = ("0", 0, 2, 2, "completed");
    // Numbers that fall, and a group with another number.
    for id in [0, 7] {
        let again: Call = ("0", id, 1, 1, "completed");
        let waits: Call = ("0", id, 2, 2, "started");
        let calls = [DONE, second, again, waits];
        let store = made_job(&WORLD, &[&calls, &calls[..3], &calls], true, 0);
        assert_eq!(store.lines(HANGS), ["0 2 2 not_scheduled [1] true false NULL"], "{id}");
        // Without the first records, nothing says which generations belong together.
        let rolled = made_job(&WORLD, &[&calls, &calls[..3], &calls], true, 50);
        assert_eq!(
            rolled.lines(HANGS),
            ["0 2 2 unclear NULL true false a buffer has rolled over; the numbers of the group \
              start again"],
            "{id}"
        );
    }
    // A number that repeats: coalesced operations share it, and op_id rises.
    let coalesced: Call = ("0", 0, 1, 2, "completed");
    let repeats: Call = ("0", 0, 1, 1, "started");
    let calls = [DONE, coalesced, repeats];
    let store = made_job(&WORLD, &[&calls, &calls[..2], &calls], true, 0);
    assert_eq!(store.lines(HANGS), ["0 2 1 not_scheduled [1] true false NULL"]);
    // All ranks gave up a collective of the first generation, and the second one runs well.
    let stuck: Call = ("0", 0, 2, 2, "started");
    let again: Call = ("0", 7, 1, 1, "completed");
    let store =
        made_job(&WORLD, &[&[DONE, stuck, again], &[DONE, again], &[DONE, stuck, again]], true, 0);
    assert_eq!(store.lines(HANGS), [""; 0]);
    assert_eq!(
        store.lines("SELECT generation, seq, state FROM flight_collectives ORDER BY 1, 2"),
        ["1 1 completed", "1 2 abandoned", "2 1 completed"]
    );
    // Records out of order are no generation, but they are not trusted either.
    let third: Call = ("0", 0, 3, 3, "completed");
    let fourth: Call = ("0", 0, 4, 4, "started");
    let store = made_job(
        &WORLD,
        &[&[DONE, third, second, fourth], &[DONE, second, third, fourth], &[DONE, second, third]],
        true,
        0,
    );
    assert_eq!(
        store.lines(HANGS),
        ["0 2 4 unclear NULL true false the numbers of the group start again"]
    );
}

/// Groups that wait for each other in a circle are all roots; those that wait for them are not.
#[test]
fn a_circle_of_groups_is_a_deadlock() {
    let groups = [("a", "[0, 1]"), ("b", "[1, 2]"), ("c", "[0, 2]"), ("d", "[0, 3]")];
    let a: Call = ("a", 1, 1, 1, "started");
    let b: Call = ("b", 2, 1, 1, "started");
    let c: Call = ("c", 3, 1, 1, "started");
    let d: Call = ("d", 4, 1, 1, "started");
    let store = made_job(&groups, &[&[a], &[b], &[c], &[d]], true, 0);
    assert_eq!(
        store.lines(HANGS),
        [
            "a 1 1 not_scheduled [1] true true NULL",
            "b 1 1 not_scheduled [2] true true NULL",
            "c 1 1 not_scheduled [0] true true NULL",
            "d 1 1 not_scheduled [0] false false NULL",
        ]
    );
}

/// The text of a report names what the job hangs on.
#[test]
fn a_report_says_what_a_job_hangs_on() {
    let job = fixture("flight/chain");
    let output = tracesql(&["report", &job.display().to_string()]);
    let (text, _) = texts(&output);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let hang = "Hang ranks [3] wait in nccl:all_gather (number 4 of group 2): ranks [2] have not \
        called it";
    assert_eq!(words.matches(hang).count(), 4, "once for each dump: {text}");
    let json = texts(&tracesql(&["report", &job.display().to_string(), "--format", "json"])).0;
    let report: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let section = &report["sections"]["flight_hangs"];
    assert!(!section["rows"].as_array().expect("rows").is_empty(), "{section}");
}
