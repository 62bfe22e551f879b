-- Memory over time: bytes allocated and reserved on each device after each allocation and free.
--
-- One row per record of the allocator, so nothing is sampled or smoothed; the value holds until the
-- next row of the device. Where the profiler wrote totals they are shown as written. Traces without
-- them (PyTorch before 1.10, perf.json) show the sum of all changes since the recording began: what
-- was allocated before is not known, so the curve may fall below 0. Times are those of the trace;
-- see traces.start_ns for its first.
--
-- Source: the memory view of torch-tb-profiler 0.4.3, without its sampling to 10,240 points.
-- Example: SELECT device_type, device, ts_ns, allocated_bytes, reserved_bytes FROM memory_curve
--   ORDER BY device_type, device, record LIMIT 5
-- Range: any change_bytes; less than 0 for a free.
-- Range: any allocated_bytes; where the profiler wrote no totals, frees of what was allocated
--   before the recording go below 0.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device_type VARCHAR text cpu, cuda, …; the device's name for perf.json.
-- @column device BIGINT id Device number; -1 is the host; NULL if not recorded.
-- @column step BIGINT id Step at this time; NULL outside steps.
-- @column record BIGINT number Number of the record on its device, from 1.
-- @column event_id BIGINT id The record (events.event_id).
-- @column ts_ns BIGINT ns Time.
-- @column change_bytes BIGINT bytes Size of the allocation; negative for a free; NULL if not
--   usable.
-- @column allocated_bytes BIGINT bytes Allocated on the device from then on.
-- @column reserved_bytes BIGINT bytes Reserved by the allocator from then on; NULL if not recorded.
-- @column is_recorded BOOLEAN flag Whether allocated_bytes is the profiler's own total, not a sum
--   of changes.
SELECT
    trace_id, rank, device_type, device, step, record, event_id, ts_ns,
    bytes AS change_bytes,
    allocated_bytes, reserved_bytes, is_recorded
FROM _memory_records
