-- Sequences of device work that repeat on a stream, and those of them that could be fused.
-- @expand kernel_sequences
-- @expand fusion_candidates fusible
--
-- @if fusible
-- Sequences of small kernels that repeat on a stream and could be one kernel.
--
-- Like kernel_sequences, of work that only moves or maps elements: the classes elementwise,
-- reduction, normalization, softmax, copy_layout, quantize and rng, between which nothing else runs
-- on the stream. A compiler or a fused kernel can run such a sequence at once. That saves gap_ns,
-- up to the share of it that is left, most launches, and much of the traffic to memory, which the
-- trace does not record.
-- @else
-- Sequences of kernels, copies and fills that repeat on a stream.
--
-- Work of a stream is taken in the order of its start. A sequence lies within one step and has
-- kernel_sequence_min to kernel_sequence_max activities of the same names. The sequence that
-- repeats most activities comes first, and the activities of its occurrences are not available to
-- others, so that times of a stream add up to at most its work. At most kernel_sequence_top
-- sequences of each stream are listed. A layer that runs many times is one sequence.
-- @end
--
-- @if fusible
-- Source: the idea of get_frequent_cuda_kernel_sequences of Holistic Trace Analysis, by stream
--   instead of operator, limited to classes of kernels that compilers fuse.
-- @else
-- Source: the idea of get_frequent_cuda_kernel_sequences of Holistic Trace Analysis, by stream
--   instead of operator; operator_kernels has sequences by operator.
-- @end
-- Example: SELECT length, occurrences, kernel_ns, gap_ns, names FROM {view}
--   ORDER BY kernel_ns DESC LIMIT 5
-- Holds: length >= 2 AND occurrences >= 2 AND steps <= occurrences
-- Range: sum kernel_ns, gap_ns
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column device BIGINT id Device; NULL where none was written.
-- @column stream BIGINT id Stream; NULL where none was written.
-- @column track_id BIGINT id The stream's track (tracks.track_id).
-- @column sequence BIGINT number Number of the sequence on the stream, from 1: what repeats most
--   comes first.
-- @column length BIGINT count Activities in the sequence.
-- @column occurrences BIGINT count How often it runs.
-- @column steps BIGINT count Steps in which it runs; 0 outside steps.
-- @column kernel_ns BIGINT ns Sum of the durations of all its activities.
-- @column kernel_pct DOUBLE pct The same as percent of all work on the stream.
-- @column gap_ns BIGINT ns Sum of the time between activities inside the occurrences, in which the
--   stream has nothing to run.
-- @column first_event_id BIGINT id The first activity of the first occurrence (events.event_id).
-- @column names VARCHAR text Short names of the activities, joined by " -> ".
WITH work AS (
    SELECT
        k.trace_id, k.track_id, k.device, k.stream, k.step, k.event_id, k.name, k.ts_ns,
        k.dur_ns, k.end_ns,
-- @if fusible
        k.class IN (
            'elementwise', 'reduction', 'normalization', 'softmax', 'copy_layout', 'quantize',
            'rng'
        ) AS is_member
-- @else
        true AS is_member
-- @end
-- @if fusible
    FROM (
        SELECT w.*, c.class
        FROM kernels w
        JOIN kernel_classes c ON c.trace_id = w.trace_id AND c.event_id = w.event_id
    ) k
-- @else
    FROM kernels k
-- @end
    WHERE k.kind IN ('kernel', 'memcpy', 'memset') AND k.ts_ns IS NOT NULL AND k.dur_ns >= 0
),
names AS (
    SELECT
        trace_id, name,
        row_number() OVER (PARTITION BY trace_id ORDER BY name) AS name_id
    FROM (SELECT DISTINCT trace_id, name FROM work)
),
ordered AS (
    SELECT
        w.trace_id, w.track_id, w.device, w.stream, w.step, w.event_id, w.name, w.ts_ns, w.end_ns,
        w.is_member,
        CAST(CASE WHEN w.is_member THEN n.name_id END AS BIGINT) AS name_id,
        row_number() OVER on_stream AS place,
        running_sum(w.dur_ns) OVER on_stream AS work_ns,
        greatest(w.ts_ns - lag(w.end_ns) OVER on_stream, 0) AS gap_ns
    FROM work w
    LEFT JOIN names n ON n.trace_id = w.trace_id AND n.name = w.name
    WINDOW on_stream AS (PARTITION BY w.trace_id, w.track_id ORDER BY w.ts_ns, w.event_id)
),
placed AS (
    SELECT
        *,
        coalesce(running_sum(gap_ns) OVER on_stream, 0) AS gaps_ns
    FROM ordered
    WINDOW on_stream AS (PARTITION BY trace_id, track_id ORDER BY place)
),
lists AS (
    SELECT
        trace_id, track_id,
        max(work_ns) AS stream_ns,
        array_agg(name_id ORDER BY place) AS name_ids,
        array_agg(step ORDER BY place) AS steps
    FROM placed
    GROUP BY trace_id, track_id
),
-- DataFusion takes keys of groups for unique keys even after unnest, but not keys that are
-- computed.
found AS (
    SELECT
        trace_id,
        nullif(track_id, -1) AS track,
        stream_ns,
        unnest(repeated_sequences(
            name_ids, steps,
            setting_int('kernel_sequence_min'), setting_int('kernel_sequence_max'),
            setting_int('kernel_sequence_top')
        )) AS part
    FROM lists
),
numbered AS (
    SELECT
        trace_id, track, stream_ns,
        part['length'] AS length,
        part['starts'] AS starts,
        part['starts'][1] AS first_place,
        row_number() OVER (
            PARTITION BY trace_id, track
            ORDER BY part['length'] * (array_length(part['starts']) - 1) DESC, part['length'] DESC,
                part['starts'][1]
        ) AS sequence
    FROM found
),
occurrences AS (
    SELECT trace_id, track, sequence, stream_ns, length, first_place, unnest(starts) AS place
    FROM numbered
),
measured AS (
    SELECT
        o.trace_id,
        o.track AS track_id,
        o.sequence,
        max(o.length) AS length,
        max(o.stream_ns) AS stream_ns,
        max(o.first_place) AS first_place,
        max(a.device) AS device,
        max(a.stream) AS stream,
        count(*) AS occurrences,
        count(DISTINCT a.step) AS steps,
        sum(b.work_ns - a.work_ns + (a.end_ns - a.ts_ns)) AS kernel_ns,
        sum(b.gaps_ns - a.gaps_ns) AS gap_ns,
        min(CASE WHEN o.place = o.first_place THEN a.event_id END) AS first_event_id
    FROM occurrences o
    JOIN placed a ON a.trace_id = o.trace_id AND a.track_id = o.track AND a.place = o.place
    JOIN placed b
        ON b.trace_id = o.trace_id
            AND b.track_id = o.track
            AND b.place = o.place + o.length - 1
    GROUP BY o.trace_id, o.track, o.sequence
),
members AS (
    SELECT
        trace_id, track_id,
        nullif(sequence, 0) AS number,
        unnest(generate_series(first_place, first_place + length - 1)) AS place
    FROM measured
),
texts AS (
    SELECT
        m.trace_id, m.track_id,
        m.number AS sequence,
        array_to_string(array_agg(short_name(p.name) ORDER BY m.place), ' -> ') AS names
    FROM members m
    JOIN placed p ON p.trace_id = m.trace_id AND p.track_id = m.track_id AND p.place = m.place
    GROUP BY m.trace_id, m.track_id, m.number
)
SELECT
    m.trace_id, t.rank, m.device, m.stream, m.track_id,
    CAST(m.sequence AS BIGINT) AS sequence,
    m.length, m.occurrences, m.steps, m.kernel_ns,
    100.0 * m.kernel_ns / nullif(m.stream_ns, 0) AS kernel_pct,
    m.gap_ns, m.first_event_id, x.names
FROM measured m
JOIN traces t ON t.trace_id = m.trace_id
JOIN texts x ON x.trace_id = m.trace_id AND x.track_id = m.track_id AND x.sequence = m.sequence
