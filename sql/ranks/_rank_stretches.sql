-- What each rank did between its collectives, in jobs with calls that lack a member: the time from
-- the end of the call that ended last before it began another one until it began that.
--
-- Calls that several ranks have no record of are left out on all ranks, because they are not known
-- on those. is_recorded is false for the ranks of _missing_members. like_key is equal for stretches
-- between calls alike at the same place of a step, of ranks with the same calls in that step;
-- kind_key for those between calls alike.
-- @scope store
WITH calls AS (
    SELECT
        m.job, m.rank, m.call_id, m.step, m.collective, m.group_name, m.start_ns, m.end_ns,
        m.number, m.src_rank, m.dst_rank, m.size_bytes, m.group_description, m.group_size,
        false AS is_recorded
    FROM _missing_members m
    UNION ALL
    SELECT
        m.job, m.rank, m.call_id, c.step, m.collective, m.group_name, m.start_job_ns, m.end_job_ns,
        c.number, c.src_rank, c.dst_rank, c.size_bytes, c.group_description, c.group_size, true
    FROM collective_members m
    JOIN _call_waits c ON c.job = m.job AND c.call_id = m.call_id
    WHERE m.place = 'device' AND m.method = 'clocks'
        AND m.job IN (SELECT DISTINCT job FROM _missing_members)
        AND coalesce(c.expected_members - c.members, 0) < 2
),
named AS (
    SELECT
        *,
        concat_ws(
            '|', collective, coalesce(group_description, ''), group_size,
            coalesce(round(ln(nullif(size_bytes, 0)) / ln(1.02)), -1),
            CASE WHEN collective = 'send_recv' THEN src_rank = rank END,
            -- The first and the last stage of a pipeline have as many calls in another order.
            CASE WHEN collective = 'send_recv' THEN src_rank < dst_rank END
        ) AS call_key
    FROM calls
),
-- Ranks with the same calls in a step have the same role.
roles AS (
    SELECT job, rank, step, dense_rank() OVER (PARTITION BY job ORDER BY calls) AS role
    FROM (
        SELECT
            job, rank, step,
            string_agg(concat(call_key, '*', calls), ';' ORDER BY call_key) AS calls
        FROM (
            SELECT job, rank, step, call_key, count(*) AS calls
            FROM named
            GROUP BY job, rank, step, call_key
        )
        GROUP BY job, rank, step
    )
),
placed AS (
    SELECT
        n.*,
        concat_ws(
            '|', n.call_key,
            row_number() OVER (
                PARTITION BY n.job, n.rank, n.step, n.call_key
                ORDER BY n.number, n.end_ns, n.call_id
            ),
            r.role
        ) AS place_key
    FROM named n
    JOIN roles r ON r.job = n.job AND r.rank = n.rank
        AND coalesce(r.step, -1) = coalesce(n.step, -1)
),
-- Starts and ends of a rank in order; an end comes before a start at the same time.
marks AS (
    SELECT job, rank, call_id, call_key, start_ns AS at_ns, 1 AS is_start
    FROM placed
    WHERE start_ns IS NOT NULL
    UNION ALL
    SELECT job, rank, call_id, call_key, end_ns, 0 FROM placed
),
seen AS (
    SELECT
        job, rank, call_id, is_start,
        last_known(CASE WHEN is_start = 0 THEN call_id END) OVER rank AS before_id,
        last_known(CASE WHEN is_start = 0 THEN at_ns END) OVER rank AS before_ns,
        last_known(CASE WHEN is_start = 0 THEN call_key END) OVER rank AS before_key
    FROM marks
    WINDOW rank AS (PARTITION BY job, rank ORDER BY at_ns, is_start, call_id)
)
SELECT
    p.job, p.rank, p.call_id, s.before_id, p.step, p.is_recorded,
    s.before_ns AS start_ns,
    p.start_ns AS end_ns,
    p.start_ns - s.before_ns AS length_ns,
    concat_ws('>', s.before_key, p.call_key) AS kind_key,
    concat_ws('>', s.before_key, p.place_key) AS like_key
FROM placed p
JOIN seen s ON s.job = p.job AND s.rank = p.rank AND s.call_id = p.call_id AND s.is_start = 1
