-- Execution traces with the profiler's trace of the same run: a Kineto trace in the same folder
-- with a track of the same process and, where both name a rank, of the same rank. Of several, the
-- one in which most nodes find an event of their name counts.
-- @scope store
WITH files AS (
    SELECT
        t.trace_id, t.format,
        CASE
            WHEN regexp_like(path, '[/\\!]') THEN regexp_replace(path, '[/\\!][^/\\!]*$', '')
            ELSE '.'
        END AS folder,
        coalesce(
            t.rank,
            CAST(regexp_match(
                lower(regexp_replace(path, '^.*[/\\!]', '')), 'rank[-_ ]?([0-9]{1,6})'
            )[1] AS BIGINT)
        ) AS rank
    FROM traces t
    WHERE t.format IN ('execution_trace', 'kineto')
),
pids AS (SELECT DISTINCT trace_id, pid FROM tracks WHERE pid IS NOT NULL),
candidates AS (
    SELECT DISTINCT e.trace_id, k.trace_id AS profiler_trace_id
    FROM files e
    JOIN files k ON k.folder = e.folder AND k.format = 'kineto'
        AND (k.rank = e.rank OR k.rank IS NULL OR e.rank IS NULL)
    JOIN pids p ON p.trace_id = e.trace_id
    JOIN pids q ON q.trace_id = k.trace_id AND q.pid = p.pid
    WHERE e.format = 'execution_trace'
),
counted AS (
    SELECT c.trace_id, c.profiler_trace_id, count(f.event_id) AS joined
    FROM candidates c
    LEFT JOIN et_nodes n ON n.trace_id = c.trace_id AND n.rf_id > 0
    LEFT JOIN _numbered_functions f ON f.trace_id = c.profiler_trace_id AND f.rf_id = n.rf_id
        AND f.name = n.name
    GROUP BY c.trace_id, c.profiler_trace_id
)
SELECT trace_id, profiler_trace_id
FROM (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY trace_id ORDER BY joined DESC, profiler_trace_id
        ) AS place
    FROM counted
)
WHERE place = 1
