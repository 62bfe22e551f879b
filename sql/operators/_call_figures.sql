-- Each call of an operator with what it computes, reads and writes, or the reason why that is not
-- known.
-- @scope trace
SELECT c.event_id, k.*
FROM _kind_calls c
JOIN _call_kinds k ON k.trace_id = c.trace_id AND k.kind_id = c.kind_id
