-- Gaps between the work of a device, each with its causes and the work before and after it.
--
-- A gap is a stretch between the first and the last work of a device in which no kernel, copy or
-- fill runs on any of its streams; all gaps of a device add up to
-- gpu_timeline_by_device.idle_time_ns. The work after a gap ends it; of several that begin at once
-- it is the one launched first. Its launch call cuts the gap in parts that add up to idle_ns.
-- Before the call the device has nothing to run, as the host is late: data_loading_ns while the
-- host is in a call of a DataLoader; else synchronisation_ns if a call that waits for the device (a
-- synchronisation or a copy that blocks the host, as in device_syncs) was under way when the gap
-- began and ended before the launch, since the host then prepared the next work only after the
-- device had run out of work; else host_late_ns. launch_call_ns is the call itself; a copy that
-- blocks the host counts as synchronisation_ns instead. queued_ns is what lies between the end of
-- the call and the start on the device: waiting for an event or another stream, and the device's
-- own delay of some microseconds. cause names the largest part, the first of equal ones in this
-- order.
--
-- Source: idle time of Holistic Trace Analysis and TraceLens, which give each gap one cause; here
--   its time is split.
-- Example: SELECT device, start_ns, idle_ns, cause, before_name, after_name FROM gpu_idle_gaps
--   ORDER BY idle_ns DESC LIMIT 5
-- Holds: idle_ns = end_ns - start_ns
-- Holds: idle_ns = data_loading_ns + synchronisation_ns + host_late_ns + launch_call_ns + queued_ns
--   + unlinked_ns
-- Parts: idle_ns BY trace_id, device OF gpu_timeline_by_device.idle_time_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column step BIGINT id Step of the work after the gap; NULL outside steps.
-- @column start_ns BIGINT ns Start of the gap: the end of all work before it.
-- @column end_ns BIGINT ns End of the gap: the start of the work after it.
-- @column idle_ns BIGINT ns end_ns - start_ns; the sum of the six columns that follow.
-- @column data_loading_ns BIGINT ns The host was fetching a batch, before the launch call.
-- @column synchronisation_ns BIGINT ns The host had waited for the device and was not back at the
--   launch call yet, or that call is a copy that blocks it.
-- @column host_late_ns BIGINT ns The host did something else before the launch call.
-- @column launch_call_ns BIGINT ns The launch call was under way, which is no copy that blocks the
--   host.
-- @column queued_ns BIGINT ns The work was launched and had not begun.
-- @column unlinked_ns BIGINT ns All of the gap where the launch of the work after it was not found.
-- @column cause VARCHAR text data_loading, synchronisation, host_late, launch_call, queued or
--   unlinked: the largest part.
-- @column before_id BIGINT id Work that ended at the start of the gap (events.event_id); of several
--   the lowest id.
-- @column before_name VARCHAR text Its name.
-- @column after_id BIGINT id Work that ends the gap (events.event_id).
-- @column after_name VARCHAR text Its name.
-- @column launch_id BIGINT id The call that launched it (events.event_id); NULL if not found.
WITH befores AS (
    SELECT
        trace_id, device, end_ns,
        min(event_id) AS event_id,
        first_value(name ORDER BY event_id) AS name
    FROM kernels
    WHERE kind IN ('kernel', 'memcpy', 'memset') AND dur_ns >= 0
    GROUP BY trace_id, device, end_ns
)
SELECT
    p.trace_id, t.rank, p.device, a.step, p.start_ns, p.end_ns, p.idle_ns,
    p.data_loading_ns, p.synchronisation_ns, p.host_late_ns, p.launch_call_ns, p.queued_ns,
    p.unlinked_ns,
    CASE greatest(
        p.data_loading_ns, p.synchronisation_ns, p.host_late_ns, p.launch_call_ns, p.queued_ns,
        p.unlinked_ns
    )
        WHEN p.data_loading_ns THEN 'data_loading'
        WHEN p.synchronisation_ns THEN 'synchronisation'
        WHEN p.host_late_ns THEN 'host_late'
        WHEN p.launch_call_ns THEN 'launch_call'
        WHEN p.queued_ns THEN 'queued'
        ELSE 'unlinked'
    END AS cause,
    b.event_id AS before_id,
    b.name AS before_name,
    p.next_id AS after_id,
    a.name AS after_name,
    p.launch_id
FROM _idle_parts p
JOIN traces t ON t.trace_id = p.trace_id
JOIN kernels a ON a.trace_id = p.trace_id AND a.event_id = p.next_id
LEFT JOIN befores b
    ON b.trace_id = p.trace_id
        AND b.end_ns = p.start_ns
        AND (b.device IS NOT DISTINCT FROM p.device)
