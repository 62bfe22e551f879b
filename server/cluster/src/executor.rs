//! An executor: Ballista's, with a worker that computes traces.

use std::fs::{File, TryLockError};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ballista_core::config::TaskSchedulingPolicy;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use tokio::net::TcpStream;
use tokio::signal::unix::{SignalKind, signal};
use tracesql::{Error, Result};

use crate::codec::TraceCodec;
use crate::execution::StoppableEngine;
use crate::scheduler::MAX_MESSAGE_BYTES;
use crate::version;
use crate::worker::{Limits, Worker};

/// Seconds after which rows are removed that a lost client or scheduler left. A task must not take
/// longer.
const LEFT_SECONDS: u64 = 24 * 3600;

/// Seconds between two looks for such rows.
const LOOK_SECONDS: u64 = 600;

/// How long an executor waits for its scheduler.
const CONNECT: Duration = Duration::from_secs(10);

/// How often the scheduler cannot be reached before the executor ends.
const MAX_MISSED: usize = 8;

/// How long an executor that is asked to end may take. Ballista ends it earlier if its tasks end
/// earlier.
const END: Duration = Duration::from_secs(10);

/// Options of an executor.
#[derive(Debug, Clone)]
pub struct ExecutorOptions {
    /// The host of the scheduler, as in a URL.
    pub scheduler_host: String,
    /// The port of the scheduler.
    pub scheduler_port: u16,
    /// The address where it listens.
    pub host: IpAddr,
    /// The port where clients fetch rows; tasks arrive at the next port. 0 for two free ports.
    pub port: u16,
    /// The name under which others reach it, as in a URL.
    pub advertise: String,
    /// The folder for rows and temporary files.
    pub work_dir: PathBuf,
    /// The time between two signs of life.
    pub heartbeat: Duration,
    /// What it may use.
    pub limits: Limits,
}

impl ExecutorOptions {
    fn scheduler(&self) -> String {
        format!("{}:{}", self.scheduler_host, self.scheduler_port)
    }
}

/// Runs an executor until it is stopped or loses its scheduler.
pub async fn run(options: &ExecutorOptions) -> Result<()> {
    let _lock = take(&options.work_dir)?;
    wait_for_scheduler(options).await?;
    let rows = emptied(&options.work_dir.join("rows"))?;
    let files = emptied(&options.work_dir.join("libraries"))?;
    let worker = Arc::new(Worker::new(options.limits.clone(), files));
    let (port, grpc_port) = match options.port {
        0 => free_ports(options.host)?,
        port => (port, port.saturating_add(1)),
    };
    let config = ExecutorProcessConfig {
        bind_host: match options.host {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        },
        external_host: Some(options.advertise.clone()),
        port,
        grpc_port,
        scheduler_host: options.scheduler_host.clone(),
        scheduler_port: options.scheduler_port,
        // It was reached already. Ballista would wait without an end.
        scheduler_connect_timeout_seconds: 0,
        vcores: options.limits.slots,
        task_scheduling_policy: TaskSchedulingPolicy::PushStaged,
        executor_heartbeat_interval_seconds: options.heartbeat.as_secs().max(1),
        work_dir: Some(rows.display().to_string()),
        job_data_ttl_seconds: LEFT_SECONDS,
        job_data_clean_up_interval_seconds: LOOK_SECONDS,
        grpc_max_decoding_message_size: MAX_MESSAGE_BYTES,
        grpc_max_encoding_message_size: MAX_MESSAGE_BYTES,
        // The worker has limits of its own.
        memory_pool_size: Some(0),
        override_physical_codec: Some(Arc::new(TraceCodec::of_executor(worker))),
        override_execution_engine: Some(Arc::new(StoppableEngine::default())),
        override_create_grpc_client_endpoint: Some(Arc::new(|endpoint| {
            Ok(endpoint.user_agent(version::user_agent())?)
        })),
        ..ExecutorProcessConfig::default()
    };
    let scheduler = options.scheduler();
    // Ballista ends in order, which has no end if tasks cannot be reported to the scheduler.
    tokio::select! {
        ended = start_executor_process(Arc::new(config)) => ended.map_err(|e| {
            Error::Query(format!("the executor ended, its scheduler is {scheduler}: {e}"))
        }),
        () = lost_scheduler(options) => {
            Err(Error::Query(format!("the scheduler {scheduler} is gone, so the executor ends")))
        }
        () = asked_to_end() => Ok(()),
    }
}

/// Waits a while until the scheduler accepts connections, because both may start at once.
async fn wait_for_scheduler(options: &ExecutorOptions) -> Result<()> {
    let scheduler = options.scheduler();
    let end = Instant::now() + CONNECT;
    loop {
        match TcpStream::connect(&scheduler).await {
            Ok(_) => return Ok(()),
            Err(e) if Instant::now() >= end => {
                return Err(Error::Query(format!(
                    "the scheduler {scheduler} cannot be reached: {e}; start one with \
                     `tracesql-full cluster scheduler`"
                )));
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}

/// Waits until the scheduler has not accepted connections for a while.
async fn lost_scheduler(options: &ExecutorOptions) {
    let mut missed = 0;
    while missed < MAX_MISSED {
        tokio::time::sleep(options.heartbeat.max(Duration::from_secs(1))).await;
        let connecting = TcpStream::connect(options.scheduler());
        let reached = tokio::time::timeout(CONNECT, connecting).await;
        missed = if matches!(reached, Ok(Ok(_))) { 0 } else { missed + 1 };
    }
}

/// Waits for a signal to end, and then for tasks to end.
async fn asked_to_end() {
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
    tokio::time::sleep(END).await;
}

/// Makes the folder of an executor, and keeps others out of it.
fn take(folder: &Path) -> Result<File> {
    let cannot = |e| Error::Output(folder.display().to_string(), e);
    std::fs::create_dir_all(folder).map_err(cannot)?;
    let lock = File::create(folder.join("lock")).map_err(cannot)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Error::Usage(format!(
            "--work-dir {}: another executor uses this folder; give each its own",
            folder.display()
        ))),
        Err(TryLockError::Error(e)) => Err(cannot(e)),
    }
}

/// A folder without what an earlier executor left in it.
fn emptied(folder: &Path) -> Result<PathBuf> {
    let cannot = |e| Error::Output(folder.display().to_string(), e);
    match std::fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(cannot(e)),
        _ => std::fs::create_dir_all(folder).map_err(cannot)?,
    }
    Ok(folder.to_owned())
}

fn free_ports(host: IpAddr) -> Result<(u16, u16)> {
    let free = || TcpListener::bind(SocketAddr::new(host, 0));
    let ports = || {
        let (one, two) = (free()?, free()?);
        Ok((one.local_addr()?.port(), two.local_addr()?.port()))
    };
    ports().map_err(|source| Error::Start { what: "the executor: cannot listen", source })
}

#[cfg(test)]
mod tests {
    use super::{emptied, take};

    #[test]
    fn a_folder_belongs_to_one_executor_and_begins_empty() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = take(folder.path()).expect("a lock");
        let error = take(folder.path()).expect_err("taken").to_string();
        assert!(error.contains("another executor"), "{error}");
        drop(first);
        take(folder.path()).expect("free again");
        let rows = folder.path().join("rows");
        std::fs::create_dir_all(rows.join("job")).expect("a folder");
        emptied(&rows).expect("a folder");
        assert_eq!(std::fs::read_dir(&rows).expect("a folder").count(), 0);
    }
}
