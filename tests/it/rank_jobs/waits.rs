//! Waits, exchange and the last rank.

use super::made::{Call, Clock, Job, gap, plain};

/// Calls of three ranks: rank 2 begins 80 µs after the others in every third call, else 20 µs
/// before them. The exchange takes 50 µs.
fn job(ranks: usize) -> Job {
    let mut clocks = vec![
        Clock::default(),
        Clock { offset: 700_000, ..Clock::default() },
        Clock { offset: -90_000, ..Clock::default() },
    ];
    clocks.resize(ranks, Clock::default());
    let mut job = Job::new(&clocks);
    let mut at = 1_000_000;
    for call in 0..30 {
        at += gap(call) + 200_000;
        let late = if call % 3 == 0 { 80_000 } else { -20_000 };
        let starts = [(0, at), (1, at + 10_000), (2, at + late)];
        let end = at + 50_000 + late.max(10_000);
        let (kind, group) = ("allreduce", "0");
        job.call(&Call { kind, group, ranks: &[0, 1, 2], starts: &starts, end, args: &plain });
        // Ranks 0 and 1 exchange as much between themselves.
        at += 300_000;
        let starts = [(0, at), (1, at)];
        let (group, end) = ("1", at + 50_000);
        job.call(&Call { kind, group, ranks: &[0, 1], starts: &starts, end, args: &plain });
    }
    job
}

#[test]
fn a_rank_waits_until_the_last_one_begins() {
    let store = job(3).store(&[]);
    let waits = "SELECT rank, wait_ns, transfer_ns, is_last, count(*) FROM collective_members \
        WHERE group_name = '0' GROUP BY 1, 2, 3, 4 ORDER BY 1, 2";
    assert_eq!(
        store.lines(waits),
        [
            "0 10000 50000 false 20",
            "0 80000 50000 false 10",
            "1 0 50000 true 20",
            "1 70000 50000 false 10",
            "2 0 50000 true 10",
            "2 30000 50000 false 20"
        ]
    );
    let calls = "SELECT group_name, last_rank, skew_start_ns, transfer_ns, last_candidates, \
        count(*), max(round(bus_bandwidth_gb_s, 4)) FROM collective_calls GROUP BY 1, 2, 3, 4, 5 \
        ORDER BY 1, 2";
    assert_eq!(
        store.lines(calls),
        [
            "0 1 30000 50000 1 20 111.8481",
            "0 2 80000 50000 1 10 111.8481",
            "1 NULL 0 50000 2 30 83.8861"
        ]
    );
    let stragglers =
        "SELECT rank, calls, wait_ns, last_calls, waited_for_ns FROM stragglers ORDER BY 1";
    assert_eq!(
        store.lines(stragglers),
        ["0 60 1000000 0 0", "1 60 700000 20 800000", "2 30 600000 10 1500000"]
    );
}

#[test]
fn a_missing_rank_that_came_last_is_found_by_calls_alike() {
    let mut job = job(4);
    // Complete calls of three ranks that show how long the exchange takes.
    for call in 0..5 {
        let at = 60_000_000 + 1_000_000 * call;
        let starts = [(0, at), (1, at), (3, at)];
        let (kind, group) = ("allreduce", "2");
        job.call(&Call {
            kind,
            group,
            ranks: &[0, 1, 3],
            starts: &starts,
            end: at + 50_000,
            args: &plain,
        });
    }
    let store = job.store(&[2]);
    let calls = "SELECT status, missing_was_last, last_rank, transfer_ns, count(*) \
        FROM collective_calls WHERE group_name = '0' GROUP BY 1, 2, 3, 4 ORDER BY 2";
    assert_eq!(
        store.lines(calls),
        ["members_missing false 1 50000 20", "members_missing true NULL 50000 10"]
    );
    let waits = "SELECT rank, missing_was_last, wait_ns, count(*) FROM collective_members m \
        JOIN collective_calls c ON c.job = m.job AND c.call_id = m.call_id \
        WHERE c.group_name = '0' GROUP BY 1, 2, 3 ORDER BY 1, 2";
    assert_eq!(
        store.lines(waits),
        ["0 false 10000 20", "0 true 80000 10", "1 false 0 20", "1 true 70000 10"]
    );
}

#[test]
fn the_root_of_a_broadcast_does_not_wait() {
    let mut job = Job::new(&[Clock::default(); 3]);
    for call in 0..20 {
        let at = 1_000_000 + 700_000 * call;
        let (kind, group) = ("allreduce", "0");
        let starts = [(0, at), (1, at), (2, at)];
        job.call(&Call {
            kind,
            group,
            ranks: &[0, 1, 2],
            starts: &starts,
            end: at + 50_000,
            args: &plain,
        });
        let at = at + 200_000;
        for (rank, start, end) in
            [(1, at, 30_000), (0, at + 1_000, 90_000), (2, at + 40_000, 90_000)]
        {
            let (kind, starts) = ("broadcast", [(rank, start)]);
            let end = at + end;
            job.call(&Call { kind, group, ranks: &[0, 1, 2], starts: &starts, end, args: &plain });
        }
    }
    let store = job.store(&[]);
    assert_eq!(
        store.lines("SELECT root_rank, last_rank, transfer_ns, count(*) FROM collective_calls WHERE collective = 'broadcast' GROUP BY 1, 2, 3"),
        ["1 2 50000 20"]
    );
    assert_eq!(
        store.lines("SELECT rank, wait_ns, count(*) FROM collective_members WHERE collective = 'broadcast' GROUP BY 1, 2 ORDER BY 1"),
        ["0 39000 20", "1 NULL 20", "2 0 20"]
    );
}
