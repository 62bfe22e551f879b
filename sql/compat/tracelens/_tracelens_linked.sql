-- Device work that TraceLens counts: work that it links to a runtime or driver call.
--
-- TraceLens uses the correlation of a call as the id of an arrow of category ac2g. If the first
-- call that launches has no correlation, it uses the External id of a call instead. It links the
-- last event with that id on the row of pid and tid where the arrow ends, and for graph launches
-- all work with the id. Ids are used as written. This includes 0 and -1, which the columns of
-- events leave out. An id in quotes differs from the number.
-- @scope trace
WITH calls AS (
    SELECT trace_id, event_id, name, args FROM events WHERE cat IN ('cuda_runtime', 'cuda_driver')
),
ways AS (
    SELECT
        trace_id,
        first_value(
            strpos(coalesce(args, ''), '"correlation":') > 0 ORDER BY event_id
        ) AS by_correlation
    FROM calls
    WHERE strpos(lower(name), 'launch') > 0
    GROUP BY trace_id
),
keyed AS (
    SELECT
        e.trace_id, e.event_id, e.track_id, e.cat, e.name,
        CASE
            WHEN coalesce(w.by_correlation, false) THEN
                CASE
                    WHEN e.correlation IS NOT NULL OR NOT e.is_work THEN e.correlation
                    ELSE json_get_int(e.args, 'correlation')
                END
            WHEN e.external_id IS NOT NULL OR NOT e.is_work THEN e.external_id
            ELSE json_get_int(e.args, 'External id')
        END AS link
    FROM (
        SELECT
            *,
            coalesce(
                cat IN (
                    'kernel', 'gpu_memcpy', 'gpu_memset', 'cuda_runtime', 'cuda_driver', 'cuda_sync'
                ),
                false
            ) AS is_work
        FROM events
    ) e
    LEFT JOIN ways w ON w.trace_id = e.trace_id
    WHERE e.is_work OR e.correlation IS NOT NULL OR e.external_id IS NOT NULL
),
launches AS (
    SELECT
        trace_id, link,
        bool_or(name IN ('cudaGraphLaunch', 'hipGraphLaunch')) AS is_graph,
        bool_or(name NOT IN ('cudaGraphLaunch', 'hipGraphLaunch')) AS is_other
    FROM keyed
    WHERE cat IN ('cuda_runtime', 'cuda_driver') AND link IS NOT NULL
    GROUP BY trace_id, link
),
arrows AS (
    SELECT trace_id, event_id, ph, track_id, TRY_CAST(id AS BIGINT) AS link
    FROM events
    WHERE cat = 'ac2g' AND ph IN ('s', 'f') AND strpos(coalesce(extra, ''), '"id":') = 0
),
ends AS (
    SELECT
        trace_id, link,
        last_value(track_id ORDER BY event_id) FILTER (WHERE ph = 'f') AS track_id
    FROM arrows
    WHERE link IS NOT NULL
    GROUP BY trace_id, link
    HAVING bool_or(ph = 's') AND bool_or(ph = 'f')
),
found AS (
    SELECT k.trace_id, k.event_id
    FROM keyed k
    JOIN launches l ON l.trace_id = k.trace_id AND l.link = k.link
    WHERE l.is_graph AND k.cat IN ('kernel', 'gpu_memcpy', 'gpu_memset')
    UNION ALL
    SELECT f.trace_id, max(k.event_id) AS event_id
    FROM ends f
    JOIN launches l ON l.trace_id = f.trace_id AND l.link = f.link
    JOIN keyed k ON k.trace_id = f.trace_id AND k.track_id = f.track_id AND k.link = f.link
    WHERE l.is_other
    GROUP BY f.trace_id, f.link
)
SELECT DISTINCT trace_id, event_id FROM found
