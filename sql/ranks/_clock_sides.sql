-- Device work and runtime calls at times that a clock of a job shows twice, because it steps back:
-- the stretch of the clock (_rank_clocks.segment) that each belongs to.
--
-- Ends of collectives show the stretch of their own. Work of a stream and calls of a thread follow
-- their correlation ids, so the step lies where the next one begins before the end of the last one.
-- In a stream or thread without such a place, ids compare with those of the other streams.
-- is_unsure marks rows that this does not settle. The step may lie within the rows next to it in a
-- stream or thread without such a place. The first one after the step began before it (straddles)
-- if its start follows an end or a launch before the step, and none after it; may_straddle marks
-- those of which it is not known.
-- @scope store
WITH steps AS (
    SELECT
        j.trace_id, c.job, c.rank, c.segment,
        c.unsure_from_unix_ns - coalesce(t.base_time_ns, 0) AS from_ns,
        c.unsure_to_unix_ns - coalesce(t.base_time_ns, 0) AS to_ns,
        c.from_unix_ns - coalesce(t.base_time_ns, 0) AS split_ns,
        greatest(c.offset_before_ns - c.offset_ns, 0) AS back_ns
    FROM _rank_clocks c
    JOIN job_ranks j ON j.job = c.job AND j.rank = c.rank
    JOIN traces t ON t.trace_id = j.trace_id
    WHERE c.segment > 1
),
turns AS (
    SELECT * FROM steps WHERE trace_id IN (SELECT trace_id FROM steps WHERE back_ns > 0)
),
known AS (
    SELECT trace_id, event_id, clock['segment'] AS segment
    FROM _clock_sights
    WHERE event_id IS NOT NULL AND trace_id IN (SELECT trace_id FROM turns)
),
work AS (
    SELECT
        k.trace_id, k.event_id, k.correlation, k.ts_ns, k.end_ns,
        true AS is_device,
        concat('d', k.device, '|', k.stream) AS lane,
        s.segment AS known_segment
    FROM kernels k
    LEFT JOIN known s ON s.trace_id = k.trace_id AND s.event_id = k.event_id
    WHERE k.trace_id IN (SELECT trace_id FROM turns) AND k.end_ns IS NOT NULL
        AND k.kind IN ('kernel', 'memcpy', 'memset')
    UNION ALL
    SELECT
        l.trace_id, l.event_id, l.correlation, l.ts_ns, l.end_ns, false,
        concat('h', l.track_id),
        CAST(NULL AS BIGINT)
    FROM events l
    JOIN tracks t ON t.trace_id = l.trace_id AND t.track_id = l.track_id
    WHERE l.trace_id IN (SELECT trace_id FROM turns) AND l.end_ns IS NOT NULL
        AND t.kind = 'cpu_thread' AND l.ph = 'X' AND l.correlation > 0
),
near AS (
    SELECT
        w.*, t.segment, t.from_ns, t.to_ns, t.split_ns, t.back_ns,
        CASE
            WHEN w.known_segment IS NOT NULL THEN w.known_segment >= t.segment
            WHEN t.back_ns = 0 THEN w.end_ns >= t.split_ns
            WHEN w.end_ns < t.from_ns THEN false
            WHEN w.ts_ns > t.to_ns THEN true
        END AS is_known_after,
        lag(w.end_ns) OVER (
            PARTITION BY w.trace_id, t.segment, w.lane ORDER BY w.correlation, w.ts_ns, w.event_id
        ) AS before_ns
    FROM work w
    JOIN turns t ON t.trace_id = w.trace_id
),
marked AS (
    SELECT
        *,
        -- Work of a stream may overlap a little.
        CASE
            WHEN back_ns > 0 AND ts_ns < before_ns - least(back_ns / 4, 2000) AND ts_ns <= to_ns
                AND before_ns >= from_ns
                THEN 1
            ELSE 0
        END AS turn
    FROM near
),
counted AS (
    SELECT
        *,
        sum(turn) OVER upto AS turns_before,
        sum(turn) OVER lane AS lane_turns,
        (min(CASE WHEN is_known_after THEN correlation END) OVER lane <= correlation)
            AS is_after_known,
        (max(CASE WHEN NOT is_known_after THEN correlation END) OVER lane >= correlation)
            AS is_before_known
    FROM marked
    WINDOW lane AS (PARTITION BY trace_id, segment, lane),
    upto AS (
        PARTITION BY trace_id, segment, lane ORDER BY correlation, ts_ns, event_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
),
decided AS (
    SELECT
        *,
        CASE
            WHEN is_known_after IS NOT NULL THEN is_known_after
            WHEN is_before_known AND is_after_known IS NOT TRUE THEN false
            WHEN is_after_known AND is_before_known IS NOT TRUE THEN true
            WHEN lane_turns = 1 THEN turns_before = 1
        END AS is_after
    FROM counted
),
ordered AS (
    SELECT
        *,
        max(CASE WHEN NOT is_after AND is_device THEN correlation END) OVER turn AS last_before,
        min(CASE WHEN is_after AND is_device THEN correlation END) OVER turn AS first_after
    FROM decided
    WINDOW turn AS (PARTITION BY trace_id, segment)
),
settled AS (
    SELECT
        *,
        coalesce(
            is_after,
            CASE
                WHEN correlation < first_after AND correlation <= last_before THEN false
                WHEN correlation > last_before AND correlation >= first_after THEN true
            END,
            correlation > (last_before + first_after) / 2,
            ts_ns > (from_ns + to_ns) / 2
        ) AS is_later,
        CASE
            WHEN is_after IS NOT NULL THEN 0
            WHEN correlation < first_after AND correlation <= last_before THEN 0
            WHEN correlation > last_before AND correlation >= first_after THEN 0
            ELSE 1
        END AS unsettled
    FROM ordered
),
edges AS (
    SELECT
        *,
        lag(is_later) OVER lane AS was_later,
        lead(is_later) OVER lane AS next_later
    FROM settled
    WINDOW lane AS (
        PARTITION BY trace_id, segment, lane ORDER BY correlation, ts_ns, event_id
    )
),
firsts AS (
    SELECT trace_id, segment, event_id, correlation, ts_ns
    FROM edges
    WHERE back_ns > 0 AND end_ns >= from_ns AND ts_ns <= to_ns AND is_device AND is_later
        AND NOT was_later AND turn = 0
),
-- What ended, or was called, right before them.
starts AS (
    SELECT
        f.trace_id, f.segment, f.event_id,
        bool_or(w.is_later) AS has_after,
        bool_or(NOT w.is_later) AS has_before
    FROM firsts f
    JOIN edges w ON w.trace_id = f.trace_id AND w.segment = f.segment
        AND w.event_id <> f.event_id AND w.is_after IS NOT NULL
        AND CASE
            WHEN w.is_device THEN f.ts_ns - w.end_ns BETWEEN 0 AND 5000
            ELSE w.correlation = f.correlation AND f.ts_ns - w.ts_ns BETWEEN 0 AND 4000
        END
    GROUP BY f.trace_id, f.segment, f.event_id
),
judged AS (
    SELECT
        e.*,
        e.back_ns > 0 AND e.end_ns >= e.from_ns AND e.ts_ns <= e.to_ns AS is_near,
        s.has_before AND NOT s.has_after AS is_straddling,
        s.has_before <> s.has_after AS is_judged
    FROM edges e
    LEFT JOIN starts s ON s.trace_id = e.trace_id AND s.segment = e.segment
        AND s.event_id = e.event_id
)
SELECT
    trace_id, event_id,
    1 + count(*) FILTER (WHERE is_later) AS segment,
    bool_or(unsettled = 1 AND is_near) AS is_unsure,
    bool_or(is_straddling) AS straddles,
    bool_or(
        is_near AND turn = 0 AND is_judged IS NOT TRUE
            AND (
                is_later AND NOT was_later
                    OR NOT is_later AND next_later AND lane_turns = 0 AND known_segment IS NULL
            )
    ) AS may_straddle
FROM judged
GROUP BY trace_id, event_id
HAVING bool_or(is_near)
