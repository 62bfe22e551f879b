-- Names of kernels that use tensor cores according to the plugin's list, which ends with Ampere.
-- @scope store by name
SELECT name, true AS uses_tensor_cores
FROM (SELECT DISTINCT name FROM kernels WHERE kind = 'kernel')
WHERE classify('tensor_core', name) IS NOT NULL
