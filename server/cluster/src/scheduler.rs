//! The scheduler: Ballista's, which hands tasks to executors, and the sessions of clients.
//!
//! A client keeps a connection to `/tracesql/session` open while it works. The scheduler writes a
//! line with its state to it each second. When the connection ends, for whatever reason, the work
//! of the client is cancelled. `/tracesql/cancel` cancels one job: clients learn the ids of their
//! jobs when the jobs end, so that jobs are cancelled by the names that clients give them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::serde::protobuf::job_status::Status;
use ballista_core::serde::protobuf::scheduler_grpc_server::SchedulerGrpcServer;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::{SchedulerConfig, TaskDistributionPolicy};
use ballista_scheduler::scheduler_process::create_scheduler;
use ballista_scheduler::scheduler_server::SchedulerServer;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use futures::stream;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tonic::service::RoutesBuilder;
use tracesql::{Error, Result};

use crate::codec::TraceCodec;
use crate::version;

/// The path of sessions.
pub const SESSION: &str = "/tracesql/session";

/// The path where jobs are cancelled.
pub const CANCEL: &str = "/tracesql/cancel";

/// The header with the name of a session or a job.
pub const ID_HEADER: &str = "x-tracesql-id";

/// The time between two lines of a session.
const BEAT: Duration = Duration::from_secs(1);

/// The time in which a request that was on its way becomes a job.
const ARRIVAL: Duration = Duration::from_millis(100);

/// How often the jobs of a session that ended are cancelled.
const CANCELS: usize = 2;

/// Seconds for which unread rows stay on executors. A client reads them at once.
const UNREAD_SECONDS: u64 = 60;

/// Seconds that the state of a finished job is kept.
const STATE_SECONDS: u64 = 30;

/// The size of the largest message, in bytes.
pub const MAX_MESSAGE_BYTES: u32 = 1 << 30;

/// Options of a scheduler.
#[derive(Debug, Clone)]
pub struct SchedulerOptions {
    /// Where it listens.
    pub listen: SocketAddr,
    /// How long an executor may be silent before it counts as lost.
    pub executor_timeout: Duration,
}

/// What a scheduler tells the clients of its sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterState {
    /// The version of the scheduler.
    pub version: String,
    /// The number of executors.
    pub executors: usize,
    /// The number of traces that they compute at once.
    pub slots: usize,
}

type Server = Arc<SchedulerServer<LogicalPlanNode, PhysicalPlanNode>>;

/// Runs a scheduler until the process ends. `ready` is called when it listens.
pub async fn run(options: &SchedulerOptions, ready: impl FnOnce(SocketAddr)) -> Result<()> {
    let listener = TcpListener::bind(options.listen)
        .await
        .map_err(|source| Error::Start { what: "the scheduler: cannot listen", source })?;
    let address =
        listener.local_addr().map_err(|source| Error::Start { what: "the scheduler", source })?;
    let timeout = options.executor_timeout.as_secs().max(2);
    let config = Arc::new(SchedulerConfig {
        bind_host: address.ip().to_string(),
        external_host: address.ip().to_string(),
        bind_port: address.port(),
        scheduling_policy: TaskSchedulingPolicy::PushStaged,
        task_distribution: TaskDistributionPolicy::RoundRobin,
        executor_timeout_seconds: timeout,
        expire_dead_executor_interval_seconds: (timeout / 3).clamp(1, 5),
        no_executors_grace_period_seconds: timeout,
        finished_job_data_clean_up_interval_seconds: UNREAD_SECONDS,
        finished_job_state_clean_up_interval_seconds: STATE_SECONDS,
        grpc_server_max_decoding_message_size: MAX_MESSAGE_BYTES,
        grpc_server_max_encoding_message_size: MAX_MESSAGE_BYTES,
        grpc_client_max_message_size: MAX_MESSAGE_BYTES,
        override_physical_codec: Some(Arc::new(TraceCodec::default())),
        ..SchedulerConfig::default()
    });
    let cluster = BallistaCluster::new_from_config(&config).await.map_err(failed)?;
    let server: SchedulerServer<LogicalPlanNode, PhysicalPlanNode> =
        create_scheduler(cluster, config).await.map_err(failed)?;
    let mut services = RoutesBuilder::default();
    services.add_service(
        SchedulerGrpcServer::new(server.clone())
            .max_encoding_message_size(MAX_MESSAGE_BYTES as usize)
            .max_decoding_message_size(MAX_MESSAGE_BYTES as usize),
    );
    let sessions = Router::new().route(SESSION, get(session)).route(CANCEL, post(cancel));
    let sessions = sessions.with_state(Arc::new(server));
    let routes = services.routes().into_axum_router().merge(sessions).layer(from_fn(refuse_others));
    ready(address);
    axum::serve(listener, routes.into_make_service_with_connect_info::<SocketAddr>())
        .await
        .map_err(|source| Error::Start { what: "the scheduler", source })
}

fn failed(error: ballista_core::error::BallistaError) -> Error {
    Error::Query(format!("the scheduler failed: {error}"))
}

/// Refuses processes of other versions, whatever they ask.
async fn refuse_others(request: Request, next: Next) -> Response {
    let agent = request.headers().get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let Some(refusal) = version::refusal(agent) else { return next.run(request).await };
    log::warn!("refused: {refusal}");
    match request.uri().path() {
        SESSION | CANCEL => (StatusCode::PRECONDITION_FAILED, refusal).into_response(),
        _ => tonic::Status::failed_precondition(refusal).into_http(),
    }
}

/// Keeps a session until its client ends the connection.
async fn session(State(server): State<Server>, headers: HeaderMap) -> Response {
    let id = headers.get(ID_HEADER).and_then(|id| id.to_str().ok()).unwrap_or_default();
    if id.is_empty() {
        let text = format!("the header {ID_HEADER} is missing");
        return (StatusCode::BAD_REQUEST, text).into_response();
    }
    log::info!("session {id}: begins");
    let session = Session { id: id.to_owned(), server };
    let lines = stream::unfold((session, true), |(session, is_first)| async move {
        if !is_first {
            tokio::time::sleep(BEAT).await;
        }
        let line = session.state().await;
        Some((Ok::<_, std::convert::Infallible>(line), (session, false)))
    });
    Body::from_stream(lines).into_response()
}

/// Cancels the job with a name. The answer is the number of jobs, 0 if it has ended.
async fn cancel(State(server): State<Server>, headers: HeaderMap) -> String {
    let name = headers.get(ID_HEADER).and_then(|id| id.to_str().ok()).unwrap_or_default();
    let mut cancelled = cancel_jobs(&server, |job| job == name).await;
    if cancelled == 0 {
        tokio::time::sleep(ARRIVAL).await;
        cancelled = cancel_jobs(&server, |job| job == name).await;
    }
    log::info!("job {name}: {cancelled} jobs cancelled");
    format!("{cancelled}\n")
}

/// The session of a client. Dropping it cancels the client's jobs.
struct Session {
    id: String,
    server: Server,
}

impl Session {
    async fn state(&self) -> Bytes {
        let executors =
            self.server.state.executor_manager.get_executors_state().await.unwrap_or_default();
        let slots = executors.iter().map(|(e, ..)| e.specification.vcores as usize).sum();
        let state = ClusterState {
            version: version::program().to_owned(),
            executors: executors.len(),
            slots,
        };
        let mut line = serde_json::to_vec(&state).unwrap_or_default();
        line.push(b'\n');
        line.into()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let (id, server) = (std::mem::take(&mut self.id), self.server.clone());
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            // A request that was on its way can become a job a moment later.
            for _ in 0..CANCELS {
                let of_session = format!("{id}/");
                let cancelled = cancel_jobs(&server, |job| job.starts_with(&of_session)).await;
                log::info!("session {id}: ends, {cancelled} jobs cancelled");
                tokio::time::sleep(BEAT).await;
            }
        });
    }
}

/// Cancels the jobs with such names. Returns their number.
async fn cancel_jobs(server: &Server, is_meant: impl Fn(&str) -> bool) -> usize {
    let jobs = server.state.task_manager.get_all_jobs().await.unwrap_or_default();
    let mut cancelled = 0;
    for job in jobs.into_iter().filter(|job| is_meant(&job.job_name)) {
        if let Some(Status::Queued(_) | Status::Running(_)) = job.status.status {
            cancelled += usize::from(server.cancel_job(job.job_id).await.is_ok());
        }
    }
    cancelled
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_trials_open_sessions_with_the_same_header() {
        let trials = include_str!("../../scripts/local_cluster.py");
        assert!(trials.contains(&format!("{}: ", super::ID_HEADER)));
    }
}
