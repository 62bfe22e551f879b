//! Sections about the ranks of a job.

use super::{Scope, Section, rows};

/// Rows of a job belong to the trace of its first rank.
pub const BLAME: Section = Section {
    key: "blame",
    title: "What the job waits for",
    about: "Ranks and links that the job loses time to, with the cause: what to look at first. \
        Waits are followed back to the activity that caused them, on any rank, and count as far as it \
        took longer than usual. Several ranks can lose the same time. A weak one is no more than \
        scatter.",
    scope: Scope::Job,
    needs: &["rank"],
    if_empty: "no wait could be followed back to an activity that took longer than usual; \
        collective_coverage says which waits are known",
    is_detail: false,
    shape: rows(200, &["lost_ns"]),
    sql: "SELECT f.trace_id, s.job, s.rank, s.group_name, s.host, s.cause, s.name, s.steps, \
               s.worst_step, s.lost_ns, s.lost_pct, s.last_waits_ns, s.verdict, s.calls_recorded, \
               s.calls_measured, s.reason
FROM straggler_ranks s
JOIN (SELECT job, first_value(trace_id ORDER BY rank) AS trace_id FROM job_ranks GROUP BY job) f \
               ON f.job = s.job
ORDER BY f.trace_id, s.lost_ns DESC, s.rank, s.group_name, s.cause",
};

/// Of many ranks or steps, neighbours become one cell with the values of the worst of them.
pub const LOST_TIME: Section = Section {
    key: "rank_lost_time",
    title: "Lost time by rank and step",
    about: "The time that the job loses to each rank in each step, as a heat map. A cell of \
        several ranks or steps shows the worst of them. Where no wait of a step could be measured, \
        its cells are empty.",
    scope: Scope::Job,
    needs: &["rank", "steps"],
    if_empty: "the job has no steps",
    is_detail: false,
    shape: rows(8192, &[]),
    sql: "WITH cells AS (
    SELECT h.*, f.trace_id AS first_trace_id,
        dense_rank() OVER (PARTITION BY h.job ORDER BY h.rank) - 1 AS rank_place,
        dense_rank() OVER (PARTITION BY h.job ORDER BY h.step) - 1 AS step_place
    FROM rank_step_heat h
    JOIN (SELECT job, first_value(trace_id ORDER BY rank) AS trace_id FROM job_ranks GROUP BY job) \
               f ON f.job = h.job
), sized AS (
    SELECT *, max(rank_place) OVER job / 128 + 1 AS ranks_of_cell,
        max(step_place) OVER job / 64 + 1 AS steps_of_cell
    FROM cells WINDOW job AS (PARTITION BY job)
)
SELECT first_trace_id AS trace_id, job, min(rank) AS first_rank, max(rank) AS last_rank, \
               min(step) AS first_step, max(step) AS last_step,
    first_value(rank ORDER BY lost_ns DESC, rank) AS worst_rank, \
               first_value(step ORDER BY lost_ns DESC, rank, step) AS worst_step,
    max(lost_ns) AS lost_ns, first_value(cause ORDER BY lost_ns DESC, rank, step) AS cause, \
               max(step_ns) AS step_ns, max(wait_ns) AS wait_ns, max(excess_pct) AS excess_pct,
    sum(calls_recorded) AS calls_recorded, sum(calls_measured) AS calls_measured, \
               first_value(reason ORDER BY reason IS NULL, reason) AS reason
FROM sized
GROUP BY first_trace_id, job, rank_place / ranks_of_cell, step_place / steps_of_cell
ORDER BY trace_id, first_rank, first_step",
};

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
               c.wait_ns, c.calls_recorded, c.calls_measured, c.status, c.reason
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
               wait_pct, last_calls, last_pct, waited_for_ns, waited_for_pct, status, reason
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
