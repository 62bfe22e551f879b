//! Views of launch queues, launches, rates of copies and sequences of kernels, on small traces whose
//! figures can be worked out by hand.

use tracesql::engine::{Engine, EngineOptions};

use crate::support::{TestStore, elements, rows_of};

/// A complete event; times are in microseconds.
fn event(cat: &str, name: &str, place: (i64, i64), start: i64, end: i64, args: &str) -> String {
    let (pid, tid) = place;
    let dur = end - start;
    format!(
        r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":{pid},"tid":{tid},"ts":{start},"dur":{dur},"args":{{{args}}}}}"#
    )
}

fn launch(name: &str, correlation: i64, start: i64, end: i64) -> String {
    let args = format!(r#""correlation":{correlation}"#);
    event("cuda_runtime", name, (1, 1), start, end, &args)
}

fn work(cat: &str, name: &str, correlation: i64, start: i64, end: i64, more: &str) -> String {
    let args = format!(r#""device":0,"stream":7,"correlation":{correlation}{more}"#);
    event(cat, name, (0, 7), start, end, &args)
}

/// A launch of 5 us and its kernel.
fn pair(name: &str, correlation: i64, launched: i64, start: i64, end: i64) -> String {
    [
        launch("cudaLaunchKernel", correlation, launched, launched + 5),
        work("kernel", name, correlation, start, end, ""),
    ]
    .join(",\n")
}

fn lines_with(store: &TestStore, settings: &[(&str, &str)], sql: &str) -> Vec<String> {
    let settings = settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let options = EngineOptions { settings, ..EngineOptions::default() };
    let engine = Engine::open(&store.store, None, &options).expect("the store opens");
    let rows = rows_of(&engine, sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    rows.into_iter().map(|row| row.join(" ")).collect()
}

#[test]
fn a_full_queue_is_measured_by_time_and_blocks_calls() {
    let mut all: Vec<String> =
        (0..4).map(|i| pair("k", i + 1, 10 * i, 100 + 50 * i, 150 + 50 * i)).collect();
    // The last call returns when there is room again.
    all.push(launch("cudaLaunchKernel", 5, 40, 140));
    all.push(work("kernel", "k", 5, 300, 350, ""));
    all.push(work("kernel", "from before", 99, 20, 30, ""));
    let store = elements(all.join(",\n"));
    assert_eq!(
        store.lines("SELECT ts_ns, change, length, length_ns FROM queue_length ORDER BY ts_ns"),
        [
            "0 launch 1 10000",
            "10000 launch 2 10000",
            "20000 launch 3 10000",
            "30000 launch 4 10000",
            "40000 launch 5 60000",
            "100000 start 4 50000",
            "150000 start 3 50000",
            "200000 start 2 50000",
            "250000 start 1 50000",
            "300000 start 0 NULL",
        ]
    );
    let sql = "SELECT launched_work, unlinked_work, changes, observed_ns, max_length, mean_by_time, \
        median_by_time, mean_by_change, empty_ns, full_ns, full_calls, blocked_ns \
        FROM queue_length_summary";
    assert_eq!(store.lines(sql), ["5 1 10 300000 5 3.0 3 2.5 0 0 0 0"]);
    // Full from 20 to 200 us; calls are under way at 20 to 25, 30 to 35 and 40 to 140 us.
    assert_eq!(
        lines_with(&store, &[("queue_full_length", "3")], sql),
        ["5 1 10 300000 5 3.0 3 2.5 0 180000 2 110000"]
    );
}

#[test]
fn all_nodes_of_a_graph_are_queued_at_once_and_no_length_is_negative() {
    let store = elements(
        [
            launch("cudaGraphLaunch", 1, 0, 10),
            work("kernel", "a", 1, 20, 30, ""),
            work("kernel", "b", 1, 30, 40, ""),
            work("kernel", "c", 1, 40, 50, ""),
            // Clocks that differ: the kernel seems to begin before its call.
            launch("cuLaunchKernel", 2, 60, 65),
            work("kernel", "d", 2, 58, 70, ""),
        ]
        .join(",\n"),
    );
    assert_eq!(
        store.lines("SELECT ts_ns, change, length FROM queue_length ORDER BY ts_ns, length DESC"),
        [
            "0 launch 3", "0 launch 2", "0 launch 1", "20000 start 2", "30000 start 1",
            "40000 start 0", "60000 launch 1", "60000 start 0",
        ]
    );
    assert_eq!(
        store.lines(
            "SELECT launch_name, kind, calls, work, call_ns, max_delay_ns, early_work, short_work \
             FROM launch_statistics ORDER BY launch_name"
        ),
        ["cuLaunchKernel kernel 1 1 5000 0 1 0", "cudaGraphLaunch kernel 1 3 10000 30000 0 0"]
    );
    assert_eq!(
        store.lines(
            "SELECT measure, from_ns, to_ns, amount, total_ns FROM launch_histogram \
             ORDER BY measure, from_ns"
        ),
        [
            "call 5000 10000 1 5000",
            "call 10000 20000 1 10000",
            "delay 0 1 1 0",
            "delay 10000 20000 1 10000",
            "delay 20000 50000 2 50000",
            "work 10000 20000 4 42000",
        ]
    );
}

#[test]
fn outliers_follow_the_settings() {
    let store = elements(
        [
            launch("cudaLaunchKernel", 1, 0, 60),
            work("kernel", "k", 1, 200, 210, ""),
            launch("cudaLaunchKernel", 2, 300, 305),
            work("kernel", "k", 2, 310, 312, ""),
        ]
        .join(",\n"),
    );
    let sql = "SELECT calls, slow_calls, late_work, short_work FROM launch_statistics";
    assert_eq!(store.lines(sql), ["2 1 1 2"]);
    let settings = [("launch_call_outlier_ns", "1000"), ("launch_delay_outlier_ns", "140000")];
    assert_eq!(lines_with(&store, &settings, sql), ["2 2 0 2"]);
}

#[test]
fn rates_of_copies_are_integers_that_end_at_zero() {
    let bytes = |n: i64| format!(r#","bytes":{n}"#);
    let copy = |name: &str, correlation, start, end, n| {
        work("gpu_memcpy", name, correlation, start, end, &bytes(n))
    };
    let store = elements(
        [
            // 1000 bytes in 3 us: 333,333,333.3 bytes per second.
            copy("Memcpy HtoD (Pinned -> Device)", 1, 0, 3, 1000),
            copy("Memcpy HtoD (Pinned -> Device)", 2, 2, 5, 2000),
            copy("Memcpy DtoH (Device -> Pageable)", 3, 0, 2, 4),
            // No duration, and no size.
            copy("Memcpy DtoH (Device -> Pageable)", 4, 9, 9, 4),
            work("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 5, 10, 11, ""),
            event(
                "gpu_memset",
                "Memset (Device)",
                (1, 8),
                0,
                1,
                r#""device":1,"stream":8,"correlation":6,"bytes":64"#,
            ),
        ]
        .join(",\n"),
    );
    assert_eq!(
        store.lines(
            "SELECT device, direction, ts_ns, copies, bytes_per_s FROM bandwidth_over_time \
             ORDER BY device, direction, ts_ns"
        ),
        [
            "0 DtoH 0 1 2000000",
            "0 DtoH 2000 0 0",
            "0 HtoD 0 1 333333333",
            "0 HtoD 2000 2 999999999",
            "0 HtoD 3000 1 666666666",
            "0 HtoD 5000 0 0",
            "1 Memset 0 1 64000000",
            "1 Memset 1000 0 0",
        ]
    );
    assert_eq!(
        store.lines(
            "SELECT device, direction, copies, copies_without_rate, bytes, busy_ns, mean_gb_s, \
             round(peak_gb_s, 6) FROM bandwidth_summary ORDER BY device, direction"
        ),
        [
            "0 DtoH 3 2 8 3000 0.002 0.002",
            "0 HtoD 2 0 3000 5000 0.6 1.0",
            "1 Memset 1 0 64 1000 0.064 0.064",
        ]
    );
}

#[test]
fn busy_time_is_divided_among_sets_of_classes() {
    let on = |stream: i64, name: &str, start, end| {
        let args = format!(r#""device":0,"stream":{stream},"correlation":{start}"#);
        event("kernel", name, (0, stream), start, end, &args)
    };
    let store = elements(
        [
            on(7, "ampere_sgemm_128x64_nn", 10, 60),
            on(20, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", 40, 100),
            on(7, "ampere_sgemm_128x64_nn", 120, 130),
        ]
        .join(",\n"),
    );
    assert_eq!(
        store.lines(
            "SELECT classes, class_count, busy_ns FROM kernel_type_overlaps ORDER BY classes"
        ),
        ["communication 1 40000", "communication + gemm 2 20000", "gemm 1 40000"]
    );
}

#[test]
fn sequences_of_a_layer_are_found_with_their_gaps() {
    let mut all = Vec::new();
    let names = ["ampere_sgemm_128x64_nn", "add_kernel", "relu_kernel"];
    for (i, name) in (0..12).zip(names.iter().cycle()) {
        // Each kernel runs 8 us, with 2 us to the next.
        all.push(pair(name, i + 1, 10 * i, 1000 + 10 * i, 1008 + 10 * i));
    }
    all.push(pair("other", 50, 200, 2000, 2010));
    let store = elements(all.join(",\n"));
    assert_eq!(
        store.lines(
            "SELECT sequence, length, occurrences, kernel_ns, gap_ns, names FROM kernel_sequences"
        ),
        ["1 3 4 96000 16000 ampere_sgemm_128x64_nn -> add_kernel -> relu_kernel"]
    );
    assert_eq!(
        lines_with(
            &store,
            &[("kernel_sequence_min", "4"), ("kernel_sequence_max", "6")],
            "SELECT length, occurrences FROM kernel_sequences"
        ),
        ["6 2"]
    );
}

#[test]
fn only_kernels_that_compilers_fuse_are_candidates() {
    let mut all = Vec::new();
    let names = [
        "ampere_sgemm_128x64_nn",
        "void at::native::vectorized_elementwise_kernel<4, add>(int)",
        "void at::native::vectorized_elementwise_kernel<4, relu>(int)",
    ];
    for (i, name) in (0..6).zip(names.iter().cycle()) {
        all.push(pair(name, i + 1, 10 * i, 1000 + 10 * i, 1008 + 10 * i));
    }
    let store = elements(all.join(",\n"));
    assert_eq!(
        store.lines("SELECT length, occurrences, kernel_ns, gap_ns FROM fusion_candidates"),
        ["2 2 32000 4000"]
    );
}

#[test]
fn operators_have_their_lists_of_kernels_and_delays() {
    let op = |name: &str, start, end| event("cpu_op", name, (1, 1), start, end, "");
    let store = elements(
        [
            op("aten::linear", 0, 100),
            op("aten::addmm", 10, 90),
            pair("gemm", 1, 30, 50, 70),
            pair("bias", 2, 60, 70, 75),
            op("aten::linear", 200, 300),
            op("aten::addmm", 210, 290),
            pair("gemm", 3, 220, 250, 260),
            op("aten::empty", 400, 410),
        ]
        .join(",\n"),
    );
    assert_eq!(
        store.lines(
            "SELECT name, kernels, calls, calls_pct, host_ns, device_ns, kernel_names \
             FROM operator_kernels ORDER BY name, kernels"
        ),
        [
            "aten::addmm 1 1 50.0 80000 10000 gemm",
            "aten::addmm 2 1 50.0 80000 25000 gemm -> bias",
            "aten::linear 1 1 50.0 100000 10000 gemm",
            "aten::linear 2 1 50.0 100000 25000 gemm -> bias",
        ]
    );
    assert_eq!(
        store.lines(
            "SELECT name, calls, launching_calls, launches, work, mean_launch_delay_ns, \
             max_launch_delay_ns, mean_start_delay_ns, device_ns FROM operator_delays"
        ),
        ["aten::addmm 2 2 3 3 15000.0 20000 20000.0 35000"]
    );
}

#[test]
fn ranges_without_as_many_calls_are_paired_by_time() {
    let range = |name: &str, start: i64, value: i64| {
        let args = format!(
            r#""smsp__sass_thread_inst_executed_op_hfma_pred_on.sum":{value}.0,"note":"x""#
        );
        event("cuda_profiler_range", name, (0, 0), start, start + 5, &args)
    };
    let store = elements(
        [
            event("cpu_op", "aten::mm", (1, 1), 90, 130, ""),
            launch("cudaLaunchKernel", 1, 100, 105),
            range("before all calls", 50, 3),
            range("first", 110, 10),
            range("second", 120, 20),
        ]
        .join(",\n"),
    );
    assert_eq!(
        store.lines(
            "SELECT kernel_name, match, op_name, value, flop FROM kernel_counters ORDER BY ts_ns"
        ),
        [
            "before all calls none NULL 3.0 6.0",
            "first time aten::mm 10.0 20.0",
            "second time aten::mm 20.0 40.0",
        ]
    );
    assert_eq!(
        store.lines(
            "SELECT op_name, ranges, ranges_by_time, total, flop FROM counters_by_operator \
             ORDER BY total DESC"
        ),
        ["aten::mm 2 2 30.0 60.0", "NULL 1 0 3.0 6.0"]
    );
}
