//! Requests that no client sends: random bytes, broken messages, requests out of order.

use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::sql::{
    ActionClosePreparedStatementRequest, CommandPreparedStatementQuery,
    CommandPreparedStatementUpdate, ProstMessageExt, TicketStatementQuery,
};
use arrow_flight::{
    Action, CancelFlightInfoRequest, Criteria, FlightData, FlightDescriptor, FlightInfo, Ticket,
};
use futures::{TryStreamExt, stream};
use prost::Message;
use tonic::Code;
use tonic::transport::Channel;

use super::{Served, number, rows, ticket};

/// Bytes that look random and are the same in each run.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        let length = self.next() % most;
        (0..length).map(|_| self.next() as u8).collect()
    }

    /// A message with some bytes changed, added or cut off.
    fn damage(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..1 + self.next() % 4 {
            let at = self.next() as usize % bytes.len().max(1);
            match self.next() % 3 {
                0 => bytes.truncate(at),
                1 => bytes.insert(at.min(bytes.len()), self.next() as u8),
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte = self.next() as u8;
                    }
                }
            }
        }
        bytes
    }
}

/// The code of a request, with the end of its answer.
async fn read(client: &mut FlightServiceClient<Channel>, ticket: Vec<u8>) -> Code {
    match client.do_get(Ticket::new(ticket)).await {
        Ok(answer) => answer.into_inner().try_collect::<Vec<_>>().await.err().map(|e| e.code()),
        Err(status) => Some(status.code()),
    }
    .unwrap_or(Code::Ok)
}

#[tokio::test]
async fn random_requests_are_refused_and_the_server_goes_on() {
    let served = Served::small(|_| {});
    let mut client = served.client().await;
    let info = client.execute("SELECT 1".into(), None).await.expect("started");
    let real = ticket(&info).ticket.to_vec();
    let mut raw = FlightServiceClient::new(served.channel().await);
    let mut noise = Noise(0x5eed_1234_5678_9abc);
    for _ in 0..300 {
        let bytes = match noise.next() % 2 {
            0 => noise.bytes(200),
            _ => noise.damage(&real),
        };
        if bytes == real {
            continue;
        }
        let code = read(&mut raw, bytes.clone()).await;
        assert!(!matches!(code, Code::Ok | Code::Internal | Code::Unknown), "{code}: {bytes:x?}");
        let descriptor = FlightDescriptor::new_cmd(bytes.clone());
        let _ = raw.get_flight_info(descriptor.clone()).await.map(drop);
        let _ = raw.get_schema(descriptor.clone()).await.map(drop);
        let name = ["CreatePreparedStatement", "CancelQuery", "CancelFlightInfo", "x"];
        let action = Action::new(name[noise.next() as usize % 4], bytes.clone());
        let _ = raw.do_action(action).await.map(drop);
        let data = FlightData::new().with_descriptor(descriptor).with_data_header(bytes);
        let _ = raw.do_put(stream::iter([data])).await.map(drop);
    }
    assert_eq!(read(&mut raw, real).await, Code::Ok, "the result is still there");
    assert_eq!(number(&rows(&mut client, "SELECT 1").await.expect("rows")), 1);
}

#[tokio::test]
async fn requests_that_do_not_fit_the_protocol_are_refused() {
    let served = Served::small(|_| {});
    let mut raw = FlightServiceClient::new(served.channel().await);
    let path = FlightDescriptor::new_path(vec!["events".into()]);
    assert!(raw.get_flight_info(path).await.is_err(), "a path is no statement");
    assert!(raw.list_flights(Criteria::default()).await.is_err());
    assert!(raw.do_put(stream::empty()).await.is_err(), "nothing was put");
    assert!(raw.do_exchange(stream::empty()).await.is_err());
    // Handles of nothing, and of the wrong kind.
    let unread = TicketStatementQuery { statement_handle: vec![0; 32].into() };
    assert_eq!(read(&mut raw, unread.as_any().encode_to_vec()).await, Code::NotFound);
    let prepared =
        CommandPreparedStatementQuery { prepared_statement_handle: vec![7; 1 << 20].into() };
    assert_eq!(read(&mut raw, prepared.as_any().encode_to_vec()).await, Code::NotFound);
    let update = CommandPreparedStatementUpdate { prepared_statement_handle: vec![7; 9].into() };
    let descriptor = FlightDescriptor::new_cmd(update.as_any().encode_to_vec());
    let data = FlightData::new().with_descriptor(descriptor);
    let answer = raw.do_put(stream::iter([data])).await;
    assert_eq!(answer.err().map(|status| status.code()), Some(Code::NotFound));
    let close = ActionClosePreparedStatementRequest { prepared_statement_handle: vec![1].into() };
    let close = Action::new("ClosePreparedStatement", close.as_any().encode_to_vec());
    raw.do_action(close).await.expect("closing what is not there is no error");
    // A FlightInfo without a ticket names nothing that could be cancelled.
    let empty = CancelFlightInfoRequest::new(FlightInfo::new()).encode_to_vec();
    let cancel = raw.do_action(Action::new("CancelFlightInfo", empty)).await;
    assert_eq!(cancel.err().map(|status| status.code()), Some(Code::InvalidArgument));
}
