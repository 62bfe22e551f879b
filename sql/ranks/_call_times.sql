-- Calls of collectives: members, status, and when all members had begun and ended.
--
-- method is clocks where the members are on one clock, else durations for calls whose members all
-- end together, else NULL. It is NULL too where the clock of a member may have stepped back during
-- the call, as its start is not known then, and where the clock of a member is doubtful.
-- @scope store
WITH starts AS (
    SELECT
        *,
        max(start_job_ns) OVER call AS last_start_ns,
        max(error_ns) OVER call AS call_error_ns,
        -- A median of Unix times in ns would lose digits.
        end_job_ns - min(end_job_ns) OVER call AS late_end_ns,
        min(dur_ns) OVER call AS shortest_dur_ns,
        row_number() OVER (
            PARTITION BY job, call_no ORDER BY start_job_ns DESC, rank
        ) AS place_from_last,
        row_number() OVER (PARTITION BY job, call_no ORDER BY end_job_ns, rank) AS place_from_end,
        row_number() OVER (PARTITION BY job, call_no ORDER BY dur_ns, rank) AS place_by_dur
    FROM _collective_times
    WINDOW call AS (PARTITION BY job, call_no)
),
calls AS (
    SELECT
        job, call_no,
        max(place) AS place,
        min(collective) AS collective,
        max(group_name) AS group_name,
        max(group_description) AS group_description,
        max(group_ranks) AS group_ranks,
        max(group_size) AS group_size,
        max(number) AS number,
        max(seq) AS seq,
        max(src_rank) AS src_rank,
        max(dst_rank) AS dst_rank,
        bool_or(is_coalesced) AS is_coalesced,
        max(dtype) AS dtype,
        max(step) AS step,
        max(size_bytes) AS size_bytes,
        max(match_source) AS match_source,
        max(mismatch) AS mismatch,
        max(unmatched_reason) AS unmatched_reason,
        bool_and(is_sync) AS is_sync,
        count(*) AS members,
        count(DISTINCT host) AS hosts,
        count(DISTINCT reference_rank) = 1 AS has_clock,
        -- Another member came last in any case if it began later than this one at the latest.
        bool_or(is_turned AND start_job_ns >= last_start_ns - 2 * call_error_ns) AS is_turned,
        bool_or(is_doubtful) AS is_doubtful,
        array_agg(rank ORDER BY rank) AS member_ranks,
        max(error_ns) AS error_ns,
        min(start_job_ns) AS first_start_ns,
        max(start_job_ns) AS last_start_ns,
        min(end_job_ns) AS first_end_ns,
        max(end_job_ns) AS last_end_ns,
        min(end_job_ns) + CAST(round(median(CAST(late_end_ns AS DOUBLE))) AS BIGINT)
            AS median_end_ns,
        min(end_job_ns)
            + CAST(
                round(median(CASE WHEN place_from_end > 1 THEN CAST(late_end_ns AS DOUBLE) END))
                AS BIGINT
            ) AS later_end_ns,
        max(CASE WHEN place_from_end = 1 THEN rank END) AS first_out_rank,
        max(CASE WHEN place_from_last = 1 THEN rank END) AS last_in_rank,
        count(*) FILTER (WHERE start_job_ns >= last_start_ns - 2 * call_error_ns)
            AS last_candidates,
        min(dur_ns) AS shortest_ns,
        max(dur_ns) AS longest_ns,
        max(CASE WHEN place_by_dur = 1 THEN rank END) AS shortest_rank,
        count(*) FILTER (WHERE place_by_dur <= 2 AND dur_ns = shortest_dur_ns) AS shortest_ranks
    FROM starts
    GROUP BY job, call_no
),
judged AS (
    SELECT
        *,
        -- The root of a broadcast leaves before the others.
        CASE
            WHEN collective = 'broadcast' AND members > 1 AND has_clock
                AND later_end_ns - first_end_ns > greatest(2000, 3 * error_ns / 2)
                THEN first_out_rank
        END AS root_rank,
        CASE WHEN collective = 'send_recv' THEN 2 ELSE group_size END AS expected_members,
        CASE
            WHEN mismatch IS NOT NULL THEN mismatch
            WHEN is_sync AND members > 1 AND has_clock AND place = 'device'
                AND last_end_ns - first_end_ns > 50000 + least(3 * error_ns, 50000)
                THEN 'the members do not end together'
        END AS contradiction
    FROM calls
)
SELECT
    *,
    CASE
        WHEN contradiction IS NOT NULL THEN 'mismatch'
        WHEN number IS NULL OR expected_members = 1 THEN 'single'
        WHEN members = expected_members THEN 'complete'
        WHEN members > expected_members THEN 'mismatch'
        ELSE 'members_missing'
    END AS status,
    CASE
        WHEN contradiction IS NOT NULL THEN contradiction
        WHEN number IS NULL THEN unmatched_reason
        WHEN members > expected_members THEN 'there are more members than ranks in the group'
        WHEN is_turned THEN 'the clock of a rank may have stepped back during the call'
        WHEN is_doubtful THEN 'the clock of a rank is doubtful'
        WHEN expected_members IS NULL THEN 'the size of the group is not known'
    END AS reason,
    CASE
        WHEN contradiction IS NOT NULL OR number IS NULL OR is_turned OR is_doubtful
            OR coalesce(members > expected_members, false) THEN NULL
        WHEN has_clock AND place = 'device' THEN 'clocks'
        WHEN is_sync AND members = expected_members THEN 'durations'
    END AS method,
    CASE
        WHEN collective = 'broadcast'
            THEN CASE
                WHEN members > 2 AND root_rank IS NOT NULL THEN later_end_ns
                ELSE last_end_ns
            END
        ELSE median_end_ns
    END AS end_job_ns
FROM judged
