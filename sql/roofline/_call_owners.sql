-- For each operator call, the candidates for the call that owns the device work it launches.
--
-- The owner is the outermost call around it, itself included, whose figures are known and which
-- calls no operator of its own name (known_id): autocast and variants with out= repeat a call
-- inside. The inner one has the types that ran, and what the outer one does around it, such as
-- casts, owns itself. Wrappers own only what they launch themselves. Without such a call the owner
-- is the call itself if its figures are known (is_known), else the outermost call that has a
-- formula (formed_id), else the call itself.
-- @scope trace
WITH kinds AS (
    SELECT
        trace_id, kind_id,
        -- A number for each name.
        first_value(kind_id) OVER (PARTITION BY trace_id, name ORDER BY kind_id) AS name_id,
        form IS NOT NULL AND NOT is_wrapper AS can_own,
        form IS NOT NULL AND reason IS NULL AS is_known
    FROM _call_kinds
),
operators AS (
    SELECT c.trace_id, c.event_id, k.name_id, k.can_own, k.is_known
    FROM kinds k
    JOIN _kind_calls c ON c.trace_id = k.trace_id AND c.kind_id = k.kind_id
),
calls AS (
    SELECT
        e.trace_id, e.event_id, e.parent_id, o.name_id, o.can_own, o.is_known
    FROM operators o
    RIGHT JOIN events e ON e.trace_id = o.trace_id AND e.event_id = o.event_id
    WHERE e.dur_ns IS NOT NULL AND e.device IS NULL
        -- Calls of the runtime have no operators inside.
        AND (e.cat NOT IN ('cuda_runtime', 'cuda_driver') OR e.cat IS NULL)
),
-- Ids of events are unique in a trace, so that no window needs to be sorted by track.
named AS (
    SELECT *, parent_value(event_id, parent_id, name_id) OVER trace = name_id AS repeats_parent
    FROM calls
    WINDOW trace AS (PARTITION BY trace_id)
),
repeated AS (
    SELECT
        *,
        children_sum(event_id, parent_id, CASE WHEN repeats_parent THEN 1 END) OVER trace > 0
            AS is_repeated
    FROM named
    WINDOW trace AS (PARTITION BY trace_id)
),
paths AS (
    SELECT
        *,
        outermost_id(event_id, parent_id, CASE WHEN can_own AND is_known AND NOT is_repeated
            THEN name_id END) OVER trace AS known_id,
        outermost_id(event_id, parent_id, CASE WHEN can_own AND NOT is_known AND NOT is_repeated
            THEN name_id END) OVER trace AS formed_id
    FROM repeated
    WINDOW trace AS (PARTITION BY trace_id)
)
-- Readers pick the owner after their join, because most of these calls launch no device work.
SELECT trace_id, event_id, is_known, known_id, formed_id
FROM paths
WHERE name_id IS NOT NULL
