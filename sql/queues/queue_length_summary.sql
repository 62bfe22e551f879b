-- Launch queue of each stream: lengths by time and by change, time with an empty or a full queue,
-- and time in which launch calls were held up by a full one.
--
-- Figures by time weight each length of queue_length with the time that it lasted, from the first
-- to the last change on the stream; mean_by_change is the plain mean over changes, as in Holistic
-- Trace Analysis. An empty queue means that the device runs its last launched work or nothing, so
-- that the host decides the speed. A full queue (setting queue_full_length; CUDA holds up to 1,022
-- launches) makes further calls wait: blocked_ns is the time in which the queue is full and a call
-- that launched work for this stream is under way, full_calls is the number of such calls.
--
-- Source: get_queue_length_summary and get_time_spent_blocked_on_full_queue of Holistic Trace
--   Analysis; hta_queue_length_summary has their own numbers.
-- Example: SELECT device, stream, mean_by_time, max_length, empty_pct, full_ns, blocked_ns
--   FROM queue_length_summary ORDER BY device, stream
-- Holds: empty_ns + full_ns <= observed_ns AND blocked_ns <= full_ns
-- Holds: mean_by_time <= max_length AND mean_by_change <= max_length
-- Holds: launched_work * 2 = changes
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column stream BIGINT id Stream; NULL where none was written.
-- @column launched_work BIGINT count Kernels, copies and fills whose launch was found.
-- @column unlinked_work BIGINT count Those whose launch was not found, which the lengths leave out.
-- @column changes BIGINT count Rows of queue_length.
-- @column observed_ns BIGINT ns From the first to the last change.
-- @column max_length BIGINT count Greatest length.
-- @column mean_by_time DOUBLE count Mean length over time; NULL if observed_ns is 0.
-- @column median_by_time BIGINT count Length that was not exceeded in half of the time.
-- @column p95_by_time BIGINT count Length that was not exceeded in 95 % of the time.
-- @column mean_by_change DOUBLE count Mean over the changes.
-- @column empty_ns BIGINT ns Time with length 0.
-- @column empty_pct DOUBLE pct The same as percent of observed_ns; NULL if that is 0.
-- @column full_ns BIGINT ns Time with at least queue_full_length.
-- @column full_pct DOUBLE pct The same as percent of observed_ns; NULL if that is 0.
-- @column full_calls BIGINT count Launches that found the queue full.
-- @column blocked_ns BIGINT ns Time with a full queue and a launch call under way.
WITH by_length AS (
    SELECT
        trace_id, device, stream, length,
        count(*) AS changes,
        count(*) FILTER (WHERE change = 'launch') AS launches,
        coalesce(sum(length_ns), 0) AS time_ns
    FROM queue_length
    GROUP BY trace_id, device, stream, length
),
running AS (
    SELECT *,
        running_sum(time_ns) OVER (PARTITION BY trace_id, device, stream ORDER BY length) AS so_far,
        sum(time_ns) OVER (PARTITION BY trace_id, device, stream) AS observed_ns
    FROM by_length
),
sums AS (
    SELECT
        trace_id, device, stream,
        sum(launches) AS launched_work,
        sum(changes) AS changes,
        max(observed_ns) AS observed_ns,
        max(length) AS max_length,
        sum(CAST(length AS DOUBLE) * time_ns) / nullif(max(observed_ns), 0) AS mean_by_time,
        min(length) FILTER (WHERE so_far >= 0.5 * observed_ns) AS median_by_time,
        min(length) FILTER (WHERE so_far >= 0.95 * observed_ns) AS p95_by_time,
        sum(CAST(length AS DOUBLE) * changes) / sum(changes) AS mean_by_change,
        coalesce(sum(time_ns) FILTER (WHERE length = 0), 0) AS empty_ns,
        coalesce(
            sum(time_ns) FILTER (WHERE length >= setting_int('queue_full_length')), 0
        ) AS full_ns,
        coalesce(
            sum(launches) FILTER (WHERE length > setting_int('queue_full_length')), 0
        ) AS full_calls
    FROM running
    GROUP BY trace_id, device, stream
),
full_queue AS (
    SELECT trace_id, device, stream, change, ts_ns, length, length_ns, launch_id
    FROM queue_length
    WHERE length >= setting_int('queue_full_length')
),
meetings AS (
    SELECT trace_id, device, stream, ts_ns, ts_ns + length_ns AS end_ns, 0 AS side
    FROM full_queue
    WHERE length_ns > 0
    UNION ALL
    SELECT f.trace_id, f.device, f.stream, l.ts_ns, l.end_ns, 1
    FROM full_queue f
    JOIN events l ON l.trace_id = f.trace_id AND l.event_id = f.launch_id
    WHERE f.change = 'launch' AND l.end_ns > l.ts_ns
),
overlaps AS (
    SELECT
        trace_id, device, stream,
        unnest(interval_overlap_len(ts_ns, end_ns, side)) AS part
    FROM meetings
    GROUP BY trace_id, device, stream
),
blocked AS (
    SELECT trace_id, device, stream, part['len'] AS blocked_ns
    FROM overlaps
    WHERE part['sets'] = 3
),
unlinked AS (
    SELECT trace_id, device, stream, count(*) AS work
    FROM kernels
    WHERE kind IN ('kernel', 'memcpy', 'memset') AND launch_id IS NULL
    GROUP BY trace_id, device, stream
)
SELECT
    s.trace_id, t.rank, s.device, s.stream,
    s.launched_work,
    coalesce(u.work, 0) AS unlinked_work,
    s.changes, s.observed_ns, s.max_length, s.mean_by_time, s.median_by_time, s.p95_by_time,
    s.mean_by_change,
    s.empty_ns,
    100.0 * s.empty_ns / nullif(s.observed_ns, 0) AS empty_pct,
    s.full_ns,
    100.0 * s.full_ns / nullif(s.observed_ns, 0) AS full_pct,
    s.full_calls,
    coalesce(b.blocked_ns, 0) AS blocked_ns
FROM sums s
JOIN traces t ON t.trace_id = s.trace_id
LEFT JOIN blocked b
    ON b.trace_id = s.trace_id
        AND (b.device IS NOT DISTINCT FROM s.device)
        AND (b.stream IS NOT DISTINCT FROM s.stream)
LEFT JOIN unlinked u
    ON u.trace_id = s.trace_id
        AND (u.device IS NOT DISTINCT FROM s.device)
        AND (u.stream IS NOT DISTINCT FROM s.stream)
