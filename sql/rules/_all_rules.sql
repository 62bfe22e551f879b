-- The rows of all rules.
SELECT * FROM rule_communication
UNION ALL
SELECT * FROM rule_cpu_gpu_sync
UNION ALL
SELECT * FROM rule_cut_steps
UNION ALL
SELECT * FROM rule_data_loading
UNION ALL
SELECT * FROM rule_gpu_busy
UNION ALL
SELECT * FROM rule_gpu_idle
UNION ALL
SELECT * FROM rule_hot_operation
UNION ALL
SELECT * FROM rule_launch_bound
UNION ALL
SELECT * FROM rule_memcpy
UNION ALL
SELECT * FROM rule_memory_bound
UNION ALL
SELECT * FROM rule_memory_fragmentation
UNION ALL
SELECT * FROM rule_memory_leak
UNION ALL
SELECT * FROM rule_memory_limit
UNION ALL
SELECT * FROM rule_pageable_copies
UNION ALL
SELECT * FROM rule_rank_skew
UNION ALL
SELECT * FROM rule_recording
UNION ALL
SELECT * FROM rule_runtime_overhead
UNION ALL
SELECT * FROM rule_stragglers
UNION ALL
SELECT * FROM rule_tensor_cores
UNION ALL
SELECT * FROM rule_tiny_copies
UNION ALL
SELECT * FROM rule_trace_damage
UNION ALL
SELECT * FROM rule_unlinked_work
