//! The interface to a cluster, which computes relations that depend on single traces.
//!
//! This crate knows no cluster. A program that does gives one to
//! [`EngineOptions`](super::EngineOptions). Tables of the store and views with the scope of a trace
//! or a job are then tables of the cluster, and everything above them is computed here.

use std::any::Any;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::execution::{SendableRecordBatchStream, SessionState};
use datafusion::optimizer::OptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;
use parking_lot::RwLock;
use tracesql_ingest::Manifest;

use super::settings::Settings;
use crate::error::Result;
use crate::library::{Library, Scope};
use crate::store::TraceFiles;

/// A trace of a session, and where its files are.
#[derive(Debug, Clone)]
pub struct OpenTrace {
    /// The manifest of the trace.
    pub manifest: Manifest,
    /// The files of the trace.
    pub files: TraceFiles,
    /// The URL of the store; `None` for a folder on this machine.
    pub remote_store: Option<String>,
}

/// The session for which a cluster computes relations.
#[derive(Debug)]
pub struct ClusterSession {
    /// The traces that are open.
    pub traces: Vec<OpenTrace>,
    /// The views of the session.
    pub library: Arc<Library>,
    /// The settings of the session. They can change between queries.
    pub settings: Arc<Settings>,
    /// Folders with the user's views.
    pub sql: Vec<PathBuf>,
    /// Folders with the user's rules.
    pub rules: Vec<PathBuf>,
    /// The session in which statements are planned.
    pub state: Weak<RwLock<SessionState>>,
}

/// What keeps work on a cluster going. The work ends when this is dropped.
pub type Batch = Arc<dyn Any + Send + Sync>;

/// A cluster.
pub trait Cluster: Debug + Send + Sync {
    /// Opens a session.
    fn open(&self, session: ClusterSession) -> Result<Arc<dyn Relations>>;

    /// Rules that follow DataFusion's own optimizer rules.
    fn optimizer_rules(&self) -> Vec<Arc<dyn OptimizerRule + Send + Sync>>;
}

/// The relations that a cluster computes for a session.
pub trait Relations: Debug + Send + Sync {
    /// A relation of single traces as a table. Its scope is [`Scope::Trace`] or [`Scope::Job`].
    /// `None` if the session reads or computes the relation itself.
    fn table(&self, name: &str, scope: Scope, schema: SchemaRef) -> Option<Arc<dyn TableProvider>>;

    /// Makes queries that start together one batch of work.
    fn start_together(&self, plans: &[Arc<dyn ExecutionPlan>]) -> Batch;
}

/// Keeps a batch until the rows are read or dropped.
pub fn keep(batch: Batch, rows: SendableRecordBatchStream) -> SendableRecordBatchStream {
    let schema = rows.schema();
    let rows = rows.inspect(move |_| {
        let _ = &batch;
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, rows))
}
