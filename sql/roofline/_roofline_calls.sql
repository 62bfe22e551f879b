-- Owner calls with their figures and the time that each would take at the roofline of its device.
-- @scope trace
SELECT
    c.trace_id, c.device, c.step, c.owner_id, c.place, c.launch_id, c.device_ns, k.rank, k.flop,
    k.bytes, k.roofline_ns, k.figure_reason
FROM _roofline_kinds k
JOIN _owner_calls c
    ON c.trace_id = k.trace_id AND c.place = k.place AND c.kind_id = k.kind_id
        AND c.has_tf32 = k.has_tf32 AND c.has_transfer = k.has_transfer
            AND c.is_divided = k.is_divided
        AND coalesce(c.device, -1) = coalesce(k.device, -1)
