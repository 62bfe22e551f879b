//! Who is to blame for waits: chains of activities that led to the last member of a call.

use super::made::{Call, Clock, Job, plain};

const STEPS: i64 = 6;
const STEP: i64 = 3_000_000;

/// Four ranks. In each step all compute for 500 µs; ranks 0 and 1 exchange, then rank 1 computes for
/// 100 µs and exchanges with rank 3, and all exchange at the end. `extra` is how much longer a rank
/// computes in a step.
fn job(extra: &dyn Fn(usize, i64) -> i64) -> Job {
    let mut job = Job::new(&[
        Clock::default(),
        Clock { offset: 4_000_000, ..Clock::default() },
        Clock { offset: -700_000, ..Clock::default() },
        Clock { offset: 86_400_000_000_000, ..Clock::default() },
    ]);
    let (kind, args): (&str, &dyn Fn(usize) -> String) = ("allreduce", &plain);
    for step in 0..STEPS {
        let at = 10_000_000 + STEP * step;
        for rank in 0..4 {
            job.event(
                rank,
                "user_annotation",
                &format!("ProfilerStep#{step}"),
                at - 40_000,
                at + STEP - 50_000,
            );
        }
        let ready: Vec<i64> = (0..4).map(|rank| at + 500_000 + extra(rank, step)).collect();
        for (rank, &end) in ready.iter().enumerate() {
            job.kernel(rank, "gemm", at, end, at - 30_000);
        }
        let starts = [(0, ready[0] + 1_000), (1, ready[1] + 1_000)];
        let end = ready[0].max(ready[1]) + 51_000;
        job.call(&Call { kind, group: "1", ranks: &[0, 1], starts: &starts, end, args });
        job.kernel(1, "small", end + 1_000, end + 101_000, at - 28_000);
        let starts = [(1, end + 102_000), (3, ready[3] + 1_000)];
        let second = (end + 102_000).max(ready[3] + 1_000) + 50_000;
        job.call(&Call { kind, group: "2", ranks: &[1, 3], starts: &starts, end: second, args });
        let starts =
            [(0, end + 1_000), (1, second + 1_000), (2, ready[2] + 1_000), (3, second + 1_000)];
        let last = (second + 1_000).max(ready[2] + 1_000) + 50_000;
        job.call(&Call {
            kind,
            group: "0",
            ranks: &[0, 1, 2, 3],
            starts: &starts,
            end: last,
            args,
        });
    }
    job
}

const LOST: &str = "SELECT rank, cause, name, steps, worst_step, verdict FROM straggler_ranks \
    WHERE verdict <> 'weak' ORDER BY lost_ns DESC";

#[test]
fn lateness_is_charged_to_the_rank_that_caused_it() {
    let store = job(&|rank, _| if rank == 0 { 200_000 } else { 0 }).store(&[]);
    // Rank 1 comes last in two groups only because it waited for rank 0.
    assert_eq!(
        store.lines("SELECT rank, last_calls FROM stragglers WHERE last_calls > 0 ORDER BY rank"),
        ["0 6", "1 6"]
    );
    assert_eq!(store.lines(LOST)[..1], ["0 compute gemm 6 0 persistent"]);
}

#[test]
fn charges_add_up_to_waits() {
    let store = job(&|rank, step| (rank as i64 * 37 + step * 53) % 11 * 20_000).store(&[]);
    assert_eq!(
        store.lines(
            "SELECT count(*) FROM (SELECT m.job, m.call_id, sum(m.wait_ns) AS wait_ns \
                FROM collective_members m GROUP BY 1, 2) w \
            JOIN (SELECT job, call_id, sum(charge_ns) AS charge_ns FROM collective_causes \
                GROUP BY 1, 2) c ON c.job = w.job AND c.call_id = w.call_id \
            WHERE abs(wait_ns - charge_ns) > 10"
        ),
        ["0"]
    );
}

#[test]
fn a_slow_step_of_one_rank_is_transient() {
    let store = job(&|rank, step| if rank == 2 && step == 4 { 900_000 } else { 0 }).store(&[]);
    assert_eq!(store.lines(LOST), ["2 compute gemm 1 4 transient"]);
    assert_eq!(
        store.lines("SELECT rank, step, cause FROM rank_step_heat WHERE lost_ns > 100000"),
        ["2 4 compute"]
    );
}

#[test]
fn a_job_without_faults_has_no_stragglers() {
    assert!(job(&|_, _| 0).store(&[]).lines(LOST).is_empty());
}

/// Groups of ranks that meet only at the end of each step, after six kernels. `extra` is how much
/// longer a kernel of a rank takes in a step. The last rank of a group meets the first one of the
/// next group at the start of a step, so that all clocks are connected.
fn data_parallel(groups: &[&[usize]], extra: &dyn Fn(usize, i64, i64) -> i64) -> Job {
    let ranks = groups.iter().map(|group| group.len()).sum();
    let mut job = Job::new(&vec![Clock::default(); ranks]);
    let (kind, args): (&str, &dyn Fn(usize) -> String) = ("allreduce", &plain);
    for step in 0..STEPS {
        let at = 10_000_000 + 2 * STEP * step;
        for pair in groups.windows(2) {
            let (last, first) = (pair[0][pair[0].len() - 1], pair[1][0]);
            let (group, ranks) = (&*format!("{last}-{first}"), &[last, first]);
            let starts = &[(last, at - 200_000), (first, at - 200_000)];
            job.call(&Call { kind, group, ranks, starts, end: at - 150_000, args });
        }
        for ranks in groups {
            let mut starts = Vec::new();
            for (place, &rank) in (0..).zip(*ranks) {
                let name = format!("ProfilerStep#{step}");
                job.event(rank, "user_annotation", &name, at - 400_000, at + 2 * STEP - 450_000);
                let mut now = at + 3_000 * place;
                for number in 0..6 {
                    let end = now + 100_000 + extra(rank, step, number);
                    job.kernel(rank, &format!("gemm{number}"), now, end, at - 30_000);
                    now = end + 1_000;
                }
                starts.push((rank, now));
            }
            let end = starts.iter().map(|start| start.1).max().expect("there are ranks") + 50_000;
            job.call(&Call {
                kind,
                group: &format!("{ranks:?}"),
                ranks,
                starts: &starts,
                end,
                args,
            });
        }
    }
    job
}

#[test]
fn a_delay_before_the_others_began_to_wait_is_charged_in_full() {
    // The first kernel of the step is longer; the others begin to wait after it.
    let late = |rank, step, number| if (rank, step, number) == (1, 3, 0) { 400_000 } else { 0 };
    let store = data_parallel(&[&[0, 1, 2]], &late).store(&[]);
    assert_eq!(store.lines(LOST), ["1 compute gemm0 1 3 transient"]);
    // Without the delay rank 0 would have waited for 6 µs, and rank 2 would have come last.
    assert_eq!(store.value("SELECT lost_ns FROM straggler_ranks WHERE rank = 1"), "797000");
    assert_eq!(
        store.value(
            "SELECT max(abs(w.wait_ns - c.charge_ns)) FROM (SELECT call_id, sum(wait_ns) AS wait_ns \
                FROM collective_members GROUP BY 1) w JOIN (SELECT call_id, sum(charge_ns) AS \
                charge_ns FROM collective_causes GROUP BY 1) c ON c.call_id = w.call_id"
        ),
        "0"
    );
}

#[test]
fn a_rank_without_a_trace_has_its_own_row() {
    let late = |rank, step, _| if (rank, step) == (5, 2) { 60_000 } else { 0 };
    let job = data_parallel(&[&[0, 1, 2], &[3, 4, 5]], &late);
    let rows = "SELECT rank, cause, status, steps, worst_step FROM straggler_ranks \
        WHERE verdict <> 'weak' ORDER BY lost_ns DESC";
    let all = job.store(&[]);
    assert_eq!(all.lines(rows), ["5 compute recorded 1 2"]);
    let store = job.store(&[5]);
    assert_eq!(store.lines(rows), ["5 not_recorded trace missing 1 2"]);
    // Its usual time comes from the ranks of the other group, which begin up to 6 µs earlier.
    let lost = "SELECT sum(lost_ns) FROM straggler_ranks WHERE rank = 5";
    let (with, without) = (all.ints(lost)[0], store.ints(lost)[0]);
    assert!((with - without).abs() <= 2 * 6_000, "{with} with its trace, {without} without");
}
