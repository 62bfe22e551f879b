//! How large a message of a client may be. Many clients can connect before they log in, so what they
//! send until then is small.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use arrow_flight::flight_service_server::FlightServiceServer;
use tonic::codegen::{Body, Service as Answers, StdError, http};
use tonic::server::NamedService;

use super::service::Service;
use super::sessions::Sessions;

/// The maximum size of a message of a client, in bytes. It is more than the length of a statement,
/// so that longer ones are refused with a text that explains it.
const MAX_MESSAGE: usize = 16 << 20;
/// The maximum size of a message of a client that did not log in, in bytes.
const MAX_FIRST_MESSAGE: usize = 64 << 10;

/// The service with a limit that depends on the client.
#[derive(Clone)]
pub struct Limited {
    sessions: Arc<Sessions>,
    of_known: FlightServiceServer<Service>,
    of_others: FlightServiceServer<Service>,
}

impl Limited {
    /// The service with limits.
    pub fn new(service: Service, sessions: Arc<Sessions>) -> Self {
        let service = Arc::new(service);
        let with = |most| {
            FlightServiceServer::from_arc(service.clone())
                .max_decoding_message_size(most)
                .max_encoding_message_size(usize::MAX)
        };
        Self { sessions, of_known: with(MAX_MESSAGE), of_others: with(MAX_FIRST_MESSAGE) }
    }
}

impl NamedService for Limited {
    const NAME: &'static str = <FlightServiceServer<Service> as NamedService>::NAME;
}

impl<B> Answers<http::Request<B>> for Limited
where
    B: Body + Send + 'static,
    B::Error: Into<StdError> + Send + 'static,
{
    type Response = http::Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = <FlightServiceServer<Service> as Answers<http::Request<B>>>::Future;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        match self.sessions.knows(request.headers(), request.extensions()) {
            true => self.of_known.call(request),
            false => self.of_others.call(request),
        }
    }
}
