-- Tiny copies: single numbers that the host reads from the device in each step, as .item() does.
--
-- The numerator counts copies from the device to the host of at most tiny_copy_bytes within steps;
-- each of them waits for all work before it. The subject is where most of them come from: the
-- innermost frame that a user can change (python_frame of device_syncs), else the outermost
-- operator.
-- Source: tiny_copies_per_step of cpu_gpu_sync.
-- @scope trace
-- @finding above 4 count as per_step, high above 32: tiny copies to the host a step
-- @subject {place}
-- @numerator tiny copies to the host in steps
-- @denominator steps
-- @unmeasured Tiny copies a step could not be measured.
-- @message The host reads single numbers from the device {value} times a step ({numerator} in
--     {denominator:step|steps}); {origin}
-- @advice Keep such numbers on the device (torch.where, masks, tensors as scalars) and read them
--     back together every so many steps.
-- @evidence SELECT r.python_frame, r.outer_op_name, r.op_name, r.calls, r.steps, r.total_ns,
--     w.numerator, w.denominator FROM (SELECT CAST(coalesce(round(c.tiny_copies_per_step *
--     s.steps), 0) AS BIGINT) AS numerator, greatest(s.steps, 1) AS denominator FROM cpu_gpu_sync c
--     CROSS JOIN (SELECT count(DISTINCT step) AS steps FROM steps WHERE trace_id = {trace_id}) s
--     WHERE c.trace_id = {trace_id}) w LEFT JOIN (SELECT * FROM device_syncs WHERE tiny_copies > 0
--     AND trace_id = {trace_id}) r ON true ORDER BY r.calls DESC
WITH places AS (
    SELECT
        trace_id, coalesce(python_frame, outer_op_name, op_name, name) AS place,
        count(*) AS copies, count(step) AS in_steps
    FROM _device_syncs
    WHERE is_tiny
    GROUP BY trace_id, coalesce(python_frame, outer_op_name, op_name, name)
),
copies AS (
    SELECT
        trace_id, sum(copies) AS copies, sum(in_steps) AS in_steps,
        first_value(place ORDER BY copies DESC, place) AS place, max(copies) AS place_copies
    FROM places
    GROUP BY trace_id
),
stepped AS (SELECT trace_id, count(DISTINCT step) AS steps FROM steps GROUP BY trace_id)
SELECT
    t.trace_id, t.rank, coalesce(c.in_steps, 0) AS numerator, coalesce(s.steps, 1) AS denominator,
    c.place,
    concat(
        CASE
            WHEN c.copies = 1 THEN 'the only such copy comes'
            WHEN c.place_copies = c.copies THEN concat('all ', c.copies, ' such copies come')
            WHEN c.place_copies = 1 THEN concat('1 of all ', c.copies, ' comes')
            ELSE concat(c.place_copies, ' of all ', c.copies, ' come')
        END, ' from ', left(c.place, 120), '.') AS origin,
    CASE
        WHEN c.trace_id IS NULL THEN 'The host reads no single numbers from the device.'
    END AS message,
    CASE
        WHEN t.format <> 'kineto' THEN 'Keep such numbers on the device and read them back '
            || 'together every so many steps.'
    END AS advice,
    CASE
        WHEN t.no_device_reason IS NOT NULL THEN t.no_device_reason
        WHEN s.steps IS NULL AND c.copies > 0 THEN concat(
            'The trace has ', c.copies,
            CASE c.copies
                WHEN 1 THEN ' tiny copy to the host (at '
                ELSE ' tiny copies to the host (most at '
            END, c.place,
            ') and no steps to count them by',
            CASE
                WHEN t.format = 'kineto' THEN '; call prof.step() at the end of each step.'
                ELSE a.hint
            END)
    END AS reason
FROM _rule_traces t
LEFT JOIN copies c ON c.trace_id = t.trace_id
LEFT JOIN stepped s ON s.trace_id = t.trace_id
LEFT JOIN _record_advice a ON a.trace_id = t.trace_id AND a.information = 'steps'
