-- A unit of time for each trace: a power of two of microseconds that is so small that floats of the
-- size of the trace's times are multiples of it.
-- @scope trace
SELECT
    trace_id,
    power(
        2.0, floor(60.0 - log2(greatest(abs(start_ns), abs(end_ns), 1000) / 1000.0))
    ) AS ticks_per_us
FROM traces
WHERE start_ns IS NOT NULL
