-- The graph of HTA's critical path analysis, edge by edge, over the window that the settings
-- hta_annotation and hta_instance choose, or the whole trace without them.
--
-- For comparison with its reports; critical_path is the view to work with, because HTA gives no
-- time to gaps between top-level operators and to calls that wait. The function hta_graph takes the
-- window as arguments: FROM hta_graph((SELECT * FROM hta_events), by => trace_id, annotation =>
-- 'ProfilerStep', instance => 1). HTA counts events whose name holds the annotation, those of
-- devices too, and removes the last of several steps before it counts. For launches and starts of
-- the same microsecond HTA has no order; here launches come first.
--
-- Source: critical_path_analysis of HTA (traceinsight 0.6.1).
-- Example: SELECT type, bound_by, sum(weight_us) AS us FROM hta_critical_path WHERE on_path
--   GROUP BY type, bound_by ORDER BY us DESC
-- Range: any weight_us; it is negative where rounding or a clock puts an end before a start.
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column edge BIGINT number Number of the edge, from 0, in the order in which HTA adds edges.
-- @column src_event_id BIGINT id Event of the first node (events.event_id).
-- @column src_is_start BOOLEAN flag Whether the first node is the event's start, else its end.
-- @column dst_event_id BIGINT id Event of the second node.
-- @column dst_is_start BOOLEAN flag Whether the second node is the event's start, else its end.
-- @column type VARCHAR text operator, dependency, kernel_launch_delay, kernel_kernel_delay or
--   sync_dependency.
-- @column weight_us BIGINT us Time between the nodes; 0 for dependencies.
-- @column owner_event_id BIGINT id Event that the time belongs to; NULL if it belongs to
--   no event.
-- @column bound_by VARCHAR text cpu_bound, gpu_compute_bound, gpu_communication_bound,
--   gpu_kernel_kernel_overhead, gpu_kernel_launch_overhead; empty for edges without time, NULL
--   without an owner.
-- @column on_path BOOLEAN flag Whether the edge is on the critical path.
-- @column graph_events BIGINT count Events in the window.
-- @column graph_nodes BIGINT count Nodes of the graph.
SELECT *
FROM hta_graph(
    (SELECT * FROM hta_events),
    by => trace_id,
    annotation => coalesce(setting_text('hta_annotation'), ''),
    instance => coalesce(setting_int('hta_instance'), 0)
)
