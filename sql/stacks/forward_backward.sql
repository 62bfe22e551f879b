-- Forward operators with the backward operators that belong to them: the full training cost of
-- code.
--
-- One row per pair that autograd linked (flows of kind fwdbwd, by sequence number). Host times are
-- durations with all that the operator calls. Device time is that launched inside of the operator
-- and of no other operator of a pair within it, so nothing is counted twice. The stack is that of
-- the forward operator: summing backward_gpu_ns over it shows what a line of the model costs in the
-- backward pass.
--
-- Source: flows of kind fwdbwd; PyTorch's sequence numbers.
-- Example: SELECT forward_name, sum(forward_gpu_ns) AS fwd, sum(backward_gpu_ns) AS bwd
--   FROM forward_backward GROUP BY 1 ORDER BY 3 DESC LIMIT 5
-- Range: sum backward_ns, forward_gpu_ns, backward_gpu_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column step BIGINT id Step of the forward operator; NULL outside of steps.
-- @column forward_id BIGINT id The forward operator (events.event_id).
-- @column forward_name VARCHAR text Its name.
-- @column backward_id BIGINT id The backward operator (events.event_id).
-- @column backward_name VARCHAR text Its name.
-- @column sequence_number BIGINT id Sequence number of the pair; NULL if the forward operator has
--   none.
-- @column forward_ns BIGINT ns Duration of the forward operator.
-- @column backward_ns BIGINT ns Duration of the backward operator.
-- @column forward_gpu_ns BIGINT ns Device time launched in the forward operator.
-- @column backward_gpu_ns BIGINT ns Device time launched in the backward operator.
-- @column stack VARCHAR[] list Stack of the forward operator, root first.
WITH pairs AS (
  SELECT DISTINCT trace_id, src_event_id AS forward_id, dst_event_id AS backward_id
  FROM flows
  WHERE kind = 'fwdbwd' AND src_event_id IS NOT NULL AND dst_event_id IS NOT NULL
),
operators AS (
  SELECT trace_id, forward_id AS event_id FROM pairs
  UNION
  SELECT trace_id, backward_id FROM pairs
),
launches AS (
  SELECT trace_id, launch_id AS event_id, sum(dur_ns) AS gpu_ns
  FROM kernels
  WHERE kind <> 'sync' AND launch_id IS NOT NULL
  GROUP BY trace_id, launch_id
),
-- Operators of pairs, and launches as instants. The operator of a launch is the innermost operator
-- of a pair.
spans AS (
  SELECT e.trace_id, e.track_id, e.event_id, e.ts_ns, e.end_ns, 0 AS gpu_ns, 1 AS is_operator
  FROM operators o
  JOIN events e ON e.trace_id = o.trace_id AND e.event_id = o.event_id
  WHERE e.dur_ns >= 0
  UNION ALL
  SELECT
      e.trace_id, e.track_id, min(e.event_id), e.ts_ns,
      e.ts_ns AS end_ns,
      CAST(sum(l.gpu_ns) AS BIGINT),
      0
  FROM launches l
  JOIN events e ON e.trace_id = l.trace_id AND e.event_id = l.event_id
  GROUP BY e.trace_id, e.track_id, e.ts_ns
),
nested AS (
  SELECT
    *,
    nest_parent(event_id, ts_ns, end_ns) OVER (
        PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_operator DESC, event_id
    ) AS operator_id
  FROM spans
),
gpu AS (
    SELECT trace_id, operator_id, sum(gpu_ns) AS gpu_ns
    FROM nested
    WHERE is_operator = 0
    GROUP BY trace_id, operator_id
)
SELECT
  p.trace_id, f.step, p.forward_id,
  f.name AS forward_name,
  p.backward_id,
  b.name AS backward_name,
  f.sequence_number,
  f.dur_ns AS forward_ns,
  b.dur_ns AS backward_ns,
  coalesce(gf.gpu_ns, 0) AS forward_gpu_ns,
  coalesce(gb.gpu_ns, 0) AS backward_gpu_ns,
  s.stack
FROM pairs p
JOIN events f ON f.trace_id = p.trace_id AND f.event_id = p.forward_id
JOIN events b ON b.trace_id = p.trace_id AND b.event_id = p.backward_id
LEFT JOIN gpu gf ON gf.trace_id = p.trace_id AND gf.operator_id = p.forward_id
LEFT JOIN gpu gb ON gb.trace_id = p.trace_id AND gb.operator_id = p.backward_id
LEFT JOIN event_stacks s ON s.trace_id = p.trace_id AND s.event_id = p.forward_id
