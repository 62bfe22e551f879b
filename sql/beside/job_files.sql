-- The files of each folder with what they are, the rank of each, and their time as Unix time: what
-- belongs to one job, whatever wrote it.
--
-- Files of one folder are taken as one job. Times of two files can be compared if both have a Unix
-- time: `traces.base_time_ns + events.ts_ns` is one clock for all of them. The rank is that of the
-- file, else the number after rank or worker in its name.
--
-- Example: SELECT kind, rank, start_unix_ns, end_unix_ns FROM job_files ORDER BY start_unix_ns
-- Range: any start_unix_ns, end_unix_ns; they are times of day, not times of the trace.
--
-- @scope store
-- @column trace_id VARCHAR text The file.
-- @column job VARCHAR text The folder; . if the path names none.
-- @column kind VARCHAR text timeline, memory_snapshot, flight_recorder, execution_trace,
--   memory_timeline or stacks.
-- @column format VARCHAR text Format (traces.format).
-- @column rank BIGINT id Rank; NULL if not known.
-- @column host VARCHAR text Host; NULL if not recorded.
-- @column events BIGINT count Events.
-- @column start_unix_ns BIGINT ns Start as Unix time; NULL if the file does not say what its
--   clock's zero is.
-- @column end_unix_ns BIGINT ns End as Unix time; NULL likewise.
-- @column files BIGINT count Files of the job.
WITH named AS (
    SELECT
        *,
        CASE
            WHEN regexp_like(path, '[/\\!]') THEN regexp_replace(path, '[/\\!][^/\\!]*$', '')
            ELSE '.'
        END AS job,
        lower(regexp_replace(path, '^.*[/\\!]', '')) AS file
    FROM traces
)
SELECT
    trace_id, job,
    CASE format
        WHEN 'torch_memory' THEN 'memory_snapshot'
        WHEN 'flight_recorder' THEN format
        WHEN 'execution_trace' THEN format
        WHEN 'memory_timeline' THEN format
        WHEN 'stacks' THEN format
        ELSE 'timeline'
    END AS kind,
    format,
    coalesce(
        rank, CAST(regexp_match(file, '(?:rank|worker)[-_ ]?([0-9]{1,6})')[1] AS BIGINT)
    ) AS rank,
    host, event_count AS events,
    base_time_ns + start_ns AS start_unix_ns,
    base_time_ns + end_ns AS end_unix_ns,
    count(*) OVER (PARTITION BY job) AS files
FROM named
