-- Number of hosts that the members of a call with missing members are on, all of them; no row if it
-- is not known.
--
-- The host of a rank without a trace follows from those of the others if ranks are numbered in
-- blocks of one size, a host each. Where several sizes agree with the recorded ranks, those that
-- divide the number of ranks of the job count, and all of them must give the same.
-- @scope store
WITH partial AS (
    SELECT
        job, call_no,
        unnest(
            CASE
                WHEN collective = 'send_recv'
                    THEN make_array(CAST(src_rank AS VARCHAR), CAST(dst_rank AS VARCHAR))
                WHEN group_ranks NOT LIKE '%...%' THEN string_to_array(
                    btrim(group_ranks, '[]'), ', '
                )
            END
        ) AS named_rank
    FROM _call_times
    WHERE status = 'members_missing' AND method = 'clocks'
),
jobs AS (
    SELECT job, max(span) AS span
    FROM (
        SELECT job, host, max(rank) - min(rank) + 1 AS span
        FROM job_ranks
        WHERE job IN (SELECT DISTINCT job FROM partial)
        GROUP BY job, host
        -- Of a rank whose host is not known nothing follows.
        HAVING bool_and(host IS NOT NULL)
    )
    GROUP BY job
),
sizes AS (
    SELECT job, unnest(range(span, 2 * span)) AS size FROM jobs WHERE span <= 1024
),
placed AS (
    SELECT s.job, s.size, r.host, r.world_size, r.rank / s.size AS block
    FROM sizes s
    JOIN job_ranks r ON r.job = s.job
),
blocks AS (
    SELECT job, size, max(world_size) % size = 0 AS is_even
    FROM placed
    GROUP BY job, size
    HAVING count(DISTINCT host) = count(DISTINCT block)
        AND count(DISTINCT host) = count(DISTINCT concat(host, '|', block))
        AND bool_and(host IS NOT NULL)
),
possible AS (
    SELECT b.job, b.size
    FROM blocks b
    JOIN (SELECT job, bool_or(is_even) AS has_even FROM blocks GROUP BY job) e ON e.job = b.job
    WHERE coalesce(b.is_even, false) OR NOT coalesce(e.has_even, false)
),
counted AS (
    SELECT
        p.job, p.call_no, s.size,
        count(DISTINCT try_cast(p.named_rank AS BIGINT) / s.size) AS hosts
    FROM partial p
    JOIN possible s ON s.job = p.job
    GROUP BY p.job, p.call_no, s.size
    HAVING count(try_cast(p.named_rank AS BIGINT)) > 0
)
SELECT job, call_no, max(hosts) AS hosts
FROM counted
GROUP BY job, call_no
HAVING min(hosts) = max(hosts)
UNION ALL
-- Where no rank has a recorded host, all calls are alike.
SELECT DISTINCT p.job, p.call_no, 0
FROM partial p
JOIN (SELECT job FROM job_ranks GROUP BY job HAVING count(host) = 0) n ON n.job = p.job
