-- Memory of two snapshots side by side, by stack: what was live at the peak and at the end.
--
-- One row per pair of compare_pairs, device and stack. Stacks are equal if all their frames are,
-- also their line numbers. Stacks that only one of the two has keep their row. Compare snapshots
-- that were taken at equal points of two runs, or at two points of one run.
--
-- Example: SELECT site, base_peak_bytes, cand_peak_bytes, peak_delta_bytes FROM snapshot_diff
--   ORDER BY abs(peak_delta_bytes) DESC LIMIT 5
-- Holds: peak_delta_bytes = cand_peak_bytes - base_peak_bytes
-- Holds: end_delta_bytes = cand_end_bytes - base_end_bytes
-- Range: any peak_delta_bytes, end_delta_bytes; a difference.
--
-- @scope store
-- @column base_trace_id VARCHAR text The snapshot compared with.
-- @column cand_trace_id VARCHAR text The snapshot that is compared.
-- @column trace_id VARCHAR text The same as cand_trace_id.
-- @column device BIGINT id Device number; -1 is the host.
-- @column category VARCHAR text Category of the stack (snapshot_stacks.category); unknown without a
--   stack.
-- @column site VARCHAR text Innermost frame of the program (snapshot_stacks.site); NULL without a
--   stack.
-- @column status VARCHAR text both, removed if only the base has it, or added if only the candidate
--   does.
-- @column base_peak_allocations BIGINT count Allocations live at the peak of the base.
-- @column cand_peak_allocations BIGINT count Allocations live at the peak of the candidate.
-- @column base_peak_bytes BIGINT bytes Their size in the base.
-- @column cand_peak_bytes BIGINT bytes Their size in the candidate.
-- @column peak_delta_bytes BIGINT bytes Candidate less base.
-- @column base_end_bytes BIGINT bytes Size of those live at the end of the base.
-- @column cand_end_bytes BIGINT bytes Size of those live at the end of the candidate.
-- @column end_delta_bytes BIGINT bytes Candidate less base.
-- @column stack VARCHAR[] list Frames, root first; `(no stack)` without them.
WITH live AS (
    SELECT
        trace_id, device, stack_id,
        count(*) AS peak_allocations, sum(bytes) AS peak_bytes, 0 AS end_bytes
    FROM snapshot_live_at_peak
    GROUP BY trace_id, device, stack_id
    UNION ALL
    SELECT trace_id, device, stack_id, 0, 0, sum(bytes)
    FROM snapshot_allocations
    WHERE is_counted AND state IN ('live', 'pending')
    GROUP BY trace_id, device, stack_id
),
named AS (
    SELECT
        l.trace_id, l.device, coalesce(s.category, 'unknown') AS category, s.site,
        coalesce(s.stack, ['(no stack)']) AS stack,
        l.peak_allocations, l.peak_bytes, l.end_bytes
    FROM live l
    LEFT JOIN snapshot_stacks s ON s.trace_id = l.trace_id AND s.stack_id = l.stack_id
),
sides AS (
    SELECT
        p.base_trace_id, p.cand_trace_id, 1 AS in_base, 0 AS in_cand,
        n.device, n.category, n.site, n.stack,
        n.peak_allocations AS base_peak_allocations, 0 AS cand_peak_allocations,
        n.peak_bytes AS base_peak_bytes, 0 AS cand_peak_bytes,
        n.end_bytes AS base_end_bytes, 0 AS cand_end_bytes
    FROM compare_pairs p
    JOIN named n ON n.trace_id = p.base_trace_id
    UNION ALL
    SELECT
        p.base_trace_id, p.cand_trace_id, 0, 1,
        n.device, n.category, n.site, n.stack,
        0, n.peak_allocations, 0, n.peak_bytes, 0, n.end_bytes
    FROM compare_pairs p
    JOIN named n ON n.trace_id = p.cand_trace_id
),
sums AS (
    SELECT
        base_trace_id, cand_trace_id, device, category, site, stack,
        max(in_base) AS in_base, max(in_cand) AS in_cand,
        sum(base_peak_allocations) AS base_peak_allocations,
        sum(cand_peak_allocations) AS cand_peak_allocations,
        sum(base_peak_bytes) AS base_peak_bytes, sum(cand_peak_bytes) AS cand_peak_bytes,
        sum(base_end_bytes) AS base_end_bytes, sum(cand_end_bytes) AS cand_end_bytes
    FROM sides
    GROUP BY base_trace_id, cand_trace_id, device, category, site, stack
)
SELECT
    base_trace_id, cand_trace_id, cand_trace_id AS trace_id, device, category, site,
    CASE
        WHEN in_base = 1 AND in_cand = 1 THEN 'both'
        WHEN in_base = 1 THEN 'removed'
        ELSE 'added'
    END AS status,
    base_peak_allocations, cand_peak_allocations,
    base_peak_bytes, cand_peak_bytes,
    cand_peak_bytes - base_peak_bytes AS peak_delta_bytes,
    base_end_bytes, cand_end_bytes,
    cand_end_bytes - base_end_bytes AS end_delta_bytes,
    stack
FROM sums
