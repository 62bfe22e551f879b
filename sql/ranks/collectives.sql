-- Collectives of each rank: amount of data, time and bandwidth.
--
-- One row per communication kernel on a device, and per mark of a collective on the host where no
-- kernel belongs to it (gloo; not nccl, whose marks only launch). Size, group and number come from
-- the kernel's own arguments, else from the operator record_param_comms around its launch, else the
-- size from the mark. A list of ranks that the profiler cut (after 30) is taken from
-- distributedInfo.pg_config of the trace, else from the operator's first rank and stride. A
-- collective takes from its start on this rank to its end, so it includes the time in which this
-- rank waits for others, and so does the bandwidth here; collective_calls takes the waiting off.
-- size_bytes is what nccl-tests divides by: the larger of what a rank puts in and gets out.
-- Bandwidths are in 10^9 bytes per second; the bus bandwidth is the algorithm bandwidth times
-- 2(n-1)/n for all_reduce, (n-1)/n for all_gather, reduce_scatter, all_to_all, gather and scatter,
-- and 1 for others, in a group of n.
--
-- Source: nccl-tests, PERFORMANCE.md.
-- Example: SELECT rank, collective, size_bytes, dur_ns, bus_bandwidth_gb_s FROM collectives
--   ORDER BY rank, ts_ns LIMIT 5
-- Holds: dur_ns = end_ns - ts_ns
-- Range: time launch_ns
--
-- @scope job
-- @column trace_id VARCHAR text The trace.
-- @column job VARCHAR text The job (job_ranks.job); NULL if the rank is not known.
-- @column rank BIGINT id Rank of the trace; NULL if not known.
-- @column step BIGINT id Step of the launch or mark; NULL outside steps.
-- @column event_id BIGINT id The kernel, or the mark (events.event_id).
-- @column mark_id BIGINT id The mark around the launch (events.event_id); NULL if no mark
--   encloses it.
-- @column place VARCHAR text device or host.
-- @column collective VARCHAR text What was done: all_reduce, all_gather, reduce_scatter, broadcast,
--   reduce, all_to_all, send_recv, or as written.
-- @column name VARCHAR text Name of the kernel or mark.
-- @column call BIGINT number Number of the call among those of its rank with the same collective
--   and group, from 1.
-- @column device BIGINT id Device; NULL on the host.
-- @column stream BIGINT id Stream; NULL on the host.
-- @column group_name VARCHAR text Name of the process group; NULL if not recorded.
-- @column group_description VARCHAR text Description of the group; NULL if not recorded.
-- @column group_ranks VARCHAR json Ranks of the group. Without a recorded group, the only list of
--   two or more ranks in pg_config; NULL if that has several, or none. A list that is cut and not
--   known otherwise stays cut.
-- @column group_size BIGINT count Ranks in the group, else in the job if the trace lists no groups;
--   NULL if not recorded.
-- @column seq BIGINT id Number of the collective in its group, as recorded; sends and receives
--   count separately on each rank. NULL if not recorded.
-- @column comms_id VARCHAR text The profiler's hash of group, number and ranks; NULL if not
--   recorded.
-- @column src_rank BIGINT id Global rank of the sender of send_recv; NULL for others, or if not
--   known.
-- @column dst_rank BIGINT id Global rank of the receiver of send_recv; NULL for others, or if not
--   known.
-- @column is_coalesced BOOLEAN flag Whether the name says that several collectives are one.
-- @column launch_ns BIGINT ns Start of the call that launched it, else ts_ns.
-- @column dtype VARCHAR text Type of the elements; NULL if not recorded.
-- @column in_bytes BIGINT bytes What the rank puts in; NULL if not recorded.
-- @column out_bytes BIGINT bytes What the rank gets; NULL if not recorded.
-- @column size_bytes BIGINT bytes The larger of both; NULL if neither is recorded.
-- @column in_split_size VARCHAR json What an all_to_all sends to each rank; NULL if not recorded.
-- @column out_split_size VARCHAR json What it gets from each rank; NULL if not recorded.
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
-- The innermost mark and the innermost record that enclose a launch, by nesting on its thread.
nested AS (
    SELECT
        trace_id, is_launch, launch_id,
        nest_parent(event_id, CASE WHEN is_record = 0 THEN ts_ns END, end_ns) OVER thread
            AS mark_id,
        nest_parent(event_id, CASE WHEN is_launch + is_record = 1 THEN ts_ns END, end_ns)
            OVER thread AS record_id
    FROM (
        SELECT
            trace_id, track_id, event_id, ts_ns, end_ns,
            0 AS is_launch,
            0 AS is_record,
            CAST(NULL AS BIGINT) AS launch_id
        FROM _collective_marks
        UNION ALL
        SELECT trace_id, track_id, event_id, ts_ns, end_ns, 0, 1, CAST(NULL AS BIGINT)
        FROM _collective_records
        UNION ALL
        SELECT DISTINCT
            trace_id, launch_track_id,
            CAST(NULL AS BIGINT),
            launch_ts_ns, launch_end_ns, 1, 0, launch_id
        FROM launches
        WHERE launch_id IS NOT NULL
    )
    WINDOW thread AS (
        PARTITION BY trace_id, track_id
        ORDER BY ts_ns, end_ns DESC, is_launch, is_record DESC, event_id
    )
),
on_device AS (
    SELECT
        k.trace_id, k.step, k.event_id,
        m.event_id AS mark_id,
        'device' AS place,
        k.known_collective,
        coalesce(k.collective_name, r.collective_name, m.name, k.name) AS label,
        m.name AS mark_name,
        k.name, k.device, k.stream,
        coalesce(k.process_group_name, r.group_name) AS group_name,
        coalesce(k.process_group_description, r.description) AS group_description,
        coalesce(k.process_group_ranks, r.group_ranks) AS written_ranks,
        coalesce(k.group_size, r.group_size) AS group_size,
        r.rank_start, r.rank_stride,
        coalesce(k.collective_seq, r.seq) AS seq,
        coalesce(k.comms_id, r.comms_id) AS comms_id,
        coalesce(k.group_rank, r.group_rank) AS group_rank,
        coalesce(k.src_rank, r.src_rank) AS src_rank,
        coalesce(k.dst_rank, r.dst_rank) AS dst_rank,
        coalesce(k.collective_dtype, r.dtype, m.dtype) AS dtype,
        coalesce(
            coalesce(k.in_msg_nelems, r.in_msg_nelems)
                * dtype_bytes(coalesce(k.collective_dtype, r.dtype)),
            m.bytes
        ) AS in_bytes,
        coalesce(k.out_msg_nelems, r.out_msg_nelems)
            * dtype_bytes(coalesce(k.collective_dtype, r.dtype)) AS out_bytes,
        coalesce(k.in_split_size, r.in_split_size) AS in_split_size,
        coalesce(k.out_split_size, r.out_split_size) AS out_split_size,
        k.ts_ns, k.dur_ns, k.end_ns,
        coalesce(k.launch_ts_ns, k.ts_ns) AS launch_ns
    FROM launches k
    LEFT JOIN nested n ON n.trace_id = k.trace_id AND n.launch_id = k.launch_id
    LEFT JOIN marks m ON m.trace_id = n.trace_id AND m.event_id = n.mark_id
    LEFT JOIN _collective_records r ON r.trace_id = n.trace_id AND r.event_id = n.record_id
),
on_host AS (
    SELECT
        m.trace_id, m.step, m.event_id,
        m.event_id AS mark_id,
        'host' AS place,
        CAST(NULL AS VARCHAR) AS known_collective,
        m.name AS label,
        m.name AS mark_name,
        m.name,
        CAST(NULL AS BIGINT) AS device,
        CAST(NULL AS BIGINT) AS stream,
        CAST(NULL AS VARCHAR) AS group_name,
        CAST(NULL AS VARCHAR) AS group_description,
        CAST(NULL AS VARCHAR) AS written_ranks,
        CAST(NULL AS BIGINT) AS group_size,
        CAST(NULL AS BIGINT) AS rank_start,
        CAST(NULL AS BIGINT) AS rank_stride,
        CAST(NULL AS BIGINT) AS seq,
        CAST(NULL AS VARCHAR) AS comms_id,
        CAST(NULL AS BIGINT) AS group_rank,
        CAST(NULL AS BIGINT) AS src_rank,
        CAST(NULL AS BIGINT) AS dst_rank,
        m.dtype, m.bytes AS in_bytes,
        CAST(NULL AS BIGINT) AS out_bytes,
        CAST(NULL AS VARCHAR) AS in_split_size,
        CAST(NULL AS VARCHAR) AS out_split_size,
        m.ts_ns, m.dur_ns, m.end_ns,
        m.ts_ns AS launch_ns
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
only_lists AS (
    SELECT trace_id, max(rank_lists) AS rank_lists, max(only_ranks) AS only_ranks
    FROM _trace_groups
    GROUP BY trace_id
),
grouped AS (
    SELECT
        e.*, j.job, j.rank,
        CASE
            WHEN e.group_name IS NULL AND e.written_ranks IS NULL THEN o.only_ranks
            WHEN e.written_ranks IS NOT NULL AND e.written_ranks NOT LIKE '%...%'
                THEN replace(replace(e.written_ranks, ' ', ''), ',', ', ')
            WHEN g.ranks IS NOT NULL THEN g.ranks
            WHEN e.rank_stride > 0 AND e.group_size BETWEEN 2 AND 1000000
                THEN concat(
                    '[',
                    array_to_string(
                        range(
                            e.rank_start,
                            e.rank_start + e.rank_stride * e.group_size,
                            e.rank_stride
                        ),
                        ', '
                    ),
                    ']'
                )
            ELSE e.written_ranks
        END AS group_ranks,
        coalesce(
            e.group_size,
            CASE
                WHEN e.group_name IS NULL AND e.written_ranks IS NULL
                    THEN CASE
                        WHEN o.rank_lists = 1 THEN CAST(json_length(o.only_ranks) AS BIGINT)
                        WHEN coalesce(o.rank_lists, 0) = 0 THEN j.world_size
                    END
                ELSE coalesce(g.size, CASE WHEN o.trace_id IS NULL THEN j.world_size END)
            END
        ) AS ranks,
        CASE
            WHEN e.collective = 'send_recv'
                THEN CASE
                    WHEN lower(e.label) = 'send' OR e.mark_name LIKE '%:send %' THEN 'send'
                    WHEN lower(e.label) IN ('recv', 'receive') OR e.mark_name LIKE '%:recv %'
                        THEN 'recv'
                END
        END AS direction,
        CAST(
            regexp_match(e.mark_name, '(?:send [0-9]+->|recv [0-9]+<-)([0-9]{1,9})$')[1] AS BIGINT
        ) AS marked_peer
    FROM every e
    LEFT JOIN job_ranks j ON j.trace_id = e.trace_id
    LEFT JOIN _trace_groups g ON g.trace_id = e.trace_id AND g.group_name = e.group_name
    LEFT JOIN only_lists o ON o.trace_id = e.trace_id
),
-- The other side of a send or receive: as recorded, else by its place in the group.
paired AS (
    SELECT
        *,
        CASE
            WHEN direction IS NOT NULL
                THEN coalesce(
                    CASE WHEN direction = 'send' THEN dst_rank ELSE src_rank END,
                    try_cast(
                        string_to_array(btrim(group_ranks, '[]'), ', ')[
                            coalesce(marked_peer, group_rank) + 1
                        ] AS BIGINT
                    )
                )
        END AS peer
    FROM grouped
),
sized AS (
    SELECT
        *,
        CASE direction WHEN 'send' THEN rank WHEN 'recv' THEN peer END AS sender,
        CASE direction WHEN 'send' THEN peer WHEN 'recv' THEN rank END AS receiver,
        -- Marks do not contain the size of the output. For all_gather, it is the sum of the inputs
        -- of all ranks.
        greatest(
            in_bytes,
            coalesce(out_bytes, CASE WHEN collective = 'all_gather' THEN in_bytes * ranks END)
        ) AS size_bytes
    FROM paired
)
SELECT
    trace_id, job, rank, step, event_id, mark_id, place, collective, name,
    CAST(
        row_number() OVER (
            PARTITION BY trace_id, place, collective, group_name, group_ranks
            ORDER BY ts_ns, event_id
        ) AS BIGINT
    ) AS call,
    device, stream, group_name, group_description, group_ranks,
    ranks AS group_size,
    seq, comms_id,
    sender AS src_rank,
    receiver AS dst_rank,
    lower(label) LIKE '%coalesced%' AS is_coalesced,
    launch_ns, dtype, in_bytes, out_bytes, size_bytes, in_split_size, out_split_size, ts_ns, dur_ns,
    end_ns,
    CAST(size_bytes AS DOUBLE) / nullif(dur_ns, 0) AS algorithm_bandwidth_gb_s,
    CAST(size_bytes AS DOUBLE) / nullif(dur_ns, 0)
        * CASE
            WHEN collective = 'all_reduce' THEN 2.0 * (ranks - 1) / nullif(ranks, 0)
            WHEN collective IN ('all_gather', 'reduce_scatter', 'all_to_all', 'gather', 'scatter')
                THEN 1.0 * (ranks - 1) / nullif(ranks, 0)
            WHEN collective = 'barrier' THEN NULL
            WHEN ranks IS NOT NULL THEN 1.0
        END AS bus_bandwidth_gb_s
FROM sized
