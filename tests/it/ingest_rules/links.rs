//! Links between device rows and the calls and operators that launched them.

use crate::support::{TestStore, elements};

/// An operator (0) around a launch (1) with correlation 5, on thread 1 of process 1.
const OP_AND_LAUNCH: &str = r#"{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":50,"args":{"External id":77}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,"args":{"correlation":5,"External id":77}}"#;

/// A kernel on stream 7 with these args.
fn kernel(ts: i64, args: &str) -> String {
    format!(
        r#"{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{ts},"dur":3,"args":{{{args}}}}}"#
    )
}

fn links(store: &TestStore) -> Vec<String> {
    store.lines("SELECT event_id, launch_id, op_id, link, link_reason FROM kernels ORDER BY 1")
}

#[test]
fn the_correlation_finds_the_launch_and_time_the_operator() {
    let store = elements(format!("{OP_AND_LAUNCH}, {}", kernel(100, r#""correlation":5"#)));
    assert_eq!(links(&store), ["2 1 0 correlation NULL"]);
    assert!(store.issues().is_empty());
}

#[test]
fn the_operator_is_the_innermost_one_around_the_launch() {
    let store = elements(format!(
        r#"{{"ph":"X","cat":"user_annotation","name":"fwd","pid":1,"tid":1,"ts":0,"dur":90}}, {{"ph":"X","cat":"cpu_op","name":"outer","pid":1,"tid":1,"ts":1,"dur":80}},
           {{"ph":"X","cat":"cpu_op","name":"inner","pid":1,"tid":1,"ts":2,"dur":70}}, {{"ph":"X","cat":"python_function","name":"f","pid":1,"tid":1,"ts":3,"dur":60}},
           {{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,"args":{{"correlation":5}}}}, {}"#,
        kernel(100, r#""correlation":5"#)
    ));
    assert_eq!(links(&store), ["5 4 2 correlation NULL"]);
}

#[test]
fn an_operator_contains_its_launches_whatever_overlaps_the_two() {
    // The frame ends one nanosecond after the operator, as happens with rounding.
    let store = elements(format!(
        r#"{{"ph":"X","cat":"cpu_op","name":"outer","pid":1,"tid":1,"ts":0,"dur":90}}, {{"ph":"X","cat":"cpu_op","name":"inner","pid":1,"tid":1,"ts":2,"dur":70}},
           {{"ph":"X","cat":"python_function","name":"f","pid":1,"tid":1,"ts":3,"dur":69.001}},
           {{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,"args":{{"correlation":5}}}}, {}"#,
        kernel(100, r#""correlation":5"#)
    ));
    assert_eq!(links(&store), ["4 3 1 correlation NULL"]);
    assert_eq!(
        store.lines("SELECT parent_id FROM events WHERE event_id IN (2, 3) ORDER BY event_id"),
        ["0", "2"]
    );
}

#[test]
fn a_launch_outside_of_operators_has_no_operator() {
    let store = elements(format!(
        r#"{{"ph":"X","cat":"cpu_op","name":"other thread","pid":1,"tid":2,"ts":0,"dur":90}},
           {{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,"args":{{"correlation":5}}}}, {}"#,
        kernel(100, r#""correlation":5"#)
    ));
    assert_eq!(links(&store), ["2 1 NULL correlation NULL"]);
}

#[test]
fn all_kinds_of_launches_and_device_rows() {
    for (launch, device, kind) in [
        ("cuda_runtime", "kernel", "kernel"),
        ("cuda_driver", "gpu_memcpy", "memcpy"),
        ("hip_runtime", "gpu_memset", "memset"),
        ("cuda_runtime", "cuda_sync", "sync"),
        ("Runtime", "Kernel", "kernel"),
        ("Runtime", "Memcpy", "memcpy"),
        ("Runtime", "Memset", "memset"),
        ("mtia_runtime", "mtia_ccp_events", "kernel"),
        ("xpu_runtime", "kernel", "kernel"),
        ("privateuse1_driver", "kernel", "kernel"),
    ] {
        let store = elements(format!(
            r#"{{"ph":"X","cat":"{launch}","name":"launch","pid":1,"tid":1,"ts":10,"dur":5,"args":{{"correlation":5}}}},
               {{"ph":"X","cat":"{device}","name":"work","pid":0,"tid":7,"ts":20,"dur":5,"args":{{"correlation":5}}}}"#
        ));
        assert_eq!(
            store.lines("SELECT kind, name, launch_id, link FROM kernels"),
            [format!("{kind} work 0 correlation")],
            "{launch} {device}"
        );
    }
}

#[test]
fn a_graph_launch_has_many_device_rows() {
    let work: Vec<String> = (0..4)
        .map(|i| kernel(100 + i * 10, r#""correlation":5,"graph id":3,"graph node id":9"#))
        .collect();
    let store = elements(format!(
        r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":10,"dur":5,"args":{{"correlation":5}}}}, {}"#,
        work.join(",")
    ));
    assert_eq!(
        store.lines(
            "SELECT link, launch_id, graph_id, graph_node_id, count(*) FROM kernels GROUP BY ALL"
        ),
        ["graph 0 3 9 4"]
    );
}

#[test]
fn the_latest_launch_before_the_work_wins_if_several_share_its_correlation() {
    let launch = |ts: i64| {
        format!(
            r#"{{"ph":"X","cat":"cuda_runtime","name":"launch","pid":1,"tid":1,"ts":{ts},"dur":5,"args":{{"correlation":5}}}}"#
        )
    };
    let work: Vec<String> = [15, 45, 5].map(|ts| kernel(ts, r#""correlation":5"#)).into();
    let store = elements(format!("{}, {}, {}", launch(10), launch(40), work.join(",")));
    assert_eq!(
        links(&store),
        ["2 0 NULL correlation NULL", "3 1 NULL correlation NULL", "4 0 NULL correlation NULL"]
    );
    assert_eq!(store.issues(), ["duplicate_correlation 1"]);
}

#[test]
fn an_external_id_that_repeats_the_correlation_is_not_trusted() {
    let store = elements(format!(
        r#"{{"ph":"X","cat":"cpu_op","name":"innocent","pid":1,"tid":1,"ts":0,"dur":5,"args":{{"External id":7}}}},
           {{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":10,"dur":50,"args":{{"External id":2}}}},
           {{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":20,"dur":5,"args":{{"correlation":7,"External id":7}}}}, {}, {}"#,
        kernel(100, r#""correlation":7,"External id":7"#),
        kernel(200, r#""correlation":8,"External id":8"#)
    ));
    assert_eq!(links(&store), ["3 2 1 correlation NULL", "4 NULL NULL none launch_missing"]);
}

#[test]
fn work_without_a_launch_has_a_reason() {
    let store = elements(format!(
        "{OP_AND_LAUNCH}, {}, {}, {}",
        kernel(100, r#""correlation":6"#),
        kernel(200, r#""device":0"#),
        kernel(300, r#""correlation":0"#)
    ));
    assert_eq!(
        links(&store),
        [
            "2 NULL NULL none launch_missing",
            "3 NULL NULL none no_correlation",
            "4 NULL NULL none no_correlation"
        ]
    );
    assert_eq!(
        store.lines("SELECT code, severity, count FROM ingest_issues"),
        ["unlinked_device_activity info 3"]
    );
}

#[test]
fn a_flow_links_work_whose_correlation_does_not() {
    let store = elements(format!(
        r#"{OP_AND_LAUNCH}, {},
           {{"ph":"s","cat":"ac2g","name":"ac2g","id":9,"pid":1,"tid":1,"ts":11}}, {{"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":9,"pid":0,"tid":7,"ts":100}}"#,
        kernel(100, r#""correlation":6"#)
    ));
    assert_eq!(links(&store), ["2 1 0 flow NULL"]);
    assert!(store.issues().is_empty());
}

#[test]
fn a_true_external_id_finds_the_operator_without_a_launch() {
    let store = elements(format!(
        "{OP_AND_LAUNCH}, {}",
        kernel(100, r#""correlation":6,"External id":77"#)
    ));
    assert_eq!(links(&store), ["2 NULL 0 external_id launch_missing"]);
}

#[test]
fn external_ids_are_not_trusted_where_launches_only_repeat_their_correlation() {
    let store = elements(format!(
        r#"{{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":50,"args":{{"External id":77}}}},
           {{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,"args":{{"correlation":5,"External id":5}}}}, {}"#,
        kernel(100, r#""correlation":6,"External id":77"#)
    ));
    assert_eq!(links(&store), ["2 NULL NULL none launch_missing"]);
}

#[test]
fn the_latest_operator_before_the_work_wins_if_several_share_its_external_id() {
    let op = |ts: i64| {
        format!(
            r#"{{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":2,"ts":{ts},"dur":5,"args":{{"External id":88}}}}"#
        )
    };
    let store = elements(format!(
        "{OP_AND_LAUNCH}, {}, {}, {}, {}",
        op(10),
        op(30),
        op(200),
        kernel(100, r#""External id":88"#)
    ));
    assert_eq!(links(&store), ["5 NULL 3 external_id no_correlation"]);
}

/// An operator (0) around a call (1) without a correlation, and a kernel (2) with the same External
/// id as the call.
fn without_correlation(op_args: &str, rest: &str) -> TestStore {
    elements(format!(
        r#"{{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":50,"args":{{{op_args}}}}},
           {{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,"args":{{"External id":100}}}}, {}{rest}"#,
        kernel(100, r#""External id":100"#)
    ))
}

#[test]
fn an_external_id_that_one_call_shares_is_as_good_as_a_correlation() {
    // In such traces a flow may begin and end at the kernel, so it does not identify the call.
    let flow = r#", {"ph":"s","cat":"ac2g","name":"ac2g","id":100,"pid":0,"tid":7,"ts":100},
        {"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":100,"pid":0,"tid":7,"ts":100}"#;
    for rest in ["", flow] {
        let store = without_correlation("", rest);
        assert_eq!(links(&store), ["2 1 0 external_id NULL"]);
        assert!(store.issues().is_empty());
        assert_eq!(
            store.lines("SELECT linked_kernels, linked_pct FROM trace_summary"),
            ["1 100.0"]
        );
    }
}

#[test]
fn a_flow_from_a_call_without_a_correlation_links() {
    let store = without_correlation(
        "",
        r#", {"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":20,"dur":5,"args":{"External id":101}},
            {"ph":"s","cat":"ac2g","name":"ac2g","id":7,"pid":1,"tid":1,"ts":20}, {"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":7,"pid":0,"tid":7,"ts":100}"#,
    );
    assert_eq!(links(&store), ["2 3 0 flow NULL"], "the arrow counts before the id");
}

#[test]
fn an_external_id_of_several_calls_links_nothing() {
    let again = r#", {"ph":"X","cat":"hip_runtime","name":"hipMalloc","pid":1,"tid":1,"ts":20,"dur":5,"args":{"External id":100}}"#;
    assert_eq!(links(&without_correlation("", again)), ["2 NULL NULL none no_correlation"]);
    let with_correlation = r#", {"ph":"X","cat":"hip_runtime","name":"hipMalloc","pid":1,"tid":1,"ts":20,"dur":5,"args":{"External id":100,"correlation":9}}"#;
    assert_eq!(
        links(&without_correlation("", with_correlation)),
        ["2 NULL NULL none no_correlation"]
    );
}

#[test]
fn work_that_begins_before_a_call_was_not_launched_by_it() {
    let store = elements(format!(
        r#"{{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":110,"dur":5,"args":{{"External id":100}}}}, {}"#,
        kernel(100, r#""External id":100"#)
    ));
    assert_eq!(links(&store), ["1 NULL NULL none no_correlation"]);
}

#[test]
fn one_call_launches_many_kernels_unless_their_id_is_that_of_an_operator() {
    let second = format!(", {}", kernel(200, r#""External id":100"#));
    assert_eq!(
        links(&without_correlation(r#""External id":3"#, &second)),
        ["2 1 0 external_id NULL", "3 1 0 external_id NULL"]
    );
    // The operator's other call may be missing in the trace.
    assert_eq!(
        links(&without_correlation(r#""External id":100"#, &second)),
        ["2 NULL NULL none no_correlation", "3 NULL NULL none no_correlation"]
    );
    assert_eq!(links(&without_correlation(r#""External id":100"#, "")), ["2 1 0 external_id NULL"]);
}

#[test]
fn a_correlation_on_either_side_counts_before_external_ids() {
    let call = |args: &str, work: &str| {
        elements(format!(
            r#"{{"ph":"X","cat":"cuda_runtime","name":"launch","pid":1,"tid":1,"ts":10,"dur":5,"args":{{{args}}}}}, {}"#,
            kernel(100, work)
        ))
    };
    assert_eq!(
        links(&call(r#""External id":100"#, r#""External id":100,"correlation":8"#)),
        ["1 NULL NULL none launch_missing"]
    );
    assert_eq!(
        links(&call(r#""External id":100,"correlation":8"#, r#""External id":100"#)),
        ["1 NULL NULL none no_correlation"]
    );
    assert_eq!(
        links(&call(r#""External id":100,"correlation":0"#, r#""external id":100"#)),
        ["1 0 NULL external_id NULL"],
        "0 stands for none"
    );
    assert_eq!(
        links(&call(r#""External id":0"#, r#""External id":0"#)),
        ["1 NULL NULL none no_correlation"]
    );
}

#[test]
fn shapes_and_figures_of_a_kernel() {
    let store = elements(kernel(
        1,
        r#""device":1,"context":2,"stream":7,"correlation":5,"External id":9,"queued":0,"grid":[1024, 2, 3],"block":[32, 4, 1],"registers per thread":40,
           "shared memory":49152,"blocks per SM":1.5,"warps per SM":12.25,"est. achieved occupancy %":31"#,
    ));
    assert_eq!(
        store
            .lines("SELECT device, context, stream, correlation, external_id, queued FROM kernels"),
        ["1 2 7 5 9 0"]
    );
    assert_eq!(
        store.lines("SELECT grid_x, grid_y, grid_z, block_x, block_y, block_z FROM kernels"),
        ["1024 2 3 32 4 1"]
    );
    assert_eq!(
        store.lines("SELECT registers_per_thread, shared_memory_bytes, blocks_per_sm, warps_per_sm, occupancy_pct FROM kernels"),
        ["40 49152 1.5 12.25 31.0"]
    );
    assert_eq!(
        store.lines("SELECT k.ts_ns, k.dur_ns, k.end_ns, k.track_id = e.track_id FROM kernels k JOIN events e USING (event_id)"),
        ["1000 3000 4000 true"]
    );
}

#[test]
fn copies_carry_bytes_and_bandwidth_also_as_text() {
    let store = elements(
        r#"{"ph":"X","cat":"gpu_memcpy","name":"a","pid":0,"tid":7,"ts":1,"dur":1,"args":{"bytes":1024,"memory bandwidth (GB/s)":1.024}},
           {"ph":"X","cat":"gpu_memcpy","name":"b","pid":0,"tid":7,"ts":2,"dur":1,"args":{"bytes":"4096","kind":"CopyHostToDevice"}}"#,
    );
    assert_eq!(
        store.lines("SELECT name, bytes, bandwidth_gb_s, activity_kind FROM kernels ORDER BY 1"),
        ["a 1024 1.024 NULL", "b 4096 NULL CopyHostToDevice"]
    );
}

#[test]
fn waits_say_what_they_wait_for() {
    let store = elements(
        r#"{"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":7,"ts":1,"dur":1,"args":{"cuda_sync_kind":"Stream Wait Event","stream":7,
            "wait_on_stream":20,"wait_on_cuda_event_id":3,"wait_on_cuda_event_record_corr_id":145}}"#,
    );
    assert_eq!(
        store.lines("SELECT kind, sync_kind, wait_on_stream, wait_on_event_id, wait_on_event_record_correlation FROM kernels"),
        ["sync Stream Wait Event 20 3 145"]
    );
}

#[test]
fn collectives_carry_their_group_and_sizes() {
    let store = elements(kernel(
        1,
        r#""Collective name":"allreduce","dtype":"Float","In msg nelems":100,"Out msg nelems":200,"Group size":8,"Process Group Name":"0",
           "Process Group Description":"default_pg","Process Group Ranks":"[0, 1]","In split size":"[]","Out split size":[1, 2]"#,
    ));
    assert_eq!(
        store.lines("SELECT collective_name, collective_dtype, in_msg_nelems, out_msg_nelems, group_size, process_group_name, process_group_description FROM kernels"),
        ["allreduce Float 100 200 8 0 default_pg"]
    );
    assert_eq!(
        store.rows("SELECT process_group_ranks, in_split_size, out_split_size FROM kernels"),
        [["[0, 1]", "[]", "[1,2]"]]
    );
}

#[test]
fn collectives_carry_their_number_and_peers() {
    let store = elements(kernel(
        1,
        r#""Collective name":"recv","Rank":3,"Src Rank":7,"Dst Rank":"x","Seq":41,"Comms Id":17293822569102704640"#,
    ));
    assert_eq!(
        store.lines("SELECT collective_seq, comms_id, group_rank, src_rank, dst_rank FROM kernels"),
        ["41 17293822569102704640 3 7 NULL"]
    );
}

#[test]
fn odd_grids_are_read_as_far_as_they_go_and_counted() {
    let store = elements(format!(
        "{}, {}",
        kernel(1, r#""grid":"[4, 5, 6]","block":[1, 2]"#),
        kernel(9, r#""grid":[1, 1, 1],"block":"big""#)
    ));
    assert_eq!(
        store.lines("SELECT grid_x, grid_y, grid_z, block_x, block_y, block_z FROM kernels ORDER BY event_id"),
        ["4 5 6 1 2 NULL", "1 1 1 NULL NULL NULL"]
    );
    assert!(store.issues().contains(&"launch_shape 2".to_owned()));
}

#[test]
fn device_rows_are_complete_events_only() {
    let store = elements(
        r#"{"ph":"i","cat":"kernel","name":"mark","pid":0,"tid":7,"ts":1}, {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1}"#,
    );
    assert_eq!(store.lines("SELECT name FROM kernels"), ["k"]);
}

#[test]
fn work_without_a_duration_is_a_row() {
    let store = elements(r#"{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1}"#);
    assert_eq!(
        store.lines("SELECT name, ts_ns, dur_ns, end_ns FROM kernels"),
        ["k 1000 NULL NULL"]
    );
}
