//! Time, memory, connections, and clients that do not read.

use std::time::{Duration, Instant};

use super::wire::Wire;
use super::{Served, store};

/// Would run for hours.
const ENDLESS: &str = "SELECT count(*) FROM events a, events b, events c, events d \
                       WHERE a.name || b.name < c.name || d.name";

/// Seconds of CPU that a process has used.
fn cpu(id: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).expect("a process");
    let after = stat.rsplit(')').next().expect("a name");
    let field = |at: usize| after.split_whitespace().nth(at).and_then(|t| t.parse::<f64>().ok());
    (field(11).expect("a number") + field(12).expect("a number")) / 100.0
}

/// Bytes of memory that a process uses.
pub fn memory(id: u32) -> usize {
    let statm = std::fs::read_to_string(format!("/proc/{id}/statm")).expect("a process");
    let pages = statm.split_whitespace().nth(1).and_then(|t| t.parse::<usize>().ok());
    pages.expect("a number") * 4096
}

#[track_caller]
fn is_idle(served: &Served) {
    std::thread::sleep(Duration::from_secs(3));
    let before = cpu(served.process.id());
    std::thread::sleep(Duration::from_secs(1));
    let used = cpu(served.process.id()) - before;
    assert!(used < 0.3, "{used} s of CPU in 1 s");
}

#[test]
fn a_statement_ends_at_its_time_limit() {
    let served = Served::start(&["--timeout", "1s"]);
    let mut wire = Wire::start(served.port);
    let start = Instant::now();
    assert_eq!(wire.codes(ENDLESS), ["57014"]);
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    // A longer limit of the client does not count, a shorter one does.
    assert_eq!(wire.codes("SET statement_timeout = '1h'"), Vec::<String>::new());
    assert_eq!(wire.codes(ENDLESS), ["57014"]);
    assert_eq!(wire.codes("SET statement_timeout = 200"), Vec::<String>::new());
    let start = Instant::now();
    assert_eq!(wire.codes(ENDLESS), ["57014"]);
    assert!(start.elapsed() < Duration::from_millis(1_500), "{:?}", start.elapsed());
    is_idle(&served);
}

#[test]
fn a_statement_is_cancelled_by_its_key() {
    let served = Served::start(&[]);
    let mut wire = Wire::open(served.port);
    wire.startup();
    let messages = wire.until_ready();
    let key = messages.iter().find(|m| m.kind == b'K').expect("a key").body.clone();
    wire.query(ENDLESS);
    std::thread::sleep(Duration::from_millis(500));
    let cancel = |key: &[u8]| {
        let mut other = Wire::open(served.port);
        other.bytes(&[&16_u32.to_be_bytes(), &80_877_102_u32.to_be_bytes(), key].concat());
        assert!(other.next().is_none());
    };
    // A wrong key has no effect.
    cancel(&[0; 8]);
    std::thread::sleep(Duration::from_millis(200));
    let start = Instant::now();
    cancel(&key);
    let answer = wire.until_ready();
    assert_eq!(answer.iter().find(|m| m.kind == b'E').map(|m| m.code()).as_deref(), Some("57014"));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert_eq!(wire.codes("SELECT 1"), Vec::<String>::new());
    is_idle(&served);
}

#[test]
fn a_statement_ends_with_its_connection() {
    let served = Served::start(&[]);
    let mut wire = Wire::start(served.port);
    wire.query(ENDLESS);
    std::thread::sleep(Duration::from_millis(500));
    drop(wire);
    is_idle(&served);
}

#[test]
fn a_statement_ends_with_its_connection_when_more_was_sent_than_is_read_ahead() {
    let served = Served::start(&[]);
    let mut wire = Wire::start(served.port);
    wire.query(ENDLESS);
    let more = format!("SELECT 1 -- {}", "x".repeat(100_000));
    (0..13).for_each(|_| wire.query(&more));
    std::thread::sleep(Duration::from_millis(500));
    drop(wire);
    is_idle(&served);
}

#[test]
fn a_statement_without_memory_fails_alone() {
    let served = Served::start(&["--memory-limit", "1GiB"]);
    let mut other = Wire::start(served.port);
    let mut wire = Wire::start(served.port);
    let large = "SELECT max(length(s)) FROM (SELECT array_agg(a.name || b.name || a.event_id) AS x, \
                 string_agg(a.name || b.name, ',') AS s FROM events a, events b GROUP BY a.name) t";
    assert_eq!(wire.codes(large), ["53200"]);
    assert_eq!(other.codes("SELECT count(*) FROM kernels_by_name"), Vec::<String>::new());
    assert_eq!(wire.codes("SELECT 1"), Vec::<String>::new());
}

#[test]
fn connections_beyond_the_limit_are_refused_until_one_ends() {
    let served = Served::over(store(&["perf.json"]), &["--max-connections", "3"]);
    let mut open: Vec<Wire> = (0..3).map(|_| Wire::start(served.port)).collect();
    // Connections that say nothing do not count.
    let silent: Vec<Wire> = (0..20).map(|_| Wire::open(served.port)).collect();
    let mut one_more = Wire::open(served.port);
    one_more.startup();
    assert_eq!(one_more.next().map(|m| (m.kind, m.code())), Some((b'E', "53300".to_owned())));
    open.pop();
    std::thread::sleep(Duration::from_millis(500));
    let mut again = Wire::start(served.port);
    assert_eq!(again.codes("SELECT 1"), Vec::<String>::new());
    drop(silent);
}

#[test]
fn a_client_that_says_nothing_is_closed() {
    let served = Served::over(store(&["perf.json"]), &[]);
    let mut silent = Wire::open(served.port);
    let start = Instant::now();
    assert!(silent.next().is_none());
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn a_slow_reader_costs_no_memory() {
    let served = Served::start(&["--timeout", "8s"]);
    let mut warm = Wire::start(served.port);
    assert_eq!(warm.codes("SELECT count(*) FROM events"), Vec::<String>::new());
    let before = memory(served.process.id());
    let mut slow: Vec<Wire> = (0..3).map(|_| Wire::start(served.port)).collect();
    for wire in &mut slow {
        wire.query("SELECT a.*, b.* FROM events a, events b");
    }
    std::thread::sleep(Duration::from_secs(4));
    let grown = memory(served.process.id()).saturating_sub(before);
    assert!(grown < 200 << 20, "{} MiB", grown >> 20);
    // Others are answered meanwhile.
    assert_eq!(warm.codes("SELECT 1"), Vec::<String>::new());
    is_idle(&served);
}
