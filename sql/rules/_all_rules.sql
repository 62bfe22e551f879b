-- The rows of all rules.
SELECT * FROM rule_communication
UNION ALL
SELECT * FROM rule_data_loading
UNION ALL
SELECT * FROM rule_gpu_busy
UNION ALL
SELECT * FROM rule_gpu_idle
UNION ALL
SELECT * FROM rule_launch_bound
UNION ALL
SELECT * FROM rule_memcpy
UNION ALL
SELECT * FROM rule_pageable_copies
UNION ALL
SELECT * FROM rule_runtime_overhead
UNION ALL
SELECT * FROM rule_tensor_cores
