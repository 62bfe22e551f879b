-- What memory is for, from a memory timeline of torch.profiler: each category when the memory of
-- all is highest, its own highest value, and the end.
--
-- Source: the categories of torch.profiler's memory timeline.
-- Example: SELECT category, peak_bytes, share_pct, end_bytes FROM memory_categories
--   ORDER BY peak_bytes DESC
-- Holds: highest_bytes >= peak_bytes
-- Range: any end_bytes; a category may give memory to another that it never got.
-- Range: any peak_bytes; likewise.
-- Range: any highest_bytes; likewise.
-- Range: any share_pct; likewise.
--
-- @scope trace
-- @column trace_id VARCHAR text The memory timeline.
-- @column category VARCHAR text parameter, optimizer_state, input, temporary, activation, gradient,
--   autograd_detail or unknown.
-- @column peak_ts_ns BIGINT ns Time at which the memory of all categories is highest; NULL if that
--   is before the recording.
-- @column peak_bytes BIGINT bytes Memory of the category at that time.
-- @column share_pct DOUBLE pct peak_bytes as percent of all memory at that time.
-- @column highest_bytes BIGINT bytes Its own highest value.
-- @column end_bytes BIGINT bytes Its value at the end.
-- @column entries BIGINT count Changes of the category.
WITH peaks AS (
    SELECT
        trace_id,
        first_value(entry ORDER BY total_bytes DESC, entry) AS entry,
        first_value(ts_ns ORDER BY total_bytes DESC, entry) AS ts_ns
    FROM memory_category_timeline
    GROUP BY trace_id
),
summed AS (
    SELECT
        m.trace_id, m.category, p.ts_ns AS peak_ts_ns,
        coalesce(sum(m.change_bytes) FILTER (WHERE m.entry <= p.entry), 0) AS peak_bytes,
        max(m.bytes) AS highest_bytes,
        sum(m.change_bytes) AS end_bytes,
        count(*) FILTER (WHERE m.change_bytes <> 0) AS entries
    FROM memory_category_timeline m
    JOIN peaks p ON p.trace_id = m.trace_id
    GROUP BY m.trace_id, m.category, p.ts_ns
)
SELECT
    trace_id, category, peak_ts_ns, peak_bytes,
    100.0 * peak_bytes / nullif(sum(peak_bytes) OVER (PARTITION BY trace_id), 0) AS share_pct,
    greatest(highest_bytes, peak_bytes) AS highest_bytes,
    end_bytes, entries
FROM summed
