-- Calls of collectives in which one rank took part without a record of it: its trace is missing, or
-- does not hold the call. Calls in which several ranks are not recorded are left out, because
-- nothing tells which of them came last.
--
-- start_ns is when the rank began, on the clock of the job, if it came last; else NULL. first_ns is
-- when the first member began that was recorded.
-- @scope store
WITH expected AS (
    SELECT
        *,
        unnest(
            CASE
                WHEN collective = 'send_recv'
                    THEN make_array(CAST(src_rank AS VARCHAR), CAST(dst_rank AS VARCHAR))
                WHEN group_ranks NOT LIKE '%...%' THEN string_to_array(
                    btrim(group_ranks, '[]'), ', '
                )
            END
        ) AS named_rank
    FROM _call_waits
    WHERE status = 'members_missing' AND method = 'clocks' AND place = 'device'
),
absent AS (
    SELECT
        job, call_id,
        count(*) AS ranks,
        min(try_cast(named_rank AS BIGINT)) AS rank
    FROM expected
    WHERE NOT array_has(member_ranks, try_cast(named_rank AS BIGINT))
    GROUP BY job, call_id
)
SELECT
    a.job, a.call_id, a.rank, c.step, c.collective, c.group_name, c.group_description, c.group_size,
    c.size_bytes, c.number, c.src_rank, c.dst_rank,
    CASE WHEN c.missing_was_last THEN c.full_ns END AS start_ns,
    c.end_job_ns AS end_ns,
    c.first_start_ns AS first_ns,
    c.missing_was_last, c.last_in_rank
FROM absent a
JOIN _call_waits c ON c.job = a.job AND c.call_id = a.call_id
WHERE a.ranks = 1 AND a.rank IS NOT NULL
