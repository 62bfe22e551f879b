-- Calls of collectives with the moment at which all members had begun, and the exchange after it.
--
-- A missing member came last if the call took longer than expected (_usual_exchanges) by more than
-- the scatter of the exchange. Where nothing tells whether it did, the moment is not known.
-- @scope store
WITH expected AS (
    SELECT
        c.*, u.expected_ns,
        -- A call that takes longer than expected by more waited for a missing member.
        CASE
            WHEN u.scatter_ns IS NULL THEN greatest(5000, CAST(u.expected_ns / 10 AS BIGINT))
            ELSE greatest(2500, 2 * u.scatter_ns)
        END AS margin_ns
    FROM _call_times c
    LEFT JOIN _usual_exchanges u ON u.job = c.job AND u.call_no = c.call_no
),
missed AS (
    SELECT
        *,
        CASE
            WHEN status = 'members_missing' AND method = 'clocks' AND expected_ns IS NOT NULL
                THEN end_job_ns - expected_ns > last_start_ns + margin_ns
        END AS missing_was_last
    FROM expected
),
timed AS (
    SELECT
        *,
        CASE
            WHEN method IS DISTINCT FROM 'clocks' THEN NULL
            WHEN missing_was_last THEN end_job_ns - expected_ns
            WHEN status = 'members_missing' AND missing_was_last IS NULL THEN NULL
            ELSE last_start_ns
        END AS full_ns
    FROM missed
)
SELECT
    *,
    CASE
        -- greatest() ignores NULL.
        WHEN method = 'clocks' AND full_ns IS NOT NULL THEN greatest(end_job_ns - full_ns, 0)
        WHEN method = 'durations' THEN shortest_ns
    END AS transfer_ns,
    CASE
        WHEN missing_was_last OR coalesce(members < 2, true) THEN NULL
        WHEN method = 'clocks' AND full_ns IS NULL THEN NULL
        WHEN method = 'clocks' THEN CASE WHEN last_candidates = 1 THEN last_in_rank END
        WHEN method = 'durations' THEN CASE WHEN shortest_ranks = 1 THEN shortest_rank END
    END AS last_rank,
    CAST(
        row_number() OVER (PARTITION BY job ORDER BY first_start_ns, call_no) AS BIGINT
    ) AS call_id
FROM timed
