-- Operator calls inside of a frame in which activation checkpointing computes a part of the forward
-- pass again.
-- @scope trace
WITH recomputing AS (
    SELECT DISTINCT trace_id
    FROM events
    WHERE cat = 'python_function'
        -- Few names pass this comparison, which is much faster than the next.
        AND contains(name, 'torch/utils/checkpoint.py(')
        AND regexp_like(name, 'torch/utils/checkpoint\.py\(\d+\): recompute_fn')
)
SELECT trace_id, event_id, true AS is_recomputed
FROM (
    SELECT
        e.trace_id, e.event_id, e.cat,
        outermost_id(e.event_id, e.parent_id, CASE
            WHEN e.cat = 'python_function'
                AND regexp_like(e.name, 'torch/utils/checkpoint\.py\(\d+\): recompute_fn')
                THEN 'recompute'
        END) OVER (PARTITION BY e.trace_id) AS frame_id
    FROM recomputing r
    JOIN events e ON e.trace_id = r.trace_id
    WHERE e.dur_ns IS NOT NULL AND e.device IS NULL
) AS f
WHERE frame_id IS NOT NULL AND cat IN ('cpu_op', 'Operator', 'operator')
