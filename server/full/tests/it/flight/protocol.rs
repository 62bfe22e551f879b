//! Statements, handles, parameters and cancelling.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Int64Type};
use arrow_flight::sql::{ActionCancelQueryRequest, ActionCancelQueryResult, Any, ProstMessageExt};
use arrow_flight::{Action, CancelFlightInfoRequest, CancelStatus, FlightClient, Ticket};
use futures::TryStreamExt;
use prost::Message;
use tonic::Code;

use super::{Served, number, read, rows, status, ticket};

/// A statement that would run for years.
pub const ENDLESS: &str = "SELECT sum(a.dur_ns * b.dur_ns + c.dur_ns * d.dur_ns + e.dur_ns) FROM \
                           events a, events b, events c, events d, events e, events f";
/// A statement with more rows than a connection buffers.
pub const LONG: &str = "SELECT a.name, b.name AS other, c.id FROM events a, events b, events c, \
                        events d";

#[tokio::test]
async fn the_promised_columns_are_those_of_the_rows() {
    let served = Served::small(|_| {});
    let mut client = served.client().await;
    for sql in [
        "SELECT count(*) AS n, max(name) AS name FROM events",
        "SELECT 1 AS one, NULL AS nothing, true AS yes, 'a' AS text, 1.5 AS half",
        "SELECT * FROM events LIMIT 0",
        "SELECT * FROM traces",
        "EXPLAIN SELECT 1",
        "SHOW TABLES",
        "DESCRIBE events",
    ] {
        let info = client.execute(sql.into(), None).await.expect(sql);
        let promised = info.clone().try_decode_schema().expect("columns");
        let mut stream = client.do_get(ticket(&info)).await.expect(sql);
        while let Some(batch) = stream.try_next().await.expect(sql) {
            assert_eq!(*batch.schema(), promised, "{sql}");
        }
        let sent = stream.schema().expect("columns, also without rows");
        assert_eq!(**sent, promised, "{sql}");
    }
}

#[tokio::test]
async fn a_handle_is_read_once() {
    let served = Served::small(|_| {});
    let mut client = served.client().await;
    let info = client.execute("SELECT count(*) FROM events".into(), None).await.expect("started");
    assert_eq!(number(&read(&mut client, &info).await.expect("rows")), 60);
    let again = status(read(&mut client, &info).await);
    assert_eq!(again.code(), Code::NotFound);
    assert!(again.message().contains("read once"), "{}", again.message());
}

#[tokio::test]
async fn unknown_handles_and_broken_tickets_are_refused() {
    let served = Served::small(|_| {});
    let mut client = served.client().await;
    let info = client.execute("SELECT 1".into(), None).await.expect("started");
    let mut forged = ticket(&info).ticket.to_vec();
    let last = forged.len() - 1;
    forged[last] ^= 1;
    let refused = |bytes: Vec<u8>| {
        let mut client = client.clone();
        async move { status(client.do_get(Ticket::new(bytes)).await.map(drop)).code() }
    };
    assert_eq!(refused(forged).await, Code::NotFound);
    assert_eq!(refused(b"\xff\xff\xff".to_vec()).await, Code::InvalidArgument);
    assert_ne!(refused(Vec::new()).await, Code::Ok);
    assert_eq!(number(&read(&mut client, &info).await.expect("the right one still works")), 1);
}

#[tokio::test]
async fn values_are_bound_by_position_and_by_name() {
    let served = Served::small(|_| {});
    let mut client = served.client().await;
    for sql in [
        "SELECT count(*) FROM events WHERE name = ? AND dur_ns > ?",
        "SELECT count(*) FROM events WHERE name = $1 AND dur_ns > $2",
        "SELECT count(*) FROM events WHERE name = $a AND dur_ns > $b",
    ] {
        let mut statement = client.prepare(sql.into(), None).await.expect(sql);
        let parameters = statement.parameter_schema().expect("parameters");
        let types: Vec<_> = parameters.fields().iter().map(|f| f.data_type().clone()).collect();
        assert_eq!(types, [DataType::Utf8, DataType::Int64], "{sql}");
        assert_eq!(statement.dataset_schema().expect("columns").fields().len(), 1);
        let unbound = status(statement.execute().await);
        assert_eq!(unbound.code(), Code::InvalidArgument, "{sql}");
        for (name, least, found) in [("aten::mm", 0, 20), ("aten::mm", 1 << 40, 0), ("x", 0, 0)] {
            let values: [(&str, ArrayRef); 2] = [
                ("a", Arc::new(StringArray::from(vec![name]))),
                ("b", Arc::new(Int64Array::from(vec![least]))),
            ];
            let batch = RecordBatch::try_from_iter(values).expect("values");
            statement.set_parameters(batch).expect("bound");
            let info = statement.execute().await.expect(sql);
            assert_eq!(number(&read(&mut client, &info).await.expect(sql)), found, "{sql}");
        }
        statement.close().await.expect("closed");
    }
}

#[tokio::test]
async fn each_row_of_values_is_an_execution() {
    let served = Served::small(|_| {});
    let mut client = served.client().await;
    let mut statement = client.prepare("SELECT $1 * 10 AS n".into(), None).await.expect("prepared");
    let values: ArrayRef = Arc::new(Int64Array::from(vec![3, 1, 2]));
    let batch = RecordBatch::try_from_iter([("x", values)]).expect("values");
    statement.set_parameters(batch).expect("bound");
    let info = statement.execute().await.expect("started");
    let rows = read(&mut client, &info).await.expect("rows");
    let numbers: Vec<i64> = rows
        .iter()
        .flat_map(|b| b.column(0).as_primitive::<Int64Type>().values().to_vec())
        .collect();
    assert_eq!(numbers, [30, 10, 20]);
}

#[tokio::test]
async fn values_that_do_not_fit_are_refused() {
    let served = Served::small(|_| {});
    let client = served.client().await;
    let bind = |sql: &'static str, columns: usize, rows: usize| {
        let mut client = client.clone();
        async move {
            let mut statement = client.prepare(sql.into(), None).await.expect(sql);
            let column = |at: usize| {
                let values: ArrayRef = Arc::new(Int64Array::from(vec![1; rows]));
                (format!("c{at}"), values)
            };
            let batch = RecordBatch::try_from_iter((0..columns).map(column)).expect("values");
            statement.set_parameters(batch).expect("kept");
            status(statement.execute().await.map(drop))
        }
    };
    let few = bind("SELECT CAST($1 AS BIGINT) + $2", 1, 1).await;
    assert!(few.message().contains("2 parameters and 1 values"), "{}", few.message());
    let many = bind("SELECT 1", 10_000, 1).await;
    assert!(many.message().contains("0 parameters and 10000 values"), "{}", many.message());
    let rows = bind("SELECT $1 + 1", 1, 1_001).await;
    assert!(rows.message().contains("at most 1000"), "{}", rows.message());
}

#[tokio::test]
async fn a_statement_that_is_read_can_be_cancelled() {
    let served = Served::small(|_| {});
    let mut client = served.client().await;
    let info = client.execute(LONG.into(), None).await.expect("started");
    let mut stream = client.do_get(ticket(&info)).await.expect("a stream");
    stream.try_next().await.expect("rows").expect("a batch");
    let mut other = FlightClient::new(served.channel().await);
    let cancel = || CancelFlightInfoRequest::new(info.clone());
    let asked = Instant::now();
    let result = other.cancel_flight_info(cancel()).await.expect("an answer");
    assert_eq!(result.status(), CancelStatus::Cancelled);
    let ended = loop {
        match stream.try_next().await {
            Ok(Some(_)) => {}
            other => break status(other),
        }
    };
    assert_eq!(ended.code(), Code::Cancelled, "{}", ended.message());
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    let result = other.cancel_flight_info(cancel()).await.expect("an answer");
    assert_eq!(result.status(), CancelStatus::NotCancellable, "there is nothing left");
}

#[tokio::test]
async fn an_unread_statement_can_be_cancelled_by_the_older_action() {
    let served = Served::small(|config| config.limits.max_queries = 1);
    let mut client = served.client().await;
    let info = client.execute(LONG.into(), None).await.expect("started");
    let request = ActionCancelQueryRequest { info: info.encode_to_vec().into() };
    let action = Action::new("CancelQuery", request.as_any().encode_to_vec());
    let answer = client.do_action(tonic::Request::new(action)).await.expect("an answer");
    let answer: Vec<_> = answer.try_collect().await.expect("results");
    let any = Any::decode(&*answer[0].body).expect("a message");
    let result: ActionCancelQueryResult = any.unpack().expect("a message").expect("the type");
    assert_eq!(result.result, CancelStatus::Cancelled as i32);
    assert_eq!(status(read(&mut client, &info).await).code(), Code::NotFound);
    // The only place for a running statement is free again.
    assert_eq!(number(&rows(&mut client, "SELECT 1").await.expect("rows")), 1);
}

#[tokio::test]
async fn a_stream_that_is_dropped_stops_its_statement() {
    let served = Served::small(|config| config.limits.max_queries = 1);
    let mut client = served.client().await;
    let info = client.execute(ENDLESS.into(), None).await.expect("started");
    let mut stream = client.do_get(ticket(&info)).await.expect("a stream");
    let waited = tokio::time::timeout(Duration::from_millis(300), stream.try_next()).await;
    assert!(waited.is_err(), "the statement has no rows yet");
    drop(stream);
    let asked = Instant::now();
    assert_eq!(number(&rows(&mut client, "SELECT 1").await.expect("rows")), 1);
    assert!(asked.elapsed() < Duration::from_secs(3), "{:?}", asked.elapsed());
}

#[tokio::test]
async fn statements_that_write_are_refused_clearly() {
    let served = Served::small(|_| {});
    let mut client = served.client().await;
    let target = served.folder.path().join("out.csv");
    let copy = format!("COPY (SELECT 1) TO '{}'", target.display());
    for (sql, code) in [
        (copy.as_str(), Code::PermissionDenied),
        ("INSERT INTO events VALUES (1)", Code::PermissionDenied),
        ("DELETE FROM traces", Code::PermissionDenied),
        ("CREATE TABLE t AS SELECT 1", Code::PermissionDenied),
        ("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '/etc/passwd'", Code::PermissionDenied),
        ("SET datafusion.runtime.memory_limit = '1K'", Code::PermissionDenied),
        ("SELECT * FROM '/etc/passwd'", Code::NotFound),
        ("SELECT 1; SELECT 2", Code::InvalidArgument),
        ("", Code::InvalidArgument),
        ("SELEC 1", Code::InvalidArgument),
        ("SELECT nam FROM events", Code::InvalidArgument),
        ("SELECT * FROM event", Code::NotFound),
    ] {
        let started = status(client.execute(sql.to_owned(), None).await);
        assert_eq!(started.code(), code, "{sql}: {}", started.message());
        let updated = status(client.execute_update(sql.to_owned(), None).await);
        assert_eq!(updated.code(), code, "{sql}: {}", updated.message());
    }
    assert!(!target.exists());
    let query = status(client.execute_update("SELECT 1".into(), None).await);
    assert!(query.message().contains("run it as a query"), "{}", query.message());
}

#[tokio::test]
async fn errors_name_their_place_and_the_likely_name() {
    let served = Served::small(|_| {});
    let mut client = served.client().await;
    let error = status(client.execute("SELECT nam FROM events".into(), None).await);
    assert!(error.message().contains("at character 8"), "{}", error.message());
    assert!(error.message().contains("name"), "{}", error.message());
}

#[tokio::test]
async fn a_view_belongs_to_its_connection() {
    let served = Served::small(|_| {});
    let mut client = served.client().await;
    let sql = "CREATE VIEW mine AS SELECT 7 AS n".to_owned();
    assert_eq!(client.execute_update(sql, None).await.expect("a view"), 0);
    assert_eq!(number(&rows(&mut client, "SELECT n FROM mine").await.expect("rows")), 7);
    let mut other = served.client().await;
    let unknown = status(rows(&mut other, "SELECT n FROM mine").await);
    assert_eq!(unknown.code(), Code::NotFound, "{}", unknown.message());
}
