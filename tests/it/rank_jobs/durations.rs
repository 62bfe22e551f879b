//! Kernels whose length is not known: what depends on it is not stated.

use super::made::{Call, Clock, Job, gap, plain};

/// Two ranks with a kernel of 100 µs and an all-reduce in each of ten steps. The kernel of rank 1 in
/// step 4 has a negative duration.
#[test]
fn computation_of_a_step_with_a_negative_duration_is_not_known() {
    let mut job = Job::new(&[Clock::default(), Clock { offset: 40_000, ..Clock::default() }]);
    let mut at = 1_000_000;
    for number in 0..10 {
        let us = |time: i64| at + 1_000 * time;
        for rank in 0..2 {
            let name = format!("ProfilerStep#{number}");
            job.event(rank, "user_annotation", &name, us(0), us(325));
            let end = if (rank, number) == (1, 4) { us(15) } else { us(120) };
            job.kernel(rank, "a", us(20), end, us(10));
        }
        let starts = [(0, us(122)), (1, us(122))];
        let (kind, group) = ("allreduce", "0");
        job.call(&Call {
            kind,
            group,
            ranks: &[0, 1],
            starts: &starts,
            end: us(150),
            args: &plain,
        });
        at += 2_000_000 + gap(number);
    }
    let rows = job.store(&[]).lines(
        "SELECT rank, computation_ns, status, reason, count(*) FROM rank_step_heat
         GROUP BY ALL ORDER BY rank, computation_ns NULLS LAST",
    );
    let reason = "a kernel of the step has no duration, or a negative one";
    let expected = [
        "0 100000 measured NULL 10".to_owned(),
        "1 100000 measured NULL 9".to_owned(),
        format!("1 NULL partial {reason} 1"),
    ];
    assert_eq!(rows, expected);
}
