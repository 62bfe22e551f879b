-- The time for which each combination of roles was active within the steps of a trace. Bit r of
-- mask is set while role r is active.
--
-- The roles are: 0 computation and fills on the device; 9 kernels that could not be classified; 1
-- copies; 3 communication (kernels, and data exchange by the host itself); 4 runtime and driver
-- calls; 5 data loading; 6 operators, considered only in traces without device work; 7 calls in
-- which the host only waits for the device (_waiting_calls), which role 4 does not include. Steps
-- are those of step_time, which counts fills separately and waits as runtime calls.
-- @scope trace
WITH with_device AS (
    SELECT DISTINCT trace_id
    FROM kernels
    WHERE kind IN ('kernel', 'memcpy', 'memset') AND dur_ns > 0
),
host AS (
    SELECT
        trace_id, event_id, ts_ns, end_ns,
        CASE
            WHEN cat IN (
                'cuda_runtime', 'cuda_driver', 'Runtime', 'runtime', 'hip_runtime', 'hip_driver',
                'xpu_runtime', 'xpu_driver', 'mtia_runtime', 'glow_runtime', 'privateuse1_runtime',
                'privateuse1_driver') THEN 4
            WHEN starts_with(name, 'enumerate(DataPipe)#')
                OR (starts_with(name, 'enumerate(DataLoader)#') AND ends_with(name, '.__next__'))
                THEN 5
        END AS role
    FROM events
    WHERE ph IN ('X', 'B') AND dur_ns > 0 AND name IS NOT NULL
        AND cat IN (
            'cpu_op', 'user_annotation', 'Operator', 'operator', 'cuda_runtime', 'cuda_driver',
            'Runtime', 'runtime', 'hip_runtime', 'hip_driver', 'xpu_runtime', 'xpu_driver',
            'mtia_runtime', 'glow_runtime', 'privateuse1_runtime', 'privateuse1_driver')
),
ranges AS (
    SELECT
        trace_id, ts_ns, end_ns,
        CASE class
            WHEN 'memcpy' THEN 1
            WHEN 'communication' THEN 3
            WHEN 'unclassified' THEN 9
            ELSE 0
        END AS role
    FROM kernel_classes
    WHERE dur_ns > 0 AND class <> 'sync'
    UNION ALL
    SELECT trace_id, ts_ns, end_ns, 3 FROM _host_communication WHERE end_ns > ts_ns
    UNION ALL
    SELECT trace_id, ts_ns, end_ns, role FROM host WHERE role = 5
    UNION ALL
    SELECT h.trace_id, h.ts_ns, h.end_ns, CASE WHEN w.event_id IS NULL THEN 4 ELSE 7 END
    FROM host h
    LEFT JOIN _waiting_calls w ON w.trace_id = h.trace_id AND w.event_id = h.event_id
    WHERE h.role = 4
    UNION ALL
    SELECT h.trace_id, h.start_ns, h.end_ns, 6
    FROM _role_ranges h
    LEFT JOIN with_device d ON d.trace_id = h.trace_id
    WHERE h.role = 6 AND d.trace_id IS NULL
    UNION ALL
    SELECT trace_id, start_ns, end_ns, 8 FROM _steps
),
lengths AS (
    SELECT trace_id, unnest(interval_overlap_len(ts_ns, end_ns, role)) AS o
    FROM ranges
    GROUP BY trace_id
)
SELECT trace_id, o['sets'] - 256 AS mask, o['len'] AS len_ns FROM lengths WHERE o['sets'] & 256 > 0
