-- Summary of each trace: what was recorded, where, for how long.
--
-- Source: what the overview of torch-tb-profiler 0.4.3 shows, and counts.
-- Example: SELECT device_type, duration_ns, steps, operators, kernels FROM overview
-- Holds: profiled_ns <= duration_ns
-- Holds: devices_used <= streams_used
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column path VARCHAR text The input.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column world_size BIGINT count Number of ranks of the job; NULL if not recorded.
-- @column backend VARCHAR text Communication backend; NULL if not recorded.
-- @column host VARCHAR text Host; NULL if not recorded.
-- @column device_type VARCHAR text GPU if there is device work or a runtime call, else CPU; NULL for
--   files that hold no work, such as memory snapshots and flight recorder dumps.
-- @column device_names VARCHAR text Names of the devices that the trace describes, each once; NULL
--   if none.
-- @column devices BIGINT count Number of devices that the trace describes.
-- @column devices_used BIGINT count Number of devices with kernels, copies or fills.
-- @column streams_used BIGINT count Number of device streams with kernels, copies or fills.
-- @column duration_ns BIGINT ns From the first start to the last end of work (traces.duration_ns);
--   NULL without any.
-- @column profiled_ns BIGINT ns Length of the profiler's own span, else of what views look at.
-- @column events BIGINT count Events of the trace.
-- @column skipped_events BIGINT count Elements of the input that have no row.
-- @column steps BIGINT count Steps (ProfilerStep#N).
-- @column host_threads BIGINT count Threads with operators, modules or runtime calls.
-- @column operators BIGINT count Calls of operators, nested ones too, and marks of optimizers and
--   data loaders.
-- @column runtime_calls BIGINT count Runtime and driver calls.
-- @column kernels BIGINT count Kernels.
-- @column kernel_names BIGINT count Different names of kernels.
-- @column copies BIGINT count Device copies.
-- @column fills BIGINT count Device fills.
-- @column collectives BIGINT count Marks of collectives on the host.
-- @column memory_events BIGINT count Allocations and frees.
WITH host AS (
    SELECT
        trace_id,
        count(DISTINCT track_id) AS threads,
        count(*) FILTER (WHERE is_operator) AS operators,
        count(*) FILTER (WHERE kind = 'launch') AS launches
    FROM _host_calls
    GROUP BY trace_id
),
work AS (
    SELECT
        trace_id,
        count(*) FILTER (WHERE kind = 'kernel') AS kernels,
        count(DISTINCT CASE WHEN kind = 'kernel' THEN name END) AS kernel_names,
        count(*) FILTER (WHERE kind = 'memcpy') AS copies,
        count(*) FILTER (WHERE kind = 'memset') AS fills,
        count(DISTINCT device) AS devices,
        count(DISTINCT track_id) AS streams
    FROM kernels
    WHERE kind IN ('kernel', 'memcpy', 'memset')
    GROUP BY trace_id
),
described AS (
    SELECT trace_id, string_agg(DISTINCT name, ', ') AS names, count(*) AS devices
    FROM devices
    GROUP BY trace_id
),
marked AS (SELECT trace_id, count(*) AS collectives FROM _collective_marks GROUP BY trace_id),
stepped AS (SELECT trace_id, count(*) AS steps FROM steps GROUP BY trace_id),
allocated AS (SELECT trace_id, count(*) AS events FROM memory GROUP BY trace_id)
SELECT
    t.trace_id, t.path, t.rank, t.world_size, t.backend, t.host,
    CASE
        WHEN t.format IN (
            'torch_memory', 'flight_recorder', 'execution_trace', 'memory_timeline', 'stacks'
        )
            THEN NULL
        WHEN coalesce(h.launches, 0)
            + coalesce(w.kernels, 0)
            + coalesce(w.copies, 0)
            + coalesce(w.fills, 0)
            > 0
            THEN 'GPU'
        ELSE 'CPU'
    END AS device_type,
    d.names AS device_names,
    coalesce(d.devices, 0) AS devices,
    coalesce(w.devices, 0) AS devices_used,
    coalesce(w.streams, 0) AS streams_used,
    t.duration_ns,
    p.end_ns - p.start_ns AS profiled_ns,
    t.event_count AS events,
    t.skipped_count AS skipped_events,
    coalesce(s.steps, 0) AS steps,
    coalesce(h.threads, 0) AS host_threads,
    coalesce(h.operators, 0) AS operators,
    coalesce(h.launches, 0) AS runtime_calls,
    coalesce(w.kernels, 0) AS kernels,
    coalesce(w.kernel_names, 0) AS kernel_names,
    coalesce(w.copies, 0) AS copies,
    coalesce(w.fills, 0) AS fills,
    coalesce(m.collectives, 0) AS collectives,
    coalesce(a.events, 0) AS memory_events
FROM traces t
LEFT JOIN _profile_window p ON p.trace_id = t.trace_id
LEFT JOIN host h ON h.trace_id = t.trace_id
LEFT JOIN work w ON w.trace_id = t.trace_id
LEFT JOIN described d ON d.trace_id = t.trace_id
LEFT JOIN marked m ON m.trace_id = t.trace_id
LEFT JOIN stepped s ON s.trace_id = t.trace_id
LEFT JOIN allocated a ON a.trace_id = t.trace_id
