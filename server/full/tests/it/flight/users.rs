//! Passwords, tokens, and what belongs to a user.

use std::time::Duration;

use arrow_flight::sql::{CommandGetCatalogs, ProstMessageExt};
use arrow_flight::{Action, CancelFlightInfoRequest, CancelStatus, FlightClient, Ticket};
use futures::TryStreamExt;
use prost::Message;
use tonic::Code;

use super::{Served, number, read, rows, status, two_users};

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

#[tokio::test]
async fn a_closed_session_ends_its_token() {
    let served = served();
    let mut client = served.client_of("ann", "annann").await;
    let action = Action::new("CloseSession", Vec::new());
    let mut request = tonic::Request::new(action);
    let token = client.token().expect("a token").clone();
    let header = format!("Bearer {token}").parse().expect("a header");
    request.metadata_mut().insert("authorization", header);
    let answer = client.inner_mut().do_action(request).await.expect("closed").into_inner();
    assert_eq!(answer.try_collect::<Vec<_>>().await.expect("a result").len(), 1);
    assert_eq!(status(rows(&mut client, "SELECT 1").await).code(), Code::Unauthenticated);
}
