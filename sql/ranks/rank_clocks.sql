-- Clocks of the ranks of a job against each other, estimated from the ends of their collectives.
--
-- Collectives such as all_reduce end at the same moment for all members. From these ends each rank
-- has an offset, a drift and steps against the lowest rank that it is connected with
-- (align_clocks). A time of a rank on the clock of the job is unix_ns - offset_ns -
-- round(drift_ppm / 10^6 · (unix_ns - origin_unix_ns)), with unix_ns = traces.base_time_ns + ts_ns
-- (0 for a missing base) and the row whose from_unix_ns and to_unix_ns enclose it. A clock that
-- steps has a row for each stretch. Ranks that share no such collective with the others cannot be
-- aligned with them: their times are as recorded, and no waits are computed across that cut.
--
-- Example: SELECT rank, offset_ns, drift_ppm, error_ns, sync_points, status FROM rank_clocks
--   ORDER BY job, rank
-- Holds: status IN ('aligned', 'doubtful', 'not_connected') OR rank = reference_rank
-- Range: any origin_unix_ns, from_unix_ns, to_unix_ns, offset_ns, drift_ppm; Unix time, and clocks
--   may differ by any amount.
--
-- @scope store
-- @column trace_id VARCHAR text The trace.
-- @column job VARCHAR text The job (job_ranks.job).
-- @column rank BIGINT id Rank of the trace.
-- @column segment BIGINT number Number of the stretch between steps of the clock, from 1.
-- @column reference_rank BIGINT id The rank whose clock is the common one.
-- @column from_unix_ns BIGINT ns Start of the stretch, Unix time on the clock of the rank; NULL for
--   the first one.
-- @column to_unix_ns BIGINT ns Its end, exclusive; NULL for the last one.
-- @column origin_unix_ns BIGINT ns The time from which the drift counts, on the clock of the rank.
-- @column offset_ns BIGINT ns How far the clock is ahead of the reference at origin_unix_ns.
-- @column drift_ppm DOUBLE number By how much it gains on the reference, 10^-6; 0 where the window
--   is too short, or the drift too small to be told from noise.
-- @column error_ns BIGINT ns Half of the interval that holds the error of aligned times in 95 of
--   100 cases, if the ends scatter independently; 0 for the reference, or 1,000 if its times are
--   whole microseconds.
-- @column sync_points BIGINT count Ends that were compared.
-- @column residual_mad_ns BIGINT ns Median deviation of the ends from the fit.
-- @column method VARCHAR text collectives, host_marks (noise of about 100 µs) or none.
-- @column status VARCHAR text reference, aligned, doubtful (ends on devices scatter by more than
--   50 µs, so that its collectives are likely matched with other ones), not_connected (no shared
--   collective with the ranks of the reference), or alone (the job has one rank in the store).
SELECT
    j.trace_id, c.job, c.rank, c.segment, c.reference_rank, c.from_unix_ns, c.to_unix_ns,
    c.origin_unix_ns, c.offset_ns, c.drift_ppm, c.error_ns, c.sync_points,
    c.spread_ns AS residual_mad_ns,
    CASE
        WHEN c.set_ranks = 1 THEN 'none'
        WHEN c.place = 'host' THEN 'host_marks'
        ELSE 'collectives'
    END AS method,
    CASE
        WHEN j.ranks = 1 THEN 'alone'
        WHEN NOT c.is_main OR c.set_ranks = 1 THEN 'not_connected'
        WHEN c.rank = c.reference_rank THEN 'reference'
        WHEN c.is_doubtful THEN 'doubtful'
        ELSE 'aligned'
    END AS status
FROM _rank_clocks c
JOIN job_ranks j ON j.job = c.job AND j.rank = c.rank
