-- Recording: kinds of information that the trace lacks, and how to record them.
--
-- Kinds are those of coverage that could be there: steps, operators, shapes, stacks, modules,
-- memory, device work, links, details of collectives. Views that need a missing kind are empty or
-- NULL, and rules about it are not measurable. Only traces of torch.profiler are judged.
-- Source: coverage.
-- @scope trace
-- @finding info above 0 pct: share of missing kinds of information
-- @numerator kinds of information that are missing
-- @denominator kinds of information that could be there
-- @unmeasured What the recording lacks could not be measured.
-- @message {numerator} of {denominator} {are_missing}: {names}.
-- @advice Record what you need of it: {how}.
-- @evidence SELECT information, status, events, candidates, views, how_to_record, sum(CASE status
--     WHEN 'missing' THEN 1 ELSE 0 END) OVER () AS numerator, count(*) OVER () AS denominator FROM
--     coverage WHERE trace_id = {trace_id} AND status <> 'not applicable' AND information NOT IN
--     ('call_stacks', 'occupancy', 'device_properties', 'rank')
WITH kinds AS (
    SELECT
        trace_id, count(*) FILTER (WHERE status = 'missing') AS missing, count(*) AS kinds,
        string_agg(CASE WHEN status = 'missing' THEN information END, ', ' ORDER BY information)
            AS names,
        string_agg(
            CASE WHEN status = 'missing' THEN concat(information, ': ', how_to_record) END,
            '; ' ORDER BY information) AS how
    FROM coverage
    WHERE status <> 'not applicable'
        AND information NOT IN ('call_stacks', 'occupancy', 'device_properties', 'rank')
    GROUP BY trace_id
)
SELECT
    t.trace_id, t.rank, k.missing AS numerator, k.kinds AS denominator, k.names, k.how,
    CASE k.missing
        WHEN 1 THEN 'kinds of information is missing'
        ELSE 'kinds of information are missing'
    END AS are_missing,
    CASE WHEN k.missing = 0 THEN concat('All ', k.kinds, ' kinds of information are there.') END
        AS message,
    CASE
        WHEN t.format = 'mllm_perf' THEN 'What a perf.json recording holds is fixed.'
        WHEN t.format <> 'kineto' OR coalesce(k.kinds, 0) = 0
            THEN 'The trace is not of torch.profiler.'
    END AS reason
FROM _rule_traces t
LEFT JOIN kinds k ON k.trace_id = t.trace_id
