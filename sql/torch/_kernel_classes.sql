-- Names of the kernels in the store, whether they use tensor cores, and whether they communicate, by the rules of name_rules.
SELECT
    name, classify('tensor_core', name) IS NOT NULL AS uses_tensor_cores, classify('matrix_unit', name) IS NOT NULL AS uses_matrix_unit,
    kernel_type(name) = 'communication' AS is_communication
FROM (SELECT DISTINCT name FROM kernels WHERE kind = 'kernel')
