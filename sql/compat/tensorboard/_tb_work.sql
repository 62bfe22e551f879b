-- Device work as torch-tb-profiler 0.4.3 reads it: times in float microseconds, and only launches
-- of the category runtime.
--
-- is_stale marks work whose launch the plugin does not see, or could only find by something other
-- than the correlation. communicates marks kernels with the External id of a collective mark.
-- @scope trace
WITH collectives AS (
    SELECT DISTINCT trace_id, link_id FROM _tb_calls WHERE is_collective
),
launches AS (SELECT trace_id, event_id FROM _tb_calls WHERE kind = 'launch'),
unknown AS (SELECT trace_id, event_id FROM events WHERE cat = 'mtia_ccp_events')
SELECT
    k.trace_id, k.event_id, k.kind, k.name, k.device, l.event_id AS launch_id,
    l.event_id IS NULL AS is_stale,
    k.kind = 'kernel' AND c.link_id IS NOT NULL AS communicates,
    k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.registers_per_thread,
    k.shared_memory_bytes, k.blocks_per_sm, k.occupancy_pct,
    k.kind = 'kernel' AND coalesce(t.uses_tensor_cores, false) AS uses_tensor_cores,
    CAST(k.ts_ns / 1000 AS DOUBLE) + CAST(k.ts_ns % 1000 AS DOUBLE) / 1000.0 AS start_us,
    (CAST(k.ts_ns / 1000 AS DOUBLE) + CAST(k.ts_ns % 1000 AS DOUBLE) / 1000.0)
        + (
            CAST(greatest(k.dur_ns, 0) / 1000 AS DOUBLE)
                + CAST(greatest(k.dur_ns, 0) % 1000 AS DOUBLE) / 1000.0
        ) AS end_us,
    CAST(greatest(k.dur_ns, 0) / 1000 AS DOUBLE)
        + CAST(greatest(k.dur_ns, 0) % 1000 AS DOUBLE) / 1000.0 AS dur_us
FROM kernels k
LEFT JOIN launches l
    ON l.trace_id = k.trace_id AND l.event_id = k.launch_id AND k.link IN ('correlation', 'graph')
LEFT JOIN collectives c ON c.trace_id = k.trace_id AND c.link_id = k.external_id
LEFT JOIN _tb_tensor_core_names t ON t.name = k.name
LEFT JOIN unknown u ON u.trace_id = k.trace_id AND u.event_id = k.event_id
WHERE k.kind IN ('kernel', 'memcpy', 'memset') AND k.dur_ns IS NOT NULL AND u.event_id IS NULL
