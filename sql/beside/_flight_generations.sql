-- Collectives that each rank has recorded, with the generation of their process group.
--
-- A group can be destroyed and made again under the same name, and then its numbers start again.
-- On each rank, a generation begins with a record that has another group_id than the one before,
-- with a number that falls, or with a number that repeats while op_id does not rise. Coalesced
-- operations share a number, but their op_id rises. is_unsure marks a fall that does not return to
-- the lowest number so far: records may then be out of order, or the first ones are gone.
-- @scope store
WITH records AS (
    SELECT
        d.job, d.rank, r.trace_id, r.event_id, r.group_name, r.group_id,
        r.collective_seq AS seq, r.op_id,
        lag(r.group_id) OVER (
            PARTITION BY r.trace_id, r.group_name ORDER BY r.event_id
        ) AS previous_group_id,
        lag(r.collective_seq) OVER (
            PARTITION BY r.trace_id, r.group_name ORDER BY r.event_id
        ) AS previous_seq,
        lag(r.op_id) OVER (
            PARTITION BY r.trace_id, r.group_name ORDER BY r.event_id
        ) AS previous_op_id,
        min(r.collective_seq) OVER (
            PARTITION BY r.trace_id, r.group_name ORDER BY r.event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS lowest_seq
    FROM flight_records r
    JOIN _flight_jobs d ON d.trace_id = r.trace_id AND d.is_used
    WHERE NOT r.is_p2p AND r.collective_seq IS NOT NULL
),
marked AS (
    SELECT
        *,
        (group_id <> previous_group_id) IS TRUE AS has_new_id,
        (seq < previous_seq OR seq = previous_seq AND op_id <= previous_op_id) IS TRUE AS falls
    FROM records
)
SELECT
    job, rank, trace_id, event_id, group_name, group_id, seq,
    falls AND NOT has_new_id AND seq <> lowest_seq AS is_unsure,
    1 + sum(CASE WHEN has_new_id OR falls THEN 1 ELSE 0 END) OVER (
        PARTITION BY trace_id, group_name ORDER BY event_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS generation
FROM marked
