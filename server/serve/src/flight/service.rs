//! The requests of Flight SQL. Each checks who sends it, and hands on to the file that does it.

use std::pin::Pin;
use std::sync::Arc;

use arrow::datatypes::Schema;
use arrow_flight::flight_service_server::FlightService;
use arrow_flight::sql::metadata::{GetCatalogsBuilder, SqlInfoData, XdbcTypeInfoData};
use arrow_flight::sql::server::{DoPutError, FlightSqlService, PeekableFlightDataStream};
use arrow_flight::sql::{
    ActionBeginTransactionRequest, ActionBeginTransactionResult, ActionCancelQueryRequest,
    ActionCancelQueryResult, ActionClosePreparedStatementRequest,
    ActionCreatePreparedStatementRequest, ActionCreatePreparedStatementResult,
    ActionCreatePreparedSubstraitPlanRequest, ActionEndTransactionRequest, CommandGetCatalogs,
    CommandGetCrossReference, CommandGetDbSchemas, CommandGetExportedKeys, CommandGetImportedKeys,
    CommandGetPrimaryKeys, CommandGetSqlInfo, CommandGetTableTypes, CommandGetTables,
    CommandGetXdbcTypeInfo, CommandPreparedStatementQuery, CommandPreparedStatementUpdate,
    CommandStatementIngest, CommandStatementQuery, CommandStatementSubstraitPlan,
    CommandStatementUpdate, DoPutPreparedStatementResult, ProstMessageExt, SqlInfo,
    TicketStatementQuery,
};
use arrow_flight::{
    Action, ActionType, CancelFlightInfoRequest, FlightDescriptor, FlightInfo, HandshakeRequest,
    HandshakeResponse, Ticket,
};
use futures::{Stream, StreamExt, TryStreamExt, stream};
use prost::Message;
use prost::bytes::Bytes;
use tonic::metadata::MetadataValue;
use tonic::{Request, Response, Status, Streaming};

use super::answers::{
    Informed, encoded, informed, no_substrait, no_transactions, refuse_transaction,
};
use super::handles::Cancelled;
use super::rows::{self, Answer};
use super::sessions::{Caller, Sessions};
use super::statements::Statements;
use super::tokens::Credentials;
use super::{actions, info, metadata, status};
use crate::Server;

type Streamed<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;
type Acted = Response<Streamed<arrow_flight::Result>>;

/// The service.
pub struct Service {
    sessions: Arc<Sessions>,
    statements: Arc<Statements>,
    sql_info: SqlInfoData,
    types: XdbcTypeInfoData,
}

impl Service {
    /// The service of a server.
    pub fn new(
        server: &Server,
        sessions: Arc<Sessions>,
        statements: Arc<Statements>,
    ) -> Result<Self, Status> {
        let limits = server.limits();
        let sql_info = info::sql_info(limits.timeout, limits.statement_bytes)?;
        Ok(Self { sql_info, types: info::types()?, sessions, statements })
    }

    async fn caller<T>(&self, request: &Request<T>) -> Result<Caller, Status> {
        self.sessions.caller(request.metadata(), request.extensions()).await
    }

    /// Says how to read an answer that is made when it is read: by sending the command again.
    async fn later(
        &self,
        command: impl ProstMessageExt,
        schema: &Schema,
        request: Request<FlightDescriptor>,
    ) -> Informed {
        self.caller(&request).await?;
        informed(request.into_inner(), command.as_any().encode_to_vec(), schema)
    }
}

#[tonic::async_trait]
impl FlightSqlService for Service {
    type FlightService = Self;

    async fn do_handshake(
        &self,
        request: Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Streamed<HandshakeResponse>>, Status> {
        let (headers, extensions, mut messages) = request.into_parts();
        let mut credentials = Credentials::of_headers(&headers)?;
        let mut version = 0;
        if credentials == Credentials::Nothing
            && let Some(first) = messages.try_next().await?
        {
            version = first.protocol_version;
            credentials = Credentials::of_payload(&first.payload);
        }
        let token = self.sessions.log_in(credentials, &extensions).await?;
        let header = MetadataValue::try_from(format!("Bearer {token}"))
            .map_err(|_| Status::internal("the token is no header"))?;
        let answer = HandshakeResponse { protocol_version: version, payload: token.into() };
        let mut response: Response<Streamed<HandshakeResponse>> =
            Response::new(stream::iter([Ok(answer)]).boxed());
        response.metadata_mut().insert("authorization", header);
        Ok(response)
    }

    async fn get_flight_info_statement(
        &self,
        query: CommandStatementQuery,
        request: Request<FlightDescriptor>,
    ) -> Informed {
        let caller = self.caller(&request).await?;
        refuse_transaction(query.transaction_id.as_ref())?;
        let (handle, schema) = self.statements.start(&caller, &query.query).await?;
        informed(request.into_inner(), actions::ticket(handle), &schema)
    }

    async fn get_flight_info_prepared_statement(
        &self,
        query: CommandPreparedStatementQuery,
        request: Request<FlightDescriptor>,
    ) -> Informed {
        let caller = self.caller(&request).await?;
        let prepared = &query.prepared_statement_handle;
        let (handle, schema) = self.statements.start_prepared(&caller, prepared).await?;
        informed(request.into_inner(), actions::ticket(handle), &schema)
    }

    async fn get_flight_info_substrait_plan(
        &self,
        _: CommandStatementSubstraitPlan,
        request: Request<FlightDescriptor>,
    ) -> Informed {
        self.caller(&request).await?;
        Err(no_substrait())
    }

    async fn get_flight_info_catalogs(
        &self,
        query: CommandGetCatalogs,
        request: Request<FlightDescriptor>,
    ) -> Informed {
        self.later(query, &GetCatalogsBuilder::new().schema(), request).await
    }

    async fn get_flight_info_schemas(
        &self,
        query: CommandGetDbSchemas,
        request: Request<FlightDescriptor>,
    ) -> Informed {
        let schema = query.clone().into_builder().schema();
        self.later(query, &schema, request).await
    }

    async fn get_flight_info_tables(
        &self,
        query: CommandGetTables,
        request: Request<FlightDescriptor>,
    ) -> Informed {
        let schema = query.clone().into_builder().schema();
        self.later(query, &schema, request).await
    }

    async fn get_flight_info_table_types(
        &self,
        query: CommandGetTableTypes,
        request: Request<FlightDescriptor>,
    ) -> Informed {
        self.later(query, &query.into_builder().schema(), request).await
    }

    async fn get_flight_info_sql_info(
        &self,
        query: CommandGetSqlInfo,
        request: Request<FlightDescriptor>,
    ) -> Informed {
        self.later(query, &self.sql_info.schema(), request).await
    }

    async fn get_flight_info_xdbc_type_info(
        &self,
        query: CommandGetXdbcTypeInfo,
        request: Request<FlightDescriptor>,
    ) -> Informed {
        self.later(query, &self.types.schema(), request).await
    }

    async fn get_flight_info_primary_keys(
        &self,
        query: CommandGetPrimaryKeys,
        request: Request<FlightDescriptor>,
    ) -> Informed {
        self.later(query, &metadata::keys(false), request).await
    }

    async fn get_flight_info_exported_keys(
        &self,
        query: CommandGetExportedKeys,
        request: Request<FlightDescriptor>,
    ) -> Informed {
        self.later(query, &metadata::keys(true), request).await
    }

    async fn get_flight_info_imported_keys(
        &self,
        query: CommandGetImportedKeys,
        request: Request<FlightDescriptor>,
    ) -> Informed {
        self.later(query, &metadata::keys(true), request).await
    }

    async fn get_flight_info_cross_reference(
        &self,
        query: CommandGetCrossReference,
        request: Request<FlightDescriptor>,
    ) -> Informed {
        self.later(query, &metadata::keys(true), request).await
    }

    async fn do_get_statement(
        &self,
        ticket: TicketStatementQuery,
        request: Request<Ticket>,
    ) -> Result<Answer, Status> {
        let caller = self.caller(&request).await?;
        self.statements.read(&caller, &ticket.statement_handle)
    }

    async fn do_get_prepared_statement(
        &self,
        query: CommandPreparedStatementQuery,
        request: Request<Ticket>,
    ) -> Result<Answer, Status> {
        let caller = self.caller(&request).await?;
        self.statements.read_prepared(&caller, &query.prepared_statement_handle).await
    }

    async fn do_get_catalogs(
        &self,
        _: CommandGetCatalogs,
        request: Request<Ticket>,
    ) -> Result<Answer, Status> {
        self.caller(&request).await?;
        Ok(rows::one(metadata::catalogs()?))
    }

    async fn do_get_schemas(
        &self,
        query: CommandGetDbSchemas,
        request: Request<Ticket>,
    ) -> Result<Answer, Status> {
        self.caller(&request).await?;
        Ok(rows::one(metadata::schemas(query)?))
    }

    async fn do_get_tables(
        &self,
        query: CommandGetTables,
        request: Request<Ticket>,
    ) -> Result<Answer, Status> {
        let caller = self.caller(&request).await?;
        Ok(rows::one(metadata::tables_of(&caller.session, query).await?))
    }

    async fn do_get_table_types(
        &self,
        _: CommandGetTableTypes,
        request: Request<Ticket>,
    ) -> Result<Answer, Status> {
        self.caller(&request).await?;
        Ok(rows::one(metadata::table_types()?))
    }

    async fn do_get_sql_info(
        &self,
        query: CommandGetSqlInfo,
        request: Request<Ticket>,
    ) -> Result<Answer, Status> {
        self.caller(&request).await?;
        Ok(rows::one(query.into_builder(&self.sql_info).build().map_err(status::of_flight)?))
    }

    async fn do_get_xdbc_type_info(
        &self,
        query: CommandGetXdbcTypeInfo,
        request: Request<Ticket>,
    ) -> Result<Answer, Status> {
        self.caller(&request).await?;
        Ok(rows::one(query.into_builder(&self.types).build().map_err(status::of_flight)?))
    }

    async fn do_get_primary_keys(
        &self,
        _: CommandGetPrimaryKeys,
        request: Request<Ticket>,
    ) -> Result<Answer, Status> {
        self.caller(&request).await?;
        Ok(rows::none(&metadata::keys(false)))
    }

    async fn do_get_exported_keys(
        &self,
        _: CommandGetExportedKeys,
        request: Request<Ticket>,
    ) -> Result<Answer, Status> {
        self.caller(&request).await?;
        Ok(rows::none(&metadata::keys(true)))
    }

    async fn do_get_imported_keys(
        &self,
        _: CommandGetImportedKeys,
        request: Request<Ticket>,
    ) -> Result<Answer, Status> {
        self.caller(&request).await?;
        Ok(rows::none(&metadata::keys(true)))
    }

    async fn do_get_cross_reference(
        &self,
        _: CommandGetCrossReference,
        request: Request<Ticket>,
    ) -> Result<Answer, Status> {
        self.caller(&request).await?;
        Ok(rows::none(&metadata::keys(true)))
    }

    async fn do_put_error_callback(
        &self,
        _: Request<PeekableFlightDataStream>,
        error: DoPutError,
    ) -> Result<Response<<Self as FlightService>::DoPutStream>, Status> {
        Err(Status::invalid_argument(error.to_string()))
    }

    async fn do_put_statement_update(
        &self,
        command: CommandStatementUpdate,
        request: Request<PeekableFlightDataStream>,
    ) -> Result<i64, Status> {
        let caller = self.caller(&request).await?;
        refuse_transaction(command.transaction_id.as_ref())?;
        self.statements.update(&caller, &command.query).await
    }

    async fn do_put_prepared_statement_update(
        &self,
        command: CommandPreparedStatementUpdate,
        request: Request<PeekableFlightDataStream>,
    ) -> Result<i64, Status> {
        let caller = self.caller(&request).await?;
        let mut data = request.into_inner();
        let has_values =
            matches!(data.peek().await, Some(Ok(first)) if !first.data_header.is_empty());
        let values = has_values.then_some(data);
        let handle = &command.prepared_statement_handle;
        self.statements.update_prepared(&caller, handle, values).await
    }

    async fn do_put_statement_ingest(
        &self,
        _: CommandStatementIngest,
        request: Request<PeekableFlightDataStream>,
    ) -> Result<i64, Status> {
        self.caller(&request).await?;
        Err(Status::permission_denied(
            "this server only reads; traces are added with `tracesql-full ingest`",
        ))
    }

    async fn do_put_substrait_plan(
        &self,
        _: CommandStatementSubstraitPlan,
        request: Request<PeekableFlightDataStream>,
    ) -> Result<i64, Status> {
        self.caller(&request).await?;
        Err(no_substrait())
    }

    async fn do_put_prepared_statement_query(
        &self,
        query: CommandPreparedStatementQuery,
        request: Request<PeekableFlightDataStream>,
    ) -> Result<DoPutPreparedStatementResult, Status> {
        let caller = self.caller(&request).await?;
        let handle = query.prepared_statement_handle;
        self.statements.bind(&caller, &handle, request.into_inner()).await?;
        Ok(DoPutPreparedStatementResult { prepared_statement_handle: Some(handle) })
    }

    async fn do_action_create_prepared_statement(
        &self,
        query: ActionCreatePreparedStatementRequest,
        request: Request<Action>,
    ) -> Result<ActionCreatePreparedStatementResult, Status> {
        let caller = self.caller(&request).await?;
        refuse_transaction(query.transaction_id.as_ref())?;
        let prepared = self.statements.prepare(&caller, &query.query).await?;
        Ok(ActionCreatePreparedStatementResult {
            prepared_statement_handle: prepared.handle.into(),
            dataset_schema: encoded(&prepared.columns)?,
            parameter_schema: encoded(&prepared.parameters)?,
        })
    }

    async fn do_action_close_prepared_statement(
        &self,
        query: ActionClosePreparedStatementRequest,
        request: Request<Action>,
    ) -> Result<(), Status> {
        let caller = self.caller(&request).await?;
        self.statements.close(&caller, &query.prepared_statement_handle);
        Ok(())
    }

    async fn do_action_create_prepared_substrait_plan(
        &self,
        _: ActionCreatePreparedSubstraitPlanRequest,
        request: Request<Action>,
    ) -> Result<ActionCreatePreparedStatementResult, Status> {
        self.caller(&request).await?;
        Err(no_substrait())
    }

    async fn do_action_begin_transaction(
        &self,
        _: ActionBeginTransactionRequest,
        request: Request<Action>,
    ) -> Result<ActionBeginTransactionResult, Status> {
        self.caller(&request).await?;
        Err(no_transactions())
    }

    async fn do_action_end_transaction(
        &self,
        _: ActionEndTransactionRequest,
        request: Request<Action>,
    ) -> Result<(), Status> {
        self.caller(&request).await?;
        Err(no_transactions())
    }

    async fn do_action_cancel_query(
        &self,
        query: ActionCancelQueryRequest,
        request: Request<Action>,
    ) -> Result<ActionCancelQueryResult, Status> {
        let caller = self.caller(&request).await?;
        let info = FlightInfo::decode(query.info)
            .map_err(|e| Status::invalid_argument(format!("the FlightInfo: {e}")))?;
        let outcome = self.statements.cancel(&caller, &actions::handle(&info)?);
        Ok(ActionCancelQueryResult { result: actions::cancelled(outcome).status })
    }

    async fn do_action_fallback(&self, request: Request<Action>) -> Result<Acted, Status> {
        let caller = self.caller(&request).await?;
        let body: Bytes = match request.get_ref().r#type.as_str() {
            actions::CANCEL => {
                let asked = CancelFlightInfoRequest::decode(&*request.get_ref().body)
                    .map_err(|e| Status::invalid_argument(format!("the FlightInfo: {e}")))?;
                let outcome = match asked.info {
                    Some(info) => self.statements.cancel(&caller, &actions::handle(&info)?),
                    None => Cancelled::Unknown,
                };
                actions::cancelled(outcome).encode_to_vec().into()
            }
            actions::CLOSE_SESSION => {
                self.sessions.close(&caller, request.metadata())?;
                actions::CloseSessionResult { status: actions::CLOSED }.encode_to_vec().into()
            }
            other => {
                return Err(Status::unimplemented(format!(
                    "this server has no action {}",
                    status::short(other)
                )));
            }
        };
        Ok(Response::new(stream::iter([Ok(arrow_flight::Result { body })]).boxed()))
    }

    async fn list_custom_actions(&self) -> Option<Vec<Result<ActionType, Status>>> {
        Some(actions::listed())
    }

    async fn register_sql_info(&self, _: i32, _: &SqlInfo) {}
}
