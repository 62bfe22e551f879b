//! Passwords, tokens, and what belongs to a user.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::sql::client::FlightSqlServiceClient;
use arrow_flight::sql::{CommandGetCatalogs, ProstMessageExt};
use arrow_flight::{
    Action, CancelFlightInfoRequest, CancelStatus, FlightClient, HandshakeRequest, Ticket,
};
use futures::{TryStreamExt, stream};
use prost::Message;
use tonic::Code;
use tonic::transport::Channel;
use tracesql_serve::Users;

use super::{Served, number, read, rows, status, two_users};
use crate::support::{Finished, Program, child, free_port, small_trace};

fn served() -> Served {
    Served::small(|config| config.users = Some(two_users()))
}

#[tokio::test]
async fn a_password_gives_a_token_and_a_wrong_one_does_not() {
    let served = served();
    let mut client = served.client_of("ann", "annann").await;
    assert_eq!(number(&rows(&mut client, "SELECT 1").await.expect("rows")), 1);
    for (user, password) in [("ann", "bobbob"), ("ann", ""), ("eve", "annann"), ("", "")] {
        let mut client = served.client().await;
        let error = client.handshake(user, password).await.expect_err("refused").to_string();
        assert!(error.contains("the user or the password is wrong"), "{user}: {error}");
    }
}

#[tokio::test]
async fn requests_without_a_valid_token_are_refused() {
    let served = served();
    let mut client = served.client().await;
    let without = status(client.execute("SELECT 1".into(), None).await);
    assert_eq!(without.code(), Code::Unauthenticated);
    assert!(without.message().contains("no token"), "{}", without.message());
    client.set_token("forged".into());
    let forged = status(client.execute("SELECT 1".into(), None).await);
    assert_eq!(forged.code(), Code::Unauthenticated);
    // Nothing about the store is given away either.
    assert_eq!(status(client.get_catalogs().await).code(), Code::Unauthenticated);
    assert_eq!(status(client.prepare("SELECT 1".into(), None).await).code(), Code::Unauthenticated);
}

#[tokio::test]
async fn a_password_may_come_with_each_request() {
    let served = served();
    let mut client = FlightClient::new(served.channel().await);
    client.add_header("authorization", "Basic YW5uOmFubmFubg==").expect("a header");
    let command = CommandGetCatalogs {}.as_any().encode_to_vec();
    let batches = client.do_get(Ticket::new(command.clone())).await.expect("an answer");
    assert_eq!(batches.try_collect::<Vec<_>>().await.expect("rows")[0].num_rows(), 1);
    for wrong in ["Basic YW5uOmJvYmJvYg==", "Basic", "Basic ?", "Bearer ", "Digest a", "YW5u"] {
        let mut client = FlightClient::new(served.channel().await);
        client.add_header("authorization", wrong).expect("a header");
        let refused = status(client.do_get(Ticket::new(command.clone())).await.map(drop));
        assert_eq!(refused.code(), Code::Unauthenticated, "{wrong}: {}", refused.message());
        assert!(!refused.message().contains("YW5u"), "{wrong}: {}", refused.message());
    }
}

#[tokio::test]
async fn a_token_expires() {
    let served = Served::small(|config| {
        config.users = Some(two_users());
        config.limits.token = Duration::from_millis(500);
    });
    let mut client = served.client_of("ann", "annann").await;
    rows(&mut client, "SELECT 1").await.expect("rows");
    tokio::time::sleep(Duration::from_millis(600)).await;
    let expired = status(client.execute("SELECT 1".into(), None).await);
    assert_eq!(expired.code(), Code::Unauthenticated);
    assert!(expired.message().contains("expired"), "{}", expired.message());
    client.clear_token();
    client.handshake("ann", "annann").await.expect("another token");
    rows(&mut client, "SELECT 1").await.expect("rows");
}

#[tokio::test]
async fn a_token_is_not_renewed_without_the_password() {
    let served = Served::small(|config| {
        config.users = Some(two_users());
        config.limits.token = Duration::from_secs(4);
    });
    let client = served.client_of("ann", "annann").await;
    let token = client.token().expect("a token").clone();
    let began = std::time::Instant::now();
    // A client may offer its token for another one. It gets the one that it has.
    let renewed = async || {
        let mut raw = FlightServiceClient::new(served.channel().await);
        let mut request = tonic::Request::new(stream::iter([HandshakeRequest::default()]));
        let header = format!("Bearer {token}").parse().expect("a header");
        request.metadata_mut().insert("authorization", header);
        let answer = raw.handshake(request).await?.into_inner().message().await?;
        Ok::<_, tonic::Status>(String::from_utf8(answer.expect("an answer").payload.to_vec()))
    };
    assert_eq!(renewed().await.expect("accepted").expect("a text"), token);
    tokio::time::sleep_until((began + Duration::from_millis(4_100)).into()).await;
    let expired = renewed().await.expect_err("expired");
    assert_eq!(expired.code(), Code::Unauthenticated, "{}", expired.message());
}

#[tokio::test]
async fn handles_belong_to_their_user() {
    let served = served();
    let mut ann = served.client_of("ann", "annann").await;
    let mut bob = served.client_of("bob", "bobbob").await;
    let info = ann.execute("SELECT 5 AS n".into(), None).await.expect("started");
    assert_eq!(status(read(&mut bob, &info).await).code(), Code::NotFound);
    let mut other = FlightClient::new(served.channel().await);
    let token = bob.token().expect("a token").clone();
    other.add_header("authorization", &format!("Bearer {token}")).expect("a header");
    let cancelled = other.cancel_flight_info(CancelFlightInfoRequest::new(info.clone())).await;
    assert_eq!(cancelled.expect("an answer").status(), CancelStatus::NotCancellable);
    assert_eq!(number(&read(&mut ann, &info).await.expect("rows")), 5);
    // Another connection of the same user may read it.
    let info = ann.execute("SELECT 6 AS n".into(), None).await.expect("started");
    let mut again = served.client_of("ann", "annann").await;
    assert_eq!(number(&read(&mut again, &info).await.expect("rows")), 6);
}

async fn close(client: &mut FlightSqlServiceClient<Channel>) {
    let action = Action::new("CloseSession", Vec::new());
    let mut request = tonic::Request::new(action);
    let token = client.token().expect("a token").clone();
    let header = format!("Bearer {token}").parse().expect("a header");
    request.metadata_mut().insert("authorization", header);
    let answer = client.inner_mut().do_action(request).await.expect("closed").into_inner();
    assert_eq!(answer.try_collect::<Vec<_>>().await.expect("a result").len(), 1);
}

#[tokio::test]
async fn a_closed_session_ends_its_token() {
    let served = served();
    let mut client = served.client_of("ann", "annann").await;
    close(&mut client).await;
    assert_eq!(status(rows(&mut client, "SELECT 1").await).code(), Code::Unauthenticated);
}

#[tokio::test]
async fn a_closed_session_leaves_those_of_others_on_its_connection() {
    let served = served();
    let channel = served.channel().await;
    let mut clients = [0; 2].map(|_| FlightSqlServiceClient::new(channel.clone()));
    for (client, user) in clients.iter_mut().zip(["ann", "bob"]) {
        client.handshake(user, &user.repeat(2)).await.expect("the password is right");
        let view = format!("CREATE VIEW mine AS SELECT '{user}' AS name, 7 AS n");
        client.execute_update(view, None).await.expect("a view");
    }
    let [ann, bob] = &mut clients;
    close(ann).await;
    let of_bob = rows(bob, "SELECT n FROM mine WHERE name = 'bob'").await;
    assert_eq!(number(&of_bob.expect("the view of bob")), 7);
    ann.clear_token();
    ann.handshake("ann", "annann").await.expect("the password is right");
    let ended = status(rows(ann, "SELECT n FROM mine").await);
    assert_eq!(ended.code(), Code::NotFound, "{}", ended.message());
}

#[test]
fn the_log_has_failed_attempts_and_no_passwords() {
    let folder = tempfile::tempdir().expect("a folder");
    let (trace, users) = (folder.path().join("small.json"), folder.path().join("users"));
    std::fs::write(&trace, small_trace(0, 3)).expect("a trace");
    let store = folder.path().join("store");
    let paths = [trace.as_path(), Path::new("-o"), store.as_path()];
    Program::new(folder.path()).args(["ingest"]).args(paths).run().success();
    Users::add(&users, "ann", "open sesame").expect("a user");
    let port = free_port();
    let mut program = Program::new(folder.path())
        .args([Path::new("serve"), &store, Path::new("--users"), &users])
        .args(["--flight", &format!("127.0.0.1:{port}")])
        .start();
    child::wait_for_port(port, Duration::from_secs(30));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let address = format!("http://127.0.0.1:{port}");
        let channel = Channel::from_shared(address).expect("an address").connect().await;
        let mut client = FlightSqlServiceClient::new(channel.expect("a connection"));
        client.handshake("ann", "close sesame").await.expect_err("refused");
        client.handshake("ann", "open sesame").await.expect("the password is right");
        for wrong in ["SELECT nam FROM events", "SELECT ?, $1", "SELECT * FROM prepared_only"] {
            status(client.prepare(wrong.into(), None).await.map(drop));
        }
        let mut unbound = client.prepare("SELECT $1 + 1".into(), None).await.expect("prepared");
        status(unbound.execute().await);
    });
    let kill = Command::new("kill").arg(program.id().to_string()).status().expect("kill runs");
    assert!(kill.success());
    let log = Finished::of(&mut program, Duration::from_secs(15)).stderr;
    for expected in [
        r#"wrong password of "ann""#,
        r#"outcome=42703 sql="SELECT nam FROM events""#,
        r#"outcome=42601 sql="SELECT ?, $1""#,
        r#"outcome=42P01 sql="SELECT * FROM prepared_only""#,
        r#"outcome=42P02 sql="SELECT $1 + 1""#,
    ] {
        assert_eq!(log.matches(expected).count(), 1, "{expected}\n{log}");
    }
    // A handshake carries the password as text or as base64.
    for secret in ["sesame", "YW5uOm9wZW4", "YW5uOmNsb3Nl", "c2VzYW1l"] {
        assert!(!log.contains(secret), "{secret}\n{log}");
    }
}
