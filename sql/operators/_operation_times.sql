-- The own time of each operator of a trace on the device and on the host, and that of all
-- operators there.
--
-- In XPlane files these are the operators of compiled programs, named as in framework_operators,
-- because calls on the host are there mostly those of the runtime and of the compiler. all_ns holds
-- device work that no operator launched, which has a row with no calls.
-- @scope trace
WITH times AS (
    SELECT
        trace_id, rank, name, calls, false AS is_compiled,
        unnest(make_array('device', 'host')) AS place,
        unnest(make_array(device_self_ns, host_self_ns)) AS self_ns
    FROM operators
    WHERE trace_id NOT IN (SELECT trace_id FROM traces WHERE format = 'xplane')
    UNION ALL
    SELECT
        f.trace_id, t.rank, f.name, sum(f.calls), true,
        CASE WHEN f.device IS NULL THEN 'host' ELSE 'device' END,
        sum(f.self_ns)
    FROM framework_operators f
    JOIN traces t ON t.trace_id = f.trace_id
    GROUP BY
        f.trace_id, t.rank, f.name, CASE WHEN f.device IS NULL THEN 'host' ELSE 'device' END
)
SELECT *, sum(self_ns) OVER (PARTITION BY trace_id, place) AS all_ns
FROM times
