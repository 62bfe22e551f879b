-- Marks of collectives in which the host itself exchanges data (gloo, mpi and ucc), and all marks
-- of a trace without device work.
-- @scope trace
SELECT m.trace_id, m.event_id, m.ts_ns, m.end_ns
FROM _collective_marks m
LEFT JOIN (
    SELECT DISTINCT trace_id
    FROM kernels
    WHERE kind IN ('kernel', 'memcpy', 'memset') AND dur_ns > 0
) d
    ON d.trace_id = m.trace_id
WHERE d.trace_id IS NULL OR NOT (starts_with(m.name, 'nccl:') OR starts_with(m.name, 'xccl:'))
