-- Unlinked device work: kernels whose launch is not in the trace, so that no operator gets their
-- time.
--
-- Both parts leave out work of a kind that never carries a correlation in the trace (link_reason
-- never_correlated, as dma_request of MTIA), which no recording could link; the message has its
-- number. What is not linked is missing in the device time of operators, modules, regions and
-- steps.
-- Source: linked_pct of trace_summary, without waits of the device.
-- @scope trace
-- @finding above 5 pct, high above 50: share of device work without launch
-- @numerator kernels, copies and fills without launch
-- @denominator kernels, copies and fills that could be linked
-- @unmeasured Links between device work and its launches could not be measured.
-- @message The launch of {value} % of the device work is not in the trace: {numerator} of
--     {denominator} kernels, copies and fills.[ {unlinkable:more is|more are} of a kind that never
--     carries a correlation in this trace, and not counted.]
-- @advice Record ProfilerActivity.CPU and ProfilerActivity.CUDA together, and start the profiler a
--     step before the one of interest (schedule with warmup), so that launches are in the trace.
-- @evidence SELECT kind, link, link_reason, count(*) AS activities, sum(dur_ns) AS total_ns,
--     sum(count(*) FILTER (WHERE link_reason IS DISTINCT FROM 'never_correlated') -
--     count(launch_id)) OVER () AS numerator, sum(count(*) FILTER (WHERE link_reason IS DISTINCT
--     FROM 'never_correlated')) OVER () AS denominator FROM kernel_launches WHERE kind IN
--     ('kernel', 'memcpy', 'memset') AND dur_ns >= 0 AND trace_id = {trace_id} GROUP BY kind, link,
--     link_reason ORDER BY activities DESC
WITH reasons AS (
    SELECT
        trace_id, count(*) FILTER (WHERE link_reason = 'never_correlated') AS unlinkable,
        count(*) FILTER (WHERE link_reason = 'no_correlation') AS uncorrelated
    FROM kernels
    WHERE kind IN ('kernel', 'memcpy', 'memset') AND dur_ns >= 0
    GROUP BY trace_id
)
SELECT
    t.trace_id, t.rank, t.device_work - t.linked_work - r.unlinkable AS numerator,
    t.device_work - r.unlinkable AS denominator,
    nullif(r.unlinkable, 0) AS unlinkable,
    CASE
        WHEN 2 * r.uncorrelated > t.device_work - t.linked_work - r.unlinkable
            THEN concat(
                'Most of it carries no correlation with a call: it was launched before the ',
                'recording began, or the profiler writes none. Start the profiler a step before ',
                'the one of interest',
                CASE WHEN t.format = 'kineto' THEN ' (schedule with warmup)' END,
                '; if that does not help, try a newer profiler.')
        WHEN t.format <> 'kineto' AND a.advice IS NOT NULL
            THEN concat(upper(substr(a.advice, 1, 1)), substr(a.advice, 2), '.')
    END AS advice,
    CASE
        WHEN t.no_device_reason IS NOT NULL THEN t.no_device_reason
        WHEN t.device_work = r.unlinkable THEN 'All device work of the trace is of kinds that '
            || 'never carry a correlation, so the profiler tells no launch of it.'
        ELSE t.too_little_reason
    END AS reason
FROM _rule_traces t
LEFT JOIN reasons r ON r.trace_id = t.trace_id
LEFT JOIN _record_advice a ON a.trace_id = t.trace_id AND a.information = 'links'
