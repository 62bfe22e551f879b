-- Pairs of traces to compare: a base and a candidate.
--
-- The settings compare_base and compare_candidate name the traces of the two sides, by trace_id or
-- by the end of their path. Semicolons separate several names; each trace of one side makes a pair
-- with each of the other. An empty setting stands for any other trace: if both are empty, any two
-- traces of the store are a pair, with the earlier one (by Unix time, else by path) as its base. In
-- a store of many traces, set them or filter on base_trace_id and cand_trace_id, so that only those
-- are compared.
--
-- Example: SELECT base_path, cand_path FROM compare_pairs
--
-- @scope store
-- @column base_trace_id VARCHAR text The trace compared with.
-- @column cand_trace_id VARCHAR text The trace that is compared.
-- @column trace_id VARCHAR text The same as cand_trace_id.
-- @column base_path VARCHAR text Path of the base.
-- @column cand_path VARCHAR text Path of the candidate.
-- @column base_rank BIGINT id Rank of the base; NULL if not recorded.
-- @column cand_rank BIGINT id Rank of the candidate; NULL if not recorded.
-- @column base_duration_ns BIGINT ns Length of the base.
-- @column cand_duration_ns BIGINT ns Length of the candidate.
WITH ordered AS (
    SELECT
        trace_id, path, rank, duration_ns,
        row_number() OVER (
            ORDER BY coalesce(base_time_ns + start_ns, 9223372036854775807), path, trace_id
        ) AS place,
        coalesce(setting_text('compare_base'), '') AS base,
        coalesce(setting_text('compare_candidate'), '') AS cand
    FROM traces
),
sides AS (
    SELECT trace_id, bool_or(side = 'base') AS is_base, bool_or(side = 'candidate') AS is_cand
    FROM compare_sides
    GROUP BY trace_id
),
named AS (
    SELECT
        o.*,
        o.base = '' OR coalesce(s.is_base, false) AS is_base,
        o.cand = '' OR coalesce(s.is_cand, false) AS is_cand
    FROM ordered o
    LEFT JOIN sides s ON s.trace_id = o.trace_id
)
SELECT
    b.trace_id AS base_trace_id, c.trace_id AS cand_trace_id, c.trace_id,
    b.path AS base_path, c.path AS cand_path, b.rank AS base_rank, c.rank AS cand_rank,
    b.duration_ns AS base_duration_ns, c.duration_ns AS cand_duration_ns
FROM named b
JOIN named c
    ON b.is_base
        AND c.is_cand
        AND b.trace_id <> c.trace_id
        AND (b.base <> '' OR c.cand <> '' OR b.place < c.place)
