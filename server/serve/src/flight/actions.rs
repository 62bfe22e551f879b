//! Actions that are not part of Flight SQL's own list, and the handles inside of their messages.

use arrow_flight::sql::{Any, ProstMessageExt, TicketStatementQuery};
use arrow_flight::{ActionType, CancelFlightInfoResult, CancelStatus, FlightInfo};
use prost::Message;
use tonic::Status;

use super::handles::Cancelled;

/// Cancels a started statement.
pub const CANCEL: &str = "CancelFlightInfo";
/// Ends the session and its token.
pub const CLOSE_SESSION: &str = "CloseSession";

/// The answer to [`CLOSE_SESSION`]. The crate has no type for it.
#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct CloseSessionResult {
    /// How it ended.
    #[prost(int32, tag = "1")]
    pub status: i32,
}

/// The session is closed.
pub const CLOSED: i32 = 1;

/// The actions of this server that the crate does not list.
pub fn listed() -> Vec<Result<ActionType, Status>> {
    let action = |name: &str, description: &str| {
        Ok(ActionType { r#type: name.to_owned(), description: description.to_owned() })
    };
    vec![
        action(CANCEL, "Cancels a query. Request: CancelFlightInfoRequest"),
        action(CLOSE_SESSION, "Ends the session. Request: CloseSessionRequest"),
    ]
}

/// The handle of the started statement that a `FlightInfo` describes.
pub fn handle(info: &FlightInfo) -> Result<Vec<u8>, Status> {
    let wrong =
        || Status::invalid_argument("this FlightInfo is not the answer to a query of this server");
    let ticket = info.endpoint.first().and_then(|e| e.ticket.as_ref()).ok_or_else(wrong)?;
    let any = Any::decode(&*ticket.ticket).map_err(|_| wrong())?;
    let query = any.unpack::<TicketStatementQuery>().map_err(|_| wrong())?.ok_or_else(wrong)?;
    Ok(query.statement_handle.to_vec())
}

/// The ticket with which a client reads a started statement.
pub fn ticket(handle: Vec<u8>) -> Vec<u8> {
    TicketStatementQuery { statement_handle: handle.into() }.as_any().encode_to_vec()
}

/// The answer to [`CANCEL`].
pub fn cancelled(outcome: Cancelled) -> CancelFlightInfoResult {
    CancelFlightInfoResult::new(match outcome {
        Cancelled::Unread | Cancelled::Reading => CancelStatus::Cancelled,
        Cancelled::Unknown => CancelStatus::NotCancellable,
    })
}

#[cfg(test)]
mod tests {
    use arrow_flight::{FlightEndpoint, FlightInfo, Ticket};

    use super::{handle, ticket};

    #[test]
    fn the_handle_of_a_query_is_found_in_its_info() {
        let endpoint = FlightEndpoint::new().with_ticket(Ticket::new(ticket(vec![1, 2, 3])));
        let info = FlightInfo::new().with_endpoint(endpoint);
        assert_eq!(handle(&info).expect("a handle"), [1, 2, 3]);
        assert!(handle(&FlightInfo::new()).is_err());
    }
}
