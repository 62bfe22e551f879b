//! Time limits, slow readers, and connections on which nothing happens.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use arrow_flight::sql::CommandGetTables;
use futures::TryStreamExt;
use tonic::Code;
use tracesql::engine::EngineOptions;

use super::protocol::{ENDLESS, LONG};
use super::{Served, number, rows, status, ticket, two_users};

/// A request for all tables, without their columns.
const TABLES: CommandGetTables = CommandGetTables {
    catalog: None,
    db_schema_filter_pattern: None,
    table_name_filter_pattern: None,
    table_types: Vec::new(),
    include_schema: false,
};

#[tokio::test]
async fn a_statement_ends_at_its_time_limit_and_uses_no_core_afterwards() {
    let served = Served::small(|config| config.limits.timeout = Duration::from_secs(1));
    let mut client = served.client().await;
    let began = Instant::now();
    let late = status(rows(&mut client, ENDLESS).await);
    assert_eq!(late.code(), Code::DeadlineExceeded, "{}", late.message());
    assert!(late.message().contains("1 s"), "{}", late.message());
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    tokio::time::sleep(Duration::from_secs(3)).await;
    let before = cpu_ticks();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let used = cpu_ticks() - before;
    assert!(used < 20, "{used} of 100 ticks were used after the end");
    assert_eq!(number(&rows(&mut client, "SELECT 1").await.expect("rows")), 1);
}

/// The time that this process computed, in hundredths of a second.
fn cpu_ticks() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("the process");
    let after = text.rsplit_once(')').expect("a name").1;
    let fields: Vec<&str> = after.split_whitespace().collect();
    fields[11].parse::<u64>().expect("ticks") + fields[12].parse::<u64>().expect("ticks")
}

/// Bytes of memory that this process holds.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("the process");
    let pages = text.split_whitespace().nth(1).expect("pages");
    pages.parse::<usize>().expect("pages") * 4_096
}

#[tokio::test]
async fn a_slow_reader_holds_back_the_rows() {
    let served = Served::small(|_| {});
    let mut client = served.client().await;
    let info = client.execute(LONG.into(), None).await.expect("started");
    let mut stream = client.do_get(ticket(&info)).await.expect("a stream");
    for _ in 0..3 {
        stream.try_next().await.expect("rows").expect("a batch");
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (memory, ticks) = (resident(), cpu_ticks());
    tokio::time::sleep(Duration::from_secs(3)).await;
    let grown = resident().saturating_sub(memory) >> 20;
    assert!(grown < 8, "{grown} MiB were collected for a reader that does not read");
    let used = cpu_ticks() - ticks;
    assert!(used < 60, "{used} of 300 ticks were used for a reader that does not read");
    // The rest is still there.
    stream.try_next().await.expect("rows").expect("a batch");
}

#[test]
fn a_connection_that_does_not_log_in_is_closed() {
    let served = Served::small(|config| {
        config.users = Some(two_users());
        config.limits.startup = Duration::from_secs(1);
    });
    let began = Instant::now();
    // Nothing at all, half of the beginning of HTTP/2, and HTTP/2 without a request.
    let settings = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let half_open: Vec<TcpStream> = [&b""[..], b"PRI * HTTP", settings]
        .into_iter()
        .map(|bytes| {
            let mut stream =
                TcpStream::connect((Ipv4Addr::LOCALHOST, served.port)).expect("a connection");
            stream.write_all(bytes).expect("sent");
            stream
        })
        .collect();
    for mut stream in half_open {
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a time limit");
        let mut bytes = Vec::new();
        let ended = stream.read_to_end(&mut bytes);
        let is_reset =
            ended.as_ref().is_err_and(|e| e.kind() == std::io::ErrorKind::ConnectionReset);
        assert!(ended.is_ok() || is_reset, "{ended:?}");
    }
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_client_that_is_known_may_stay_silent() {
    let served = Served::small(|config| {
        config.users = Some(two_users());
        config.limits.startup = Duration::from_secs(1);
    });
    let mut client = served.client_of("ann", "annann").await;
    let sql = "CREATE VIEW mine AS SELECT 7 AS n".to_owned();
    client.execute_update(sql, None).await.expect("a view");
    tokio::time::sleep(Duration::from_secs(2)).await;
    // The view would be gone with the connection.
    assert_eq!(number(&rows(&mut client, "SELECT n FROM mine").await.expect("rows")), 7);
}

#[tokio::test]
async fn more_clients_than_allowed_are_refused_until_one_leaves() {
    let served = Served::small(|config| config.limits.max_connections = 2);
    let mut first = served.client().await;
    let mut second = served.client().await;
    rows(&mut first, "SELECT 1").await.expect("rows");
    rows(&mut second, "SELECT 1").await.expect("rows");
    let mut third = served.client().await;
    let refused = status(rows(&mut third, "SELECT 1").await);
    assert_eq!(refused.code(), Code::ResourceExhausted, "{}", refused.message());
    drop(first);
    let began = Instant::now();
    while rows(&mut third, "SELECT 1").await.is_err() {
        assert!(began.elapsed() < Duration::from_secs(5), "the place was not given back");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_statement_waits_for_its_turn() {
    let served = Served::small(|config| {
        config.limits.max_queries = 1;
        config.limits.timeout = Duration::from_secs(2);
    });
    let (mut first, mut second) = (served.client().await, served.client().await);
    let busy = first.execute(ENDLESS.into(), None).await.expect("started");
    let mut stream = first.do_get(ticket(&busy)).await.expect("a stream");
    let _ = tokio::time::timeout(Duration::from_millis(1_000), stream.try_next()).await;
    let began = Instant::now();
    let waited = number(&rows(&mut second, "SELECT 2").await.expect("rows after the first one"));
    assert_eq!(waited, 2);
    assert!(began.elapsed() > Duration::from_millis(300), "{:?}", began.elapsed());
    assert_eq!(status(stream.try_next().await).code(), Code::DeadlineExceeded);
    // This one is not read, so it keeps its turn until its time is over.
    let _unread = first.execute(LONG.into(), None).await.expect("started");
    tokio::time::sleep(Duration::from_millis(1_000)).await;
    assert_eq!(number(&rows(&mut second, "SELECT 3").await.expect("rows")), 3);
}

#[tokio::test]
async fn planning_and_lists_of_tables_wait_for_their_turn() {
    let served = Served::small(|config| {
        config.limits.max_queries = 1;
        config.limits.timeout = Duration::from_secs(8);
    });
    let (mut first, mut second) = (served.client().await, served.client().await);
    rows(&mut first, "SELECT 1").await.expect("rows");
    rows(&mut second, "SELECT 1").await.expect("rows");
    // It is not read, so it keeps its turn until its time is over.
    let _unread = first.execute(LONG.into(), None).await.expect("started");
    tokio::time::sleep(Duration::from_secs(5)).await;
    let began = Instant::now();
    let mut other = served.client().await;
    let (prepared, listed) = tokio::join!(second.prepare("SELECT 1".into(), None), async {
        let info = other.get_tables(TABLES).await.expect("an answer");
        super::read(&mut other, &info).await
    });
    prepared.expect("prepared after the first statement");
    listed.expect("listed after the first statement");
    assert!(began.elapsed() > Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test]
async fn opening_a_store_counts_as_time_of_a_statement_and_happens_once() {
    let opened = Arc::new(AtomicUsize::new(0));
    let count = opened.clone();
    let served = Served::small(|config| {
        config.limits.timeout = Duration::from_secs(1);
        let open = config.open.clone();
        // The first one is that of the start of the server.
        config.open = Arc::new(move || {
            if count.fetch_add(1, Ordering::SeqCst) > 0 {
                std::thread::sleep(Duration::from_secs(8));
            }
            open()
        });
    });
    let mut client = served.client().await;
    let began = Instant::now();
    let late = status(rows(&mut client, "SELECT 1").await);
    assert_eq!(late.code(), Code::DeadlineExceeded, "{}", late.message());
    let late = status(client.prepare("SELECT 1".into(), None).await.map(drop));
    assert_eq!(late.code(), Code::DeadlineExceeded, "{}", late.message());
    let info = client.get_tables(TABLES).await.expect("an answer");
    let late = status(super::read(&mut client, &info).await);
    assert_eq!(late.code(), Code::DeadlineExceeded, "{}", late.message());
    assert!(began.elapsed() < Duration::from_secs(7), "{:?}", began.elapsed());
    while let Err(error) = rows(&mut client, "SELECT 1").await {
        assert!(began.elapsed() < Duration::from_secs(30), "{error}");
    }
    assert_eq!(opened.load(Ordering::SeqCst), 2, "those that waited did not open it again");
}

#[tokio::test]
async fn unread_results_end_with_their_connection() {
    let served = Served::small(|config| config.limits.max_queries = 1);
    let (mut first, mut second) = (served.client().await, served.client().await);
    // It is not read, so it keeps the only turn.
    let _unread = first.execute(LONG.into(), None).await.expect("started");
    drop(first);
    let began = Instant::now();
    assert_eq!(number(&rows(&mut second, "SELECT 2").await.expect("rows")), 2);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[tokio::test]
async fn without_users_clients_do_not_take_the_room_of_others() {
    let served = Served::small(|_| {});
    let (mut first, mut second) = (served.client().await, served.client().await);
    for _ in 0..100 {
        first.execute("SELECT 1".into(), None).await.expect("started");
    }
    let full = status(first.execute("SELECT 1".into(), None).await);
    assert_eq!(full.code(), Code::ResourceExhausted, "{}", full.message());
    assert_eq!(number(&rows(&mut second, "SELECT 2").await.expect("rows")), 2);
}

#[tokio::test]
async fn a_client_that_did_not_log_in_sends_small_messages() {
    let served = Served::small(|config| config.users = Some(two_users()));
    let long = format!("SELECT length('{}')", "x".repeat(1 << 20));
    let mut client = served.client().await;
    let refused = status(client.execute(long.clone(), None).await);
    assert_eq!(refused.code(), Code::OutOfRange, "{}", refused.message());
    client.handshake("ann", "annann").await.expect("the password is right");
    client.execute(long.clone(), None).await.expect("started");
    // A token is enough on a connection that was just made.
    let mut other = served.client().await;
    other.set_token(client.token().expect("a token").clone());
    other.execute(long, None).await.expect("started");
}

#[tokio::test]
async fn a_statement_that_needs_too_much_memory_fails_alone() {
    let options = EngineOptions { memory_limit: 256 << 20, ..EngineOptions::default() };
    let served = Served::of_slices(2_000, options, |_| {});
    let mut client = served.client().await;
    let sql = "SELECT array_agg(concat(a.name, b.name, a.ts_ns, b.ts_ns)) FROM events a, events b";
    let refused = status(rows(&mut client, sql).await);
    assert_eq!(refused.code(), Code::ResourceExhausted, "{}", refused.message());
    assert!(refused.message().contains("memory"), "{}", refused.message());
    // The limit is one of the process, which gives its memory back a little later.
    let began = Instant::now();
    while let Err(error) = rows(&mut client, "SELECT 1").await {
        assert!(began.elapsed() < Duration::from_secs(30), "{error}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn a_long_statement_is_refused_with_its_length() {
    let served = Served::small(|_| {});
    let mut client = served.client().await;
    let sql = format!("SELECT '{}'", "x".repeat(10 << 20));
    let refused = status(client.execute(sql, None).await);
    assert_eq!(refused.code(), Code::ResourceExhausted, "{}", refused.message());
    assert!(refused.message().contains("10485"), "{}", refused.message());
    assert_eq!(number(&rows(&mut client, "SELECT 1").await.expect("rows")), 1);
}

#[tokio::test]
async fn a_large_row_arrives() {
    let served = Served::small(|_| {});
    let channel = served.channel().await;
    let inner = arrow_flight::flight_service_client::FlightServiceClient::new(channel)
        .max_decoding_message_size(usize::MAX);
    let mut client = arrow_flight::sql::client::FlightSqlServiceClient::new_from_inner(inner);
    let rows = rows(&mut client, "SELECT repeat('x', 8000000) AS text").await.expect("rows");
    assert_eq!(rows.iter().map(|batch| batch.num_rows()).sum::<usize>(), 1);
}
