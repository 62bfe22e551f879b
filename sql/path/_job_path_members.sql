-- Members of the matched calls of collectives, for paths through a job. missing_ns is when a rank
-- without a trace began, where it was the last.
-- @scope store
SELECT
    m.job, m.call_id,
    m.rank * 1099511627776 + m.event_id AS id,
    CASE WHEN m.status = 'members_missing' THEN 1 ELSE 0 END AS is_partial,
    CASE WHEN c.missing_was_last THEN m.full_ns END AS missing_ns
FROM collective_members m
JOIN collective_calls c ON c.job = m.job AND c.call_id = m.call_id
WHERE m.place = 'device' AND m.method = 'clocks' AND m.status IN ('complete', 'members_missing')
