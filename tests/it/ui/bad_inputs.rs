//! Clients that are slow or leave, several tabs, stores that change or disappear, and large jobs.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Ui, pages, store};
use crate::support::{TestStore, fixture};

const GPU: &[&str] = &["synthetic_gpu_rank0.json.gz"];
const ENDLESS: &str =
    "SELECT count(*) FROM events a, events b, events c WHERE a.name < b.name || c.name";

/// The text of a request for rows, which the client sends piece by piece.
fn request(ui: &Ui, sql: &str) -> String {
    let body = json!({"sql": sql, "max_rows": 10_000}).to_string();
    format!(
        "POST /api/query HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        ui.host(),
        ui.token,
        body.len()
    )
}

#[test]
fn slow_clients_do_not_hold_up_others() {
    let store = store(GPU);
    let ui = pages(&store);
    ui.get("/api/tracks");
    let text = request(&ui, "SELECT * FROM events");
    // A third stop within the header, a third within the body, and a third do not read the answer.
    let ends = [20, text.len() - 5, text.len()];
    let mut slow: Vec<TcpStream> = Vec::new();
    for n in 0..60 {
        let mut stream = ui.connection();
        stream.write_all(&text.as_bytes()[..ends[n % 3]]).expect("a part of a request");
        slow.push(stream);
    }
    let begun = Instant::now();
    assert_eq!(ui.post("/api/query", &json!({"sql": "SELECT 1"}))["row_count"], 1);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    // Those that read at last get their whole answer.
    let mut late = slow.swap_remove(2);
    late.write_all(b"GET /api/state HTTP/1.1\r\nconnection: close\r\n\r\n").expect("an end");
    let mut answer = Vec::new();
    late.read_to_end(&mut answer).expect("an answer");
    let answer = String::from_utf8_lossy(&answer);
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("\"row_count\":"),
        "{answer:.200}"
    );
}

#[test]
fn connections_that_send_no_headers_are_closed() {
    let store = store(GPU);
    let ui = pages(&store);
    let mut streams = ["", "GET /api/state HTTP/1.1\r\nhost: "].map(|part| {
        let mut stream = ui.connection();
        stream.write_all(part.as_bytes()).expect("a part of a request");
        stream
    });
    for stream in &mut streams {
        // A read waits twice the time after which the server closes them.
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("the end of the connection");
        assert!(!String::from_utf8_lossy(&answer).contains("200 OK"), "{answer:?}");
    }
}

#[test]
fn tabs_do_not_disturb_each_other() {
    let store = store(GPU);
    let ui = pages(&store);
    ui.get("/api/tracks");
    std::thread::scope(|scope| {
        let ask =
            |id: &'static str| ui.ask("POST", "/api/query", &json!({"id": id, "sql": ENDLESS}));
        let (first, second) =
            (scope.spawn(move || ask("tab-1")), scope.spawn(move || ask("tab-2")));
        std::thread::sleep(Duration::from_millis(300));
        ui.post("/api/cancel", &json!({"id": "tab-1"}));
        assert_ne!(first.join().expect("an answer").status, 200);
        // A third tab gets its answer while the second query runs.
        assert_eq!(ui.post("/api/query", &json!({"sql": "SELECT 1"}))["row_count"], 1);
        assert!(!second.is_finished(), "the query of another tab was cancelled");
        ui.post("/api/cancel", &json!({"id": "tab-2"}));
        assert_ne!(second.join().expect("an answer").status, 200);
    });
}

#[test]
fn the_work_of_a_closed_tab_ends() {
    let store = store(GPU);
    let ui = pages(&store);
    ui.get("/api/tracks");
    for _ in 0..20 {
        let mut stream = ui.connection();
        stream.write_all(request(&ui, ENDLESS).as_bytes()).expect("a request");
        std::thread::sleep(Duration::from_millis(20));
    }
    // All are closed now. Were they still running, the processor would be busy.
    let spent = |wait: u64| {
        let before = processor_ticks(&ui);
        std::thread::sleep(Duration::from_millis(wait));
        processor_ticks(&ui) - before
    };
    let deadline = Instant::now() + Duration::from_secs(10);
    while spent(500) > 10 {
        assert!(Instant::now() < deadline, "queries of closed tabs still run");
    }
}

/// Hundredths of a second that the server has spent on a processor.
fn processor_ticks(ui: &Ui) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", ui.process.id()));
    let stat = stat.expect("the process runs");
    let fields: Vec<&str> =
        stat.rsplit(')').next().expect("fields").split_ascii_whitespace().collect();
    fields[11].parse::<u64>().expect("a number") + fields[12].parse::<u64>().expect("a number")
}

#[test]
fn a_store_that_disappears_is_an_error_and_not_an_end() {
    let store = store(GPU);
    let mut ui = pages(&store);
    ui.get("/api/tracks");
    std::fs::remove_dir_all(store.store.root()).expect("the store is removed");
    let reply =
        ui.ask("POST", "/api/query", &json!({"sql": "SELECT sum(ts_ns), min(name) FROM events"}));
    assert!(reply.status >= 400, "{}", String::from_utf8_lossy(&reply.body));
    assert!(!reply.message().is_empty());
    // The timeline is in memory, and the server goes on.
    let slices = json!({"tracks": ["0:0"], "start": 0, "end": 1e9, "step": 1e6});
    assert_eq!(ui.ask("POST", "/api/slices", &slices).status, 200);
    assert_eq!(ui.post("/api/query", &json!({"sql": "SELECT 1"}))["row_count"], 1);
    assert!(ui.process.try_wait().expect("a state").is_none());
}

#[test]
fn a_store_that_grows_is_read_as_it_was() {
    let store = store(GPU);
    let ui = pages(&store);
    let count = json!({"sql": "SELECT count(*), count(DISTINCT trace_id) FROM events"});
    let before = ui.post("/api/query", &count)["rows"][0].clone();
    store.ingest(&fixture("synthetic_gpu_rank1.json.gz")).expect("the trace is read");
    assert_eq!(ui.post("/api/query", &count)["rows"][0], before);
    assert_eq!(ui.get("/api/state")["traces"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_job_of_many_ranks_has_a_timeline() {
    const RANKS: usize = 300;
    let folder = tempfile::tempdir().expect("a folder");
    for rank in 0..RANKS {
        let text = format!(
            r#"{{"distributedInfo":{{"rank":{rank},"world_size":{RANKS}}},"traceEvents":[
            {{"ph":"X","cat":"cpu_op","name":"work","pid":1,"tid":1,"ts":{rank},"dur":50}},
            {{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{rank},"dur":9,
              "args":{{"device":0,"stream":7}}}}]}}"#
        );
        std::fs::write(folder.path().join(format!("rank{rank}.json")), text).expect("a file");
    }
    let ui = Ui::start(&[folder.path().to_str().expect("UTF-8")]);
    let tracks = ui.get("/api/tracks");
    assert_eq!(tracks["traces"].as_array().map(Vec::len), Some(RANKS));
    assert_eq!(tracks["tracks"].as_array().map(Vec::len), Some(2 * RANKS));
    let end = tracks["end"].as_i64().expect("an end");
    let keys: Vec<&str> = tracks["tracks"]
        .as_array()
        .expect("tracks")
        .iter()
        .map(|track| track["key"].as_str().expect("a key"))
        .collect();
    let mut events = 0;
    for some in keys.chunks(500) {
        let body = json!({"tracks": some, "start": 0, "end": end + 1, "step": 1_000});
        let reply = ui.ask("POST", "/api/slices", &body);
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        let answer = reply.json();
        let shown = answer["tracks"].as_array().expect("tracks").iter();
        events += shown
            .flat_map(|track| track["count"].as_array().expect("counts"))
            .map(|count| count.as_u64().expect("a count"))
            .sum::<u64>();
    }
    assert_eq!(events, 2 * RANKS as u64);
    assert_eq!(ui.get("/api/state")["traces"].as_array().map(Vec::len), Some(RANKS));
}

#[test]
fn a_store_without_traces_says_so() {
    let store = TestStore::new();
    let path = store.store.root().to_str().expect("UTF-8").to_owned();
    std::fs::create_dir_all(&path).expect("a folder");
    let ui = Ui::start(&[&path]);
    let tracks = ui.get("/api/tracks");
    assert_eq!(tracks["tracks"], json!([]));
    assert_eq!(ui.get("/api/state")["traces"], json!([]));
}
