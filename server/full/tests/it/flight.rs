//! Flight SQL: the protocol with the client of the crate, and ADBC with Python.

mod adbc;
mod hostile;
mod limits;
mod metadata;
mod protocol;
mod users;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow_flight::sql::client::FlightSqlServiceClient;
use arrow_flight::{FlightInfo, Ticket};
use futures::TryStreamExt;
use tempfile::TempDir;
use tonic::transport::Channel;
use tracesql::engine::{Engine, EngineOptions};
use tracesql_ingest::{IngestOptions, Progress, Store, expand, ingest};
use tracesql_serve::{Addresses, Config, Limits, Users};

use crate::support::{child, fixture, free_port, small_trace};

/// A server of a test. Each test is a process of its own, with which the server ends.
pub struct Served {
    pub port: u16,
    /// The store, and files of the test.
    pub folder: TempDir,
}

impl Served {
    /// A server over a small trace.
    pub fn small(change: impl FnOnce(&mut Config)) -> Self {
        Self::of_slices(60, EngineOptions::default(), change)
    }

    /// A server over a trace with some slices, whose sessions have these options.
    pub fn of_slices(
        slices: usize,
        options: EngineOptions,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let trace = folder.path().join("small.json");
        std::fs::write(&trace, small_trace(0, slices)).expect("a trace");
        Self::over(folder, &[&trace], options, change)
    }

    /// A server over fixtures.
    pub fn fixtures(names: &[&str], change: impl FnOnce(&mut Config)) -> Self {
        let paths: Vec<_> = names.iter().map(|name| fixture(name)).collect();
        let paths: Vec<&Path> = paths.iter().map(|path| path.as_path()).collect();
        let folder = tempfile::tempdir().expect("a folder");
        Self::over(folder, &paths, EngineOptions::default(), change)
    }

    fn over(
        folder: TempDir,
        traces: &[&Path],
        options: EngineOptions,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let path = folder.path().join("store");
        let store = Store::open_or_create(&path).expect("a store");
        let names: Vec<String> = traces.iter().map(|path| path.display().to_string()).collect();
        for input in expand(&names).expect("inputs") {
            ingest(&input, &store, &IngestOptions::default(), &Progress::default())
                .expect("a trace");
        }
        let open = move || {
            let options = EngineOptions { threads: 2, ..options.clone() };
            Engine::open(Store::open(&path).expect("a store"), None, &options)
        };
        let mut config = Config {
            open: Arc::new(open),
            users: None,
            tls: None,
            limits: Limits::default(),
            insecure: false,
            threads: 2,
        };
        change(&mut config);
        let port = free_port();
        let flight = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        std::thread::spawn(move || {
            tracesql_serve::run(config, Addresses { flight, ..Addresses::default() })
        });
        child::wait_for_port(port, Duration::from_secs(30));
        Self { port, folder }
    }

    /// A connection.
    pub async fn channel(&self) -> Channel {
        let address = format!("http://127.0.0.1:{}", self.port);
        Channel::from_shared(address).expect("an address").connect().await.expect("a connection")
    }

    /// A client without a user.
    pub async fn client(&self) -> FlightSqlServiceClient<Channel> {
        FlightSqlServiceClient::new(self.channel().await)
    }

    /// A client that logged in.
    pub async fn client_of(&self, user: &str, password: &str) -> FlightSqlServiceClient<Channel> {
        let mut client = self.client().await;
        client.handshake(user, password).await.expect("the password is right");
        client
    }
}

/// The users `ann` and `bob`, whose password is their name twice.
pub fn two_users() -> Arc<Users> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("users");
    Users::add(&path, "ann", "annann").expect("a user");
    Users::add(&path, "bob", "bobbob").expect("a user");
    Arc::new(Users::load(&path).expect("users"))
}

/// The ticket of a started statement.
pub fn ticket(info: &FlightInfo) -> Ticket {
    info.endpoint[0].ticket.clone().expect("a ticket")
}

type Failed = arrow_flight::error::FlightError;

/// The rows that a ticket stands for.
pub async fn read(
    client: &mut FlightSqlServiceClient<Channel>,
    info: &FlightInfo,
) -> Result<Vec<RecordBatch>, Failed> {
    client.do_get(ticket(info)).await?.try_collect().await
}

/// The rows of a statement.
pub async fn rows(
    client: &mut FlightSqlServiceClient<Channel>,
    sql: &str,
) -> Result<Vec<RecordBatch>, Failed> {
    let info = client.execute(sql.to_owned(), None).await?;
    read(client, &info).await
}

/// The status of a request that must fail.
#[track_caller]
pub fn status<T>(outcome: Result<T, Failed>) -> tonic::Status {
    match outcome {
        Err(Failed::Tonic(status)) => *status,
        Err(other) => panic!("not a status: {other}"),
        Ok(_) => panic!("the request did not fail"),
    }
}

/// The only number of a result.
pub fn number(rows: &[RecordBatch]) -> i64 {
    use arrow::array::AsArray;
    rows.iter()
        .find(|batch| batch.num_rows() > 0)
        .map(|batch| batch.column(0).as_primitive::<arrow::datatypes::Int64Type>().value(0))
        .expect("a row")
}
