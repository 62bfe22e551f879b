//! Parts that several requests and answers have in common.

use arrow::datatypes::Schema;
use arrow_flight::{FlightDescriptor, FlightEndpoint, FlightInfo, IpcMessage, SchemaAsIpc, Ticket};
use prost::bytes::Bytes;
use tonic::{Response, Status};

/// The answer to a request that starts something.
pub type Informed = Result<Response<FlightInfo>, Status>;

/// Says how to read the rows with these columns.
pub fn informed(descriptor: FlightDescriptor, ticket: Vec<u8>, schema: &Schema) -> Informed {
    let endpoint = FlightEndpoint::new().with_ticket(Ticket::new(ticket));
    let info = FlightInfo::new()
        .try_with_schema(schema)
        .map_err(|e| Status::internal(e.to_string()))?
        .with_endpoint(endpoint)
        .with_descriptor(descriptor);
    Ok(Response::new(info))
}

/// Columns as a message of Flight carries them.
pub fn encoded(schema: &Schema) -> Result<Bytes, Status> {
    let message: IpcMessage = SchemaAsIpc::new(schema, &Default::default())
        .try_into()
        .map_err(|e: arrow::error::ArrowError| Status::internal(e.to_string()))?;
    Ok(message.0)
}

/// Fails if a statement belongs to a transaction.
pub fn refuse_transaction(id: Option<&Bytes>) -> Result<(), Status> {
    match id {
        Some(id) if !id.is_empty() => Err(no_transactions()),
        _ => Ok(()),
    }
}

/// The answer to everything about transactions.
pub fn no_transactions() -> Status {
    Status::unimplemented(
        "this server only reads, and has no transactions; connect with autocommit",
    )
}

/// The answer to everything about Substrait.
pub fn no_substrait() -> Status {
    Status::unimplemented("this server runs SQL and no Substrait plans")
}
