-- Host marks of collectives: nccl:…, gloo:… and similar names.
-- @scope trace
SELECT trace_id, event_id, track_id, step, name, ts_ns, end_ns, dur_ns, input_dims, input_types
FROM events
WHERE dur_ns IS NOT NULL AND cat IN ('user_annotation', 'cpu_op', 'Operator', 'operator')
    -- Most operators are of ATen. One comparison leaves them out; the others would take five.
    AND NOT starts_with(name, 'aten::')
    AND (
        starts_with(name, 'nccl:')
        OR starts_with(name, 'gloo:')
        OR starts_with(name, 'mpi:')
        OR starts_with(name, 'ucc:')
        OR starts_with(name, 'xccl:')
    )
