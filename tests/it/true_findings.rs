//! Findings are true: shares refer to a named whole, each cause is reported once, and too little
//! data leads to no finding. Each small trace has one known truth.

use crate::support::{TestStore, tracesql_in};

/// A trace under construction. Times are in microseconds. Host calls are on one thread.
#[derive(Default)]
struct Trace {
    events: Vec<String>,
    calls: u32,
}

impl Trace {
    fn host(&mut self, cat: &str, name: &str, ts: f64, dur: f64, args: &str) -> &mut Self {
        self.events.push(format!(r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":1,"tid":1,"ts":{ts},"dur":{dur},"args":{{{args}}}}}"#));
        self
    }

    fn step(&mut self, number: u32, ts: f64, dur: f64) -> &mut Self {
        self.host("user_annotation", &format!("ProfilerStep#{number}"), ts, dur, "")
    }

    /// A runtime call, and the device work that it launches.
    fn launch(
        &mut self,
        call: (&str, f64, f64),
        cat: &str,
        name: &str,
        ts: f64,
        dur: f64,
        args: &str,
    ) -> &mut Self {
        self.calls += 1;
        let number = self.calls;
        self.host("cuda_runtime", call.0, call.1, call.2, &format!(r#""correlation":{number}"#));
        let args = format!(r#""device":0,"stream":7,"correlation":{number}{args}"#);
        self.events.push(format!(r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":0,"tid":7,"ts":{ts},"dur":{dur},"args":{{{args}}}}}"#));
        self
    }

    /// A kernel that begins when its launch call of 1 us ends.
    fn kernel(&mut self, ts: f64, dur: f64) -> &mut Self {
        self.launch(("cudaLaunchKernel", ts - 1.0, 1.0), "kernel", "gemm", ts, dur, "")
    }

    fn store(&self) -> TestStore {
        TestStore::of_text(format!(
            r#"{{"schemaVersion":1,"traceEvents":[{}]}}"#,
            self.events.join(",\n")
        ))
        .0
    }
}

/// The names of rules with a finding of severity high or medium. Rules about kernel names and about
/// the file are left out.
fn loud(store: &TestStore) -> Vec<String> {
    store.lines(
        "SELECT rule, severity FROM findings \
            WHERE severity IN ('high', 'medium') \
            AND rule NOT IN ('tensor_cores', 'hot_operation', 'trace_damage') ORDER BY rule",
    )
}

/// A trace with 3 steps of 10 ms. In each step, a copy from pageable memory blocks the host for 8
/// ms and takes 2 ms on the device. Then 5 kernels of 300 us keep the device busy.
fn blocking_copy() -> Trace {
    let mut trace = Trace::default();
    for step in 0..3 {
        let start = 10_000.0 * f64::from(step);
        trace.step(step, start, 9_999.0);
        let call = ("cudaMemcpyAsync", start + 10.0, 8_000.0);
        trace.launch(
            call,
            "gpu_memcpy",
            "Memcpy HtoD (Pageable -> Device)",
            start + 6_000.0,
            2_000.0,
            r#","bytes":8000000"#,
        );
        for kernel in 0..5 {
            trace.kernel(start + 8_050.0 + 301.0 * f64::from(kernel), 300.0);
        }
    }
    trace
}

#[test]
fn a_blocking_copy_is_reported_once_and_not_as_overhead_of_calls() {
    let store = blocking_copy().store();
    assert_eq!(loud(&store), ["pageable_copies high"]);
    // The findings of the other rules exist, and they refer to this finding.
    let others = store.lines(
        "SELECT rule, severity, advice FROM findings \
        WHERE status = 'finding' AND rule IN ('cpu_gpu_sync', 'gpu_busy', 'gpu_idle', 'memcpy') \
        ORDER BY rule",
    );
    assert_eq!(
        others,
        [
            "cpu_gpu_sync low See pageable_copies, which reports the cause.",
            "gpu_busy low See gpu_idle, which names the cause.",
            "gpu_idle low See pageable_copies, which reports the cause.",
            "memcpy low See pageable_copies, which reports the cause.",
        ]
    );
    // The device is idle for 5,990 us of the second and third call, and for 49 us between each copy
    // and the next launch call.
    assert_eq!(
        store.lines("SELECT wait_ns, step_wait_ns, step_ns, idle_ns FROM cpu_gpu_sync"),
        ["24000000 24000000 29997000 12127000"]
    );
    assert_eq!(store.lines("SELECT status, numerator FROM rule_runtime_overhead"), ["ok 15000"]);
}

#[test]
fn waits_are_a_share_of_the_steps_and_only_those_in_steps() {
    // 3 steps of 1 ms never wait. After them the profiler stops and waits for 500 ms, and the
    // device works during 10 us of that time.
    let mut trace = Trace::default();
    for step in 0..3 {
        let start = 1_000.0 * f64::from(step);
        trace.step(step, start, 999.0);
        for kernel in 0..4 {
            trace.kernel(start + 20.0 + 240.0 * f64::from(kernel), 238.0);
        }
    }
    trace.host("cuda_runtime", "cudaDeviceSynchronize", 3_000.0, 500_000.0, "");
    let store = trace.store();
    assert_eq!(
        store.lines("SELECT wait_ns, step_wait_ns, step_ns, wait_pct, verdict FROM cpu_gpu_sync"),
        ["500000000 0 2997000 0.0 low"]
    );
    assert_eq!(store.lines("SELECT status, value FROM rule_cpu_gpu_sync"), ["ok 0.0"]);
    assert_eq!(loud(&store), Vec::<String>::new());
}

#[test]
fn a_wait_after_which_the_device_goes_on_is_no_finding() {
    // The host waits for an event whose work ends long before the last launched work ends, so the
    // device never runs out of work.
    let mut trace = Trace::default();
    trace.step(1, 0.0, 20_000.0);
    for kernel in 0..12 {
        trace.launch(
            ("cudaLaunchKernel", 10.0 + f64::from(kernel), 1.0),
            "kernel",
            "gemm",
            30.0 + 1_600.0 * f64::from(kernel),
            1_600.0,
            "",
        );
    }
    trace.host("cuda_runtime", "cudaEventSynchronize", 40.0, 15_000.0, "");
    let store = trace.store();
    assert_eq!(store.lines("SELECT wait_pct, idle_ns FROM cpu_gpu_sync"), ["75.0 0"]);
    assert_eq!(store.lines("SELECT status, severity FROM rule_cpu_gpu_sync"), ["ok NULL"]);
}

#[test]
fn freeing_memory_is_overhead_and_no_wait() {
    let mut trace = Trace::default();
    for step in 0..3 {
        let start = 10_000.0 * f64::from(step);
        trace.step(step, start, 9_999.0);
        for kernel in 0..5 {
            trace.kernel(start + 20.0 + 301.0 * f64::from(kernel), 300.0);
        }
        trace.host("cuda_runtime", "cudaFree", start + 1_500.0, 8_000.0, "");
    }
    let store = trace.store();
    assert_eq!(loud(&store), ["runtime_overhead high"]);
    assert_eq!(
        store.lines("SELECT rule, severity, subject FROM findings WHERE rule = 'gpu_idle'"),
        ["gpu_idle low host_late"]
    );
    assert_eq!(store.lines("SELECT sync_calls, wait_ns, idle_ns FROM cpu_gpu_sync"), ["0 0 0"]);
}

#[test]
fn operators_bound_by_memory_are_a_share_of_all_device_time() {
    // Operators launch 20 us, all of it bound by memory. 180 us more were launched outside
    // operators. That makes 10 %, and the rest cannot be determined.
    let mut trace = Trace::default();
    let shapes = r#""Input Dims":[[1024],[1024]],"Input type":["float","float"]"#;
    trace.host("cpu_op", "aten::mul", 0.0, 10.0, shapes).kernel(2.0, 20.0);
    for kernel in 0..9 {
        trace.kernel(30.0 + 30.0 * f64::from(kernel), 20.0);
    }
    let store = trace.store();
    assert_eq!(
        store.lines("SELECT device_self_pct, verdict FROM memory_bound_operations"),
        ["10.0 memory bound"]
    );
    assert_eq!(
        store.lines("SELECT status, severity, value FROM rule_memory_bound"),
        ["not_measurable NULL NULL"]
    );
    let reason = store.value("SELECT reason FROM rule_memory_bound");
    assert!(
        reason.starts_with(
            "90.0 % of the time of all kernels, copies and fills cannot be measured \
            (180.000 us of 200.000 us); 10.0 % are known"
        ),
        "{reason}"
    );
    // The same trace with communication, which is not bound by memory, so the share is known.
    let known = trace
        .events
        .join(",")
        .replacen("gemm", "mul", 1)
        .replace("gemm", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)");
    let (store, _) =
        TestStore::of_text(format!(r#"{{"schemaVersion":1,"traceEvents":[{known}]}}"#));
    assert_eq!(
        store.lines("SELECT status, value, numerator, denominator FROM rule_memory_bound"),
        ["ok 10.0 20000 200000"]
    );
}

#[test]
fn too_little_evidence_is_not_measurable_and_says_so() {
    let tiny = |kernels: u32, dur: f64| {
        let mut trace = Trace::default();
        trace.step(1, 0.0, 3.0 * f64::from(kernels) * dur);
        for kernel in 0..kernels {
            trace.launch(
                ("cudaLaunchKernel", 2.0 * dur * f64::from(kernel), dur),
                "kernel",
                "gemm",
                dur * f64::from(2 * kernel + 1),
                dur,
                "",
            );
        }
        trace.store()
    };
    let rules = "rule IN ('gpu_busy', 'gpu_idle', 'runtime_overhead', 'launch_bound', \
        'cpu_gpu_sync', 'memcpy', 'pageable_copies', 'unlinked_work', 'hot_operation')";
    let reasons = |store: &TestStore| {
        store.lines(&format!("SELECT DISTINCT reason FROM findings WHERE {rules}"))
    };
    // 3 kernels in 130 ns are too few and too short.
    let store = tiny(3, 0.0145);
    assert_eq!(loud(&store), Vec::<String>::new());
    assert_eq!(
        store.lines(&format!(
            "SELECT DISTINCT status FROM findings WHERE {rules} AND rule <> 'hot_operation'"
        )),
        ["not_measurable"]
    );
    assert!(
        reasons(&store)
            .iter()
            .any(|r| r.starts_with("The trace has 3 kernels, copies and fills in 13")
                && r.contains("fewer than 10 (setting rule_min_device_work)")),
        "{:?}",
        reasons(&store)
    );
    // There are enough kernels, but they are too short.
    let store = tiny(12, 1.0);
    assert_eq!(loud(&store), Vec::<String>::new());
    assert!(
        reasons(&store).iter().any(|r| r.starts_with(
            "The trace is 36.000 us long, less than 100.000 us (setting rule_min_duration_ns)"
        )),
        "{:?}",
        reasons(&store)
    );
    // There are enough kernels, and they are long enough.
    assert!(loud(&tiny(12, 10.0)).iter().any(|r| r.starts_with("gpu_busy")
        || r.starts_with("launch_bound")
        || r.starts_with("gpu_idle")));
    // One of two devices has too little work.
    let mut trace = Trace::default();
    trace.step(1, 0.0, 1_000.0);
    for kernel in 0..12 {
        trace.kernel(10.0 + 80.0 * f64::from(kernel), 79.0);
    }
    trace.events.push(r#"{"ph":"X","cat":"kernel","name":"gemm","pid":1,"tid":7,"ts":100,"dur":5,"args":{"device":1,"stream":7}}"#.into());
    let store = trace.store();
    assert_eq!(
        store.lines("SELECT device, status, reason FROM rule_gpu_busy ORDER BY device"),
        [
            "0 ok NULL",
            "1 not_measurable Device 1 has 1 kernel, copy or fill, fewer than 10 (setting \
                rule_min_device_work): too few to judge shares by."
        ]
    );
}

#[test]
fn places_are_frames_that_a_user_can_change() {
    let read = |frames: &[&str]| {
        let mut trace = Trace::default();
        trace.step(1, 0.0, 1_000.0);
        for number in 0..20 {
            let start = 10.0 + 40.0 * f64::from(number);
            for (depth, frame) in (0..).zip(frames) {
                trace.host(
                    "python_function",
                    frame,
                    start + 0.1 * f64::from(depth),
                    30.0 - 0.2 * f64::from(depth),
                    "",
                );
            }
            trace.host("cpu_op", "aten::item", start + 10.0, 10.0, "");
            trace.launch(
                ("cudaMemcpyAsync", start + 11.0, 2.0),
                "gpu_memcpy",
                "Memcpy DtoH (Device -> Pageable)",
                start + 12.0,
                1.0,
                r#","bytes":4"#,
            );
        }
        trace.store().value("SELECT subject FROM rule_tiny_copies WHERE severity = 'medium'")
    };
    let inner = [
        "torch/utils/_device.py(62): __torch_function__",
        "<built-in method item of Tensor object at 0x7f>",
    ];
    let torch = [
        "/opt/venv/lib/python3.11/site-packages/torch/_ops.py(755): __call__",
        "/src/pytorch/torch/nn/modules/module.py(1501): _call_impl",
    ];
    let python = [
        "threading.py(973): run",
        "contextlib.py(79): inner",
        "/usr/lib/python3.11/asyncio/runners.py(12): run",
        "<frozen importlib._bootstrap>(241): f",
    ];
    assert_eq!(read(&["train.py(31): log_loss", inner[0], inner[1]]), "train.py(31): log_loss");
    assert_eq!(
        read(&["train.py(31): log_loss", torch[0], torch[1], python[1], inner[0], inner[1]]),
        "train.py(31): log_loss"
    );
    let library =
        "/opt/venv/lib/python3.11/site-packages/transformers/trainer.py(2900): _maybe_log";
    assert_eq!(read(&["train.py(31): main", library, inner[0]]), library);
    assert_eq!(
        read(&["transformers/trainer.py(2900): _maybe_log", inner[0]]),
        "transformers/trainer.py(2900): _maybe_log"
    );
    // Without such a frame, the operator is named.
    assert_eq!(
        read(&[python[0], python[2], python[3], torch[0], inner[0], inner[1]]),
        "aten::item"
    );
    assert_eq!(read(&[]), "aten::item");
}

#[test]
fn each_device_has_a_row_for_each_cause_of_idle_time() {
    let mut trace = Trace::default();
    for kernel in 0..12 {
        trace.kernel(10.0 + 10.0 * f64::from(kernel), 10.0);
    }
    let store = trace.store();
    assert_eq!(
        store.lines(
            "SELECT count(*), sum(gaps), sum(idle_ns), count(idle_pct), \
        sum(total_pct) FROM gpu_idle_causes"
        ),
        ["6 0 0 0 0.0"]
    );
    assert_eq!(store.lines("SELECT status, subject, value FROM rule_gpu_idle"), ["ok NULL 0.0"]);
}

#[test]
fn texts_have_the_number_and_the_word_that_fits() {
    let mut trace = Trace::default();
    trace.step(1, 0.0, 1_000.0);
    for kernel in 0..12 {
        trace.kernel(10.0 + 80.0 * f64::from(kernel), 79.0);
    }
    let text = |text: String| {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("trace.json"), text).expect("a trace");
        let cache = folder.path().join("cache");
        let output =
            tracesql_in(folder.path(), &["report", "trace.json"], &[("TRACESQL_CACHE", &cache)]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let devices = r#""deviceProperties":[{"id":0,"name":""}]"#;
    let report = text(format!(
        r#"{{"schemaVersion":1,{devices},"traceEvents":[{}]}}"#,
        trace.events.join(",")
    ));
    assert!(
        report.contains(", 1 step of ") && !report.contains("1 steps") && !report.contains("()"),
        "{report}"
    );
    let report = text(format!(
        r#"{{"schemaVersion":1,"traceEvents":[{}]}}"#,
        trace.events.join(",").replace(r#""device":0,"#, "").replace(r#""pid":0"#, r#""pid":"a""#)
    ));
    assert!(report.contains("without number: busy") && report.contains("1 step of "), "{report}");
    assert_eq!(
        trace.store().lines("SELECT message FROM rule_cut_steps"),
        ["The one step is whole."]
    );
}
