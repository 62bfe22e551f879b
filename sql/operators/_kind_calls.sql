-- The kind of each call of an operator: the row of _call_kinds that has its figures.
-- @scope trace
WITH plain AS (SELECT trace_id, kind_id, unnest(event_ids) AS event_id FROM _plain_kinds)
SELECT p.trace_id, p.event_id, coalesce(s.kind_id, p.kind_id) AS kind_id
FROM (SELECT trace_id, event_id, kind_id FROM _special_calls) AS s
RIGHT JOIN plain p ON p.trace_id = s.trace_id AND p.event_id = s.event_id
