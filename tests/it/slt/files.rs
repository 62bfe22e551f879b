// Written by the test slt::every_file_has_a_test with TRACESQL_BLESS=1; one test for each file
// of tests/slt.

mod beside {
    #[test]
    fn beside() {
        super::check("beside/beside.slt");
    }
}

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
}

mod compat {
    #[test]
    fn hta() {
        super::check("compat/hta.slt");
    }


    #[test]
    fn hta_critical_path() {
        super::check("compat/hta_critical_path.slt");
    }


    #[test]
    fn tb_diff() {
        super::check("compat/tb_diff.slt");
    }


    #[test]
    fn tracelens_gpu_timeline() {
        super::check("compat/tracelens_gpu_timeline.slt");
    }
}

mod core {
    #[test]
    fn advice() {
        super::check("core/advice.slt");
    }


    #[test]
    fn data() {
        super::check("core/data.slt");
    }


    #[test]
    fn launches() {
        super::check("core/launches.slt");
    }


    #[test]
    fn overview() {
        super::check("core/overview.slt");
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

mod jobs {
    #[test]
    fn blame() {
        super::check("jobs/blame.slt");
    }


    #[test]
    fn collectives() {
        super::check("jobs/collectives.slt");
    }


    #[test]
    fn paths() {
        super::check("jobs/paths.slt");
    }
}

mod kernels {
    #[test]
    fn classes() {
        super::check("kernels/classes.slt");
    }


    #[test]
    fn kernels() {
        super::check("kernels/kernels.slt");
    }
}

mod memory {
    #[test]
    fn memory() {
        super::check("memory/memory.slt");
    }
}

mod mllm {
    #[test]
    fn mllm() {
        super::check("mllm/mllm.slt");
    }
}

mod modules {
    #[test]
    fn modules() {
        super::check("modules/modules.slt");
    }
}

mod operators {
    #[test]
    fn operators() {
        super::check("operators/operators.slt");
    }
}

mod path {
    #[test]
    fn critical_path() {
        super::check("path/critical_path.slt");
    }
}

mod protobufs {
    #[test]
    fn protobufs() {
        super::check("protobufs/protobufs.slt");
    }
}

mod queues {
    #[test]
    fn queues() {
        super::check("queues/queues.slt");
    }
}

mod ranks {
    #[test]
    fn ranks() {
        super::check("ranks/ranks.slt");
    }
}

mod roofline {
    #[test]
    fn bandwidth() {
        super::check("roofline/bandwidth.slt");
    }


    #[test]
    fn kernels() {
        super::check("roofline/kernels.slt");
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
    fn roofline() {
        super::check("rules/roofline.slt");
    }


    #[test]
    fn rule_data_parallel() {
        super::check("rules/rule_data_parallel.slt");
    }


    #[test]
    fn rule_slow_steps() {
        super::check("rules/rule_slow_steps.slt");
    }
}

mod snapshots {
    #[test]
    fn snapshots() {
        super::check("snapshots/snapshots.slt");
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

mod steps {
    #[test]
    fn steps() {
        super::check("steps/steps.slt");
    }


    #[test]
    fn training_loop() {
        super::check("steps/training_loop.slt");
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
    fn timeline_lanes() {
        super::check("timeline/timeline_lanes.slt");
    }
}

mod udfs {
    #[test]
    fn clocks() {
        super::check("udfs/clocks.slt");
    }


    #[test]
    fn graphs() {
        super::check("udfs/graphs.slt");
    }


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
    fn roofline() {
        super::check("udfs/roofline.slt");
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


    #[test]
    fn units() {
        super::check("udfs/units.slt");
    }
}
