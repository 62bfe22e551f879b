-- Time ranges of collectives as the plugin takes them: the mark on the host and the kernels launched in it, with the part that is data transfer.
--
-- The ten collectives that the plugin knows. Records and ranges of the ranks of a job are matched by their order; the shortest range of all ranks is
-- the transfer of each, at its end. Without as many on every rank, or with one rank only known, transfer_start_ns is NULL.
WITH marks AS (
    SELECT
        h.trace_id, h.event_id, h.name, h.ts_ns, h.end_ns,
        row_number() OVER (PARTITION BY h.trace_id ORDER BY h.ts_ns, h.end_ns DESC, h.event_id) AS record
    FROM _host_calls h
    WHERE h.is_collective
),
ranges AS (
    SELECT trace_id, event_id AS mark_id, name, record, ts_ns AS mark_ns, ts_ns, end_ns, event_id FROM marks
    UNION ALL
    SELECT m.trace_id, m.event_id, m.name, m.record, m.ts_ns, d.ts_ns, d.end_ns, d.event_id
    FROM _launched_work d
    JOIN marks m ON m.trace_id = d.trace_id AND m.event_id = d.owner_id
    WHERE d.kind = 'kernel' AND d.owner_is_collective
),
numbered AS (
    SELECT
        r.*, j.job, j.rank, j.ranks,
        row_number() OVER (PARTITION BY r.trace_id, r.record ORDER BY r.ts_ns, r.end_ns DESC, r.event_id) AS range,
        count(*) OVER (PARTITION BY r.trace_id) AS trace_ranges
    FROM ranges r
    LEFT JOIN job_ranks j ON j.trace_id = r.trace_id
),
matched AS (
    SELECT
        *,
        count(*) OVER same_range AS range_ranks,
        min(end_ns - ts_ns) OVER same_range AS shortest_ns,
        min(trace_ranges) OVER (PARTITION BY job) = max(trace_ranges) OVER (PARTITION BY job) AS is_even
    FROM numbered
    WINDOW same_range AS (PARTITION BY job, record, range)
),
complete AS (
    SELECT
        *,
        is_even AND range_ranks > 1 AND range_ranks = ranks
            AND min(range_ranks) OVER (PARTITION BY job) = max(range_ranks) OVER (PARTITION BY job) AS is_matched
    FROM matched
)
SELECT
    c.trace_id, c.job, c.rank, c.mark_id, c.name, c.ts_ns, c.end_ns,
    CASE WHEN c.job IS NOT NULL AND c.is_matched THEN c.end_ns - c.shortest_ns END AS transfer_start_ns,
    s.ordinal, CASE WHEN s.is_marked THEN s.step END AS step
FROM complete c
LEFT JOIN _steps s ON s.trace_id = c.trace_id AND c.mark_ns >= s.start_ns AND c.mark_ns < s.end_ns
