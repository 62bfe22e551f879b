//! Forecasts with hidden communication and CUDA graphs, on small traces whose times after the change
//! are computed by hand.

use crate::support::elements;

/// A complete event; times are microseconds.
fn event(name: &str, cat: &str, track: (i64, i64), times: (i64, i64), args: &str) -> String {
    let ((pid, tid), (start, end)) = (track, times);
    let dur = end - start;
    format!(
        r#"{{"ph":"X","name":"{name}","cat":"{cat}","pid":{pid},"tid":{tid},"ts":{start},"dur":{dur},"args":{{{args}}}}}"#
    )
}

fn mark(step: i64, start: i64, end: i64) -> String {
    event(&format!("ProfilerStep#{step}"), "user_annotation", (1, 1), (start, end), "")
}

fn call(name: &str, correlation: i64, start: i64, end: i64) -> String {
    let args = format!(r#""correlation":{correlation}"#);
    event(name, "cuda_runtime", (1, 1), (start, end), &args)
}

fn kernel(name: &str, stream: i64, correlation: i64, start: i64, end: i64) -> String {
    let args = format!(r#""device":0,"stream":{stream},"correlation":{correlation}"#);
    event(name, "kernel", (0, stream), (start, end), &args)
}

/// Step, recorded and forecast length in microseconds, and status.
fn forecast(events: &[String], kind: &str) -> Vec<String> {
    elements(events.join(",\n")).lines(&format!(
        "SELECT step, recorded_ns / 1000, forecast_ns / 1000, status FROM what_if \
        WHERE target_kind = '{kind}' ORDER BY window_id"
    ))
}

const ALL_REDUCE: &str = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

/// A kernel, an exchange that waits for it, and a kernel that waits for the exchange.
fn exchange(end: i64) -> Vec<String> {
    vec![
        mark(1, 0, 40),
        call("cudaLaunchKernel", 1, 10, 12),
        call("cudaLaunchKernelExC", 2, 14, 16),
        call("cudaLaunchKernel", 3, 18, 20),
        kernel("a", 7, 1, 20, 120),
        kernel(ALL_REDUCE, 20, 2, 122, end),
        kernel("b", 7, 3, end + 2, end + 102),
    ]
}

/// The second kernel starts 2 µs after the exchange could have started, at 124 µs.
#[test]
fn hidden_communication_holds_up_no_computation() {
    assert_eq!(
        forecast(&exchange(222), "hidden_communication"),
        ["NULL 324 224 forecast", "1 324 224 forecast"]
    );
}

/// The step lasts until the exchange is over.
#[test]
fn hidden_communication_takes_its_time() {
    assert_eq!(
        forecast(&exchange(422), "hidden_communication"),
        ["NULL 524 422 forecast", "1 524 422 forecast"]
    );
}

#[test]
fn without_communication_nothing_is_hidden() {
    let mut events = exchange(222);
    events.retain(|event| !event.contains("nccl") && !event.contains("ExC"));
    assert!(forecast(&events, "hidden_communication").is_empty());
}

/// Launches that the device waits for, each 50 µs after the one before.
fn launches() -> Vec<String> {
    let mut events = vec![mark(1, 0, 200), mark(2, 200, 400)];
    for at in 0..8 {
        let (start, id) = (10 + 50 * at, at + 1);
        events.push(call("cudaLaunchKernel", id, start, start + 5));
        events.push(kernel("k", 7, id, start + 5, start + 15));
    }
    events
}

/// From the end of the first launch, 15 µs after the start of each step, to that of the last one,
/// 150 µs later, the thread does nothing else. The four kernels follow one another for 10 µs each.
#[test]
fn the_launches_of_a_step_become_one() {
    assert_eq!(
        forecast(&launches(), "cuda_graphs"),
        ["NULL 400 105 forecast", "1 200 55 forecast", "2 200 55 forecast"]
    );
}

/// A graph ends where the host waits for the device, and where it loads data. The call waits for
/// the third kernel, which ends at 45 µs, and returns 5 µs later, 80 µs earlier than recorded.
#[test]
fn a_wait_of_the_host_ends_a_graph() {
    let mut events = launches();
    events.push(call("cudaDeviceSynchronize", 100, 120, 130));
    assert_eq!(forecast(&events, "cuda_graphs")[1], "1 200 120 forecast");
    let loading = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
    events = launches();
    events.push(event(loading, "user_annotation", (1, 1), (120, 130), ""));
    assert_eq!(forecast(&events, "cuda_graphs")[1], "1 200 100 forecast");
}

/// The kernels of a step that waits for the device all the time follow one another as before.
#[test]
fn a_step_that_is_bound_by_the_device_gains_its_first_launches() {
    let mut events = vec![mark(1, 0, 100)];
    for at in 0..4 {
        let (start, id) = (10 + 20 * at, at + 1);
        events.push(call("cudaLaunchKernel", id, start, start + 5));
        events.push(kernel("k", 7, id, 15 + 100 * at, 115 + 100 * at));
    }
    assert_eq!(forecast(&events, "cuda_graphs")[1], "1 415 415 forecast");
}

#[test]
fn graphs_need_steps() {
    let mut events = launches();
    events.retain(|event| !event.contains("ProfilerStep"));
    assert_eq!(forecast(&events, "cuda_graphs"), ["NULL 365 NULL no steps"]);
    let sensitivities = "SELECT saved_at_half_ns, saved_ns, status FROM sensitivities \
        WHERE target_kind = 'cuda_graphs'";
    assert_eq!(elements(events.join(",\n")).lines(sensitivities), ["NULL NULL no steps"]);
}

fn operator(name: &str, tid: i64, start: i64, end: i64) -> String {
    event(name, "cpu_op", (1, tid), (start, end), "")
}

/// What the trace gains without an operator, in microseconds, by window, and the status.
fn gains(events: &[String], name: &str) -> Vec<String> {
    elements(events.join(",\n")).lines(&format!(
        "SELECT window_id, saved_ns / 1000, status FROM sensitivities \
        WHERE target_kind = 'operator' AND name = '{name}' ORDER BY window_id"
    ))
}

const BACKWARD: &str = "autograd::engine::evaluate_function: AddBackward0";

/// The first thread waits for the backward pass of the other one. It goes on with `next`.
fn backward(next: &[String]) -> Vec<String> {
    let mut events =
        vec![mark(1, 0, 300), operator("aten::forward", 1, 10, 30), operator(BACKWARD, 2, 50, 190)];
    events.extend_from_slice(next);
    events
}

/// The step waits for the backward pass, whether the next work is inside a frame or mark that opens
/// after it, or not, and whether it is an operator or a call. Its threads hand over after 20 µs.
#[test]
fn a_step_gains_the_time_of_its_backward_pass() {
    let step = operator("aten::step", 1, 200, 230);
    let optimizer = event("Optimizer.step#SGD.step", "user_annotation", (1, 1), (196, 250), "");
    let frame = event("sgd.py(63): step", "python_function", (1, 1), (198, 240), "");
    let call = call("cudaStreamSynchronize", 9, 200, 230);
    for next in [
        vec![step.clone()],
        vec![optimizer.clone(), step.clone()],
        vec![optimizer, frame, step],
        vec![call],
    ] {
        let events = backward(&next);
        assert_eq!(gains(&events, BACKWARD), ["0 140 forecast", "1 140 forecast"], "{next:?}");
        let slack = format!("SELECT slack_ns, status FROM slack WHERE name = '{BACKWARD}'");
        assert_eq!(elements(events.join(",\n")).lines(&slack), ["0 known"], "{next:?}");
    }
}

/// The profiler opens marks of steps inside of short frames.
#[test]
fn a_mark_lasts_longer_than_the_frame_in_which_it_began() {
    let events = [
        event("enter", "python_function", (1, 1), (0, 20), ""),
        mark(1, 10, 300),
        operator("aten::big", 1, 30, 230),
        call("cudaLaunchKernel", 1, 40, 45),
        kernel("k", 7, 1, 50, 260),
    ];
    assert_eq!(gains(&events, "aten::big")[1], "1 200 forecast");
    let slack = "SELECT slack_ns / 1000 FROM slack WHERE kind = 'kernel'";
    assert_eq!(elements(events.join(",\n")).lines(slack), ["40"]);
}

#[test]
fn a_trace_without_a_device_ends_with_its_threads() {
    let events = [operator("aten::a", 1, 0, 100), operator("aten::b", 1, 100, 150)];
    assert_eq!(gains(&events, "aten::a"), ["0 100 forecast"]);
    let slack = "SELECT DISTINCT slack_ns, status FROM slack";
    assert_eq!(elements(events.join(",\n")).lines(slack), ["0 known"]);
}

/// The path calls the time from the call to the start `unknown` where it is longer than 100 µs.
#[test]
fn what_nothing_explains_is_not_the_launch() {
    let launch = |start: i64| {
        let events =
            [mark(1, 0, 20), call("cudaLaunchKernel", 1, 10, 15), kernel("k", 7, 1, start, 900)];
        let gain = "SELECT path_ns / 1000, saved_ns / 1000 FROM sensitivities \
            WHERE target_kind = 'launch' AND window_id = 1";
        elements(events.join(",\n")).lines(gain)
    };
    assert_eq!(launch(115), ["105 105"]);
    assert_eq!(launch(116), ["0 0"]);
}

/// An operator is all that runs inside, and the device work that was launched there.
#[test]
fn an_operator_takes_its_operators_and_kernels_with_it() {
    let events = [
        mark(1, 0, 100),
        operator("aten::linear", 1, 10, 60),
        operator("aten::addmm", 1, 20, 50),
        call("cudaLaunchKernel", 1, 30, 40),
        kernel("gemm", 7, 1, 50, 1050),
    ];
    // The kernel starts when it did, and takes no time. The mark ends 50 µs earlier, at 50 µs.
    assert_eq!(gains(&events, "aten::linear")[1], "1 1000 forecast");
}
