-- Why the last rank of each collective was late: what ran, on any rank, while the others waited.
--
-- From the start of the last member the chain of activities that led to it is followed back to the
-- end of the call before in which the same ranks met: the activity on the same device that ended at
-- most 5 µs before, through collectives over to their last member, or the launch and the host
-- before it. Each waiting rank charges the part of a piece that lies after its own start. Where
-- activities before its start took longer than usual, and it did not wait for that in another call,
-- they are charged with that, and what ran during the wait with less. So the charges of a call add
-- up to its waits. excess_ns is the part of the charge that would be saved if the activity had
-- taken its usual length: for each waiting rank at most what the activity took longer, if it
-- clearly did so: by more than 2 %, and by more than 3.5 standard deviations of such activities of
-- one rank or group. Usual is the median of kernels of the same name and size at the same place of
-- their steps, of exchanges of the same collective, message and group size, and of data loading in
-- the job (of two ranks or groups, the faster one's); garbage collection counts in full. What is
-- not excess is the order of the schedule. Calls whose members are on one clock; where members are
-- missing, only calls of which it is known whether a missing member came last.
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
--   (the short gaps between activities), not_recorded (what a rank did between two collectives that
--   has no trace of it) or unknown.
-- @column name VARCHAR text Name of the kernel, of the collective or of the range on the host.
-- @column event_id BIGINT id The activity (events.event_id of the trace of the rank).
-- @column charge_ns BIGINT ns Sum of the waits of all members that are due to it.
-- @column excess_ns BIGINT ns The part that is more than usual.
-- @column waiters BIGINT count Members that waited for it.
-- @column length_ns BIGINT ns Length of the whole activity.
-- @column base_ns BIGINT ns Usual length; equal to length_ns where nothing is
--   alike.
WITH waits AS (
    SELECT job, call_id, rank AS waiter, start_job_ns AS from_ns, wait_ns
    FROM collective_members
    WHERE wait_ns > 0
),
-- A member met the chain at the last exchange on it that it took part in.
met AS (
    SELECT p.job, p.call_id, m.rank AS waiter, max(p.end_ns) AS met_ns
    FROM _call_pieces p
    JOIN collective_members m ON m.job = p.job AND m.call_id = p.via_call_id
    WHERE p.cause = 'transfer'
    GROUP BY p.job, p.call_id, m.rank
),
charges AS (
    SELECT
        p.job, p.call_id, p.rank, p.group_name, p.step, p.cause, p.name, p.event_id, p.length_ns,
        p.base_ns, w.waiter, w.wait_ns, p.start_ns,
        greatest(p.end_ns - greatest(p.start_ns, w.from_ns), 0) AS during_ns,
        CASE WHEN p.length_ns > p.limit_ns THEN p.length_ns - p.base_ns ELSE 0 END AS longer_ns,
        p.end_ns > coalesce(t.met_ns, p.start_ns) AS is_after
    FROM _call_pieces p
    JOIN waits w ON w.job = p.job AND w.call_id = p.call_id
    LEFT JOIN met t ON t.job = w.job AND t.call_id = w.call_id AND t.waiter = w.waiter
    WHERE p.end_ns > w.from_ns OR p.length_ns > p.limit_ns
),
-- What an activity took longer before the wait began explains the rest of the wait; the latest such
-- activity comes first.
split AS (
    SELECT
        *,
        least(during_ns, longer_ns) AS own_ns,
        CASE WHEN is_after THEN longer_ns - least(during_ns, longer_ns) ELSE 0 END AS early_ns
    FROM charges
),
summed AS (
    SELECT
        *,
        wait_ns - sum(own_ns) OVER wait AS rest_ns,
        sum(early_ns) OVER wait AS early_sum_ns,
        sum(early_ns) OVER (
            PARTITION BY job, call_id, waiter ORDER BY start_ns DESC, rank, event_id, cause
        ) - early_ns AS later_early_ns,
        sum(during_ns - own_ns) OVER (
            PARTITION BY job, call_id, waiter ORDER BY start_ns, rank, event_id, cause
        ) - (during_ns - own_ns) AS earlier_other_ns
    FROM split
    WINDOW wait AS (PARTITION BY job, call_id, waiter)
),
shared AS (
    SELECT
        *,
        own_ns + least(early_ns, greatest(rest_ns - later_early_ns, 0)) AS more_ns,
        -- As much less is due to what else ran during the wait.
        greatest(
            during_ns - own_ns
                - greatest(least(early_sum_ns, greatest(rest_ns, 0)) - earlier_other_ns, 0),
            0
        ) AS usual_ns
    FROM summed
)
SELECT
    job, call_id, rank, group_name, step, cause, name, event_id,
    sum(more_ns + usual_ns) AS charge_ns,
    sum(more_ns) AS excess_ns,
    count(*) FILTER (WHERE more_ns + usual_ns > 0) AS waiters,
    length_ns, base_ns
FROM shared
GROUP BY
    job, call_id, rank, group_name, step, cause, name, event_id, length_ns, base_ns, start_ns
HAVING sum(more_ns + usual_ns) > 0 OR sum(during_ns) > 0
