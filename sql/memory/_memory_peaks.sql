-- Allocator records with the number of the record at which their device first reached its peak.
-- @scope trace
WITH highest AS (
    SELECT *, max(allocated_bytes) OVER (PARTITION BY trace_id, device_type, device) AS peak_bytes
    FROM _memory_records
)
SELECT
    *,
    min(CASE WHEN allocated_bytes = peak_bytes THEN record END)
        OVER (PARTITION BY trace_id, device_type, device) AS peak_record
FROM highest
