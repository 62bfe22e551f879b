-- Steps of a rank in which its clock stepped while a device worked, so that lengths of that work
-- are not known.
-- @scope store
SELECT DISTINCT k.trace_id, k.step
FROM kernels k
JOIN _clock_steps c ON c.trace_id = k.trace_id AND k.ts_ns < c.to_ns AND k.end_ns > c.from_ns
WHERE k.step IS NOT NULL AND k.dur_ns > 0 AND k.kind IN ('kernel', 'memcpy', 'memset')
UNION
SELECT DISTINCT k.trace_id, k.step
FROM _clock_sides v
JOIN kernels k ON k.trace_id = v.trace_id AND k.event_id = v.event_id
WHERE k.step IS NOT NULL AND (v.straddles OR v.may_straddle OR v.is_unsure)
    AND k.kind IN ('kernel', 'memcpy', 'memset')
