//! Writes the own plan node for its way to the executors. All other nodes are Ballista's.

use std::sync::Arc;

use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::common::{exec_datafusion_err, internal_datafusion_err};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use prost::Message;

use crate::leaf::TraceExec;
use crate::wire::Payload;
use crate::worker::Worker;

const MAGIC: &[u8] = b"TSQ1";

/// The codec of all nodes of a cluster.
#[derive(Debug, Default)]
pub struct TraceCodec {
    ballista: BallistaPhysicalExtensionCodec,
    worker: Option<Arc<Worker>>,
}

impl TraceCodec {
    /// The codec of an executor, which puts its worker into what it reads.
    pub fn of_executor(worker: Arc<Worker>) -> Self {
        Self { worker: Some(worker), ..Self::default() }
    }
}

impl PhysicalExtensionCodec for TraceCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(payload) = bytes.strip_prefix(MAGIC) else {
            return self.ballista.try_decode(bytes, inputs, context, converter);
        };
        let payload = Payload::decode(payload)
            .map_err(|e| exec_datafusion_err!("a task is not in the form of this version: {e}"))?;
        let input = inputs
            .first()
            .ok_or_else(|| internal_datafusion_err!("a task without traces"))?
            .clone();
        Ok(Arc::new(TraceExec::new(Arc::new(payload), input, self.worker.clone())))
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(node) = node.downcast_ref::<TraceExec>() else {
            return self.ballista.try_encode(node, bytes, converter);
        };
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&node.payload().encode_to_vec());
        Ok(())
    }
}
