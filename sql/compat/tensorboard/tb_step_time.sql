-- Step time breakdown as torch-tb-profiler 0.4.3 shows it, in microseconds.
--
-- For comparison with old screenshots; step_time is the view for today's traces. Where the roles so
-- far fill all steps without a gap, the plugin starts again with the next role and whole steps, so
-- that the parts add up to more than the total. On traces since PyTorch 1.12 it finds no runtime
-- calls, no data loading, and each step a second time on the device. A trace without steps has one
-- row with step 0.
--
-- Source: torch-tb-profiler 0.4.3, to the last digit, except for the order of float sums and for
--   the odd traces named in docs/tensorboard.md.
-- Example: SELECT step, total_us, kernel_us, other_us FROM tb_step_time ORDER BY step
-- Holds: abs(total_us - (end_us - start_us)) < 0.001
--
-- @scope trace
-- @column trace_id VARCHAR text The trace.
-- @column rank BIGINT id Rank of the trace; NULL if not recorded.
-- @column ordinal BIGINT id Number of the row from 0; step numbers can occur twice.
-- @column step BIGINT id Number of the step.
-- @column start_us DOUBLE us Start of the step.
-- @column end_us DOUBLE us End of the step.
-- @column kernel_us DOUBLE us Kernel.
-- @column memcpy_us DOUBLE us Memcpy.
-- @column memset_us DOUBLE us Memset.
-- @column communication_us DOUBLE us Communication.
-- @column runtime_us DOUBLE us Runtime.
-- @column dataloader_us DOUBLE us DataLoader.
-- @column cpu_exec_us DOUBLE us CPU Exec.
-- @column other_us DOUBLE us Other.
-- @column total_us DOUBLE us end_us - start_us.
WITH role_0 AS (SELECT *, 0 AS base FROM _tb_role_overlaps),
role_1 AS (
    SELECT
        *, mask & (1 - (1 << base)) = 0 AND mask & 1 > 0 AS in_0,
        CASE
            WHEN sum(
                CASE WHEN mask & (2 - (1 << base)) = 0 THEN len_us ELSE 0.0 END
            ) OVER (PARTITION BY trace_id)
                = 0
                THEN 1
            ELSE base
        END
            AS base_1
    FROM role_0
),
role_2 AS (
    SELECT
        *, mask & (2 - (1 << base)) = 0 AND mask & 2 > 0 AS in_1,
        CASE
            WHEN sum(
                CASE WHEN mask & (4 - (1 << base)) = 0 THEN len_us ELSE 0.0 END
            ) OVER (PARTITION BY trace_id)
                = 0
                THEN 2
            ELSE base
        END
            AS base_2
    FROM (SELECT * EXCLUDE (base), base_1 AS base FROM role_1)
),
role_3 AS (
    SELECT
        *, mask & (4 - (1 << base)) = 0 AND mask & 4 > 0 AS in_2,
        CASE
            WHEN sum(
                CASE WHEN mask & (8 - (1 << base)) = 0 THEN len_us ELSE 0.0 END
            ) OVER (PARTITION BY trace_id)
                = 0
                THEN 3
            ELSE base
        END
            AS base_3
    FROM (SELECT * EXCLUDE (base), base_2 AS base FROM role_2)
),
role_4 AS (
    SELECT
        *, mask & (8 - (1 << base)) = 0 AND mask & 8 > 0 AS in_3,
        CASE
            WHEN sum(
                CASE WHEN mask & (16 - (1 << base)) = 0 THEN len_us ELSE 0.0 END
            ) OVER (PARTITION BY trace_id)
                = 0
                THEN 4
            ELSE base
        END
            AS base_4
    FROM (SELECT * EXCLUDE (base), base_3 AS base FROM role_3)
),
role_5 AS (
    SELECT
        *, mask & (16 - (1 << base)) = 0 AND mask & 16 > 0 AS in_4,
        CASE
            WHEN sum(
                CASE WHEN mask & (32 - (1 << base)) = 0 THEN len_us ELSE 0.0 END
            ) OVER (PARTITION BY trace_id)
                = 0
                THEN 5
            ELSE base
        END
            AS base_5
    FROM (SELECT * EXCLUDE (base), base_4 AS base FROM role_4)
),
role_6 AS (
    SELECT
        *, mask & (32 - (1 << base)) = 0 AND mask & 32 > 0 AS in_5,
        CASE
            WHEN sum(
                CASE WHEN mask & (64 - (1 << base)) = 0 THEN len_us ELSE 0.0 END
            ) OVER (PARTITION BY trace_id)
                = 0
                THEN 6
            ELSE base
        END
            AS base_6
    FROM (SELECT * EXCLUDE (base), base_5 AS base FROM role_5)
),
role_7 AS (
    SELECT
        *, mask & (64 - (1 << base)) = 0 AND mask & 64 > 0 AS in_6,
        CASE
            WHEN sum(
                CASE WHEN mask & (128 - (1 << base)) = 0 THEN len_us ELSE 0.0 END
            ) OVER (PARTITION BY trace_id)
                = 0
                THEN 7
            ELSE base
        END
            AS base_7
    FROM (SELECT * EXCLUDE (base), base_6 AS base FROM role_6)
)
SELECT
    s.trace_id, t.rank, s.ordinal, s.step, s.start_us, s.end_us,
    coalesce(sum(o.len_us) FILTER (WHERE o.in_0), 0.0) AS kernel_us,
    coalesce(sum(o.len_us) FILTER (WHERE o.in_1), 0.0) AS memcpy_us,
    coalesce(sum(o.len_us) FILTER (WHERE o.in_2), 0.0) AS memset_us,
    coalesce(sum(o.len_us) FILTER (WHERE o.in_3), 0.0) AS communication_us,
    coalesce(sum(o.len_us) FILTER (WHERE o.in_4), 0.0) AS runtime_us,
    coalesce(sum(o.len_us) FILTER (WHERE o.in_5), 0.0) AS dataloader_us,
    coalesce(sum(o.len_us) FILTER (WHERE o.in_6), 0.0) AS cpu_exec_us,
    coalesce(
        sum(o.len_us) FILTER (WHERE o.last_base < 7 AND o.mask & (128 - (1 << o.last_base)) = 0),
        0.0
    ) AS other_us,
    s.end_us - s.start_us AS total_us
FROM _tb_steps s
JOIN traces t ON t.trace_id = s.trace_id
LEFT JOIN (SELECT *, base_7 AS last_base FROM role_7) o
    ON o.trace_id = s.trace_id AND o.ordinal = s.ordinal
GROUP BY s.trace_id, t.rank, s.ordinal, s.step, s.start_us, s.end_us
