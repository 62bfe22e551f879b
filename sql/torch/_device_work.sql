-- Kernels, copies and fills, and whether they use tensor cores.
SELECT
    k.trace_id, k.event_id, k.kind, k.name, k.device, k.stream, k.ts_ns, k.dur_ns, k.end_ns, k.launch_id, k.step,
    k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z, k.registers_per_thread, k.shared_memory_bytes, k.blocks_per_sm, k.occupancy_pct,
    k.kind = 'kernel' AND coalesce(c.uses_tensor_cores, false) AS uses_tensor_cores,
    k.kind = 'kernel' AND coalesce(c.uses_matrix_unit, false) AS uses_matrix_unit
FROM kernels k
LEFT JOIN _kernel_classes c ON c.name = k.name
WHERE k.kind IN ('kernel', 'memcpy', 'memset') AND k.dur_ns IS NOT NULL
