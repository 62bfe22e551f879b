-- Steps of a rank in which its clock stepped while a device worked, so that lengths of that work
-- are not known. is_computation is whether that is more than communication.
-- @scope store
SELECT trace_id, step, bool_or(class <> 'communication') AS is_computation
FROM (
    SELECT k.trace_id, k.step, k.class
    FROM kernel_classes k
    JOIN _clock_steps c
        ON c.trace_id = k.trace_id AND k.ts_ns < c.to_ns AND k.end_ns > c.from_ns
    WHERE k.step IS NOT NULL AND k.dur_ns > 0 AND k.class NOT IN ('memcpy', 'sync')
    UNION ALL
    SELECT k.trace_id, k.step, k.class
    FROM _clock_sides v
    JOIN kernel_classes k ON k.trace_id = v.trace_id AND k.event_id = v.event_id
    WHERE k.step IS NOT NULL AND (v.straddles OR v.may_straddle OR v.is_unsure OR k.dur_ns = 0)
        AND k.class NOT IN ('memcpy', 'sync')
)
GROUP BY trace_id, step
