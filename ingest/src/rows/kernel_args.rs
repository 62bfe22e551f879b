//! The args of a device activity that become columns.

use std::borrow::Cow;

use super::tables::KernelRow;
use crate::json::{self, Oddities};

/// The args of a device activity.
#[derive(Default)]
pub struct KernelArgs<'t> {
    /// A row in which only the columns that come from args are set.
    pub row: KernelRow<'t>,
    /// The block counts, as raw JSON.
    pub grid: Option<&'t [u8]>,
    /// The thread counts, as raw JSON.
    pub block: Option<&'t [u8]>,
}

impl<'t> KernelArgs<'t> {
    /// Adds a member of the args. For repeated keys, the last one is kept.
    pub fn add(&mut self, key: &'t [u8], value: &'t [u8]) {
        let row = &mut self.row;
        match key {
            b"context" => row.context = json::int(value),
            b"queued" => row.queued = json::int(value),
            b"grid" => self.grid = Some(value),
            b"block" => self.block = Some(value),
            b"registers per thread" => row.registers_per_thread = json::int(value),
            b"shared memory" => row.shared_memory_bytes = json::int(value),
            b"blocks per SM" => row.blocks_per_sm = json::float(value),
            b"warps per SM" => row.warps_per_sm = json::float(value),
            b"est. achieved occupancy %" => row.occupancy_pct = json::float(value),
            b"bytes" => row.bytes = json::int(value),
            b"memory bandwidth (GB/s)" => row.bandwidth_gb_s = json::float(value),
            b"graph id" => row.graph_id = json::int(value),
            b"graph node id" => row.graph_node_id = json::int(value),
            b"wait_on_stream" => row.wait_on_stream = json::int(value),
            b"wait_on_cuda_event_id" => row.wait_on_event_id = json::int(value),
            b"wait_on_cuda_event_record_corr_id" => {
                row.wait_on_event_record_correlation = json::int(value)
            }
            b"In msg nelems" => row.in_msg_nelems = json::int(value),
            b"Out msg nelems" => row.out_msg_nelems = json::int(value),
            b"Group size" => row.group_size = json::int(value),
            b"Seq" => row.collective_seq = json::int(value),
            b"Comms Id" => row.comms_id = plain_text(value),
            b"Rank" => row.group_rank = json::int(value),
            b"Src Rank" => row.src_rank = json::int(value),
            b"Dst Rank" => row.dst_rank = json::int(value),
            b"kind" => row.activity_kind = plain_text(value),
            b"cuda_sync_kind" => row.sync_kind = plain_text(value),
            b"Collective name" => row.collective_name = plain_text(value),
            b"dtype" => row.collective_dtype = plain_text(value),
            b"Process Group Name" => row.process_group_name = plain_text(value),
            b"Process Group Description" => row.process_group_description = plain_text(value),
            b"Process Group Ranks" => row.process_group_ranks = plain_text(value),
            b"In split size" => row.in_split_size = plain_text(value),
            b"Out split size" => row.out_split_size = plain_text(value),
            _ => {}
        }
    }
}

/// Returns a string without its quotes, and any other value as compact JSON; `None` for null.
fn plain_text(raw: &[u8]) -> Option<Cow<'_, str>> {
    let mut odd = Oddities::default();
    if json::is_text(raw) {
        return Some(json::as_text(json::unquote(raw), &mut odd));
    }
    let mut out = Vec::new();
    json::compact_value(raw, &mut out, &mut odd);
    (!json::is_null(&out)).then(|| String::from_utf8_lossy(&out).into_owned().into())
}
