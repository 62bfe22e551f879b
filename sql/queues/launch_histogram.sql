-- Histograms of launches: how many calls, delays and activities have which length.
--
-- Bins begin at 1, 2 and 5 times powers of ten nanoseconds; the first one, from 0 to 1, holds
-- lengths of 0, which for delays includes work that begins before its call returns. Empty bins have
-- no row. A call that launched several activities counts once for measure call.
--
-- Source: the histograms of get_cuda_kernel_launch_stats of Holistic Trace Analysis.
-- Example: SELECT measure, from_ns, to_ns, amount FROM launch_histogram WHERE kind = 'kernel'
--   ORDER BY measure, from_ns
-- Holds: from_ns < to_ns AND from_ns * amount <= total_ns AND total_ns < to_ns * amount
-- Range: any from_ns, to_ns, total_ns; bins end at round figures, delays can exceed the trace.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column kind VARCHAR text kernel, memcpy or memset.
-- @column measure VARCHAR text call (duration of the call), delay (from its end to the start of the
--   work) or work (duration of the work).
-- @column from_ns BIGINT ns Start of the bin.
-- @column to_ns BIGINT ns End of the bin, exclusive.
-- @column amount BIGINT count Calls or activities in the bin.
-- @column total_ns BIGINT ns Sum of their lengths.
WITH lengths AS (
    SELECT trace_id, kind, 'call' AS measure, max(call_ns) AS length_ns
    FROM _launch_pairs
    GROUP BY trace_id, kind, launch_id
    UNION ALL
    SELECT trace_id, kind, 'delay', delay_ns FROM _launch_pairs
    UNION ALL
    SELECT trace_id, kind, 'work', work_ns FROM _launch_pairs
),
tens AS (
    SELECT
        trace_id, kind, measure, length_ns,
        CASE
            WHEN length_ns = 0 THEN 0
            ELSE power(10, least(character_length(CAST(length_ns AS VARCHAR)) - 1, 17))
        END AS ten_ns
    FROM lengths
),
bins AS (
    SELECT
        trace_id, kind, measure, length_ns,
        CAST(CASE
            WHEN length_ns >= 5 * ten_ns THEN 5 * ten_ns
            WHEN length_ns >= 2 * ten_ns THEN 2 * ten_ns
            ELSE ten_ns
        END AS BIGINT) AS from_ns,
        CAST(CASE
            WHEN length_ns = 0 THEN 1
            WHEN length_ns >= 5 * ten_ns THEN 10 * ten_ns
            WHEN length_ns >= 2 * ten_ns THEN 5 * ten_ns
            ELSE 2 * ten_ns
        END AS BIGINT) AS to_ns
    FROM tens
)
SELECT
    b.trace_id, t.rank, b.kind, b.measure, b.from_ns, b.to_ns,
    count(*) AS amount,
    sum(b.length_ns) AS total_ns
FROM bins b
JOIN traces t ON t.trace_id = b.trace_id
GROUP BY b.trace_id, t.rank, b.kind, b.measure, b.from_ns, b.to_ns
