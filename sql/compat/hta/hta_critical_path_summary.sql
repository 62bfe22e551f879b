-- HTA's critical path by what it is bound by, with the part of the window that it explains.
--
-- The window is that of hta_critical_path. HTA prints the percentages alone; path_us and
-- window_us show how much of the time they are about. window_us is from the first start to the last
-- end of the events in the graph.
--
-- Source: CPGraph.summary of HTA (traceinsight 0.6.1).
-- Example: SELECT bound_by, bound_us, bound_pct, path_us, window_us FROM hta_critical_path_summary
--   ORDER BY bound_us DESC
-- Range: any bound_us, bound_pct, path_us, path_of_window_pct; weights can be negative, and edges
--   without time can lead back.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column bound_by VARCHAR text As in hta_critical_path; empty for edges without time.
-- @column bound_us BIGINT us Time of the path with this bound.
-- @column bound_pct DOUBLE pct bound_us as percent of path_us.
-- @column path_us BIGINT us Length of the path.
-- @column window_us BIGINT us From the first start to the last end of the events that have edges.
-- @column path_of_window_pct DOUBLE pct path_us as percent of window_us.
-- @column graph_events BIGINT count Events in the window.
-- @column graph_nodes BIGINT count Nodes of the graph.
-- @column graph_edges BIGINT count Edges of the graph.
WITH windows AS (
    SELECT
        g.trace_id, max(e.ts_us + e.dur_us) - min(e.ts_us) AS window_us
    FROM (
        SELECT trace_id, src_event_id AS event_id FROM hta_critical_path
        UNION
        SELECT trace_id, dst_event_id FROM hta_critical_path
    ) g
    JOIN hta_events e ON e.trace_id = g.trace_id AND e.event_id = g.event_id
    GROUP BY g.trace_id
),
totals AS (
    SELECT
        trace_id, count(*) AS graph_edges, max(graph_events) AS graph_events,
        max(graph_nodes) AS graph_nodes,
        coalesce(sum(weight_us) FILTER (WHERE on_path), 0) AS path_us
    FROM hta_critical_path
    GROUP BY trace_id
),
bounds AS (
    SELECT trace_id, bound_by, sum(weight_us) AS bound_us
    FROM hta_critical_path
    WHERE on_path
    GROUP BY trace_id, bound_by
)
SELECT
    b.trace_id, b.bound_by, b.bound_us,
    100.0 * b.bound_us / NULLIF(t.path_us, 0) AS bound_pct,
    t.path_us, w.window_us,
    100.0 * t.path_us / NULLIF(w.window_us, 0) AS path_of_window_pct,
    t.graph_events, t.graph_nodes, t.graph_edges
FROM bounds b
JOIN totals t ON t.trace_id = b.trace_id
JOIN windows w ON w.trace_id = b.trace_id
