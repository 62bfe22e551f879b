//! Requests that no client sends: random bytes, broken messages, requests out of order.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::ipc::CompressionType;
use arrow::ipc::writer::IpcWriteOptions;
use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::sql::{
    ActionClosePreparedStatementRequest, ActionCreatePreparedStatementRequest,
    ActionCreatePreparedStatementResult, Any, CommandPreparedStatementQuery,
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

/// A prepared statement with two parameters: the command that refers to it.
async fn prepared(raw: &mut FlightServiceClient<Channel>) -> Vec<u8> {
    let query = "SELECT CAST($1 AS BIGINT) + 1 AS n, CAST($2 AS VARCHAR) AS t".to_owned();
    let request = ActionCreatePreparedStatementRequest { query, transaction_id: None };
    let action = Action::new("CreatePreparedStatement", request.as_any().encode_to_vec());
    let answer = raw.do_action(action).await.expect("prepared").into_inner();
    let answer: Vec<_> = answer.try_collect().await.expect("an answer");
    let any = Any::decode(&*answer[0].body).expect("a message");
    let prepared: ActionCreatePreparedStatementResult =
        any.unpack().expect("a message").expect("the type");
    let prepared_statement_handle = prepared.prepared_statement_handle;
    CommandPreparedStatementQuery { prepared_statement_handle }.as_any().encode_to_vec()
}

/// The messages that bind values to these parameters.
async fn values(command: &[u8], compressed: Option<CompressionType>) -> Vec<FlightData> {
    let columns: [(&str, ArrayRef); 2] = [
        ("1", Arc::new(Int64Array::from((0..500).collect::<Vec<i64>>()))),
        ("2", Arc::new(StringArray::from_iter_values((0..500).map(|at| format!("text {at}"))))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let options = IpcWriteOptions::default().try_with_compression(compressed).expect("options");
    FlightDataEncoderBuilder::new()
        .with_options(options)
        .with_flight_descriptor(Some(FlightDescriptor::new_cmd(command.to_vec())))
        .build(stream::iter([Ok(batch)]))
        .try_collect()
        .await
        .expect("messages")
}

/// The code of binding values, with the end of its answer.
async fn bind(raw: &mut FlightServiceClient<Channel>, messages: Vec<FlightData>) -> Code {
    match raw.do_put(stream::iter(messages)).await {
        Ok(answer) => answer.into_inner().try_collect::<Vec<_>>().await.err().map(|e| e.code()),
        Err(status) => Some(status.code()),
    }
    .unwrap_or(Code::Ok)
}

#[tokio::test]
async fn bound_values_that_claim_to_be_huge_are_refused() {
    let served = Served::small(|_| {});
    let mut raw = FlightServiceClient::new(served.channel().await);
    let command = prepared(&mut raw).await;
    assert_eq!(bind(&mut raw, values(&command, None).await).await, Code::Ok);
    for kind in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let mut messages = values(&command, Some(kind)).await;
        assert_eq!(bind(&mut raw, messages.clone()).await, Code::InvalidArgument);
        // A compressed buffer begins with the length that it has when it is unpacked. Buffers lie at
        // multiples of 8 or 64 bytes.
        let body = messages[1].data_body.to_vec();
        let huge = (1_u64 << 40).to_le_bytes();
        messages[1].data_body = huge.repeat(body.len() / 8).into();
        assert_eq!(bind(&mut raw, messages).await, Code::InvalidArgument);
    }
    let mut client = served.client().await;
    assert_eq!(number(&rows(&mut client, "SELECT 1").await.expect("rows")), 1);
}

#[tokio::test]
async fn damaged_bound_values_are_refused_and_the_server_goes_on() {
    let served = Served::small(|_| {});
    let mut raw = FlightServiceClient::new(served.channel().await);
    let command = prepared(&mut raw).await;
    let mut noise = Noise(0x0dd5_eed5_1234_5678);
    for round in 0..600 {
        let compressed = [None, Some(CompressionType::LZ4_FRAME)][round % 2];
        let mut messages = values(&command, compressed).await;
        let at = noise.next() as usize % messages.len();
        match noise.next() % 3 {
            0 => messages[at].data_body = noise.damage(&messages[at].data_body).into(),
            _ => messages[at].data_header = noise.damage(&messages[at].data_header).into(),
        }
        let code = bind(&mut raw, messages).await;
        let is_refused = matches!(code, Code::InvalidArgument | Code::ResourceExhausted);
        assert!(is_refused || code == Code::Ok, "{code}");
    }
    assert_eq!(bind(&mut raw, values(&command, None).await).await, Code::Ok);
    let code = read(&mut raw, command).await;
    assert_eq!(code, Code::Ok, "what was bound last is read");
}
