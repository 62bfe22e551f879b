-- Calls of collectives with the moment at which all members had begun, and the exchange after it.
--
-- The exchange that is expected of a call with missing members is the median of complete calls of
-- the same collective, group description, group size and message size (within 2 %). For a message
-- size that no complete call has, it lies on the line between the next smaller and the next larger
-- size; beyond the smallest and the largest one, it is that of a size within 10 %. A missing member
-- came last if the call took longer than that by more than its scatter.
-- @scope store
WITH alike AS (
    SELECT
        job, place, collective, coalesce(group_description, '') AS description, group_size,
        round(ln(nullif(size_bytes, 0)) / ln(1.02)) AS size_class,
        CAST(round(median(CAST(size_bytes AS DOUBLE))) AS BIGINT) AS middle_bytes,
        CAST(round(median(CAST(end_job_ns - last_start_ns AS DOUBLE))) AS BIGINT) AS expected_ns,
        -- What the exchange takes longer in one of 20 calls; of few calls it says little.
        CASE
            WHEN count(*) >= 8
                THEN CAST(
                    round(
                        quantile(end_job_ns - last_start_ns, 0.95)
                            - median(CAST(end_job_ns - last_start_ns AS DOUBLE))
                    ) AS BIGINT
                )
        END AS scatter_ns
    FROM _call_times
    WHERE status = 'complete' AND method = 'clocks'
    GROUP BY
        job, place, collective, coalesce(group_description, ''), group_size,
        round(ln(nullif(size_bytes, 0)) / ln(1.02))
),
-- Sizes of complete calls and of calls with missing members, each with its neighbours in size.
sizes AS (
    SELECT
        job, place, collective, description, group_size, call_no, size_bytes,
        last_known(CASE WHEN expected_ns IS NOT NULL THEN size_bytes END) OVER up AS below_bytes,
        last_known(expected_ns) OVER up AS below_ns,
        last_known(CASE WHEN expected_ns IS NOT NULL THEN size_bytes END) OVER down AS above_bytes,
        last_known(expected_ns) OVER down AS above_ns
    FROM (
        SELECT
            job, place, collective, description, group_size,
            CAST(NULL AS BIGINT) AS call_no,
            middle_bytes AS size_bytes,
            expected_ns
        FROM alike
        WHERE middle_bytes > 0
        UNION ALL
        SELECT
            job, place, collective, coalesce(group_description, ''), group_size, call_no,
            size_bytes, NULL
        FROM _call_times
        WHERE status = 'members_missing' AND method = 'clocks' AND size_bytes > 0
    )
    WINDOW
        up AS (
            PARTITION BY job, place, collective, description, group_size
            ORDER BY size_bytes, call_no NULLS FIRST
        ),
        down AS (
            PARTITION BY job, place, collective, description, group_size
            ORDER BY size_bytes DESC, call_no NULLS FIRST
        )
),
between_sizes AS (
    SELECT
        job, call_no,
        CASE
            WHEN below_bytes < above_bytes
                THEN below_ns + CAST(
                    round(
                        CAST(above_ns - below_ns AS DOUBLE) * (size_bytes - below_bytes)
                        / (above_bytes - below_bytes)
                    ) AS BIGINT
                )
            WHEN below_bytes IS NOT NULL AND above_bytes IS NOT NULL THEN below_ns
            WHEN size_bytes <= 1.1 * below_bytes THEN below_ns
            WHEN above_bytes <= 1.1 * size_bytes THEN above_ns
        END AS expected_ns
    FROM sizes
    WHERE call_no IS NOT NULL
),
expected AS (
    SELECT
        c.*,
        CASE
            WHEN c.status = 'members_missing' THEN coalesce(a.expected_ns, b.expected_ns)
        END AS expected_ns,
        -- A call that takes longer than expected by more waited for a missing member.
        coalesce(
            greatest(2500, 2 * a.scatter_ns),
            greatest(5000, CAST(coalesce(a.expected_ns, b.expected_ns) / 10 AS BIGINT))
        ) AS margin_ns
    FROM _call_times c
    LEFT JOIN alike a ON a.job = c.job AND a.place = c.place AND a.collective = c.collective
        AND a.description = coalesce(c.group_description, '') AND a.group_size = c.group_size
        AND coalesce(a.size_class, -1)
            = coalesce(round(ln(nullif(c.size_bytes, 0)) / ln(1.02)), -1)
    LEFT JOIN between_sizes b ON b.job = c.job AND b.call_no = c.call_no
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
            -- Where the missing members are all others, nothing is known about them.
            WHEN status = 'members_missing' AND members = 1 AND expected_ns IS NULL THEN NULL
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
        WHEN method = 'clocks' THEN CASE WHEN last_candidates = 1 THEN last_in_rank END
        WHEN method = 'durations' THEN CASE WHEN shortest_ranks = 1 THEN shortest_rank END
    END AS last_rank,
    CAST(
        row_number() OVER (PARTITION BY job ORDER BY first_start_ns, call_no) AS BIGINT
    ) AS call_id
FROM timed
