//! Forecasts of a job with hidden communication and CUDA graphs. The times after the change are
//! computed by hand.

use super::made::{Call, Clock, Job, gap, plain};
use crate::support::TestStore;

const STEPS: usize = 10;

/// Two ranks whose steps `step` adds, from a time on.
fn job(step: &dyn Fn(&mut Job, usize, i64), has_marks: bool) -> TestStore {
    let mut job = Job::new(&[Clock::default(), Clock { offset: 40_000, ..Clock::default() }]);
    let mut at = 1_000_000;
    for number in 0..STEPS {
        for rank in 0..2 {
            if has_marks {
                let name = format!("ProfilerStep#{number}");
                job.event(rank, "user_annotation", &name, at, at + 325_000);
            }
        }
        step(&mut job, number, at);
        at += 2_000_000 + gap(number);
    }
    job.store(&[])
}

fn all_reduce(job: &mut Job, starts: [i64; 2], end: i64) {
    let starts = [(0, starts[0]), (1, starts[1])];
    let (kind, group) = ("allreduce", "0");
    job.call(&Call { kind, group, ranks: &[0, 1], starts: &starts, end, args: &plain });
}

/// A kernel of 100 µs on rank 0 and of 200 µs on rank 1, an all-reduce whose exchange takes
/// `exchange` µs, and kernels of 300 and 100 µs that wait for it.
fn exchange(exchange: i64) -> TestStore {
    let step = |job: &mut Job, _: usize, at: i64| {
        let us = |time: i64| at + 1_000 * time;
        let end = 222 + exchange;
        job.kernel(0, "a", us(20), us(120), us(10));
        job.kernel(1, "a", us(20), us(220), us(10));
        all_reduce(job, [us(122), us(222)], us(end));
        job.kernel(0, "b", us(end + 2), us(end + 302), us(125));
        job.kernel(1, "b", us(end + 2), us(end + 102), us(225));
    };
    job(&step, true)
}

/// Recorded and forecast length in microseconds and status, with how often each occurs.
fn forecast(store: &TestStore, kind: &str) -> Vec<String> {
    store.lines(&format!(
        "SELECT CAST(round(recorded_ns / 1000.0) AS BIGINT), \
        CAST(round(forecast_ns / 1000.0) AS BIGINT), factor, status, count(*) \
        FROM job_what_if WHERE target_kind = '{kind}' AND window_id > 0 \
        GROUP BY 1, 2, 3, 4 ORDER BY 1, 2"
    ))
}

/// The exchange could begin on both ranks at 222 µs. The last kernels begin 2 µs later then, and
/// that of rank 0 ends at 524 µs. It still waits for rank 1, which is not before 222 µs either.
#[test]
fn hidden_communication_waits_for_the_other_ranks() {
    assert_eq!(forecast(&exchange(100), "hidden_communication"), ["624 524 NULL forecast 10"]);
}

/// The step lasts until the exchange is over, at 622 µs.
#[test]
fn hidden_communication_of_a_job_takes_its_time() {
    assert_eq!(forecast(&exchange(400), "hidden_communication"), ["924 622 NULL forecast 10"]);
}

/// Four launches of each rank, each 50 µs after the one before, an all-reduce that waits for the last
/// kernel, and a call that waits for the device. The kernels take 10 µs, but the last one of rank 1
/// takes 100 µs.
fn launches(job: &mut Job, _: usize, at: i64) {
    let us = |time: i64| at + 1_000 * time;
    for rank in 0..2 {
        for number in 0..4 {
            let launch = 10 + 50 * number;
            let length = if rank == 1 && number == 3 { 100 } else { 10 };
            job.kernel(rank, "k", us(launch + 6), us(launch + 6 + length), us(launch));
        }
        job.event(rank, "cuda_runtime", "cudaDeviceSynchronize", us(252), us(320));
    }
    all_reduce(job, [us(178), us(268)], us(318));
}

/// The kernels of rank 1 follow one another from 16 µs on and end at 146 µs. The exchange begins
/// 2 µs later and takes 50 µs, the host returns 2 µs after it, and the step ends 5 µs later.
#[test]
fn the_launches_of_each_rank_become_one() {
    let store = job(&launches, true);
    assert_eq!(forecast(&store, "cuda_graphs"), ["325 205 NULL forecast 10"]);
}

/// The last kernel of rank 1 starts 6 µs after its launch, and with the factor of a half 3 µs.
#[test]
fn launches_of_all_ranks_take_less_time() {
    let store = job(&launches, true);
    assert_eq!(forecast(&store, "launch"), ["325 322 0.5 forecast 10"]);
}

#[test]
fn graphs_of_a_job_need_steps() {
    let store = job(&launches, false);
    let rows = "SELECT window_id, forecast_ns, status FROM job_what_if \
        WHERE target_kind = 'cuda_graphs'";
    assert_eq!(store.lines(rows), ["0 NULL no steps"]);
}

const STEP_STATUS: &str = "SELECT status, count(*) FROM job_critical_path_windows \
    WHERE window_id > 0 GROUP BY status ORDER BY status";
const FORECASTS: &str = "SELECT status, count(DISTINCT window_id), count(forecast_ns) \
    FROM job_what_if WHERE window_id > 0 AND target_kind = 'compute' GROUP BY status ORDER BY status";

/// A rank that began to count later names its steps otherwise.
#[test]
fn steps_that_ranks_number_differently_are_not_compared() {
    let mut job = Job::new(&[Clock::default(), Clock { offset: 40_000, ..Clock::default() }]);
    let mut at = 1_000_000;
    for number in 0..STEPS {
        for rank in 0..2 {
            let name = format!("ProfilerStep#{}", number + rank);
            job.event(rank, "user_annotation", &name, at, at + 325_000);
            job.kernel(rank, "a", at + 20_000, at + 120_000, at + 10_000);
        }
        all_reduce(&mut job, [at + 122_000, at + 122_000], at + 222_000);
        at += 2_000_000 + gap(number);
    }
    let store = job.store(&[]);
    assert_eq!(store.lines(STEP_STATUS), ["steps differ 11"]);
    assert_eq!(store.lines(FORECASTS), ["steps differ 11 0"]);
}

/// Without the length of a kernel, neither its step nor the one after it is forecast.
#[test]
fn a_step_with_a_negative_duration_is_not_forecast() {
    let step = |job: &mut Job, number: usize, at: i64| {
        let us = |time: i64| at + 1_000 * time;
        let end = if number == 4 { 15 } else { 120 };
        job.kernel(0, "a", us(20), us(end), us(10));
        job.kernel(1, "a", us(20), us(220), us(10));
        all_reduce(job, [us(122), us(222)], us(322));
    };
    let store = job(&step, true);
    assert_eq!(store.lines(STEP_STATUS), ["complete 9", "lengths missing 1"]);
    assert_eq!(store.lines(FORECASTS), ["forecast 8 8", "lengths missing 2 0"]);
}
