-- Memory over time by category, from a memory timeline of torch.profiler.
--
-- A row for each change of a category: a value holds until the next row of the category. Memory
-- that was there before the recording has no time. `export_memory_timeline` writes the timeline of
-- one device, and does not say which one.
--
-- Source: the categories of torch.profiler's memory timeline.
-- Example: SELECT ts_ns, category, bytes, total_bytes FROM memory_category_timeline ORDER BY entry
-- Range: any change_bytes; less than 0 for a free.
-- Range: any bytes; a category may give memory to another that it never got.
--
-- @scope trace
-- @column trace_id VARCHAR text The memory timeline.
-- @column entry BIGINT number Number of the entry in the order of time; several categories share
--   one if the file has sizes over time.
-- @column event_id BIGINT id The entry (events.event_id).
-- @column ts_ns BIGINT ns Time; NULL for memory that was there before.
-- @column category VARCHAR text parameter, optimizer_state, input, temporary, activation, gradient,
--   autograd_detail or unknown.
-- @column change_bytes BIGINT bytes Change of the category.
-- @column bytes BIGINT bytes Memory of the category from then on.
-- @column total_bytes BIGINT bytes Memory of all categories from then on.
SELECT
    trace_id, entry, event_id, ts_ns, category, change_bytes,
    sum(change_bytes) OVER (PARTITION BY trace_id, category ORDER BY entry) AS bytes,
    sum(change_bytes) OVER (PARTITION BY trace_id ORDER BY entry) AS total_bytes
FROM _memory_categories
