-- Memory that allocators hold without using it: reserved less allocated, after each allocation and
-- free.
--
-- One row per record of a device whose allocator wrote what it reserves; devices that reserve
-- nothing (the host) have no rows, and neither have devices whose records say that less is reserved
-- than allocated. Memory is not returned to the device while it is reserved, so a larger batch
-- could not use the share at the peak of allocation; is_peak marks that row.
--
-- Source: reserved and allocated as PyTorch's caching allocator defines them.
-- Example: SELECT device, unused_bytes, unused_pct FROM memory_fragmentation WHERE is_peak
-- Holds: unused_bytes = reserved_bytes - allocated_bytes
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device_type VARCHAR text cuda, …; the kind of device.
-- @column device BIGINT id Device number.
-- @column step BIGINT id Step at this time; NULL outside steps.
-- @column record BIGINT number Number of the record on its device, from 1.
-- @column ts_ns BIGINT ns Time.
-- @column allocated_bytes BIGINT bytes Allocated from then on.
-- @column reserved_bytes BIGINT bytes Reserved from then on.
-- @column unused_bytes BIGINT bytes reserved_bytes - allocated_bytes.
-- @column unused_pct DOUBLE pct unused_bytes as percent of reserved_bytes; NULL if that is 0.
-- @column is_peak BOOLEAN flag Whether this is the record at which allocation first reached its
--   peak.
SELECT
    trace_id, rank, device_type, device, step, record, ts_ns, allocated_bytes, reserved_bytes,
    reserved_bytes - allocated_bytes AS unused_bytes,
    100.0 * (reserved_bytes - allocated_bytes) / nullif(reserved_bytes, 0) AS unused_pct,
    record = peak_record AS is_peak
FROM (
    SELECT
        *,
        max(reserved_bytes) OVER device AS most_bytes,
        min(reserved_bytes - allocated_bytes) OVER device AS least_unused_bytes
    FROM _memory_peaks
    WINDOW device AS (PARTITION BY trace_id, device_type, device)
)
WHERE most_bytes > 0 AND least_unused_bytes >= 0 AND reserved_bytes IS NOT NULL
