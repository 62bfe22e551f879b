-- Trace damage: what was odd about the file, by kind.
--
-- There is one row for each kind of error or warning in ingest_issues, with the number of times as
-- value: high for errors (elements or bytes are lost) and for a trace without any element, low for
-- other warnings (something odd was kept), info for one empty element, with which some programs end
-- their lists. Partial overlaps are a finding (low) above rule_overlaps_pct percent of the events
-- with a duration. Tracks of asynchronous work and of ranges (kind span) do not count here, because
-- what is on them may overlap. A trace without any of these has one row that is ok.
-- Source: ingest_issues, and the flag overlaps of events.
-- @scope trace
-- @setting rule_overlaps_pct 5 pct Share of partial overlaps among events above which
--     rule_trace_damage has a finding.
-- @column subject VARCHAR text Code of the issue; NULL if there is none.
-- @column value DOUBLE number Number of times; for partial_overlap percent of the events with a
--     duration.
-- @column unit VARCHAR text Unit of value and threshold: count, or pct for partial_overlap.
-- @column threshold DOUBLE number 0, or the setting rule_overlaps_pct.
-- @column numerator BIGINT number Partial overlaps, without tracks of kind span; NULL for other
--     issues.
-- @column denominator BIGINT number Events with a duration on the same tracks; NULL for other
--     issues.
-- @unmeasured The file could not be judged.
-- @message {subject}, {times:time|times}[ ({share:2} % of the events with a duration on threads and streams)]: {detail}
-- @advice If elements are lost, record the trace again and let the profiler finish writing; other
--     oddities are kept in the tables: look at the examples.
-- @evidence SELECT i.severity, i.code, i."count", i.skipped_count, i.first_event_id, i.example,
--     i.detail, CASE i.code WHEN 'partial_overlap' THEN e.overlaps END AS numerator, CASE i.code
--     WHEN 'partial_overlap' THEN e.events END AS denominator FROM ingest_issues i CROSS JOIN
--     (SELECT count(dur_ns) AS events, count(CASE WHEN overlaps THEN 1 END) AS overlaps FROM events
--     WHERE trace_id = {trace_id} AND track_id NOT IN (SELECT track_id FROM tracks WHERE trace_id =
--     {trace_id} AND kind = 'span')) e WHERE i.trace_id = {trace_id}{of_code:raw} ORDER BY i.severity, i.code
WITH lengths AS (
    SELECT
        e.trace_id, count(e.dur_ns) AS events, count(CASE WHEN e.overlaps THEN 1 END) AS overlaps
    FROM events e
    JOIN tracks t ON t.trace_id = e.trace_id AND t.track_id = e.track_id
    WHERE t.kind <> 'span'
    GROUP BY e.trace_id
),
issues AS (
    SELECT
        i.trace_id, i.code, i.severity, i.detail, i.example, l.events,
        CASE WHEN i.code = 'partial_overlap' THEN l.overlaps ELSE i."count" END AS times,
        i.code = 'partial_overlap' AS is_share
    FROM ingest_issues i
    LEFT JOIN lengths l ON l.trace_id = i.trace_id
    WHERE i.severity <> 'info' OR (i.code = 'partial_overlap' AND l.events > 0)
)
SELECT
    t.trace_id, t.rank, i.code AS subject, i.times, left(i.detail, 300) AS detail,
    CASE WHEN i.is_share THEN NULL ELSE coalesce(i.times, 0) END AS value,
    CASE WHEN i.is_share THEN 'pct' ELSE 'count' END AS unit,
    CASE WHEN i.is_share THEN setting('rule_overlaps_pct') ELSE 0.0 END AS threshold,
    CASE WHEN i.is_share THEN i.times END AS numerator,
    CASE WHEN i.is_share THEN i.events END AS denominator,
    CASE WHEN i.is_share THEN 'partial overlaps' END AS numerator_name,
    CASE WHEN i.is_share THEN 'events with a duration on threads and streams' END
        AS denominator_name,
    CASE WHEN i.is_share THEN 100.0 * i.times / i.events END AS share,
    CASE WHEN i.code IS NOT NULL THEN concat(' AND i.code = ''', i.code, '''') END AS of_code,
    CASE
        WHEN i.is_share THEN 100.0 * i.times > setting('rule_overlaps_pct') * i.events
        ELSE i.times > 0
    END AS is_finding,
    CASE
        WHEN i.code = 'no_phase' AND i.times = 1 AND regexp_like(i.example, '^\{\s*\}') THEN 'info'
        WHEN i.code = 'empty_trace' OR i.severity = 'error' THEN 'high'
        ELSE 'low'
    END AS severity,
    CASE WHEN i.code IS NULL THEN 'Nothing was wrong with the file.' END AS message,
    CAST(NULL AS VARCHAR) AS reason
FROM _rule_traces t
LEFT JOIN issues i ON i.trace_id = t.trace_id
