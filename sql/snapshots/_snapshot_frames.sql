-- Frames of memory snapshots as they are shown: without frames of the interpreter, of the unwinder
-- and of PyTorch's dispatcher, as in PyTorch's own viewer.
--
-- A stack that has only such frames keeps all of them.
-- @scope trace
WITH marked AS (
    SELECT
        trace_id, stack_id, depth, name, file, line,
        -- Frames that name no function of the program.
        coalesce(
            name LIKE '%unwind::unwind%' OR name LIKE '%CapturedTraceback::gather%'
                OR name LIKE '%gather_with_cpp%' OR name LIKE '%\_start'
                OR name LIKE '%\_\_libc\_start\_main%' OR name LIKE '%PyEval\_%'
                OR name LIKE '%PyObject\_%' OR name LIKE '%PyFunction\_%',
            false
        )
        OR coalesce(
            file LIKE '%core/boxing%' OR file LIKE '%/Register%' OR file LIKE '%/Redispatch%'
                OR file LIKE '%pythonrun.c' OR file LIKE '%Modules/main.c'
                OR file LIKE '%Objects/call.c' OR file LIKE '%Objects/methodobject.c'
                OR file LIKE '%pycore\_ceval.h' OR file LIKE '%ceval.c'
                OR file LIKE '%cpython/abstract.h',
            false
        ) AS is_hidden
    FROM memory_stacks
),
counted AS (
    SELECT *, bool_and(is_hidden) OVER (PARTITION BY trace_id, stack_id) AS all_hidden
    FROM marked
)
SELECT
    trace_id, stack_id, depth, name, file, line,
    CASE
        WHEN file IS NULL OR file IN ('', '??') THEN coalesce(name, '?')
        ELSE concat(file, '(', coalesce(line, 0), '): ', coalesce(name, '?'))
    END AS frame
FROM counted
WHERE all_hidden OR NOT is_hidden
