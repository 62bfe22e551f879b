-- Kernels, copies and fills with their class, and whether they run on tensor or matrix cores.
-- uses_tensor_cores is NULL if that is unclear.
-- @scope trace
SELECT
    k.trace_id, k.event_id, k.kind, k.name, k.device, k.stream, k.ts_ns, k.dur_ns, k.end_ns,
    k.launch_id, k.step,
    k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.registers_per_thread,
    k.shared_memory_bytes, k.blocks_per_sm, k.occupancy_pct,
    c.class,
    CASE WHEN c.matrix_unit <> 'unclear' THEN c.matrix_unit = 'yes' END AS uses_tensor_cores
FROM kernels k
JOIN kernel_classes c ON c.trace_id = k.trace_id AND c.event_id = k.event_id
WHERE k.kind IN ('kernel', 'memcpy', 'memset') AND k.dur_ns IS NOT NULL
