-- Data loading within the budget of this team.
--
-- @finding above 8 pct, high above 16: share of step time in data loading
-- @numerator data loading of all steps, ns
-- @denominator all steps, ns
-- @message Data loading takes {value} % of the steps; the budget is {threshold} %.
-- @advice Raise num_workers of the DataLoader, or prefetch.
-- @reason The trace has no steps; call prof.step() at the end of each.
-- @evidence SELECT step, dataloader_ns, total_ns, sum(dataloader_ns) OVER () AS numerator,
--     sum(total_ns) OVER () AS denominator FROM step_time
--     WHERE step IS NOT NULL AND trace_id = {trace_id} ORDER BY step
SELECT t.trace_id, t.rank, sum(s.dataloader_ns) AS numerator, sum(s.total_ns) AS denominator
FROM traces t
LEFT JOIN step_time s ON s.trace_id = t.trace_id AND s.step IS NOT NULL
GROUP BY t.trace_id, t.rank
