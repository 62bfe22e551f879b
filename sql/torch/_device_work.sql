-- Kernels, copies and fills with the operator or mark that launched them.
--
-- node_id is the innermost operator or collective mark around the launch; NULL if there is none or the launch is not in the trace.
SELECT
    k.trace_id, k.event_id, k.kind, k.name, k.device, k.stream, k.ts_ns, k.dur_ns, k.end_ns, k.launch_id, k.step, l.parent_id AS node_id,
    k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.registers_per_thread, k.shared_memory_bytes, k.blocks_per_sm, k.occupancy_pct,
    t.name IS NOT NULL AS uses_tensor_cores
FROM kernels k
LEFT JOIN _host_links l ON l.trace_id = k.trace_id AND l.event_id = k.launch_id AND l.is_launch
LEFT JOIN _tensor_core_kernels t ON k.kind = 'kernel' AND t.name = k.name
WHERE k.kind IN ('kernel', 'memcpy', 'memset') AND k.dur_ns IS NOT NULL
