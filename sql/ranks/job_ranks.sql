-- Traces that belong to one job, with the rank of each.
--
-- A job is the traces with distributed information that lie in one folder and name the same world
-- size and backend. Where a folder has several traces of each rank, and names that differ in more
-- than numbers hold each rank once, each such name is a job. Else the first traces of the ranks by
-- start are one job, the second ones another, as profilers with a schedule write one file per span.
-- The rank is that of distributedInfo, else the number after rank or worker in the file's name.
-- Traces without either are no part of a job, and nor are files without a timeline (flight recorder
-- dumps, execution traces and others), which job_files has.
--
-- Example: SELECT job, rank, is_complete, trace_id FROM job_ranks ORDER BY job, rank
-- Holds: ranks <= world_size
-- Range: any start_unix_ns; Unix time, not the clock of the trace.
--
-- @scope store
-- @column trace_id VARCHAR text The trace.
-- @column job VARCHAR text Name of the job: folder (. if the path names none), backend, world size
--   and span.
-- @column rank BIGINT id Rank of the trace in the job.
-- @column rank_source VARCHAR text recorded, or name if it comes from the file's name.
-- @column world_size BIGINT count Ranks of the job; NULL if not recorded.
-- @column backend VARCHAR text Backend, for example nccl; NULL if not recorded.
-- @column host VARCHAR text Host of the rank; NULL if not recorded.
-- @column span BIGINT number Number of the trace among those of its rank, from 1.
-- @column ranks BIGINT count Ranks of the job that are in the store.
-- @column is_complete BOOLEAN flag Whether all ranks of the job are in the store; NULL if
--   world_size is not recorded.
-- @column start_ns BIGINT ns Start of the trace on its own clock.
-- @column start_unix_ns BIGINT ns Start as Unix time; NULL if the trace does not say what its
--   clock's zero is.
-- @column duration_ns BIGINT ns Length of the trace.
WITH named AS (
    SELECT
        *,
        CASE
            WHEN regexp_like(path, '[/\\]') THEN regexp_replace(path, '[/\\][^/\\]*$', '')
            ELSE '.'
        END AS folder,
        CAST(
            regexp_match(
                lower(regexp_replace(path, '^.*[/\\]', '')), '(?:rank|worker)[-_ ]?([0-9]{1,6})'
            )[1] AS BIGINT
        ) AS named_rank
    FROM traces
    -- Files beside the traces of a job are not traces of its ranks; see job_files.
    WHERE format NOT IN ('flight_recorder', 'execution_trace', 'memory_timeline', 'stacks')
),
ranked AS (
    SELECT
        *,
        coalesce(rank, named_rank) AS job_rank,
        CASE WHEN rank IS NOT NULL THEN 'recorded' ELSE 'name' END AS rank_source
    FROM named
    WHERE rank IS NOT NULL OR named_rank IS NOT NULL
),
-- Names of files without their numbers, such as those of two runs.
patterns AS (
    SELECT
        *,
        regexp_replace(regexp_replace(path, '^.*[/\\]', ''), '[0-9]+', '#', 'g') AS pattern,
        coalesce(base_time_ns, 0) + coalesce(start_ns, 0) AS from_unix_ns
    FROM ranked
),
counted AS (
    SELECT
        *,
        count(*) OVER run = count(DISTINCT job_rank) OVER run
            AND count(*) OVER run = count(DISTINCT job_rank) OVER folder AS is_run,
        min(from_unix_ns) OVER run AS run_unix_ns
    FROM patterns
    WINDOW folder AS (PARTITION BY folder, world_size, backend),
        run AS (PARTITION BY folder, world_size, backend, pattern)
),
runs AS (
    SELECT
        *,
        bool_and(is_run) OVER (PARTITION BY folder, world_size, backend) AS has_runs
    FROM counted
),
spanned AS (
    SELECT
        *,
        CAST(
            row_number() OVER (
                PARTITION BY folder, world_size, backend, job_rank
                ORDER BY CASE WHEN has_runs THEN run_unix_ns END,
                    CASE WHEN has_runs THEN pattern END, from_unix_ns, path, trace_id
            ) AS BIGINT
        )
            AS span
    FROM runs
)
SELECT
    trace_id,
    concat(
        folder,
        coalesce(concat(' ', backend), ''),
        ' world ',
        coalesce(CAST(world_size AS VARCHAR), '?'),
        ' span ', span
    ) AS job,
    job_rank AS rank, rank_source, world_size, backend, host, span,
    count(*) OVER (PARTITION BY folder, world_size, backend, span) AS ranks,
    count(*) OVER (PARTITION BY folder, world_size, backend, span) = world_size AS is_complete,
    start_ns,
    base_time_ns + start_ns AS start_unix_ns,
    duration_ns
FROM spanned
