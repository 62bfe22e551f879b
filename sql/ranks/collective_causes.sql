-- Why the last rank of each collective was late: what ran, on any rank, while the others waited.
--
-- From the start of the last member the chain of activities that led to it is followed back to the
-- start of the first one: the activity on the same device that ended at most 5 µs before, through
-- collectives over to their last member, or the launch and the host before it. Each waiting rank
-- charges the part of a piece that lies after its own start, so the charges of a call add up to its
-- waits. excess_ns is the part of the charge that there would not be if the activity had taken its
-- usual length: for each waiting rank at most what the activity took longer, if it clearly did so:
-- by more than 2 %, and by more than 3.5 standard deviations of such activities of one rank or
-- group. Usual is the median of kernels of the same name and size at the same place of their steps,
-- of exchanges of the same collective, message and group size, and of data loading in the job (of
-- two ranks or groups, the faster one's); garbage collection counts in full. What is not excess is
-- the order of the schedule. Only calls whose members are all in the store and on one clock.
--
-- Source: Böhme, Geimer, Arnold, Voigtländer, Wolf: Identifying the Root Causes of Wait States in
--   Large-Scale Parallel Applications, 2016.
-- Example: SELECT rank, cause, name, sum(excess_ns) AS excess_ns FROM collective_causes
--   GROUP BY rank, cause, name ORDER BY excess_ns DESC LIMIT 5
-- Holds: excess_ns <= charge_ns
--
-- @scope store
-- @column job VARCHAR text The job (job_ranks.job).
-- @column call_id BIGINT id The call that waited (collective_calls.call_id).
-- @column rank BIGINT id The rank that the others waited for at that time, on any way.
-- @column group_name VARCHAR text For transfer: the group of the exchange; NULL for others.
-- @column step BIGINT id Step of the activity; NULL outside steps.
-- @column cause VARCHAR text compute, copy, transfer, data_loading, host_late, launch, schedule
--   (the short gaps between activities) or unknown.
-- @column name VARCHAR text Name of the kernel, of the collective or of the range on the host.
-- @column event_id BIGINT id The activity (events.event_id of the trace of the rank).
-- @column charge_ns BIGINT ns Sum of the waits of all members at that time.
-- @column excess_ns BIGINT ns The part that is more than usual.
-- @column waiters BIGINT count Members that waited at that time.
-- @column length_ns BIGINT ns Length of the whole activity.
-- @column base_ns BIGINT ns Usual length; NULL if there is none.
WITH charges AS (
    SELECT
        p.job, p.call_id, p.rank, p.group_name, p.step, p.cause, p.name, p.event_id, p.length_ns,
        p.base_ns,
        CASE WHEN p.length_ns > p.limit_ns THEN p.length_ns - p.base_ns ELSE 0 END AS longer_ns,
        greatest(p.end_ns - greatest(p.start_ns, m.start_job_ns), 0) AS charge_ns,
        p.start_ns
    FROM _call_pieces p
    JOIN collective_members m ON m.job = p.job AND m.call_id = p.call_id AND m.wait_ns > 0
)
SELECT
    job, call_id, rank, group_name, step, cause, name, event_id,
    sum(charge_ns) AS charge_ns,
    sum(least(charge_ns, longer_ns)) AS excess_ns,
    count(*) FILTER (WHERE charge_ns > 0) AS waiters,
    length_ns, base_ns
FROM charges
GROUP BY
    job, call_id, rank, group_name, step, cause, name, event_id, length_ns, base_ns, start_ns
