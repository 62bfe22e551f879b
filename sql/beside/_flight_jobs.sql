-- Dumps of the flight recorder with the job and the rank of each.
--
-- A job is the dumps of one folder whose names differ in the rank only. Of two dumps of one rank,
-- the later one counts.
-- @scope store
WITH named AS (
    SELECT
        trace_id, rank, world_size, start_ns, end_ns,
        CASE
            WHEN regexp_like(path, '[/\\!]') THEN regexp_replace(path, '[/\\!][^/\\!]*$', '')
            ELSE '.'
        END AS folder,
        -- One rank may have written JSON, another a pickle.
        regexp_replace(
            lower(regexp_replace(path, '^.*[/\\!]', '')),
            '([.](json|pickle|pkl|bin|txt))?([.](gz|zst))?$', ''
        ) AS file
    FROM traces
    WHERE format = 'flight_recorder'
),
jobs AS (
    SELECT
        *,
        CASE
            WHEN regexp_like(file, 'rank[-_. =]?[0-9]+')
                THEN regexp_replace(file, 'rank[-_. =]?[0-9]+', 'rank#')
            ELSE regexp_replace(file, '[0-9]+', '#')
        END AS pattern
    FROM named
)
SELECT
    trace_id, concat(folder, '/', pattern) AS job, rank, world_size, start_ns, end_ns,
    row_number() OVER (
        PARTITION BY folder, pattern, rank ORDER BY end_ns DESC NULLS LAST, trace_id
    ) = 1 AND rank IS NOT NULL AS is_used
FROM jobs
