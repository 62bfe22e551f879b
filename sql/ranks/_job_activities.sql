-- Work of the devices of a job on the clock of the job, with the activity whose end let each begin.
--
-- from_id is the activity on the same device that ended last before this one began, at most 5 µs
-- before; it is NULL if the launch itself began at most 4 µs before, or if nothing ended then. For
-- members of collectives, hop_id is the member that came last (of _job_walks, if that has no
-- trace). Ids are numbers within the job. kind_key is equal for kernels of one name and size,
-- like_key for those at one place of a step; it
-- is NULL where a step of the clock may have changed the length.
-- @scope store
WITH work AS (
    SELECT
        c.trace_id, c.event_id, c.device, c.stream, c.step, c.class, c.ts_ns, c.end_ns, c.dur_ns,
        k.name,
        concat_ws(
            '|', k.name, k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z
        ) AS kind_key,
        l.ts_ns AS launch_ns,
        l.event_id AS launch_id,
        l.track_id AS launch_track_id
    FROM kernel_classes c
    JOIN kernels k ON k.trace_id = c.trace_id AND k.event_id = c.event_id
    LEFT JOIN events l ON l.trace_id = k.trace_id AND l.event_id = k.launch_id
    WHERE c.class <> 'sync' AND c.dur_ns > 0
),
placed AS (
    SELECT
        w.*, j.job, j.rank,
        -- Kernels of one name can differ in work, so those at the same place of a step are alike.
        CASE
            WHEN u.trace_id IS NOT NULL OR v.may_straddle OR v.is_unsure THEN NULL
            WHEN w.step IS NULL THEN w.kind_key
            ELSE concat_ws(
                '|', w.kind_key,
                row_number() OVER (
                    PARTITION BY w.trace_id, w.step, w.kind_key ORDER BY w.ts_ns, w.event_id
                ),
                count(*) OVER (PARTITION BY w.trace_id, w.step, w.kind_key)
            )
        END AS like_key,
        coalesce(t.base_time_ns, 0) - r.offset_ns
            - CAST(
                round(
                    r.drift_ppm / 1e6
                    * (coalesce(t.base_time_ns, 0) + w.end_ns - r.origin_unix_ns)
                ) AS BIGINT
            ) AS to_job_ns,
        w.launch_ns + coalesce(t.base_time_ns, 0) - o.offset_ns
            - CAST(
                round(
                    o.drift_ppm / 1e6
                    * (coalesce(t.base_time_ns, 0) + w.launch_ns - o.origin_unix_ns)
                ) AS BIGINT
            ) AS launch_job_ns,
        -- The clock stepped back within the work.
        CASE WHEN v.straddles THEN r.offset_before_ns - r.offset_ns ELSE 0 END AS turn_ns,
        j.rank * 1099511627776 + w.event_id AS id
    FROM work w
    JOIN traces t ON t.trace_id = w.trace_id
    JOIN job_ranks j ON j.trace_id = w.trace_id AND j.ranks > 1
    LEFT JOIN _clock_sides v ON v.trace_id = w.trace_id AND v.event_id = w.event_id
    LEFT JOIN _clock_sides x ON x.trace_id = w.trace_id AND x.event_id = w.launch_id
    JOIN _rank_clocks r ON r.job = j.job AND r.rank = j.rank AND r.is_main
        AND CASE
            WHEN v.segment IS NOT NULL THEN r.segment = v.segment
            ELSE (
                r.from_unix_ns IS NULL OR coalesce(t.base_time_ns, 0) + w.end_ns >= r.from_unix_ns
            )
            AND (r.to_unix_ns IS NULL OR coalesce(t.base_time_ns, 0) + w.end_ns < r.to_unix_ns)
        END
    LEFT JOIN _rank_clocks o ON o.job = j.job AND o.rank = j.rank AND o.is_main
        AND CASE
            WHEN x.segment IS NOT NULL THEN o.segment = x.segment
            ELSE (
                o.from_unix_ns IS NULL OR coalesce(t.base_time_ns, 0) + w.launch_ns >= o.from_unix_ns
            )
            AND (o.to_unix_ns IS NULL OR coalesce(t.base_time_ns, 0) + w.launch_ns < o.to_unix_ns)
        END
    LEFT JOIN _clock_steps u ON u.trace_id = w.trace_id
        AND w.ts_ns < u.to_ns AND w.end_ns > u.from_ns
),
-- Starts and ends of a device in order; an end comes before a start at the same time.
marks AS (
    SELECT trace_id, device, id, ts_ns + to_job_ns - turn_ns AS at_ns, 1 AS is_start FROM placed
    UNION ALL
    SELECT trace_id, device, id, end_ns + to_job_ns, 0 FROM placed
),
seen AS (
    SELECT
        trace_id, id, is_start, at_ns,
        last_known(CASE WHEN is_start = 0 THEN id END) OVER device AS ended_id,
        last_known(CASE WHEN is_start = 0 THEN at_ns END) OVER device AS ended_ns
    FROM marks
    WINDOW device AS (PARTITION BY trace_id, device ORDER BY at_ns, is_start, id)
)
SELECT
    p.trace_id, p.job, p.rank, p.event_id, p.id, p.device, p.stream, p.step, p.class, p.name,
    p.kind_key, p.like_key,
    p.dur_ns + p.turn_ns AS dur_ns,
    p.launch_track_id,
    p.ts_ns + p.to_job_ns - p.turn_ns AS start_job_ns,
    p.end_ns + p.to_job_ns AS end_job_ns,
    p.launch_job_ns,
    p.to_job_ns,
    CASE
        WHEN p.ts_ns + p.to_job_ns - p.turn_ns - p.launch_job_ns <= 4000 THEN NULL
        WHEN s.at_ns - s.ended_ns <= 5000 THEN s.ended_id
    END AS from_id,
    m.call_id,
    CASE
        WHEN w.method IS DISTINCT FROM 'clocks' THEN NULL
        WHEN w.missing_was_last
            THEN x.rank * 1099511627776 + 549755813888 + 2 * x.call_id
        WHEN w.status = 'complete' OR NOT w.missing_was_last
            THEN w.last_in_rank * 1099511627776 + h.event_id
    END AS hop_id,
    CASE
        WHEN w.method = 'clocks' AND (w.status = 'complete' OR NOT w.missing_was_last)
            AND w.last_in_rank = p.rank AND w.last_start_ns - w.first_start_ns >= 5000
            THEN f.floor_ns
    END AS stop_ns
FROM placed p
JOIN seen s ON s.trace_id = p.trace_id AND s.id = p.id AND s.is_start = 1
LEFT JOIN collective_members m ON m.trace_id = p.trace_id AND m.event_id = p.event_id
LEFT JOIN _call_waits w ON w.job = m.job AND w.call_id = m.call_id
LEFT JOIN collective_members h ON h.job = w.job AND h.call_id = w.call_id
    AND h.rank = w.last_in_rank
LEFT JOIN _missing_members x ON x.job = w.job AND x.call_id = w.call_id
LEFT JOIN _call_floors f ON f.job = w.job AND f.call_id = w.call_id
