//! The clocks of ranks against each other.

use super::made::{Call, Clock, Job, gap, plain};

const CLOCKS: &str = "SELECT rank, segment, reference_rank, status FROM rank_clocks \
    ORDER BY rank, segment";

/// Calls of pairs of ranks, one after the other. Returns the true time after the last one.
fn pairs(job: &mut Job, count: usize, pairs: &[[usize; 2]]) -> i64 {
    let mut at = 1_000_000;
    for call in 0..count {
        at += gap(call);
        let ranks = &pairs[call % pairs.len()];
        let starts = [(ranks[0], at), (ranks[1], at + 2_000)];
        let group = format!("{ranks:?}");
        let (kind, group) = ("allreduce", group.as_str());
        job.call(&Call { kind, group, ranks, starts: &starts, end: at + 40_000, args: &plain });
    }
    at
}

#[test]
fn clocks_days_apart_are_aligned() {
    let day = 86_400_000_000_000;
    let mut job = Job::new(&[
        Clock::default(),
        Clock { offset: 3 * day, drift_ppm: 50.0, ..Clock::default() },
        Clock { offset: -day - 7, drift_ppm: -30.0, ..Clock::default() },
    ]);
    pairs(&mut job, 300, &[[0, 1], [1, 2]]);
    let store = job.store(&[]);
    assert_eq!(store.lines(CLOCKS), ["0 1 0 reference", "1 1 0 aligned", "2 1 0 aligned"]);
    let found = store.ints(
        "SELECT count(*), count(*) FILTER (WHERE is_last), \
            max(abs(wait_ns - CASE WHEN is_last THEN 0 ELSE 2000 END)) FROM collective_members",
    );
    assert_eq!(found[..2], [600, 300]);
    assert!(found[2] <= 20, "a wait is {} ns off", found[2]);
    assert_eq!(
        store.lines("SELECT round(drift_ppm) FROM rank_clocks ORDER BY rank"),
        ["0.0", "50.0", "-30.0"]
    );
}

#[test]
fn a_step_of_a_clock_is_a_row_of_its_own() {
    let step = Some((20_000_000, 1_500_000));
    let mut job = Job::new(&[Clock::default(), Clock { step, ..Clock::default() }]);
    pairs(&mut job, 200, &[[0, 1]]);
    let store = job.store(&[]);
    assert_eq!(store.lines(CLOCKS), ["0 1 0 reference", "1 1 0 aligned", "1 2 0 aligned"]);
    assert_eq!(
        store.lines("SELECT offset_ns, from_unix_ns IS NULL, to_unix_ns IS NULL FROM rank_clocks WHERE rank = 1 ORDER BY segment"),
        ["0 true false", "1500000 false true"]
    );
    assert_eq!(
        store.value("SELECT max(skew_start_ns) FROM collective_calls WHERE status = 'complete'"),
        "2000"
    );
}

/// A clock that steps back shows some times twice. The calls there have the order of the other
/// clocks.
#[test]
fn a_step_back_is_found_and_calls_keep_their_order() {
    for by in [-100_000, -1_500_000, -6_000_000] {
        let step = Some((20_000_000, by));
        let mut job = Job::new(&[Clock::default(), Clock { step, ..Clock::default() }]);
        pairs(&mut job, 200, &[[0, 1]]);
        let store = job.store(&[]);
        assert_eq!(
            store.lines(
                "SELECT segment, offset_ns FROM rank_clocks WHERE rank = 1 ORDER BY segment"
            ),
            ["1 0".to_owned(), format!("2 {by}")]
        );
        let calls = store.ints(
            "SELECT count(*), count(*) FILTER (WHERE status = 'complete'), \
                max(abs(skew_start_ns - 2000)) FROM collective_calls",
        );
        assert_eq!(calls, [200, 200, 0], "{by}");
    }
}

/// Of a call during which a clock steps back, the profiler writes no length for that rank.
#[test]
fn waits_are_right_where_a_clock_steps_back_during_a_call() {
    let during = 1_000_000 + (0..60).map(gap).sum::<i64>() + 20_000;
    for by in [-300_000, -5_000_000] {
        let step = Some((during, by));
        let mut job = Job::new(&[Clock::default(), Clock { step, ..Clock::default() }]);
        pairs(&mut job, 200, &[[0, 1]]);
        let store = job.store(&[]);
        let lengths = store.ints("SELECT count(*) FROM kernels WHERE dur_ns = 0");
        assert_eq!(lengths, [1]);
        let waits = store.lines(
            "SELECT rank, wait_ns, count(*) FROM collective_members GROUP BY ALL ORDER BY 1, 2",
        );
        assert_eq!(waits, ["0 2000 200", "1 0 200"], "{by}");
    }
}

#[test]
fn ranks_without_a_common_call_are_not_connected() {
    let mut job = Job::new(&[Clock { offset: 5_000_000, ..Clock::default() }; 6]);
    let end = pairs(&mut job, 90, &[[0, 1], [1, 2], [3, 4]]);
    // Rank 5 only takes part in a broadcast, whose members do not end together.
    let (starts, ranks) = ([(0, end), (5, end)], [0, 5]);
    let (kind, group) = ("broadcast", "b");
    job.call(&Call { kind, group, ranks: &ranks, starts: &starts, end: end + 9_000, args: &plain });
    let store = job.store(&[]);
    assert_eq!(
        store.lines(CLOCKS),
        [
            "0 1 0 reference",
            "1 1 0 aligned",
            "2 1 0 aligned",
            "3 1 3 not_connected",
            "4 1 3 not_connected",
            "5 1 5 not_connected"
        ]
    );
    // There is no wait across the cut.
    assert_eq!(
        store.lines(
            "SELECT count(*), count(wait_ns) FROM collective_members WHERE collective = 'broadcast'"
        ),
        ["2 0"]
    );
}

#[test]
fn a_rank_alone_has_its_own_clock() {
    let mut job = Job::new(&[Clock::default(); 2]);
    pairs(&mut job, 10, &[[0, 1]]);
    assert_eq!(job.store(&[1]).lines(CLOCKS), ["0 1 0 alone"]);
}

/// Times of whole microseconds are no better than that, on the clock of the reference too.
#[test]
fn whole_microseconds_limit_the_error_of_all_ranks() {
    let errors = |offset: i64, grain: i64| {
        let mut job = Job::new(&[Clock::default(), Clock { offset, ..Clock::default() }]);
        for call in 0..40 {
            let at = 1_000_000 + 900_000 * call + grain * (call * call % 97);
            let (starts, ranks) = ([(0, at), (1, at + 3_000)], [0, 1]);
            let (kind, group, end) = ("allreduce", "0", at + 50_000);
            job.call(&Call { kind, group, ranks: &ranks, starts: &starts, end, args: &plain });
        }
        job.store(&[]).ints(
            "SELECT max(error_ns) FILTER (WHERE rank = 0), max(error_ns) FILTER (WHERE rank = 1) \
            FROM rank_clocks",
        )
    };
    assert_eq!(errors(7_000, 1_000), [1_000, 1_000]);
    let fine = errors(7_123, 1);
    assert_eq!(fine[0], 0);
    assert!(fine[1] < 1_000, "{fine:?}");
}
