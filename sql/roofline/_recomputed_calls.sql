-- Operator calls inside of a frame in which activation checkpointing computes a part of the forward
-- pass again.
-- @scope trace
SELECT trace_id, event_id, true AS is_recomputed
FROM (
    SELECT
        trace_id, event_id, cat,
        outermost_id(event_id, parent_id, CASE
            WHEN cat = 'python_function'
                AND regexp_like(name, 'torch/utils/checkpoint\.py\(\d+\): recompute_fn')
                THEN 'recompute'
        END) OVER (PARTITION BY trace_id, track_id) AS frame_id
    FROM events
    WHERE dur_ns IS NOT NULL AND device IS NULL
        AND trace_id IN (
            SELECT trace_id
            FROM events
            WHERE cat = 'python_function'
                AND regexp_like(name, 'torch/utils/checkpoint\.py\(\d+\): recompute_fn')
        )
) AS f
WHERE frame_id IS NOT NULL AND cat IN ('cpu_op', 'Operator', 'operator')
