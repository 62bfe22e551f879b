-- Samples of folded stacks and of speedscope profiles: the stack and the weight of each.
--
-- Weights have the unit that the file states. Folded stacks state none: their numbers count as
-- samples, also those of torch.profiler's export_stacks, which are microseconds. Samples of a
-- profile in a unit of time follow each other, so their weights are also their times.
--
-- Source: speedscope's file format; the folded format of flame graph tools.
-- Example: SELECT stack_leaf(stack) AS frame, sum(samples) AS samples FROM profile_samples
--   GROUP BY 1 ORDER BY 2 DESC LIMIT 5
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column event_id BIGINT id The sample (events.event_id).
-- @column track_id BIGINT id The profile, such as a thread (tracks.track_id).
-- @column ts_ns BIGINT ns Start of the sample; NULL if the unit is not one of time.
-- @column unit VARCHAR text Unit as written; NULL if the file states none.
-- @column weight DOUBLE number Weight in that unit; NULL if not usable.
-- @column samples BIGINT count The weight if it has no unit, rounded to a whole number; 0 if it is
--   not usable or beyond 64 bits; otherwise 1.
-- @column cpu_ns BIGINT ns The weight as time; 0 for other units.
-- @column bytes BIGINT bytes The weight as bytes; 0 for other units.
-- @column stack VARCHAR[] list Frames, root first.
WITH weighed AS (
    SELECT
        trace_id, event_id, track_id, ts_ns,
        json_get_str(args, 'unit') AS unit,
        json_get_float(args, 'weight') AS weight,
        json_get_int(args, 'weight') AS whole_weight,
        json_get_int(args, 'weight_ns') AS weight_ns,
        json_get_int(args, 'weight_bytes') AS weight_bytes,
        call_stack
    FROM events
    WHERE cat = 'sample' AND ph = 'i' AND call_stack <> ''
)
SELECT
    trace_id, event_id, track_id, ts_ns, unit, weight,
    CASE WHEN coalesce(unit, 'none') = 'none'
        THEN coalesce(whole_weight, try_cast(round(weight) AS BIGINT), 0)
        ELSE 1 END AS samples,
    coalesce(weight_ns, 0) AS cpu_ns,
    coalesce(weight_bytes, 0) AS bytes,
    unfold_stack(call_stack) AS stack
FROM weighed
