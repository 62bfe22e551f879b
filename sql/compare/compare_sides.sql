-- The two sides of a comparison: which traces are the base, which the candidate.
--
-- The settings compare_base and compare_candidate name the traces of a side, by trace_id or by the
-- end of their path; several are separated by semicolons. A side without a name is the earliest
-- trace of the store (base) or the latest (candidate), by Unix time, else by path. A trace can be
-- on both sides. run distinguishes traces of one rank: the first traces of all ranks are run 1, the
-- second ones run 2. Each trace without a rank is a run of its own.
--
-- Example: SELECT side, rank, path FROM compare_sides ORDER BY side, rank
--
-- @scope store
-- @column trace_id VARCHAR text The trace.
-- @column side VARCHAR text base or candidate.
-- @column rank BIGINT id Rank of the trace, from the name of its file if nothing else has it
--   (job_ranks); NULL if neither does.
-- @column run BIGINT number Number of the trace among those of its rank on this side, from 1.
-- @column path VARCHAR text The input as it was named.
WITH ordered AS (
    SELECT
        t.trace_id, coalesce(t.rank, j.rank) AS rank, t.path,
        coalesce(t.base_time_ns + t.start_ns, 9223372036854775807) AS unix_ns,
        row_number() OVER (
            ORDER BY coalesce(t.base_time_ns + t.start_ns, 9223372036854775807), t.path, t.trace_id
        ) AS place,
        count(*) OVER () AS traces
    FROM traces t
    LEFT JOIN job_ranks j ON j.trace_id = t.trace_id
),
named AS (
    SELECT
        'base' AS side,
        unnest(string_to_array(coalesce(setting_text('compare_base'), ''), ';')) AS name
    UNION ALL
    SELECT
        'candidate',
        unnest(string_to_array(coalesce(setting_text('compare_candidate'), ''), ';'))
),
chosen AS (
    SELECT DISTINCT n.side, o.*
    FROM named n
    CROSS JOIN ordered o
    WHERE n.name <> '' AND (o.trace_id = n.name OR ends_with(o.path, n.name))
    UNION ALL
    SELECT 'base', *
    FROM ordered
    WHERE place = 1 AND coalesce(setting_text('compare_base'), '') = ''
    UNION ALL
    SELECT 'candidate', *
    FROM ordered
    WHERE place = traces AND coalesce(setting_text('compare_candidate'), '') = ''
)
SELECT
    trace_id, side, rank,
    CAST(
        row_number() OVER (PARTITION BY side, rank ORDER BY unix_ns, path, trace_id) AS BIGINT
    ) AS run,
    path
FROM chosen
