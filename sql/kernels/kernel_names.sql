-- Information in the names of kernels: class, library, collective, matrix unit and precision, each
-- with the rule that found it.
--
-- One row per distinct name of the store's device activities. The answers follow the rules in
-- name_rules, tried on plain_name(name); each *_rule column is the priority of the rule that
-- decided, so that ruleset and priority name a row of name_rules. A name that no rule knows has the
-- class unclassified. A name is not the only evidence: kernel_classes has the class of each
-- activity, and also uses the trace's category, the arguments of collectives, the mark and the
-- operator around the launch, the types of the operator's inputs and the device.
-- unclassified_kernels lists the names that nothing classifies.
--
-- Source: names in libraries' sources and in traces; `tracesql docs kernel_classification`
--   (docs/kernels.md) says how rules work and how to add some.
-- Example: SELECT class, count(*) AS names FROM kernel_names GROUP BY class
--   ORDER BY names DESC, class
--
-- @scope store by name
-- @column name VARCHAR text The name as recorded.
-- @column short_name VARCHAR text The name without template arguments and parameters.
-- @column name_bytes BIGINT bytes Length of the name; rules look at the first 4,096 bytes of its
--   plain form.
-- @column class VARCHAR text communication, gemm, conv, attention, moe_routing, normalization,
--   softmax, elementwise, reduction, copy_layout, embedding, optimizer, quantize, sort_scan,
--   sampling, rng, recurrent_ssm, fft, other_compute, memcpy, memset, sync or unclassified.
-- @column class_rule BIGINT number The rule of kernel_class that decided; NULL for unclassified.
-- @column library VARCHAR text The library or compiler that the kernel comes from; NULL if the name
--   does not say.
-- @column library_rule BIGINT number The rule of kernel_library that decided; NULL for none.
-- @column collective VARCHAR text What a communication kernel does: all_reduce, all_gather,
--   reduce_scatter, broadcast, reduce, all_to_all, send_recv, barrier; NULL for other kernels and
--   if the name does not say.
-- @column collective_rule BIGINT number The rule of collective that decided; NULL for none.
-- @column matrix_unit VARCHAR text Whether the kernel runs on tensor or matrix cores: yes, no, or
--   unclear if the name leaves it open.
-- @column matrix_unit_rule BIGINT number The rule of kernel_matrix_unit that decided; NULL for
--   none.
-- @column precision VARCHAR text Type of the operands: fp64, fp32, tf32, fp16, bf16, fp8, fp4 or
--   int8; NULL if the name does not say.
-- @column vendor VARCHAR text Whose devices alone run the kernel: nvidia, amd or other; NULL if the
--   name does not say.
WITH names AS (
    SELECT name, plain_name(name) AS plain
    FROM (SELECT DISTINCT name FROM kernels WHERE name IS NOT NULL)
),
classed AS (
    SELECT
        name, plain,
        coalesce(classify('kernel_class', plain), 'unclassified') AS class,
        classify_rule('kernel_class', plain) AS class_rule
    FROM names
),
subjects AS (
    SELECT
        *,
        concat(class, ' ', plain) AS subject,
        CASE WHEN class = 'communication' THEN plain END AS communication
    FROM classed
)
SELECT
    name,
    short_name(name) AS short_name,
    CAST(octet_length(name) AS BIGINT) AS name_bytes,
    class, class_rule,
    classify('kernel_library', plain) AS library,
    classify_rule('kernel_library', plain) AS library_rule,
    classify('collective', communication) AS collective,
    classify_rule('collective', communication) AS collective_rule,
    coalesce(
        classify('kernel_matrix_unit', subject),
        CASE
            WHEN class IN ('gemm', 'conv', 'attention', 'recurrent_ssm', 'unclassified')
                THEN 'unclear'
            ELSE 'no'
        END
    ) AS matrix_unit,
    classify_rule('kernel_matrix_unit', subject) AS matrix_unit_rule,
    classify('kernel_precision', plain) AS precision,
    classify('kernel_vendor', plain) AS vendor
FROM subjects
