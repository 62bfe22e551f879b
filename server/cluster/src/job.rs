//! One job of the scheduler, which computes one trace.

use std::sync::Arc;
use std::time::Duration;

use arrow::record_batch::RecordBatch;
use ballista_core::client::BallistaClient;
use ballista_core::config::BALLISTA_JOB_NAME;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{
    CancelJobParams, CleanJobDataParams, ExecuteQueryParams, GetJobStatusResult, KeyValuePair,
    PartitionLocation, execute_query_params, job_status,
};
use ballista_core::version::insert_version_header;
use datafusion::common::exec_datafusion_err;
use datafusion::error::DataFusionError;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::AsExecutionPlan;
use datafusion_proto::protobuf::PhysicalPlanNode;
use futures::StreamExt;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tonic::transport::Channel;

use crate::codec::TraceCodec;
use crate::connection::Connection;
use crate::errors;
use crate::faults::Faults;
use crate::leaf::TraceExec;
use crate::scheduler::MAX_MESSAGE_BYTES;
use crate::wire::{Payload, TraceTask};

/// How often the rows of a trace may be lost.
const MAX_TRIES: usize = 4;

/// How long to wait for the news that the scheduler ended.
const NOTICE: Duration = Duration::from_secs(1);

/// How long to wait for a connection to the executor that has the rows.
const CONNECT: Duration = Duration::from_secs(10);

/// How long to wait for the next rows of an executor. They are complete files on its disk, so only
/// a machine that is cut off stays silent.
const SILENCE: Duration = Duration::from_secs(30);

/// Why a job has no rows.
enum Failure {
    /// It computed them, but they cannot be read any more.
    Lost(String),
    /// It failed. The scheduler has repeated what may be repeated.
    Failed(String),
    /// The scheduler ended.
    NoScheduler,
}

/// The rows of all queries over a trace. The job is cancelled when this future is dropped.
pub async fn rows(
    connection: Arc<Connection>,
    payload: Arc<Payload>,
    task: TraceTask,
    trace: String,
) -> Result<Vec<RecordBatch>, DataFusionError> {
    let mut lost = String::new();
    for _ in 0..MAX_TRIES {
        let plan = plan(payload.clone(), &task)?;
        let stop = CancellationToken::new();
        let _stops = stop.clone().drop_guard();
        // A task of its own can still cancel the job when this future is dropped.
        let job = tokio::spawn(run(connection.clone(), plan, stop));
        match job.await.map_err(|e| exec_datafusion_err!("trace {trace}: {e}"))? {
            Ok(rows) => return Ok(rows),
            Err(Failure::Lost(why)) => {
                log::info!("trace {trace}: its rows are lost: {why}");
                lost = why;
            }
            Err(Failure::Failed(why)) => {
                return Err(exec_datafusion_err!("trace {trace}: {}", describe(&why, &connection)));
            }
            Err(Failure::NoScheduler) => return Err(connection.lost()),
        }
    }
    Err(exec_datafusion_err!(
        "trace {trace}: its rows were lost {MAX_TRIES} times before they were read; the last time: \
         {lost}"
    ))
}

fn plan(payload: Arc<Payload>, task: &TraceTask) -> Result<Vec<u8>, DataFusionError> {
    let plan: Arc<dyn ExecutionPlan> = Arc::new(TraceExec::over(payload, task)?);
    let mut bytes = Vec::new();
    PhysicalPlanNode::try_from_physical_plan(plan, &TraceCodec::default())?
        .try_encode(&mut bytes)?;
    Ok(bytes)
}

/// The reason for a failed job as its user needs it.
fn describe(why: &str, connection: &Connection) -> String {
    if let Some(text) = errors::cut(why) {
        return text;
    }
    if connection.state().executors == 0 {
        return format!(
            "all executors of the scheduler {} are gone; start executors again and repeat the \
             query",
            connection.address
        );
    }
    format!("the cluster failed: {why}")
}

async fn run(
    connection: Arc<Connection>,
    plan: Vec<u8>,
    stop: CancellationToken,
) -> Result<Vec<RecordBatch>, Failure> {
    let mut client = SchedulerGrpcClient::new(connection.channel.clone())
        .max_decoding_message_size(MAX_MESSAGE_BYTES as usize)
        .max_encoding_message_size(MAX_MESSAGE_BYTES as usize);
    let operation_id = uuid::Uuid::new_v4().simple().to_string();
    // The scheduler cancels all jobs of a session when it ends.
    let name = format!("{}/{operation_id}", connection.session);
    let mut request = tonic::Request::new(ExecuteQueryParams {
        query: Some(execute_query_params::Query::PhysicalPlan(plan)),
        settings: vec![KeyValuePair {
            key: BALLISTA_JOB_NAME.to_owned(),
            value: Some(name.clone()),
        }],
        session_id: connection.session.clone(),
        operation_id,
    });
    insert_version_header(request.metadata_mut());
    let mut news = match client.execute_query_push(request).await {
        Ok(news) => news.into_inner(),
        Err(status) => return Err(ended(&connection, status.message()).await),
    };
    let mut job = None;
    let outcome = loop {
        tokio::select! {
            biased;
            // The first status, which has the id of the job, comes when the job ends.
            () = stop.cancelled() => {
                connection.cancel(&name).await;
                break Err(Failure::Failed("cancelled".into()));
            }
            _ = connection.wait_for(|_| false) => return Err(Failure::NoScheduler),
            status = news.message() => match status {
                Ok(Some(status)) => {
                    if let Some(status) = &status.status {
                        job = Some(status.job_id.clone());
                    }
                    if let Some(outcome) = outcome(status) {
                        break outcome;
                    }
                }
                Ok(None) => {
                    break Err(ended(&connection, "the scheduler dropped the job").await);
                }
                Err(status) => break Err(ended(&connection, status.message()).await),
            },
        }
    };
    let Some(job_id) = job else {
        return outcome.and(Err(Failure::Failed("the job has no id".into())));
    };
    let rows = match outcome {
        Ok(locations) => tokio::select! {
            () = stop.cancelled() => Err(Failure::Failed("cancelled".into())),
            rows = fetch(locations) => rows,
        },
        Err(failure) => {
            // Harmless if the job has ended.
            let _ = client.cancel_job(CancelJobParams { job_id: job_id.clone() }).await;
            Err(failure)
        }
    };
    tokio::spawn(clean(connection.channel.clone(), job_id));
    rows
}

/// Why requests failed. The connection of the session ends a moment later if the scheduler ended.
async fn ended(connection: &Connection, why: &str) -> Failure {
    let _ = timeout(NOTICE, connection.wait_for(|_| false)).await;
    match connection.is_over() {
        true => Failure::NoScheduler,
        false => Failure::Failed(why.to_owned()),
    }
}

/// Removes the rows of a job from the executors.
async fn clean(channel: Channel, job_id: String) {
    let params = CleanJobDataParams { job_id, remove_stage_ids: Vec::new() };
    let _ = SchedulerGrpcClient::new(channel).clean_job_data(params).await;
}

/// What a status decides; `None` if the job goes on.
fn outcome(news: GetJobStatusResult) -> Option<Result<Vec<PartitionLocation>, Failure>> {
    match news.status?.status? {
        job_status::Status::Successful(job) => Some(Ok(job.partition_location)),
        job_status::Status::Failed(job) => Some(Err(Failure::Failed(job.error))),
        job_status::Status::Queued(_) | job_status::Status::Running(_) => None,
    }
}

/// Fetches the rows of a job from the executor that has them.
async fn fetch(locations: Vec<PartitionLocation>) -> Result<Vec<RecordBatch>, Failure> {
    Faults::get().before_reading().await;
    let mut rows = Vec::new();
    for location in locations {
        let fetched = fetch_one(location).await;
        rows.extend(fetched.map_err(|e| Failure::Lost(e.to_string()))?);
    }
    Ok(rows)
}

type AnyError = Box<dyn std::error::Error + Send + Sync>;

async fn fetch_one(location: PartitionLocation) -> Result<Vec<RecordBatch>, AnyError> {
    let layout = location.layout();
    let executor = location.executor_meta.ok_or("it names no executor")?;
    let partition = location.partition_id.ok_or("it names no partition")?;
    let client = client(&executor.host, u16::try_from(executor.port)?);
    let mut client = timeout(CONNECT, client).await.map_err(|_| "it does not answer")??;
    let partition = partition.into();
    let begin = client.fetch_partition(&executor.id, &partition, location.file_id, layout, true);
    let mut rows = timeout(SILENCE, begin).await.map_err(|_| silent())??;
    let mut batches = Vec::new();
    while let Some(batch) = timeout(SILENCE, rows.next()).await.map_err(|_| silent())? {
        batches.push(batch?);
    }
    Ok(batches)
}

fn silent() -> String {
    format!("no rows came for {} s", SILENCE.as_secs())
}

async fn client(host: &str, port: u16) -> ballista_core::error::Result<BallistaClient> {
    let (use_tls, endpoint) = (false, None);
    let (tries, wait_ms) = (1, 100);
    let (connection_window, stream_window) = (0, 0);
    BallistaClient::try_new(
        host,
        port,
        MAX_MESSAGE_BYTES as usize,
        use_tls,
        endpoint,
        tries,
        wait_ms,
        connection_window,
        stream_window,
    )
    .await
}
