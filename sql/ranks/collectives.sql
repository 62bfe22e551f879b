-- Collectives of each rank: amount of data, time and bandwidth.
--
-- One row per communication kernel on a device, and per mark of a collective on the host where no
-- kernel belongs to it (gloo; not nccl, whose marks only launch). Size and group come from the
-- kernel's own arguments, else from the mark around its launch. A collective takes from its start
-- on this rank to its end, so it includes the time in which this rank waits for others, and so does
-- the bandwidth here; collective_waits takes the waiting off. size_bytes is what nccl-tests divides
-- by: the larger of what a rank puts in and gets out. Bandwidths are in 10^9 bytes per second; the
-- bus bandwidth is the algorithm bandwidth times 2(n-1)/n for all_reduce, (n-1)/n for all_gather,
-- reduce_scatter and all_to_all, and 1 for others, in a group of n.
--
-- Source: nccl-tests, PERFORMANCE.md.
-- Example: SELECT rank, collective, size_bytes, dur_ns, bus_bandwidth_gb_s FROM collectives
--   ORDER BY rank, ts_ns LIMIT 5
-- Holds: dur_ns = end_ns - ts_ns
--
-- @scope job
-- @column trace_id VARCHAR text The trace.
-- @column job VARCHAR text The job (job_ranks.job); NULL if the rank is not known.
-- @column rank BIGINT id Rank of the trace; NULL if not known.
-- @column step BIGINT id Step of the launch or mark; NULL outside steps.
-- @column event_id BIGINT id The kernel, or the mark (events.event_id).
-- @column mark_id BIGINT id The mark around the launch (events.event_id); NULL for none.
-- @column place VARCHAR text device or host.
-- @column collective VARCHAR text What was done: all_reduce, all_gather, reduce_scatter, broadcast,
--   reduce, all_to_all, send_recv, or as written.
-- @column name VARCHAR text Name of the kernel or mark.
-- @column call BIGINT number Number of the call among those of its rank with the same collective
--   and group, from 1.
-- @column device BIGINT id Device; NULL on the host.
-- @column stream BIGINT id Stream; NULL on the host.
-- @column group_name VARCHAR text Name of the process group; NULL if not recorded.
-- @column group_ranks VARCHAR json Ranks of the group, as written; NULL if not recorded.
-- @column group_size BIGINT count Ranks in the group, else in the job; NULL if not recorded.
-- @column dtype VARCHAR text Type of the elements; NULL if not recorded.
-- @column in_bytes BIGINT bytes What the rank puts in; NULL if not recorded.
-- @column out_bytes BIGINT bytes What the rank gets; NULL if not recorded.
-- @column size_bytes BIGINT bytes The larger of both; NULL if neither is recorded.
-- @column ts_ns BIGINT ns Start.
-- @column dur_ns BIGINT ns Duration, waiting for others included.
-- @column end_ns BIGINT ns End.
-- @column algorithm_bandwidth_gb_s DOUBLE GB/s size_bytes by dur_ns; NULL if the size is not known.
-- @column bus_bandwidth_gb_s DOUBLE GB/s The same times the factor of the collective; NULL if size
--   or group size is not known.
WITH launches AS (
    SELECT
        k.*,
        c.collective AS known_collective,
        l.track_id AS launch_track_id,
        l.ts_ns AS launch_ts_ns,
        l.end_ns AS launch_end_ns
    FROM kernel_classes c
    JOIN kernels k ON k.trace_id = c.trace_id AND k.event_id = c.event_id
    LEFT JOIN events l ON l.trace_id = k.trace_id AND l.event_id = k.launch_id
    WHERE c.class = 'communication' AND k.dur_ns IS NOT NULL
),
marks AS (
    SELECT *, CAST(NULL AS BIGINT) AS mark_id FROM _collective_sizes
),
-- The innermost mark that encloses a launch, by nesting on its thread.
nested AS (
    SELECT
        trace_id, is_launch, launch_id,
        nest_parent(event_id, ts_ns, end_ns) OVER (
            PARTITION BY trace_id, track_id ORDER BY ts_ns, end_ns DESC, is_launch
        ) AS mark_id
    FROM (
        SELECT
            trace_id, track_id, event_id, ts_ns, end_ns,
            0 AS is_launch,
            CAST(NULL AS BIGINT) AS launch_id
        FROM _collective_marks
        UNION ALL
        SELECT DISTINCT
            trace_id, launch_track_id,
            CAST(NULL AS BIGINT),
            launch_ts_ns, launch_end_ns, 1, launch_id
        FROM launches
        WHERE launch_id IS NOT NULL
    )
),
on_device AS (
    SELECT
        k.trace_id, k.step, k.event_id,
        m.event_id AS mark_id,
        'device' AS place,
        k.known_collective,
        coalesce(k.collective_name, m.name, k.name) AS label,
        k.name, k.device, k.stream,
        k.process_group_name AS group_name, k.process_group_ranks AS group_ranks, k.group_size,
        coalesce(k.collective_dtype, m.dtype) AS dtype,
        coalesce(k.in_msg_nelems * dtype_bytes(k.collective_dtype), m.bytes) AS in_bytes,
        k.out_msg_nelems * dtype_bytes(k.collective_dtype) AS out_bytes,
        k.ts_ns, k.dur_ns, k.end_ns
    FROM launches k
    LEFT JOIN nested n ON n.trace_id = k.trace_id AND n.launch_id = k.launch_id
    LEFT JOIN marks m ON m.trace_id = n.trace_id AND m.event_id = n.mark_id
),
on_host AS (
    SELECT
        m.trace_id, m.step, m.event_id,
        m.event_id AS mark_id,
        'host' AS place,
        CAST(NULL AS VARCHAR) AS known_collective,
        m.name AS label,
        m.name,
        CAST(NULL AS BIGINT) AS device,
        CAST(NULL AS BIGINT) AS stream,
        CAST(NULL AS VARCHAR) AS group_name,
        CAST(NULL AS VARCHAR) AS group_ranks,
        CAST(NULL AS BIGINT) AS group_size,
        m.dtype, m.bytes AS in_bytes, CAST(NULL AS BIGINT) AS out_bytes, m.ts_ns, m.dur_ns, m.end_ns
    FROM _collective_sizes m
    LEFT JOIN (SELECT DISTINCT trace_id, mark_id FROM on_device) d
        ON d.trace_id = m.trace_id AND d.mark_id = m.event_id
    WHERE NOT starts_with(m.name, 'nccl:') AND d.mark_id IS NULL
),
every AS (
    SELECT
        *,
        coalesce(classify('collective', label), known_collective, label) AS collective
    -- DISTINCT prevents the optimizer from treating place, a constant in each branch, as a constant
    -- of the whole. Otherwise one thread would not sort by it.
    FROM (SELECT DISTINCT * FROM (SELECT * FROM on_device UNION ALL SELECT * FROM on_host))
),
sized AS (
    SELECT
        e.*, j.job, j.rank,
        coalesce(e.group_size, j.world_size) AS ranks,
        -- Marks do not contain the size of the output. For all_gather, it is the sum of the inputs
        -- of all ranks.
        greatest(
            e.in_bytes,
            coalesce(
                e.out_bytes,
                CASE
                    WHEN e.collective = 'all_gather'
                        THEN e.in_bytes * coalesce(e.group_size, j.world_size)
                END
            )
        )
            AS size_bytes
    FROM every e
    LEFT JOIN job_ranks j ON j.trace_id = e.trace_id
)
SELECT
    trace_id, job, rank, step, event_id, mark_id, place, collective, name,
    CAST(
        row_number() OVER (
            PARTITION BY trace_id, place, collective, group_name, group_ranks
            ORDER BY ts_ns, event_id
        ) AS BIGINT
    ) AS call,
    device, stream, group_name, group_ranks,
    ranks AS group_size,
    dtype, in_bytes, out_bytes, size_bytes, ts_ns, dur_ns, end_ns,
    CAST(size_bytes AS DOUBLE) / nullif(dur_ns, 0) AS algorithm_bandwidth_gb_s,
    CAST(size_bytes AS DOUBLE) / nullif(dur_ns, 0)
        * CASE
            WHEN collective = 'all_reduce' THEN 2.0 * (ranks - 1) / nullif(ranks, 0)
            WHEN collective IN ('all_gather', 'reduce_scatter', 'all_to_all')
                THEN 1.0 * (ranks - 1) / nullif(ranks, 0)
            WHEN ranks IS NOT NULL THEN 1.0
        END AS bus_bandwidth_gb_s
FROM sized
