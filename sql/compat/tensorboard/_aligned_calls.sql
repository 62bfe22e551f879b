-- Aligned calls of two traces: the calls on either side for each pair of compare_pairs and each
-- path of the comparison.
--
-- part is compared for the calls that are aligned with each other. It is inside for all calls
-- within them that belong to no deeper path.
-- @scope store
WITH trees AS (
    SELECT
        trace_id,
        array_agg(event_id ORDER BY ts_ns, end_ns DESC, event_id) AS ids,
        array_agg(parent_id ORDER BY ts_ns, end_ns DESC, event_id) AS parents,
        array_agg(key ORDER BY ts_ns, end_ns DESC, event_id) AS keys
    FROM _alignable_calls
    GROUP BY trace_id
),
aligned AS (
    SELECT
        p.base_trace_id, p.cand_trace_id,
        unnest(align_trees(b.ids, b.parents, b.keys, c.ids, c.parents, c.keys)) AS pair
    FROM compare_pairs p
    JOIN trees b ON b.trace_id = p.base_trace_id
    JOIN trees c ON c.trace_id = p.cand_trace_id
)
SELECT
    a.base_trace_id, a.cand_trace_id, a.pair['path'] AS path, v.side, v.part,
    CASE WHEN v.side = 'base' THEN a.base_trace_id ELSE a.cand_trace_id END AS trace_id,
    unnest(CASE
        WHEN v.part = 'compared'
            THEN CASE WHEN v.side = 'base' THEN a.pair['base'] ELSE a.pair['cand'] END
        ELSE CASE WHEN v.side = 'base' THEN a.pair['base_inside'] ELSE a.pair['cand_inside'] END
    END) AS event_id
FROM aligned a
CROSS JOIN (
    VALUES ('base', 'compared'), ('cand', 'compared'), ('base', 'inside'), ('cand', 'inside')
) AS v(side, part)
