// Written by the test slt::every_file_has_a_test with TRACESQL_BLESS=1; one test for each file
// of tests/slt.

mod compare {
    #[test]
    fn compare() {
        super::check("compare/compare.slt");
    }


    #[test]
    fn comparison() {
        super::check("compare/comparison.slt");
    }


    #[test]
    fn metrics() {
        super::check("compare/metrics.slt");
    }


    #[test]
    fn tb_diff() {
        super::check("compare/tb_diff.slt");
    }
}

mod core {
    #[test]
    fn data() {
        super::check("core/data.slt");
    }


    #[test]
    fn launches() {
        super::check("core/launches.slt");
    }


    #[test]
    fn totals() {
        super::check("core/totals.slt");
    }


    #[test]
    fn trees() {
        super::check("core/trees.slt");
    }
}

mod distributed {
    #[test]
    fn distributed() {
        super::check("distributed/distributed.slt");
    }
}

mod kernels {
    #[test]
    fn classes() {
        super::check("kernels/classes.slt");
    }
}

mod mllm {
    #[test]
    fn mllm() {
        super::check("mllm/mllm.slt");
    }
}

mod rules {
    #[test]
    fn findings() {
        super::check("rules/findings.slt");
    }


    #[test]
    fn gpu_idle_gaps() {
        super::check("rules/gpu_idle_gaps.slt");
    }


    #[test]
    fn rule_communication() {
        super::check("rules/rule_communication.slt");
    }


    #[test]
    fn rule_cpu_gpu_sync() {
        super::check("rules/rule_cpu_gpu_sync.slt");
    }


    #[test]
    fn rule_cut_steps() {
        super::check("rules/rule_cut_steps.slt");
    }


    #[test]
    fn rule_data_loading() {
        super::check("rules/rule_data_loading.slt");
    }


    #[test]
    fn rule_data_parallel() {
        super::check("rules/rule_data_parallel.slt");
    }


    #[test]
    fn rule_ddp_backend() {
        super::check("rules/rule_ddp_backend.slt");
    }


    #[test]
    fn rule_gpu_busy() {
        super::check("rules/rule_gpu_busy.slt");
    }


    #[test]
    fn rule_gpu_idle() {
        super::check("rules/rule_gpu_idle.slt");
    }


    #[test]
    fn rule_hot_operation() {
        super::check("rules/rule_hot_operation.slt");
    }


    #[test]
    fn rule_launch_bound() {
        super::check("rules/rule_launch_bound.slt");
    }


    #[test]
    fn rule_memcpy() {
        super::check("rules/rule_memcpy.slt");
    }


    #[test]
    fn rule_memory_bound() {
        super::check("rules/rule_memory_bound.slt");
    }


    #[test]
    fn rule_memory_fragmentation() {
        super::check("rules/rule_memory_fragmentation.slt");
    }


    #[test]
    fn rule_memory_leak() {
        super::check("rules/rule_memory_leak.slt");
    }


    #[test]
    fn rule_memory_limit() {
        super::check("rules/rule_memory_limit.slt");
    }


    #[test]
    fn rule_pageable_copies() {
        super::check("rules/rule_pageable_copies.slt");
    }


    #[test]
    fn rule_rank_skew() {
        super::check("rules/rule_rank_skew.slt");
    }


    #[test]
    fn rule_recording() {
        super::check("rules/rule_recording.slt");
    }


    #[test]
    fn rule_runtime_overhead() {
        super::check("rules/rule_runtime_overhead.slt");
    }


    #[test]
    fn rule_slow_steps() {
        super::check("rules/rule_slow_steps.slt");
    }


    #[test]
    fn rule_stragglers() {
        super::check("rules/rule_stragglers.slt");
    }


    #[test]
    fn rule_tensor_cores() {
        super::check("rules/rule_tensor_cores.slt");
    }


    #[test]
    fn rule_tiny_copies() {
        super::check("rules/rule_tiny_copies.slt");
    }


    #[test]
    fn rule_trace_damage() {
        super::check("rules/rule_trace_damage.slt");
    }


    #[test]
    fn rule_unlinked_work() {
        super::check("rules/rule_unlinked_work.slt");
    }
}

mod stacks {
    #[test]
    fn more() {
        super::check("stacks/more.slt");
    }


    #[test]
    fn views() {
        super::check("stacks/views.slt");
    }
}

mod tensorboard {
    #[test]
    fn advice() {
        super::check("tensorboard/advice.slt");
    }


    #[test]
    fn overview() {
        super::check("tensorboard/overview.slt");
    }


    #[test]
    fn steps() {
        super::check("tensorboard/steps.slt");
    }
}

mod timeline {
    #[test]
    fn gpu_time_by_class() {
        super::check("timeline/gpu_time_by_class.slt");
    }


    #[test]
    fn gpu_timeline() {
        super::check("timeline/gpu_timeline.slt");
    }


    #[test]
    fn tracelens_gpu_timeline() {
        super::check("timeline/tracelens_gpu_timeline.slt");
    }
}

mod torch {
    #[test]
    fn kernels() {
        super::check("torch/kernels.slt");
    }


    #[test]
    fn memory() {
        super::check("torch/memory.slt");
    }


    #[test]
    fn modules() {
        super::check("torch/modules.slt");
    }


    #[test]
    fn operators() {
        super::check("torch/operators.slt");
    }


    #[test]
    fn training_loop() {
        super::check("torch/training_loop.slt");
    }
}

mod udfs {
    #[test]
    fn intervals_aggregates() {
        super::check("udfs/intervals_aggregates.slt");
    }


    #[test]
    fn intervals_relations() {
        super::check("udfs/intervals_relations.slt");
    }


    #[test]
    fn json() {
        super::check("udfs/json.slt");
    }


    #[test]
    fn lane() {
        super::check("udfs/lane.slt");
    }


    #[test]
    fn names() {
        super::check("udfs/names.slt");
    }


    #[test]
    fn nest() {
        super::check("udfs/nest.slt");
    }


    #[test]
    fn pprof() {
        super::check("udfs/pprof.slt");
    }


    #[test]
    fn stack() {
        super::check("udfs/stack.slt");
    }


    #[test]
    fn stats() {
        super::check("udfs/stats.slt");
    }


    #[test]
    fn tree() {
        super::check("udfs/tree.slt");
    }
}
