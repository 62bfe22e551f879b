//! Makes a cancelled task stop. Ballista drops the future that waits for a task, but what computes
//! it are tasks of the runtime that go on.

use std::fmt::{Debug, Display, Formatter};
use std::sync::Arc;

use async_trait::async_trait;
use ballista_core::JobId;
use ballista_core::serde::protobuf::{
    RuntimeStatsReport, ShuffleWritePartition, TaskColumnStats, WindowStateReport,
};
use ballista_executor::execution_engine::{
    DefaultExecutionEngine, ExecutionEngine, QueryStageExecutor,
};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::prelude::SessionConfig;
use tokio_util::sync::CancellationToken;

use crate::leaf::TraceExec;

/// Ballista's engine, with tasks that stop when they are cancelled.
#[derive(Default)]
pub struct StoppableEngine {
    ballista: DefaultExecutionEngine,
}

impl ExecutionEngine for StoppableEngine {
    fn create_query_stage_exec(
        &self,
        job_id: JobId,
        stage_id: usize,
        task_id: usize,
        partitions: Vec<usize>,
        plan: Arc<dyn ExecutionPlan>,
        work_dir: &str,
        config: &SessionConfig,
    ) -> Result<Arc<dyn QueryStageExecutor>> {
        let stop = CancellationToken::new();
        let plan = plan.transform(|node| match node.downcast_ref::<TraceExec>() {
            Some(leaf) => Ok(Transformed::yes(Arc::new(leaf.with_stop(stop.clone())) as _)),
            None => Ok(Transformed::no(node)),
        })?;
        let stage = self.ballista.create_query_stage_exec(
            job_id, stage_id, task_id, partitions, plan.data, work_dir, config,
        )?;
        Ok(Arc::new(StoppableStage { stage, stop }))
    }
}

struct StoppableStage {
    stage: Arc<dyn QueryStageExecutor>,
    stop: CancellationToken,
}

impl Debug for StoppableStage {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        Debug::fmt(&self.stage, f)
    }
}

impl Display for StoppableStage {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        Display::fmt(&self.stage, f)
    }
}

#[async_trait]
impl QueryStageExecutor for StoppableStage {
    async fn execute_query_stage(
        &self,
        task_id: usize,
        context: Arc<TaskContext>,
    ) -> Result<Vec<ShuffleWritePartition>> {
        // Dropped with this future when Ballista cancels the task.
        let stops = self.stop.clone().drop_guard();
        let written = self.stage.execute_query_stage(task_id, context).await;
        if written.is_ok() {
            stops.disarm();
        }
        written
    }

    fn collect_plan_metrics(&self) -> Vec<MetricsSet> {
        self.stage.collect_plan_metrics()
    }

    fn collect_runtime_stats_reports(&self) -> Vec<RuntimeStatsReport> {
        self.stage.collect_runtime_stats_reports()
    }

    fn collect_window_state_reports(&self) -> Result<Vec<WindowStateReport>> {
        self.stage.collect_window_state_reports()
    }

    fn collect_column_stats(&self) -> Vec<TaskColumnStats> {
        self.stage.collect_column_stats()
    }
}
