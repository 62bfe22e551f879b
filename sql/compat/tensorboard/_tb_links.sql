-- Host calls with the node that torch-tb-profiler 0.4.3 attaches them to, and the device work of
-- launches.
--
-- Nodes nest by time. A node that ends after the innermost open node is dropped (is_cut). A launch
-- is attached to the first node with its External id, with threads in the order of their first
-- nodes. Launches without an id are attached to the first node without one, usually a module.
-- owner_id is -1 for launches that are attached only to the root of their thread, and NULL for
-- those that the plugin loses.
-- @scope trace
WITH launched AS (
    SELECT
        trace_id, launch_id,
        sum(end_us - start_us) AS device_us,
        sum(CASE WHEN kind = 'kernel' THEN end_us - start_us ELSE 0.0 END) AS kernel_us,
        sum(CASE WHEN uses_tensor_cores THEN end_us - start_us ELSE 0.0 END) AS tensor_core_us
    FROM _tb_work
    WHERE NOT is_stale
    GROUP BY trace_id, launch_id
),
threads AS (
    SELECT
        trace_id, tid,
        CAST(
            row_number() OVER (PARTITION BY trace_id ORDER BY first_us, first_id) AS BIGINT
        ) AS thread_order
    FROM (
        SELECT
            trace_id, tid,
            min(start_us) AS first_us,
            first_value(event_id ORDER BY start_us, event_id) AS first_id
        FROM _tb_calls
        WHERE is_launch = 0
        GROUP BY trace_id, tid
    )
),
-- Only the ids of launches matter.
takers AS (
    SELECT
        c.trace_id, c.link_id,
        first_value(c.event_id ORDER BY t.thread_order, c.start_us, c.event_id) AS taker_id,
        min(t.thread_order) AS taker_thread
    FROM _tb_calls c
    JOIN threads t ON t.trace_id = c.trace_id AND t.tid = c.tid
    WHERE c.is_launch = 0
        AND EXISTS (
            SELECT 1
            FROM _tb_calls l
            WHERE l.is_launch = 1 AND l.trace_id = c.trace_id AND l.link_id = c.link_id
        )
    GROUP BY c.trace_id, c.link_id
),
counted AS (
    SELECT c.*, t.thread_order, w.kernel_us,
        -- The work of launches that are also attached to the root of an earlier thread counts
        -- twice, because it was already added up there.
        w.device_us
            * CASE WHEN c.on_root AND t.thread_order < k.taker_thread THEN 2.0 ELSE 1.0 END
            AS device_us,
        w.tensor_core_us
            * CASE WHEN c.on_root AND t.thread_order < k.taker_thread THEN 2.0 ELSE 1.0 END
            AS tensor_core_us,
        c.is_launch = 0
            AND classify('tensor_core_eligible', c.name) IS NOT NULL AS is_named_eligible,
        coalesce(
            nest_crosses(CASE WHEN c.is_launch = 0 THEN c.start_tick END, c.end_tick)
                OVER (
                    PARTITION BY c.trace_id, c.tid
                    ORDER BY c.start_tick, c.end_tick DESC, c.is_launch, c.event_id
                ),
            false) AS is_cut,
        k.taker_id
    FROM _tb_calls c
    LEFT JOIN threads t ON t.trace_id = c.trace_id AND t.tid = c.tid
    LEFT JOIN takers k ON c.is_launch = 1 AND k.trace_id = c.trace_id AND k.link_id = c.link_id
    LEFT JOIN launched w ON w.trace_id = c.trace_id AND w.launch_id = c.event_id
),
nested AS (
    SELECT *,
        nest_parent(
            CASE WHEN start_tick = end_tick THEN -1 - event_id ELSE event_id END,
            CASE WHEN is_launch = 0 AND NOT is_cut THEN start_tick END,
            CASE WHEN is_launch = 0 AND NOT is_cut THEN end_tick END)
            OVER (
                PARTITION BY trace_id, tid ORDER BY start_tick, end_tick DESC, is_launch, event_id
            ) AS around
    FROM counted
)
SELECT
    *,
    CASE
        WHEN is_launch = 1
            THEN coalesce(taker_id, CASE WHEN on_root AND thread_order IS NOT NULL THEN -1 END)
        WHEN around < 0 THEN nullif(
            last_known(
                CASE
                    WHEN is_launch = 0
                        AND NOT is_cut
                        AND start_tick = end_tick
                        AND coalesce(around, 0) >= 0
                        THEN coalesce(around, -1)
                END
            )
                OVER (
                    PARTITION BY trace_id, tid
                    ORDER BY start_tick, end_tick DESC, is_launch, event_id
                ),
                -1
            )
        ELSE around
    END AS owner_id
FROM nested
