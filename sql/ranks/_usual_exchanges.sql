-- The exchange that is expected of calls with missing members, by complete calls alike.
--
-- Alike are calls of the same collective, group description, group size, number of hosts and
-- message size (within 2 %). If some of them are of the same group, the expected exchange is the
-- median of those. Otherwise, if four of five groups of them agree within 10 %, or 5 µs, it is the
-- median of all, unless three of four calls of the group take the same other time: then its link
-- may be slow, and there is no row. For a message size that no complete call has, it lies on the
-- line between the next smaller and the next larger size; beyond the smallest and the largest one,
-- it is that of a size within 10 %. Where groups differ, the group of the call decides: its
-- shortest time from the last start to the end must be that of a group of complete calls. Where the
-- number of hosts is not known (_call_hosts), all calls alike count. Without calls alike there is
-- no row: a rank that is missing may come as late in each call.
--
-- scatter_ns is what the exchange takes longer than the median of its group in one of 20 calls; NULL
-- if it is not known. It is taken relative to these medians, so that a slow link does not hide what
-- the calls of other groups waited for.
-- @scope store
WITH calls AS (
    SELECT
        c.job, c.call_no, c.status, c.place, c.collective,
        coalesce(c.group_description, '') AS description,
        c.group_size, c.size_bytes,
        coalesce(round(ln(nullif(c.size_bytes, 0)) / ln(1.02)), -1) AS size_class,
        concat_ws('|', c.group_name, c.group_ranks, c.src_rank, c.dst_rank) AS group_key,
        c.end_job_ns - c.last_start_ns AS length_ns,
        CASE WHEN c.status = 'complete' THEN c.hosts ELSE coalesce(h.hosts, -1) END AS hosts
    FROM _call_times c
    LEFT JOIN _call_hosts h ON h.job = c.job AND h.call_no = c.call_no
    WHERE c.status IN ('complete', 'members_missing') AND c.method = 'clocks'
        AND c.job IN (SELECT DISTINCT job FROM _call_times WHERE status = 'members_missing')
),
-- Complete calls, by their number of hosts, and of any number of hosts (-1).
complete AS (
    SELECT * FROM calls WHERE status = 'complete'
    UNION ALL
    SELECT * EXCEPT (hosts), -1 AS hosts FROM calls WHERE status = 'complete'
),
groups AS (
    SELECT
        job, place, collective, description, group_size, size_class, hosts, group_key,
        CAST(round(median(CAST(length_ns AS DOUBLE))) AS BIGINT) AS length_ns
    FROM complete
    GROUP BY
        job, place, collective, description, group_size, size_class, hosts, group_key
),
deviations AS (
    SELECT
        *,
        CAST(length_ns AS DOUBLE) / nullif(
            median(CAST(length_ns AS DOUBLE)) OVER (
                PARTITION BY
                    job, place, collective, description, group_size, size_class, hosts, group_key
            ),
            0
        ) - 1 AS deviation
    FROM complete
),
classes AS (
    SELECT
        job, place, collective, description, group_size, size_class, hosts,
        CAST(round(median(CAST(size_bytes AS DOUBLE))) AS BIGINT) AS middle_bytes,
        CAST(round(median(CAST(length_ns AS DOUBLE))) AS BIGINT) AS length_ns,
        -- Of few calls it says little.
        CASE WHEN count(*) >= 8 THEN greatest(quantile(deviation, 0.95), 0) END AS scatter
    FROM deviations
    GROUP BY job, place, collective, description, group_size, size_class, hosts
),
alike AS (
    SELECT
        c.job, c.place, c.collective, c.description, c.group_size, c.size_class, c.hosts,
        c.middle_bytes, c.length_ns, c.scatter,
        5 * count(*) FILTER (
            WHERE abs(g.length_ns - c.length_ns) <= greatest(5000, c.length_ns / 10)
        ) >= 4 * count(*) AS is_even
    FROM classes c
    JOIN groups g ON g.job = c.job AND g.place = c.place AND g.collective = c.collective
        AND g.description = c.description AND g.group_size = c.group_size
        AND g.size_class = c.size_class AND g.hosts = c.hosts
    GROUP BY
        c.job, c.place, c.collective, c.description, c.group_size, c.size_class, c.hosts,
        c.middle_bytes, c.length_ns, c.scatter
),
partial AS (
    SELECT * FROM calls WHERE status = 'members_missing'
),
-- Sizes of complete calls and of calls with missing members, each with its neighbours in size.
sizes AS (
    SELECT
        job, place, collective, description, group_size, hosts, call_no, size_bytes,
        last_known(CASE WHEN length_ns IS NOT NULL THEN size_bytes END) OVER up AS below_bytes,
        last_known(length_ns) OVER up AS below_ns,
        last_known(CASE WHEN length_ns IS NOT NULL THEN size_bytes END) OVER down AS above_bytes,
        last_known(length_ns) OVER down AS above_ns
    FROM (
        SELECT
            job, place, collective, description, group_size, hosts,
            CAST(NULL AS BIGINT) AS call_no,
            middle_bytes AS size_bytes,
            length_ns
        FROM alike
        WHERE middle_bytes > 0 AND is_even
        UNION ALL
        SELECT
            job, place, collective, description, group_size, hosts, call_no, size_bytes, NULL
        FROM partial
        WHERE size_bytes > 0
    )
    WINDOW
        up AS (
            PARTITION BY job, place, collective, description, group_size, hosts
            ORDER BY size_bytes, call_no NULLS FIRST
        ),
        down AS (
            PARTITION BY job, place, collective, description, group_size, hosts
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
        END AS length_ns
    FROM sizes
    WHERE call_no IS NOT NULL
),
-- The shortest calls of a group that lacks members.
shortest AS (
    SELECT
        *,
        min(length_ns) OVER own AS least_ns
    FROM partial
    WINDOW own AS (
        PARTITION BY job, place, collective, description, group_size, size_class, group_key
    )
),
-- Groups most of whose calls take about as long. A rank that is missing and late would be late by
-- different times, because different work comes before the calls.
constant AS (
    SELECT job, place, collective, description, group_size, size_class, group_key, middle_ns
    FROM (
        SELECT
            *,
            median(CAST(length_ns AS DOUBLE)) OVER (
                PARTITION BY job, place, collective, description, group_size, size_class, group_key
            ) AS middle_ns
        FROM partial
    )
    GROUP BY job, place, collective, description, group_size, size_class, group_key, middle_ns
    HAVING count(*) >= 3
        AND 4 * count(*) FILTER (
            WHERE abs(length_ns - middle_ns) <= greatest(3000, middle_ns / 50)
        ) >= 3 * count(*)
),
own AS (
    SELECT
        job, place, collective, description, group_size, size_class, hosts, group_key, least_ns,
        CAST(
            round(
                median(
                    CASE
                        WHEN length_ns - least_ns <= greatest(2500, least_ns / 100)
                            THEN CAST(length_ns AS DOUBLE)
                    END
                )
            ) AS BIGINT
        ) AS length_ns
    FROM shortest
    GROUP BY
        job, place, collective, description, group_size, size_class, hosts, group_key, least_ns
),
-- The group of complete calls whose exchange is next to the shortest call of another group.
levels AS (
    SELECT
        o.job, o.place, o.collective, o.description, o.group_size, o.size_class, o.group_key,
        o.length_ns AS own_ns,
        count(g.group_key) AS others,
        first_value(g.length_ns ORDER BY abs(g.length_ns - o.length_ns), g.length_ns) AS nearest_ns
    FROM own o
    LEFT JOIN groups g ON g.job = o.job AND g.place = o.place AND g.collective = o.collective
        AND g.description = o.description AND g.group_size = o.group_size
        AND g.size_class = o.size_class AND g.hosts = o.hosts
    GROUP BY
        o.job, o.place, o.collective, o.description, o.group_size, o.size_class, o.group_key,
        o.length_ns
),
found AS (
    SELECT
        p.job, p.call_no,
        CASE
            WHEN g.length_ns IS NOT NULL THEN g.length_ns
            WHEN a.is_even AND abs(s.middle_ns - a.length_ns) > greatest(10000, a.length_ns / 5)
                THEN NULL
            WHEN a.is_even THEN a.length_ns
            WHEN l.others > 0
                THEN CASE
                    WHEN abs(l.nearest_ns - l.own_ns) <= greatest(5000, l.nearest_ns / 20)
                        THEN l.nearest_ns
                END
            ELSE b.length_ns
        END AS expected_ns,
        a.scatter
    FROM partial p
    LEFT JOIN alike a ON a.job = p.job AND a.place = p.place AND a.collective = p.collective
        AND a.description = p.description AND a.group_size = p.group_size
        AND a.size_class = p.size_class AND a.hosts = p.hosts
    LEFT JOIN groups g ON g.job = p.job AND g.place = p.place AND g.collective = p.collective
        AND g.description = p.description AND g.group_size = p.group_size
        AND g.size_class = p.size_class AND g.hosts = p.hosts AND g.group_key = p.group_key
    LEFT JOIN constant s ON s.job = p.job AND s.place = p.place AND s.collective = p.collective
        AND s.description = p.description AND s.group_size = p.group_size
        AND s.size_class = p.size_class AND s.group_key = p.group_key
    LEFT JOIN between_sizes b ON b.job = p.job AND b.call_no = p.call_no
    LEFT JOIN levels l ON l.job = p.job AND l.place = p.place AND l.collective = p.collective
        AND l.description = p.description AND l.group_size = p.group_size
        AND l.size_class = p.size_class AND l.group_key = p.group_key
)
SELECT
    job, call_no, expected_ns,
    CAST(round(scatter * expected_ns) AS BIGINT) AS scatter_ns
FROM found
WHERE expected_ns IS NOT NULL
