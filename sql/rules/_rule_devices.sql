-- Devices with work, and the reason why shares of a device are not meaningful: too_little_reason of
-- its trace, or too little work on the device itself.
-- @scope trace
WITH work AS (
    SELECT trace_id, device, count(*) AS device_work
    FROM kernels
    WHERE kind IN ('kernel', 'memcpy', 'memset') AND dur_ns >= 0
    GROUP BY trace_id, device
)
SELECT
    w.trace_id, w.device,
    CASE
        WHEN t.too_little_reason IS NOT NULL THEN t.too_little_reason
        WHEN w.device_work < setting_int('rule_min_device_work')
            THEN concat(
                'Device ', coalesce(CAST(w.device AS VARCHAR), 'without number'), ' has ',
                w.device_work,
                CASE w.device_work
                    WHEN 1 THEN ' kernel, copy or fill'
                    ELSE ' kernels, copies and fills'
                END, ', fewer than ', setting_int('rule_min_device_work'),
                ' (setting rule_min_device_work): too few to judge shares by.')
    END AS too_little_reason
FROM work w
JOIN _rule_traces t ON t.trace_id = w.trace_id
