//! Segments and blocks, and the check of the history against them.

use std::collections::BTreeMap;

use super::super::small_tables::{Counted, SmallTables};
use super::history::History;
use crate::encode::TableRows;
use crate::error::Result;
use crate::issues::{Code as IssueCode, Issues};
use crate::rows::{MemoryBlockRow, MemorySegmentRow};
use crate::schema;
use crate::snapshot::*;

/// A block with what the history knows of it.
struct Placed {
    segment: usize,
    block: Block,
    device: i64,
    address: i64,
    allocation: Option<i64>,
}

/// The segments and blocks of a snapshot.
pub struct State {
    blocks: Vec<Placed>,
    block_counts: Vec<i64>,
    /// Requested bytes of blocks that the history accounts for, by device.
    active: BTreeMap<i64, i64>,
}

/// Returns a number unless it is absent.
pub fn number(n: i64) -> Option<i64> {
    (n != ABSENT).then_some(n)
}

/// Writes a pool as PyTorch shows it.
pub fn pool_text(pool: (i64, i64)) -> String {
    format!("({}, {})", pool.0, pool.1)
}

impl State {
    /// Reads the blocks and looks up their allocations.
    pub fn read(snapshot: &Snapshot, history: &mut History, issues: &mut Issues) -> Self {
        let heap = &snapshot.heap;
        let mut state =
            Self { blocks: Vec::new(), block_counts: Vec::new(), active: BTreeMap::new() };
        for (no, reference) in snapshot.layout.segments.iter().enumerate() {
            let segment = &heap.segments[reference.segment as usize];
            let device = if reference.is_host { -1 } else { segment.device };
            let before = state.blocks.len();
            let (mut at, mut odd) = (segment.address, 0u64);
            for code in codes(heap, segment.blocks) {
                let found = match code.unpack(&heap.scalars) {
                    Some(Value::Dict(dict)) => match heap.dicts[dict as usize] {
                        Dict::Block(block) => Some(heap.blocks[block as usize]),
                        _ => None,
                    },
                    _ => None,
                };
                let Some(block) = found else {
                    odd += 1;
                    continue;
                };
                let address = if block.address == ABSENT { at } else { block.address };
                odd += u64::from(address != at || block.bytes == ABSENT);
                at = if address == ABSENT || block.bytes == ABSENT {
                    ABSENT
                } else {
                    address.saturating_add(block.bytes)
                };
                state.blocks.push(Placed { segment: no, block, device, address, allocation: None });
            }
            let end = segment.address.saturating_add(segment.total);
            odd += u64::from(odd == 0 && segment.total != ABSENT && at != end);
            if odd > 0 {
                let example = format!("segment {no}");
                issues.add(IssueCode::SnapshotSegment, None, None, example.as_bytes());
            }
            state.block_counts.push((state.blocks.len() - before) as i64);
        }
        state.look_up(snapshot, history, issues);
        state
    }

    fn look_up(&mut self, snapshot: &Snapshot, history: &mut History, issues: &mut Issues) {
        let heap = &snapshot.heap;
        for placed in &mut self.blocks {
            let ledger = &mut history.devices.entry(placed.device).or_default().ledger;
            let requested = if placed.block.requested == ABSENT {
                placed.block.bytes.max(0)
            } else {
                placed.block.requested
            };
            let live = match heap.texts.get(placed.block.state) {
                _ if placed.address == ABSENT => continue,
                b"active_allocated" => {
                    placed.allocation = ledger.active(placed.address, requested);
                    true
                }
                b"inactive" => continue,
                _ => {
                    let (allocation, is_live) = ledger.pending(placed.address);
                    placed.allocation = allocation;
                    is_live
                }
            };
            if live {
                let sum = self.active.entry(placed.device).or_default();
                *sum = sum.saturating_add(requested);
            }
        }
        if snapshot.is_cut {
            return;
        }
        let has_host_segments = snapshot.layout.segments.iter().any(|s| s.is_host);
        for (device, facts) in &history.devices {
            if *device == -1 && !has_host_segments {
                continue;
            }
            let l = &facts.ledger;
            let (live, blocks) =
                (l.initial_bytes.saturating_add(l.live), self.active_bytes(*device));
            if live != blocks {
                let example = format!(
                    "device {device}: {} + {} - {} = {live} bytes, blocks hold {blocks}",
                    l.initial_bytes, l.allocated, l.freed_bytes
                );
                issues.add(IssueCode::LiveBytes, None, None, example.as_bytes());
            }
        }
    }

    /// Returns the requested bytes of a device's active blocks.
    pub fn active_bytes(&self, device: i64) -> i64 {
        self.active.get(&device).copied().unwrap_or_default()
    }

    /// Writes `memory_segments` and `memory_blocks`.
    pub fn write(
        &self,
        tables: &SmallTables<'_>,
        snapshot: &Snapshot,
        used: &mut [bool],
        counted: &mut Counted,
    ) -> Result<()> {
        let heap = &snapshot.heap;
        let trace_id = &tables.origin.trace_id[..];
        let mut stack = |list: u32| {
            let no = heap.stack(list)?;
            used[no as usize] = true;
            Some(i64::from(no))
        };
        let text = |no: u32| (no != NOTHING).then(|| heap.texts.text(no));
        let mut rows = TableRows::new(tables.effort);
        for (no, reference) in snapshot.layout.segments.iter().enumerate() {
            let s = &heap.segments[reference.segment as usize];
            let (kind, pool) = (text(s.kind), s.pool.map(pool_text));
            rows.push(MemorySegmentRow {
                trace_id,
                segment_id: no as i64,
                device: if reference.is_host { Some(-1) } else { number(s.device) },
                address: number(s.address),
                total_bytes: number(s.total),
                allocated_bytes: number(s.allocated),
                active_bytes: number(s.active),
                requested_bytes: number(s.requested),
                stream: number(s.stream),
                kind: kind.as_deref(),
                pool: pool.as_deref(),
                expandable: s.expandable.unwrap_or(false),
                stack_id: stack(s.frames),
                block_count: self.block_counts[no],
            });
        }
        tables.put(&schema::MEMORY_SEGMENTS, rows.finish()?, counted)?;
        let mut rows = TableRows::new(tables.effort);
        for (no, placed) in self.blocks.iter().enumerate() {
            let state = text(placed.block.state);
            rows.push(MemoryBlockRow {
                trace_id,
                segment_id: placed.segment as i64,
                block_id: no as i64,
                device: number(placed.device),
                address: number(placed.address),
                bytes: number(placed.block.bytes),
                requested_bytes: number(placed.block.requested),
                state: state
                    .as_deref()
                    .map(|s| if s == "active_awaiting_free" { "active_pending_free" } else { s }),
                stack_id: stack(placed.block.frames),
                allocation_id: placed.allocation,
            });
        }
        tables.put(&schema::MEMORY_BLOCKS, rows.finish()?, counted)
    }
}

/// Returns the items of a list.
fn codes(heap: &Heap, list: u32) -> &[Code] {
    match heap.lists.get(list as usize) {
        Some(crate::snapshot::List::Items(items)) => &heap.items[*items as usize],
        _ => &[],
    }
}
