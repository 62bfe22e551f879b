//! Sections about the ranks of a job.

use super::{Scope, Section, rows};

pub const RANKS: Section = Section {
    key: "ranks",
    title: "Ranks",
    about: "Computation and communication of each rank of a job: what computation hides, what is \
        exposed, and how much of it is waiting for other ranks.",
    scope: Scope::Job,
    needs: &["rank", "device"],
    if_empty: "no kernel ran on a device",
    is_detail: false,
    shape: rows(2000, &[]),
    sql: "SELECT c.trace_id, c.job, c.rank, j.world_size, j.ranks, j.is_complete, j.host, \
               c.busy_ns, c.computation_ns, c.communication_ns, c.overlap_ns,
       c.overlap_pct, c.exposed_communication_ns, c.exposed_communication_pct, c.transfer_ns, \
               c.wait_ns
FROM rank_communication c JOIN job_ranks j ON j.trace_id = c.trace_id
ORDER BY c.trace_id",
};

pub const STRAGGLERS: Section = Section {
    key: "stragglers",
    title: "Stragglers",
    about: "How long each rank waited for others in collectives that all ranks recorded, how often \
        it came last, and how long others waited for it then.",
    scope: Scope::Job,
    needs: &["rank"],
    if_empty: "no collective could be matched between ranks",
    is_detail: true,
    shape: rows(2000, &["waited_for_ns"]),
    sql: "SELECT trace_id, job, rank, place, calls, communication_ns, transfer_ns, wait_ns, \
               wait_pct, last_calls, last_pct, waited_for_ns, waited_for_pct
FROM stragglers ORDER BY trace_id, place",
};

pub const COLLECTIVES: Section = Section {
    key: "collectives",
    title: "Collectives",
    about: "Collectives of each rank by name: sizes, time in which a call was under way, and the \
        bandwidth of the exchange.",
    scope: Scope::Torch,
    needs: &["rank"],
    if_empty: "no collective was recorded",
    is_detail: true,
    shape: rows(2000, &["calls"]),
    sql: "SELECT trace_id, rank, name, calls, size_bytes, latency_ns, transfer_ns, \
               transfer_bandwidth_gb_s
FROM collective_operators ORDER BY trace_id, latency_ns DESC, name",
};
