-- What takes the clock of each trace to the clock of its job, for jobs of several ranks: for a time
-- t of the trace from from_ns on and before to_ns, t - offset_ns - round(drift · (t - origin_ns)).
--
-- Ranks that are not connected with the others are left out. Times around a step back of a clock
-- belong to the segment that _clock_sides gives.
-- @scope store
SELECT
    j.trace_id, j.job, j.rank, j.world_size, r.segment,
    r.from_unix_ns - coalesce(t.base_time_ns, 0) AS from_ns,
    r.to_unix_ns - coalesce(t.base_time_ns, 0) AS to_ns,
    r.offset_ns - coalesce(t.base_time_ns, 0) AS offset_ns,
    r.origin_unix_ns - coalesce(t.base_time_ns, 0) AS origin_ns,
    r.drift_ppm / 1e6 AS drift
FROM job_ranks j
JOIN traces t ON t.trace_id = j.trace_id
JOIN _rank_clocks r ON r.job = j.job AND r.rank = j.rank AND r.is_main
WHERE j.ranks > 1
