-- The usual length of like activities of a job (_job_lengths), and the length above which one took
-- clearly longer: by 2 %, and by 3.5 standard deviations.
--
-- The deviation is 1.4826 times the median deviation of activities of one kind from the median of
-- those of the same rank or group, so that a rank that is slow throughout does not count as
-- scatter; where no rank has three alike, from the usual length. That is the median; of two ranks
-- or groups, the median of the faster one, because the slower one moves a common median. Collection
-- of garbage has no usual length. Stretches of ranks that were not recorded must be longer by 10 µs
-- too, because their ends are inferred.
-- @scope store
WITH lengths AS (
    SELECT *, CAST(length_ns AS DOUBLE) AS length FROM _job_lengths WHERE length_ns > 0
),
sources AS (
    SELECT
        job, cause, kind_key, like_key, source,
        count(*) AS activities,
        median(length) AS middle,
        min(length) = max(length) AS is_even
    FROM lengths
    GROUP BY job, cause, kind_key, like_key, source
),
usual AS (
    SELECT
        l.job, l.cause, l.kind_key, l.like_key,
        CASE WHEN max(s.sources) = 2 THEN max(s.fastest) ELSE median(l.length) END AS base
    FROM lengths l
    JOIN (
        SELECT job, cause, kind_key, like_key, count(*) AS sources, min(middle) AS fastest
        FROM sources
        GROUP BY job, cause, kind_key, like_key
    ) s ON s.job = l.job AND s.cause = l.cause AND s.kind_key = l.kind_key
        AND s.like_key = l.like_key
    GROUP BY l.job, l.cause, l.kind_key, l.like_key
),
scatter AS (
    SELECT
        l.job, l.cause, l.kind_key,
        coalesce(
            -- Of few activities the middle one would make the deviation seem too small.
            median(
                CASE
                    WHEN s.activities > 2 AND (s.is_even OR l.length <> s.middle)
                        THEN abs(l.length - s.middle) / s.middle
                END
            ),
            median(abs(l.length - u.base) / u.base)
        ) AS deviation
    FROM lengths l
    JOIN sources s ON s.job = l.job AND s.cause = l.cause AND s.like_key = l.like_key
        AND s.source = l.source
    JOIN usual u ON u.job = l.job AND u.cause = l.cause AND u.like_key = l.like_key
    GROUP BY l.job, l.cause, l.kind_key
)
SELECT
    u.job, u.cause, u.like_key,
    CASE WHEN u.cause = 'host_late' THEN 0 ELSE CAST(u.base AS BIGINT) END AS base_ns,
    CASE
        WHEN u.cause = 'host_late' THEN 0
        WHEN u.cause = 'not_recorded'
            THEN CAST(
                ceil(u.base * (1 + greatest(0.02, 3.5 * 1.4826 * s.deviation)) + 10000) AS BIGINT
            )
        ELSE CAST(ceil(u.base * (1 + greatest(0.02, 3.5 * 1.4826 * s.deviation))) AS BIGINT)
    END AS limit_ns
FROM usual u
JOIN scatter s ON s.job = u.job AND s.cause = u.cause AND s.kind_key = u.kind_key
