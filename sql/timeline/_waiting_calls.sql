-- Runtime and driver calls in which the host only waits for the device: synchronisations and copies
-- that block.
--
-- Calls that wait are listed as sync_call in name_rules. Freeing memory also waits, but it is
-- separate work, so it is left out. A copy with Async in its name blocks if its device activity
-- shows that the host memory is pageable. Copies to the host always block in this case. Copies to
-- the device of more than 64 KiB are staged piece by piece, so they count if the call did not
-- return before the copy ended. CUDA passes smaller copies along with the call.
-- @scope trace
WITH names AS (
    SELECT name, waits_for
    FROM (
        SELECT name, classify('sync_call', name) AS waits_for
        FROM (SELECT DISTINCT name FROM _launches)
    )
    WHERE waits_for IN ('device', 'stream', 'event', 'copy')
),
pageable AS (
    SELECT
        trace_id, launch_id, bool_or(contains(name, 'DtoH')) AS is_to_host,
        CASE WHEN sum(bytes) > 65536 THEN max(end_ns) END AS copied_ns
    FROM kernels
    WHERE kind = 'memcpy' AND launch_id IS NOT NULL AND contains(name, 'Pageable')
    GROUP BY trace_id, launch_id
)
SELECT
    l.trace_id, l.event_id, l.track_id, l.ts_ns, l.end_ns,
    n.waits_for IN ('device', 'stream', 'event') AS is_sync,
    p.launch_id IS NOT NULL AS is_pageable
FROM _launches l
LEFT JOIN names n ON n.name = l.name
LEFT JOIN pageable p ON p.trace_id = l.trace_id AND p.launch_id = l.event_id
WHERE n.name IS NOT NULL OR p.is_to_host OR l.end_ns >= p.copied_ns
