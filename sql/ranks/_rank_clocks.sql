-- The clock of each rank of a job against the clock of the lowest rank of the same connected set,
-- by the ends of collectives (align_clocks). A clock that steps has a row for each stretch.
--
-- Times from unsure_from_unix_ns to unsure_to_unix_ns are before or after the step that begins the
-- stretch; where a clock steps back, such times are shown twice (_clock_sides).
--
-- is_main marks the largest connected set of the job. is_doubtful is whether the ends of collectives
-- on devices scatter by more than 50 µs: then calls are likely matched with other ones.
-- @scope store
WITH segments AS (
    SELECT
        job, rank,
        clock['segment'] AS segment,
        max(place) AS place,
        max(clock['reference']) AS reference_rank,
        max(clock['origin_ns']) AS origin_unix_ns,
        max(clock['from_ns']) AS from_unix_ns,
        max(clock['to_ns']) AS to_unix_ns,
        max(clock['unsure_from_ns']) AS unsure_from_unix_ns,
        max(clock['unsure_to_ns']) AS unsure_to_unix_ns,
        max(clock['offset_ns']) AS offset_ns,
        max(clock['drift_ppm']) AS drift_ppm,
        max(clock['error_ns']) AS error_ns,
        max(clock['points']) AS sync_points,
        max(clock['spread_ns']) AS spread_ns
    FROM _clock_sights
    GROUP BY job, rank, clock['segment']
),
sets AS (
    SELECT
        job, reference_rank,
        count(DISTINCT rank) AS set_ranks,
        row_number() OVER (
            PARTITION BY job ORDER BY count(DISTINCT rank) DESC, reference_rank
        ) = 1 AS is_main
    FROM segments
    GROUP BY job, reference_rank
)
SELECT
    s.job, s.rank, s.segment, s.reference_rank, s.origin_unix_ns, s.from_unix_ns, s.to_unix_ns,
    s.unsure_from_unix_ns, s.unsure_to_unix_ns, s.offset_ns,
    lag(s.offset_ns) OVER (PARTITION BY s.job, s.rank ORDER BY s.segment) AS offset_before_ns,
    s.drift_ppm, s.error_ns, s.sync_points, s.spread_ns, s.place, t.set_ranks, t.is_main,
    coalesce(s.place = 'device' AND s.spread_ns > 50000, false) AS is_doubtful
FROM segments s
JOIN sets t ON t.job = s.job AND t.reference_rank = s.reference_rank
