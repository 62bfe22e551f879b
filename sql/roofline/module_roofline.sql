-- Modules with what their device work computes and moves, and how far it is from the roofline.
--
-- One row per module, with the work of all modules inside. A call belongs to the module around its
-- launch. Work of the backward pass is launched outside of modules, except where a compiled or
-- checkpointed module runs again, so this is the forward pass; work outside of modules is not
-- here. modelled_pct is the share of the device time that has a roofline.
--
-- Source: operator_roofline; module_tree.
-- Example: SELECT path, device_ns, tflop_s, roofline_pct FROM module_roofline
--   ORDER BY device_ns DESC LIMIT 5
-- Holds: modelled_pct BETWEEN 0 AND 100.000001
-- Range: sum device_ns
-- Range: any roofline_pct, lost_ns; calls can be above it (operator_roofline.over).
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column path VARCHAR text Path of the module, as in module_tree.
-- @column depth BIGINT count Modules around it.
-- @column calls BIGINT count Calls of operators that own device work.
-- @column device_ns BIGINT ns Their device time.
-- @column total_flop DOUBLE number Operations of the calls with figures; NULL without.
-- @column total_bytes DOUBLE bytes Bytes of the calls with figures; NULL without.
-- @column tflop_s DOUBLE TFLOP/s total_flop by the time of those calls; NULL without.
-- @column gb_s DOUBLE GB/s total_bytes by the time of those calls; NULL without.
-- @column roofline_ns DOUBLE ns Time at the roofline of the calls that have one; NULL without.
-- @column roofline_pct DOUBLE pct roofline_ns as percent of the time of those calls.
-- @column lost_ns DOUBLE ns Time of those calls less roofline_ns; NULL without.
-- @column modelled_pct DOUBLE pct Time of the calls with a roofline as percent of device_ns.
WITH launches AS (
    SELECT trace_id, event_id, source, names
    FROM _module_calls
    WHERE is_launch = 1 AND array_length(names) > 0
),
placed AS (
    SELECT
        c.*, l.source, l.names,
        unnest(range(1, CAST(array_length(l.names) AS BIGINT) + 1)) AS place_in_path
    FROM _roofline_calls c
    JOIN launches l ON l.trace_id = c.trace_id AND l.event_id = c.launch_id
),
spread AS (
    SELECT
        *,
        CASE
            WHEN source = 'lightning' THEN names[place_in_path]
            ELSE array_to_string(array_slice(names, 1, place_in_path), '.')
        END AS path
    FROM placed
)
SELECT
    trace_id, rank, device, path,
    min(place_in_path) - 1 AS depth,
    count(*) AS calls,
    sum(device_ns) AS device_ns,
    sum(CASE WHEN figure_reason IS NULL THEN CAST(flop AS DOUBLE) END) AS total_flop,
    sum(CASE WHEN figure_reason IS NULL THEN CAST(bytes AS DOUBLE) END) AS total_bytes,
    sum(CASE WHEN figure_reason IS NULL THEN CAST(flop AS DOUBLE) END)
        / nullif(sum(CASE WHEN figure_reason IS NULL AND flop IS NOT NULL THEN device_ns END), 0)
        / 1000 AS tflop_s,
    sum(CASE WHEN figure_reason IS NULL THEN CAST(bytes AS DOUBLE) END)
        / nullif(sum(CASE WHEN figure_reason IS NULL THEN device_ns END), 0) AS gb_s,
    sum(roofline_ns) AS roofline_ns,
    100.0 * sum(roofline_ns)
        / nullif(sum(CASE WHEN roofline_ns IS NOT NULL THEN device_ns END), 0) AS roofline_pct,
    sum(CASE WHEN roofline_ns IS NOT NULL THEN device_ns - roofline_ns END) AS lost_ns,
    100.0 * coalesce(sum(CASE WHEN roofline_ns IS NOT NULL THEN device_ns END), 0)
        / nullif(sum(device_ns), 0) AS modelled_pct
FROM spread
GROUP BY trace_id, rank, device, path
