-- Launch calls with each activity that they launched: time of the call, delay, time of the work.
--
-- delay_ns is the time from the end of the call to the start on the device, 0 if the work begins
-- before the call returns; began_early marks that.
-- @scope trace
SELECT
    k.trace_id, k.event_id, k.launch_id, k.kind, k.device, k.stream, k.step,
    l.name AS launch_name,
    greatest(l.dur_ns, 0) AS call_ns,
    greatest(k.ts_ns - l.end_ns, 0) AS delay_ns,
    k.ts_ns < l.end_ns AS began_early,
    greatest(k.dur_ns, 0) AS work_ns
FROM kernels k
JOIN events l ON l.trace_id = k.trace_id AND l.event_id = k.launch_id
WHERE k.kind IN ('kernel', 'memcpy', 'memset')
    AND k.ts_ns IS NOT NULL AND k.dur_ns IS NOT NULL AND l.dur_ns IS NOT NULL
