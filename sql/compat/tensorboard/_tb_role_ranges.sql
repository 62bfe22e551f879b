-- Time ranges with their role in the breakdown of torch-tb-profiler 0.4.3. The numbers of roles are
-- those of _role_ranges.
-- @scope trace
SELECT
    trace_id,
    CASE kind
        WHEN 'memcpy' THEN 1
        WHEN 'memset' THEN 2
        ELSE CASE WHEN communicates THEN 3 ELSE 0 END
    END AS role,
    start_us, end_us
FROM _tb_work
UNION ALL
SELECT
    trace_id,
    CASE
        WHEN is_launch = 1 THEN 4
        WHEN kind = 'dataloader' THEN 5
        WHEN is_collective THEN 3
        ELSE 6
    END,
    start_us, end_us
FROM _tb_calls
WHERE kind NOT IN ('step', 'module')
