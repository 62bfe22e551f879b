-- The stack of each interval on a thread: the names of the events around it in time, and its own.
--
-- Python functions, annotations, operators and runtime calls of one thread lie on one track, so a
-- stack goes from Python over operators to the runtime where the trace has Python functions. Where
-- it has none, but its operators carry `Call stack` texts (PyTorch before 1.12), the frames of the
-- outermost operator's text stand before that operator. Rows are the events of host tracks that
-- have a duration of 0 or more; a begin event without an end counts as lasting to the end of the
-- trace, and its self_ns is NULL. Device activities are in `kernel_stacks`.
-- Nesting is that of `events.parent_id`: an event that partly overlaps others has the innermost one
-- that encloses it fully as its caller. Then self times on a track add up to more than its busy
-- time, by the length of the overlap.
--
-- Source: nesting in time, see the function `stack`.
-- Example: SELECT fold_stack(stack) AS stack, self_ns FROM event_stacks ORDER BY self_ns DESC
--   LIMIT 5
-- Holds: dur_ns = end_ns - ts_ns
-- Holds: self_ns <= dur_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column track_id BIGINT id The thread.
-- @column event_id BIGINT id The event.
-- @column step BIGINT id Step of the event; NULL outside of steps.
-- @column cat VARCHAR text Category.
-- @column name VARCHAR text Name, the last frame.
-- @column ts_ns BIGINT ns Start.
-- @column end_ns BIGINT ns End.
-- @column dur_ns BIGINT ns Duration; NULL without an end.
-- @column self_ns BIGINT ns Duration less the union of the direct children; NULL without an end.
-- @column stack VARCHAR[] list Frames, root first.
WITH python AS (SELECT DISTINCT trace_id FROM events WHERE cat = 'python_function'),
spans AS (
  SELECT
    e.trace_id, e.track_id, e.event_id, e.step, e.cat, e.name, e.ts_ns,
    coalesce(e.end_ns, t.end_ns) AS end_ns, e.dur_ns, e.self_ns, CAST(0 AS BIGINT) AS caller
  FROM events e
  JOIN _host_tracks h ON h.trace_id = e.trace_id AND h.track_id = e.track_id
  JOIN traces t ON t.trace_id = e.trace_id
  WHERE e.ph IN ('X', 'B', 'b') AND (e.dur_ns >= 0 OR (e.ph <> 'X' AND e.dur_ns IS NULL))
),
texts AS (
  -- The texts of outermost operators. The text of a step is left out, because it describes the
  -- caller that ended the previous step.
  SELECT
      e.trace_id, e.track_id, e.event_id, e.ts_ns, e.end_ns,
      unfold_stack(trim(e.call_stack, ';')) AS frames
  FROM events e
  LEFT JOIN events p ON p.trace_id = e.trace_id AND p.event_id = e.parent_id
  LEFT ANTI JOIN python y ON y.trace_id = e.trace_id
  WHERE
    e.call_stack <> ''
        AND e.dur_ns >= 0
        AND e.name NOT LIKE 'ProfilerStep%'
        AND (p.event_id IS NULL OR p.name LIKE 'ProfilerStep%')
),
callers AS (
  -- The leaf comes first, unless the first frame is the script itself.
  SELECT
    trace_id, track_id, event_id, ts_ns, end_ns,
    unnest(
        CASE WHEN stack_root(frames) LIKE '%<module>' THEN frames ELSE array_reverse(frames) END
    ) AS name,
    unnest(range(CAST(array_length(frames) AS BIGINT))) AS caller
  FROM texts
),
rows AS (
  SELECT
      trace_id, track_id, event_id, step, cat, name, ts_ns, end_ns, dur_ns, self_ns, caller,
      1 AS is_event
  FROM spans
  UNION ALL
  SELECT trace_id, track_id, event_id, NULL, NULL, name, ts_ns, end_ns, NULL, NULL, caller, 0
  FROM callers
),
nested AS (
  -- Callers last as long as the operator whose text names them, and they come before it.
  SELECT
    *,
    stack(name, ts_ns, end_ns) OVER (
        PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, event_id, is_event, caller
    ) AS stack
  FROM rows
)
SELECT trace_id, track_id, event_id, step, cat, name, ts_ns, end_ns, dur_ns, self_ns, stack
FROM nested
WHERE is_event = 1
