-- How much of the device time the formulas cover, and why the rest is not covered.
--
-- One row per device and coverage, as in operator_roofline: modelled (operations and bytes are
-- known), bytes only, no formula, no shapes, lengths not recorded, not measurable, copies (copies
-- and fills without figures), graph (replay of a graph), host (launched outside of operators),
-- unlinked, communication, overlap (work of one call that ran at the same time).
--
-- Example: SELECT coverage, device_ns, device_pct, names FROM roofline_coverage
--   ORDER BY device_ns DESC
-- Holds: abs(sum(device_pct) OVER (PARTITION BY trace_id, device) - 100) < 0.000001
-- Parts: device_ns BY trace_id, device, coverage OF operator_roofline.device_ns
-- Range: sum device_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column coverage VARCHAR text As in operator_roofline.
-- @column device_ns BIGINT ns Device time.
-- @column device_pct DOUBLE pct device_ns as percent of the work of the device.
-- @column calls BIGINT count Calls, or activities outside of operators.
-- @column names VARCHAR text The three names with most of it.
WITH names AS (
    SELECT
        trace_id, rank, device, coverage, coalesce(kernel, name) AS name,
        sum(device_ns) AS device_ns, sum(calls) AS calls
    FROM operator_roofline
    GROUP BY trace_id, rank, device, coverage, coalesce(kernel, name)
),
numbered AS (
    SELECT
        *, row_number() OVER (
            PARTITION BY trace_id, device, coverage ORDER BY device_ns DESC, name) AS number
    FROM names
),
summed AS (
    SELECT
        trace_id, rank, device, coverage, sum(device_ns) AS device_ns, sum(calls) AS calls,
        string_agg(left(short_name(name), 60), ', ' ORDER BY number)
            FILTER (WHERE number <= 3) AS names
    FROM numbered
    GROUP BY trace_id, rank, device, coverage
)
SELECT
    trace_id, rank, device, coverage, device_ns,
    100.0 * device_ns / nullif(sum(device_ns) OVER (PARTITION BY trace_id, device), 0)
        AS device_pct,
    calls, names
FROM summed
