-- Tree of modules: calls, operators, host time and device time of each module at its place in the
-- model.
--
-- A row is a module at one place, named by the modules around it. Where they come from is in
-- source:
-- - python: nn.Module frames of Python stacks (with_stack=True)
-- - lightning: marks of PyTorch Lightning's profiler; the tree is that of their dotted names
-- - hierarchy: Module Hierarchy of operators (with_modules=True, TorchScript models), if a trace
--   has none of the others. Calls are not recorded there, host times are those of operators, and
--   the time of a module's own code is not known
--
-- Device time is that of kernels, copies and fills that were launched while the module ran, on its
-- thread, inside operators or not; forward only, as backward runs outside of modules. exclusive and
-- device self times add up over the tree: the row with a NULL path has the device time that was
-- launched outside of all modules or whose launch is not known.
--
-- Source: the module view of torch-tb-profiler 0.4.3, which joins places that share an instance,
--   and counts only device work launched by operators.
-- Example: SELECT path, calls, host_total_ns, device_total_ns FROM module_tree ORDER BY path
-- Holds: host_self_ns <= host_total_ns AND host_exclusive_ns <= host_total_ns AND device_self_ns <=
--   device_total_ns
-- Range: sum host_total_ns, host_self_ns, host_exclusive_ns, device_total_ns, device_self_ns
-- Holds: device_total_pct IS NULL OR depth > 0 OR sum(device_self_ns) OVER (PARTITION BY trace_id)
--   = sum(CASE WHEN depth = 0 THEN device_total_ns END) OVER (PARTITION BY trace_id)
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column source VARCHAR text python, lightning or hierarchy.
-- @column path VARCHAR text Names from the outermost module, joined by dots; NULL for work outside
--   of modules.
-- @column parent_path VARCHAR text Path of the module that calls it; NULL for a root.
-- @column name VARCHAR text The last name of the path.
-- @column class VARCHAR text Class of the module; NULL if not known.
-- @column depth BIGINT count Number of modules around it.
-- @column first_ts_ns BIGINT ns Start of its first call or operator.
-- @column calls BIGINT count Number of calls; NULL if not known.
-- @column operators BIGINT count Operators called directly, not within other operators or modules.
-- @column host_total_ns BIGINT ns Time of the calls on the host.
-- @column host_self_ns BIGINT ns The same without the operators and modules called directly; NULL
--   if not known.
-- @column host_exclusive_ns BIGINT ns host_total_ns without modules inside.
-- @column device_total_ns BIGINT ns Device time launched by the module and all modules inside.
-- @column device_self_ns BIGINT ns Device time launched by the module outside of modules inside.
-- @column device_total_pct DOUBLE pct device_total_ns as percent of all device time of the trace;
--   NULL if there is none.
-- @column activities_self BIGINT count Kernels, copies and fills of device_self_ns.
WITH inside AS (
    SELECT
        trace_id, owner_id,
        sum(
            CASE WHEN is_operator AND NOT starts_with(name, '[pl][') THEN 1 ELSE 0 END
        ) AS operators,
        sum(dur_ns) AS inside_ns
    FROM _host_links
    WHERE is_launch = 0 AND owner_id IS NOT NULL
    GROUP BY trace_id, owner_id
),
framed AS (
    SELECT
        m.trace_id, m.source, m.names,
        CASE WHEN m.is_launch = 0 THEN m.class END AS class,
        CASE WHEN m.is_launch = 0 THEN m.ts_ns END AS first_ts_ns,
        1 - m.is_launch AS calls,
        coalesce(i.operators, 0) AS operators,
        CASE WHEN m.is_launch = 0 THEN m.dur_ns ELSE 0 END AS host_total_ns,
        CASE
            WHEN m.is_launch = 0 THEN m.dur_ns - coalesce(i.inside_ns, 0)
            ELSE 0
        END AS host_self_ns,
        CASE WHEN m.is_launch = 0 THEN m.exclusive_ns ELSE 0 END AS host_exclusive_ns,
        m.device_ns, m.activities
    FROM _module_calls m
    LEFT JOIN inside i ON i.trace_id = m.trace_id AND i.owner_id = m.event_id AND m.is_launch = 0
    WHERE m.path <> ''
),
-- Operators with their enclosing modules. Each has only its own figures.
hierarchical AS (
    SELECT
        e.trace_id,
        string_to_array(regexp_replace(e.module_hierarchy, '[(:][^.]*', '', 'g'), '.') AS names,
        e.ts_ns,
        nest_self(e.ts_ns, e.end_ns) OVER (
            PARTITION BY e.trace_id, e.track_id ORDER BY e.ts_ns, e.end_ns DESC, e.event_id
        ) AS host_self_ns,
        coalesce(d.device_ns, 0) AS device_ns, coalesce(d.activities, 0) AS activities
    FROM events e
    LEFT JOIN (
        SELECT trace_id, op_id, sum(dur_ns) AS device_ns, count(*) AS activities
        FROM kernels
        WHERE kind IN ('kernel', 'memcpy', 'memset') AND op_id IS NOT NULL
        GROUP BY trace_id, op_id
    ) d ON d.trace_id = e.trace_id AND d.op_id = e.event_id
    WHERE e.module_hierarchy <> '' AND e.dur_ns >= 0
),
own AS (
    SELECT
        trace_id, source, first_value(names) AS names,
        first_value(class ORDER BY class NULLS LAST) AS class,
        min(first_ts_ns) AS first_ts_ns,
        sum(calls) AS calls,
        sum(operators) AS operators,
        sum(host_total_ns) AS host_total_ns,
        sum(host_self_ns) AS host_self_ns,
        sum(host_exclusive_ns) AS host_exclusive_ns,
        sum(device_ns) AS device_ns, sum(activities) AS activities
    FROM framed
    -- Grouping by lists is slow.
    GROUP BY trace_id, source, array_to_string(names, chr(31))
    UNION ALL
    SELECT
        h.trace_id, 'hierarchy', h.names, NULL, min(h.ts_ns), NULL, count(*), NULL, NULL,
        sum(h.host_self_ns), sum(h.device_ns), sum(h.activities)
    FROM hierarchical h
    LEFT ANTI JOIN _module_frames f ON f.trace_id = h.trace_id
    GROUP BY h.trace_id, h.names
),
-- A module and each enclosing module: its own figures belong to the totals of all of them.
spread AS (
    SELECT *, unnest(range(1, CAST(array_length(names) AS BIGINT) + 1)) AS place FROM own
),
placed AS (
    SELECT
        *,
        place = CAST(array_length(names) AS BIGINT) AS is_own,
        CASE
            WHEN source = 'lightning' THEN names[place]
            ELSE array_to_string(array_slice(names, 1, place), '.')
        END AS path,
        CASE
            WHEN place > 1
                THEN CASE
                    WHEN source = 'lightning' THEN names[place - 1]
                    ELSE array_to_string(array_slice(names, 1, place - 1), '.')
                END
        END
            AS parent_path
    FROM spread
),
rows AS (
    SELECT
        trace_id, source, path, parent_path, place - 1 AS depth,
        max(CASE WHEN is_own THEN class END) AS class,
        min(first_ts_ns) AS first_ts_ns,
        sum(CASE WHEN is_own THEN calls END) AS calls,
        sum(CASE WHEN is_own THEN operators ELSE 0 END) AS operators,
        sum(
            CASE
                WHEN source = 'hierarchy' THEN host_exclusive_ns
                WHEN is_own THEN host_total_ns
                ELSE 0
            END
        ) AS host_total_ns,
        sum(CASE WHEN is_own THEN host_self_ns END) AS host_self_ns,
        sum(CASE WHEN is_own THEN host_exclusive_ns ELSE 0 END) AS host_exclusive_ns,
        sum(device_ns) AS device_total_ns,
        sum(CASE WHEN is_own THEN device_ns ELSE 0 END) AS device_self_ns,
        sum(CASE WHEN is_own THEN activities ELSE 0 END) AS activities_self
    FROM placed
    GROUP BY trace_id, source, path, parent_path, place
    UNION ALL
    -- The row without a path first contains all device work. The work that modules launched is
    -- subtracted below.
    SELECT
        o.trace_id, max(o.source), NULL, NULL, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL,
        max(d.device_ns), max(d.device_ns), max(d.activities)
    FROM (SELECT DISTINCT trace_id, source FROM own) o
    JOIN (
        SELECT trace_id, sum(dur_ns) AS device_ns, count(*) AS activities
        FROM kernels
        WHERE kind IN ('kernel', 'memcpy', 'memset')
        GROUP BY trace_id
    ) d ON d.trace_id = o.trace_id
    GROUP BY o.trace_id
),
sums AS (
    SELECT
        *,
        sum(CASE WHEN path IS NOT NULL THEN device_self_ns ELSE 0 END) OVER (PARTITION BY trace_id)
            AS modules_device_ns,
        sum(CASE WHEN path IS NOT NULL THEN activities_self ELSE 0 END) OVER (PARTITION BY trace_id)
            AS modules_activities,
        max(CASE WHEN path IS NULL THEN device_self_ns END) OVER (PARTITION BY trace_id)
            AS all_device_ns
    FROM rows
)
SELECT
    s.trace_id, t.rank, s.source, s.path, s.parent_path,
    CASE
        WHEN s.parent_path IS NULL THEN s.path
        ELSE replace(s.path, concat(s.parent_path, '.'), '')
    END AS name,
    coalesce(s.class, m.class) AS class,
    s.depth, s.first_ts_ns, s.calls, s.operators, s.host_total_ns, s.host_self_ns,
    s.host_exclusive_ns,
    CASE
        WHEN s.path IS NULL THEN s.device_total_ns - s.modules_device_ns
        ELSE s.device_total_ns
    END AS device_total_ns,
    CASE
        WHEN s.path IS NULL THEN s.device_self_ns - s.modules_device_ns
        ELSE s.device_self_ns
    END AS device_self_ns,
    100.0
        * CASE
            WHEN s.path IS NULL THEN s.device_total_ns - s.modules_device_ns
            ELSE s.device_total_ns
        END
        / nullif(s.all_device_ns, 0)
        AS device_total_pct,
    CASE
        WHEN s.path IS NULL THEN s.activities_self - s.modules_activities
        ELSE s.activities_self
    END AS activities_self
FROM sums s
JOIN traces t ON t.trace_id = s.trace_id
LEFT JOIN modules m ON m.trace_id = s.trace_id AND m.path = s.path AND s.source = 'hierarchy'
WHERE s.path IS NOT NULL OR s.activities_self > s.modules_activities
