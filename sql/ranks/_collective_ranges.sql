-- Time ranges of collectives: the mark on the host and the kernels launched in it, with the part
-- that is data transfer.
--
-- A communication kernel whose launch has no enclosing mark is a separate record. Records and
-- ranges of the ranks of a job are matched by name and order. The shortest range of all ranks is
-- taken as the transfer of each rank, at the end of its range. If the ranks have different numbers
-- of ranges with a name, or if only one rank is known, transfer_start_ns is NULL.
-- @scope store
WITH work AS (
    SELECT trace_id, mark_id, event_id, collective AS name, ts_ns, end_ns
    FROM collectives
    WHERE place = 'device'
    UNION ALL
    SELECT d.trace_id, d.owner_id, d.event_id, d.owner_name, d.ts_ns, d.end_ns
    FROM _launched_work d
    LEFT JOIN collectives c
        ON c.trace_id = d.trace_id AND c.event_id = d.event_id AND c.place = 'device'
    WHERE d.kind = 'kernel' AND d.owner_is_collective AND c.event_id IS NULL
),
marks AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY trace_id, name ORDER BY ts_ns, end_ns DESC, event_id
        ) AS record
    FROM (
        SELECT trace_id, event_id, name, ts_ns, end_ns FROM _collective_marks
        UNION ALL
        SELECT trace_id, event_id, name, ts_ns, end_ns FROM work WHERE mark_id IS NULL
    )
),
ranges AS (
    SELECT trace_id, event_id AS mark_id, name, record, ts_ns AS mark_ns, ts_ns, end_ns, event_id
    FROM marks
    UNION ALL
    SELECT m.trace_id, m.event_id, m.name, m.record, m.ts_ns, d.ts_ns, d.end_ns, d.event_id
    FROM work d
    JOIN marks m ON m.trace_id = d.trace_id AND m.event_id = d.mark_id
),
numbered AS (
    SELECT
        r.*, j.job, j.rank, j.ranks,
        row_number() OVER (
            PARTITION BY r.trace_id, r.name, r.record ORDER BY r.ts_ns, r.end_ns DESC, r.event_id
        ) AS range,
        count(*) OVER (PARTITION BY r.trace_id, r.name) AS name_ranges
    FROM ranges r
    LEFT JOIN job_ranks j ON j.trace_id = r.trace_id
),
matched AS (
    SELECT
        *,
        count(*) OVER same_range AS range_ranks,
        min(end_ns - ts_ns) OVER same_range AS shortest_ns,
        min(name_ranges) OVER same_name = max(name_ranges) OVER same_name AS is_even
    FROM numbered
    WINDOW same_name AS (PARTITION BY job, name),
    same_range AS (PARTITION BY job, name, record, range)
),
complete AS (
    SELECT
        *,
        is_even AND range_ranks > 1 AND range_ranks = ranks
            AND min(range_ranks) OVER same_name = max(range_ranks) OVER same_name AS is_matched
    FROM matched
    WINDOW same_name AS (PARTITION BY job, name)
)
SELECT
    c.trace_id, c.job, c.rank, c.mark_id, c.name, c.ts_ns, c.end_ns,
    CASE
        WHEN c.job IS NOT NULL AND c.is_matched THEN c.end_ns - c.shortest_ns
    END AS transfer_start_ns,
    s.ordinal, CASE WHEN s.is_marked THEN s.step END AS step
FROM complete c
LEFT JOIN _steps s ON s.trace_id = c.trace_id AND c.mark_ns >= s.start_ns AND c.mark_ns < s.end_ns
