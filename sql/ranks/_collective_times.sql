-- Members of calls with their times on the clock of the job.
--
-- is_turned marks members in which the clock of the rank may have stepped back: they may have begun
-- earlier. dur_ns is without the step where it is known that the clock stepped within the member.
-- A member without a length at such a time began before the step, and ended after it, with the
-- others.
-- @scope store
WITH timed AS (
    SELECT
        m.* EXCEPT (dur_ns),
        m.dur_ns + CASE WHEN v.straddles THEN c.offset_before_ns - c.offset_ns ELSE 0 END AS dur_ns,
        c.reference_rank, c.error_ns, c.is_main, c.is_doubtful,
        (v.may_straddle OR v.is_unsure) AND NOT (m.dur_ns = 0 AND m.is_sync) AS is_turned,
        v.event_id IS NOT NULL AND m.dur_ns = 0 AND m.is_sync AS is_cut,
        m.end_unix_ns - c.offset_ns
            - CAST(round(c.drift_ppm / 1e6 * (m.end_unix_ns - c.origin_unix_ns)) AS BIGINT)
            - m.dur_ns
            -- The clock stepped between start and end.
            + CASE
                WHEN v.straddles
                    OR v.event_id IS NOT NULL AND m.dur_ns = 0 AND m.is_sync
                        AND m.start_unix_ns BETWEEN c.unsure_from_unix_ns AND c.unsure_to_unix_ns
                    OR m.start_unix_ns < c.from_unix_ns AND c.offset_ns > c.offset_before_ns
                    THEN c.offset_ns - c.offset_before_ns
                ELSE 0
            END AS start_job_ns,
        m.end_unix_ns - c.offset_ns
            - CAST(round(c.drift_ppm / 1e6 * (m.end_unix_ns - c.origin_unix_ns)) AS BIGINT)
            AS end_job_ns
    FROM _collective_matches m
    LEFT JOIN _clock_sides v ON v.trace_id = m.trace_id AND v.event_id = m.event_id
    JOIN _rank_clocks c ON c.job = m.job AND c.rank = m.rank
        AND CASE
            WHEN v.segment IS NOT NULL THEN c.segment = v.segment
            ELSE (c.from_unix_ns IS NULL OR m.end_unix_ns >= c.from_unix_ns)
                AND (c.to_unix_ns IS NULL OR m.end_unix_ns < c.to_unix_ns)
        END
),
ended AS (
    SELECT
        * EXCEPT (dur_ns, end_job_ns),
        dur_ns AS own_dur_ns,
        CASE
            WHEN is_cut THEN max(CASE WHEN NOT is_cut THEN end_job_ns END) OVER (
                PARTITION BY job, call_no
            )
            ELSE end_job_ns
        END AS end_job_ns
    FROM timed
)
SELECT
    *,
    CASE WHEN is_cut THEN end_job_ns - start_job_ns ELSE own_dur_ns END AS dur_ns
FROM ended
