-- The activities that walk_back follows in a job: those of _job_activities; each call of a rank
-- that was not recorded (_missing_members); and what that rank did before such a call, if it came
-- last in it (class not_recorded).
-- @scope store
WITH members AS (
    SELECT
        m.*,
        m.rank * 1099511627776 + 549755813888 + 2 * m.call_id AS id,
        coalesce(m.start_ns, m.first_ns) AS from_ns,
        m.last_in_rank * 1099511627776 + h.event_id AS last_id,
        f.floor_ns
    FROM _missing_members m
    LEFT JOIN collective_members h ON h.job = m.job AND h.call_id = m.call_id
        AND h.rank = m.last_in_rank
    JOIN _call_floors f ON f.job = m.job AND f.call_id = m.call_id
)
SELECT
    trace_id, job, rank, event_id, id, step, class, name, like_key, dur_ns, start_job_ns,
    end_job_ns, launch_job_ns, from_id, call_id, hop_id, stop_ns
FROM _job_activities
UNION ALL
SELECT
    CAST(NULL AS VARCHAR), job, rank, CAST(NULL AS BIGINT), id, step, 'communication', collective,
    CAST(NULL AS VARCHAR), end_ns - from_ns, from_ns, end_ns, CAST(NULL AS BIGINT),
    CASE WHEN missing_was_last THEN id + 1 END,
    call_id,
    CASE WHEN missing_was_last THEN id WHEN NOT missing_was_last THEN last_id END,
    CASE WHEN missing_was_last AND start_ns - first_ns >= 5000 THEN floor_ns END
FROM members
UNION ALL
SELECT
    NULL, job, rank, NULL, rank * 1099511627776 + 549755813888 + 2 * call_id + 1, step,
    'not_recorded', NULL, like_key, length_ns, start_ns, end_ns, NULL,
    rank * 1099511627776 + 549755813888 + 2 * before_id, NULL, NULL, NULL
FROM _rank_stretches
WHERE NOT is_recorded
