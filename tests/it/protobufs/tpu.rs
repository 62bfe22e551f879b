//! A small XPlane file of a TPU: a host that runs ahead, programs, operators, memory.

use super::made::{Value, message};
use crate::support::TestStore;

const STATS: [&str; 11] = [
    "step_num",
    "_p",
    "_pt",
    "_c",
    "_ct",
    "hlo_category",
    "tf_op",
    "process_id",
    "addr",
    "allocation_bytes",
    "bytes_reserved",
];

const CATEGORIES: [(&str, &str); 3] =
    [("fusion.1", "loop fusion"), ("fusion.2", "loop fusion"), ("copy-done.3", "copy-done")];

fn text(text: &str) -> Value {
    Value::Bytes(text.as_bytes().to_vec())
}

/// A stat: a number or a text.
fn stat(name: &str, value: Value) -> (u64, Value) {
    let id = STATS.iter().position(|known| *known == name).expect("a stat") as u64 + 1;
    let field = if matches!(value, Value::Bytes(_)) { 5 } else { 4 };
    (4, message(&[(1, Value::Number(id)), (field, value)]))
}

/// An event: its name, start and length in ns, and stats.
type Event = (&'static str, u64, u64, Vec<(u64, Value)>);

fn plane(name: &str, stats: Vec<(u64, Value)>, lines: Vec<(&str, Vec<Event>)>) -> (u64, Value) {
    let mut names: Vec<&str> = Vec::new();
    let mut fields = vec![(2, text(name))];
    for (no, (line, events)) in lines.into_iter().enumerate() {
        let mut own = vec![(1, Value::Number(no as u64 + 1)), (2, text(line))];
        for (name, start, length, stats) in events {
            let id = names.iter().position(|known| *known == name).unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            }) as u64;
            let times = [(1, id + 1), (2, start * 1000), (3, length * 1000)];
            let times = times.map(|(field, value)| (field, Value::Number(value)));
            own.push((4, message(&times.into_iter().chain(stats).collect::<Vec<_>>())));
        }
        fields.push((3, message(&own)));
    }
    let entry = |field: u64, no: usize, name: &str| {
        let id = || Value::Number(no as u64 + 1);
        (field, message(&[(1, id()), (2, message(&[(1, id()), (2, text(name))]))]))
    };
    fields.extend(names.iter().enumerate().map(|(no, name)| {
        // The category of an operator belongs to its name.
        let id = || Value::Number(no as u64 + 1);
        let mut own = vec![(1, id()), (2, text(name))];
        let category = CATEGORIES.iter().find(|(operator, _)| operator == name);
        own.extend(category.map(|(_, category)| (5, stat("hlo_category", text(category)).1)));
        (4, message(&[(1, id()), (2, message(&own))]))
    }));
    fields.extend(STATS.iter().enumerate().map(|(no, name)| entry(5, no, name)));
    fields.extend(stats.into_iter().map(|(_, value)| (6, value)));
    (1, message(&fields))
}

fn written(planes: &[(u64, Value)]) -> TestStore {
    let Value::Bytes(bytes) = message(planes) else { unreachable!("a message is bytes") };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("made.xplane.pb");
    std::fs::write(&path, bytes).expect("a file");
    TestStore::with(&path).0
}

/// Two steps of 100 us on the host. Each starts a program, which runs for 800 us on the device.
fn trace() -> TestStore {
    let number = Value::Number;
    let mut host = Vec::new();
    let (mut modules, mut operators) = (Vec::new(), Vec::new());
    for step in 0..2 {
        let at = step * 100_000;
        host.push(("train", at, 100_000, vec![stat("step_num", number(step))]));
        let producer = vec![stat("_p", number(step + 1)), stat("_pt", number(7))];
        host.push(("Execute", at + 10_000, 20_000, producer));
        let run = 50_000 + step * 900_000;
        let consumer = vec![stat("_c", number(step + 1)), stat("_ct", number(7))];
        modules.push(("jit_f", run, 800_000, consumer));
        let path = || stat("tf_op", text("jit(f)/add:"));
        operators.push(("fusion.1", run, 300_000, vec![path()]));
        operators.push(("fusion.2", run + 300_000, 100_000, vec![path()]));
        operators.push(("copy-done.3", run + 400_000, 400_000, Vec::new()));
    }
    let memory = [("addr", 4096), ("allocation_bytes", 512), ("bytes_reserved", 64)];
    let memory = memory.map(|(name, value)| stat(name, number(value))).into();
    host.push(("MemoryAllocation", 5_000, 0, memory));
    let planes = [
        plane("/host:metadata", vec![stat("process_id", number(8444))], Vec::new()),
        plane("/host:CPU", Vec::new(), vec![("python", host)]),
        plane("/device:TPU:0", Vec::new(), vec![("XLA Modules", modules), ("XLA Ops", operators)]),
    ];
    written(&planes)
}

/// Tools that join the planes of several hosts keep their names.
#[test]
fn planes_of_one_name_are_named() {
    let of_host = || {
        let operators = vec![("fusion.1", 10, 20, Vec::new())];
        plane("/device:TPU:0", Vec::new(), vec![("XLA Ops", operators)])
    };
    let store = written(&[plane("/host:CPU", Vec::new(), Vec::new()), of_host(), of_host()]);
    assert_eq!(store.lines("SELECT device, count(*) FROM kernels GROUP BY device"), ["0 2"]);
    assert_eq!(store.issues(), ["shared_device 1", "unlinked_device_activity 2"]);
    let example = "SELECT example FROM ingest_issues WHERE code = 'shared_device'";
    assert_eq!(store.lines(example), ["/device:TPU:0"]);
}

#[test]
fn the_largest_number_of_a_stream_is_none() {
    let kernel = || vec![("fusion.1", 10, 20, Vec::new())];
    let lines = vec![("Stream #7(Compute)", kernel()), ("Stream #4294967295", kernel())];
    let store = written(&[plane("/device:GPU:0", Vec::new(), lines)]);
    let sql = "SELECT DISTINCT stream FROM kernels ORDER BY stream NULLS LAST";
    assert_eq!(store.lines(sql), ["7", "NULL"]);
}

#[test]
fn the_numbers_of_fields_that_are_not_read_are_listed() {
    let number = Value::Number;
    let value = (4, message(&[(1, number(1)), (12, number(5))]));
    let event = (4, message(&[(1, number(1)), (99, number(7)), (98, number(7)), value]));
    let line = (3, message(&[(2, text("python")), event, (77, text("x"))]));
    let host = (1, message(&[(2, text("/host:CPU")), line, (33, number(1))]));
    let store = written(&[host, (9, number(1)), (9, number(1))]);
    let sql = "SELECT count, split_part(detail, 'their numbers. ', 2) FROM ingest_issues \
        WHERE code = 'unknown_field'";
    let detail = "events: 98: 1, 99: 1; file: 9: 2; lines: 77: 1; planes: 33: 1; values: 12: 1";
    assert_eq!(store.lines(sql), [format!("5 {detail}")]);
}

#[test]
fn work_belongs_to_the_step_that_started_its_program() {
    let store = trace();
    assert_eq!(
        store.lines("SELECT step, total_ns, kernel_ns, memcpy_ns FROM step_time ORDER BY step"),
        ["0 850000 400000 400000", "1 900000 400000 400000"]
    );
    let gaps = "SELECT idle_ns, unlinked_ns FROM gpu_idle_gaps";
    assert_eq!(store.lines(gaps), ["100000 0"]);
    assert_eq!(
        store.lines("SELECT DISTINCT kind, link FROM kernels ORDER BY kind"),
        ["kernel flow", "memcpy flow"]
    );
}

/// Of 1.6 ms of the device; the calls of the runtime on the host are no operators.
#[test]
fn hot_operations_are_those_of_compiled_programs() {
    let hot = "SELECT name, self_ns, round(share_pct, 3) FROM hot_operations ORDER BY name";
    let want = ["copy-done.3 800000 50.0", "jit(f)/add 800000 50.0"];
    assert_eq!(trace().lines(hot), want);
}

#[test]
fn operators_of_the_framework_add_up_what_was_compiled_from_them() {
    let operators = "SELECT type, name, hlo_operators, calls, total_ns FROM framework_operators \
        ORDER BY total_ns, name";
    let want = ["add jit(f)/add 2 4 800000", "NULL copy-done.3 1 2 800000"];
    let mut found = trace().lines(operators);
    found.sort_by_key(|line| line.starts_with("NULL"));
    assert_eq!(found, want);
}

#[test]
fn ids_of_processes_are_no_ranks_and_memory_beside_the_heap_is_not_reserved() {
    let store = trace();
    assert_eq!(store.lines("SELECT rank FROM traces"), ["NULL"]);
    let memory = "SELECT m.bytes, m.total_reserved_bytes, json_get_int(e.args, 'bytes_reserved') \
        FROM memory m JOIN events e ON e.event_id = m.event_id";
    assert_eq!(store.lines(memory), ["512 NULL 64"]);
}
