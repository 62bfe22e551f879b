-- Regions of the program (user annotations): steps, calls and time of each.
--
-- A region is an annotation made by record_function or a decorator, including the marks that
-- PyTorch makes around optimizers and data loading; steps and collectives are left out. Regions
-- nest: host_total_ns counts an inner region in the outer one too, host_self_ns does not, so that
-- it adds up to the time in regions.
--
-- Source: the regions of PRISM's training profiler, each call counted once.
-- Example: SELECT name, steps, calls, host_total_ns, mean_ns FROM regions
--   ORDER BY host_total_ns DESC
-- Holds: host_self_ns <= host_total_ns AND min_ns <= mean_ns AND mean_ns <= max_ns
-- Holds: abs(sum(self_pct) OVER (PARTITION BY trace_id) - 100) < 0.000001
-- Parts: host_total_ns BY trace_id, name OF region_steps.host_total_ns
-- Parts: device_total_ns BY trace_id, name OF region_steps.device_total_ns
-- Range: sum host_total_ns, host_self_ns, mean_per_step_ns, device_total_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column name VARCHAR text Name of the region.
-- @column steps BIGINT count Steps in which it ran: its samples.
-- @column calls BIGINT count Number of calls.
-- @column host_total_ns BIGINT ns Sum of their durations.
-- @column host_self_ns BIGINT ns The same without regions inside.
-- @column self_pct DOUBLE pct host_self_ns as percent of the sum over all regions of the trace;
--   NULL if that is 0.
-- @column mean_ns DOUBLE ns Mean duration of a call.
-- @column min_ns BIGINT ns Shortest call.
-- @column max_ns BIGINT ns Longest call.
-- @column mean_per_step_ns DOUBLE ns host_total_ns of calls in steps by steps; NULL if it ran in
--   none.
-- @column device_total_ns BIGINT ns Device time launched inside the calls, on their thread.
SELECT
    r.trace_id, t.rank, r.name,
    count(DISTINCT r.step) AS steps,
    count(*) AS calls,
    sum(r.dur_ns) AS host_total_ns,
    sum(r.self_ns) AS host_self_ns,
    100.0
        * sum(r.self_ns)
        / nullif(sum(sum(r.self_ns)) OVER (PARTITION BY r.trace_id), 0) AS self_pct,
    avg(r.dur_ns) AS mean_ns,
    min(r.dur_ns) AS min_ns,
    max(r.dur_ns) AS max_ns,
    CAST(sum(CASE WHEN r.step IS NOT NULL THEN r.dur_ns END) AS DOUBLE)
        / nullif(count(DISTINCT r.step), 0) AS mean_per_step_ns,
    coalesce(sum(r.device_total_ns), 0) AS device_total_ns
FROM _region_calls r
JOIN traces t ON t.trace_id = r.trace_id
GROUP BY r.trace_id, t.rank, r.name
