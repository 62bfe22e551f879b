//! Which collectives of different ranks are one call.

use tempfile::TempDir;

use super::made::{Call, Clock, Job, gap, plain};
use crate::support::TestStore;

const STATUSES: &str = "SELECT match_source, status, count(*) AS n, min(members), max(members), \
    max(reason) FROM collective_calls GROUP BY match_source, status ORDER BY n DESC";

fn two() -> Job {
    Job::new(&[Clock::default(), Clock { offset: 9_000_000, ..Clock::default() }])
}

#[test]
fn sends_and_receives_are_paired_by_sender_receiver_and_order() {
    let mut job = two();
    let mut at = 1_000_000;
    // Rank 0 sends twice and then receives; rank 1 posts its receive of the second message first.
    // Each side counts Seq in the order in which it issues.
    for round in 0..8 {
        for (src, dst, seqs) in [(0, 1, [1, 2]), (1, 0, [2, 1]), (0, 1, [3, 3])] {
            at += gap(round);
            for (rank, kind) in [(src, "send"), (dst, "recv")] {
                let peer = if rank == src { dst } else { src };
                let key = if rank == src { "Dst" } else { "Src" };
                let seq = 3 * round + seqs[rank];
                job.call(&Call {
                    kind,
                    group: "5",
                    ranks: &[0, 1],
                    starts: &[(rank, at)],
                    end: at + 60_000,
                    args: &|_| format!(r#","Rank":{peer},"{key} Rank":{peer},"Seq":{seq}"#),
                });
            }
        }
    }
    let store = job.store(&[]);
    assert_eq!(store.lines(STATUSES), ["pair complete 24 2 2 NULL"]);
    // Members of one call overlap in time on the clock of the job.
    assert_eq!(
        store.value(
            "SELECT max(skew_end_ns) < 1000 AND max(skew_start_ns) < 1000 FROM collective_calls"
        ),
        "true"
    );
}

/// A rank whose sequence numbers are too high by one is matched with other calls. Its ends do not fit
/// to those of the others, whatever its offset is.
#[test]
fn a_rank_that_does_not_fit_is_not_compared() {
    let mut job = Job::new(&[Clock::default(); 4]);
    let mut at = 1_000_000;
    for call in 0..30 {
        at += 20 * gap(call * call);
        let ranks = &[0, 1, 2, 3];
        let starts: Vec<(usize, i64)> =
            (0..4).map(|rank| (rank, at + 9_000 * rank as i64)).collect();
        let (kind, group, end) = ("allreduce", "0", at + 90_000);
        let args: &dyn Fn(usize) -> String =
            &|rank| format!(r#","Seq":{}"#, call + usize::from(rank == 2));
        job.call(&Call { kind, group, ranks, starts: &starts, end, args });
    }
    let store = job.store(&[]);
    let clocks = "SELECT rank, status FROM rank_clocks ORDER BY rank";
    assert_eq!(store.lines(clocks), ["0 reference", "1 aligned", "2 doubtful", "3 aligned"]);
    let waits = "SELECT count(*) > 100, count(wait_ns), count(transfer_ns) FROM collective_members \
        WHERE call_id IN (SELECT call_id FROM collective_members WHERE rank = 2)";
    assert_eq!(store.lines(waits), ["true 0 0"]);
    let reasons = "SELECT DISTINCT reason FROM collective_calls \
        WHERE call_id IN (SELECT call_id FROM collective_members WHERE rank = 2) ORDER BY reason";
    let reasons = store.lines(reasons);
    assert!(reasons.contains(&"the members do not end together".to_owned()), "{reasons:?}");
    assert!(!reasons.contains(&"NULL".to_owned()), "{reasons:?}");
}

#[test]
fn a_missing_rank_makes_a_call_incomplete() {
    let mut job = Job::new(&[Clock::default(); 3]);
    for call in 0..6 {
        let at = 1_000_000 * (call + 1);
        let (kind, group, args) = ("allreduce", "0", format!(r#","Seq":{call}"#));
        let starts = [(0, at), (1, at + 5_000), (2, at + 30_000)];
        let args: &dyn Fn(usize) -> String = &|_| args.clone();
        job.call(&Call { kind, group, ranks: &[0, 1, 2], starts: &starts, end: at + 90_000, args });
    }
    assert_eq!(job.store(&[]).lines(STATUSES), ["seq complete 6 3 3 NULL"]);
    assert_eq!(
        job.store(&[2]).lines(STATUSES),
        ["seq members_missing 6 2 2 it is not known whether a missing rank came last"]
    );
    // A rank alone waits for nothing that can be known.
    let store = job.store(&[1, 2]);
    assert_eq!(
        store.lines(STATUSES),
        ["seq members_missing 6 1 1 it is not known whether a missing rank came last"]
    );
    assert_eq!(
        store.lines(
            "SELECT count(wait_ns), count(transfer_ns), count(is_last) FROM collective_members"
        ),
        ["0 0 0"]
    );
}

/// Calls of two ranks. Rank 1 records only those from `late` on.
fn from(late: usize, args: &dyn Fn(usize, usize) -> String) -> Job {
    let mut job = two();
    let mut at = 1_000_000;
    for call in 0..30 {
        at += gap(call * call);
        let mut starts = vec![(0, at), (1, at + 3_000)];
        starts.truncate(if call < late { 1 } else { 2 });
        let (kind, group) = ("allreduce", "0");
        let args: &dyn Fn(usize) -> String = &|rank| args(rank, call);
        job.call(&Call { kind, group, ranks: &[0, 1], starts: &starts, end: at + 50_000, args });
    }
    job
}

#[test]
fn a_rank_that_records_later_is_shifted() {
    let store = from(7, &|_, _| String::new()).store(&[]);
    let expected = ["order complete 23 2 2 NULL", "order members_missing 7 1 1 NULL"];
    assert_eq!(store.lines(STATUSES), expected);
    assert_eq!(
        store.value("SELECT max(wait_ns) FROM collective_members WHERE status = 'complete'"),
        "3000"
    );
}

#[test]
fn numbers_that_restart_are_not_trusted() {
    // The communicator is created again after call 20, and rank 1 began to record at call 15.
    let seq =
        |_: usize, call: usize| format!(r#","Seq":{}"#, if call < 20 { call } else { call - 20 });
    let store = from(15, &seq).store(&[]);
    let expected = ["order complete 15 2 2 NULL", "order members_missing 15 1 1 NULL"];
    assert_eq!(store.lines(STATUSES), expected);
}

#[test]
fn members_that_contradict_each_other_are_a_mismatch() {
    let seq = |rank: usize, call: usize| {
        let odd = if rank == 1 && call == 4 { r#","dtype":"Half""# } else { "" };
        let odd = if rank == 1 && call == 9 { r#","In msg nelems":5"# } else { odd };
        let odd = if rank == 1 && call == 11 { r#","Collective name":"allgather""# } else { odd };
        format!(r#","Seq":{call}{odd}"#)
    };
    let store = from(0, &seq).store(&[]);
    assert_eq!(
        store.lines(
            "SELECT number, reason FROM collective_calls WHERE status <> 'complete' ORDER BY 1"
        ),
        [
            "4 the ranks name different types",
            "9 the ranks give different sizes",
            "11 the ranks name different collectives"
        ]
    );
    assert_eq!(
        store.value("SELECT count(wait_ns) FROM collective_members WHERE status = 'mismatch'"),
        "0"
    );
    assert_eq!(store.value("SELECT count(*) FROM collective_waits WHERE NOT is_matched"), "6");
}

#[test]
fn members_that_do_not_end_together_are_a_mismatch() {
    let mut job = from(0, &|_, call| format!(r#","Seq":{call}"#));
    // Rank 1 gives the number of a call that it did not take part in.
    for (rank, at) in [(0, 90_000_000), (1, 90_400_000)] {
        let (kind, group, args) = ("allreduce", "0", r#","Seq":77"#);
        let starts = [(rank, at)];
        let args: &dyn Fn(usize) -> String = &|_| args.to_owned();
        job.call(&Call { kind, group, ranks: &[0, 1], starts: &starts, end: at + 50_000, args });
    }
    assert_eq!(
        job.store(&[]).lines(STATUSES),
        ["seq complete 30 2 2 NULL", "seq mismatch 1 2 2 the members do not end together"]
    );
}

#[test]
fn groups_of_equal_ranks_are_kept_apart() {
    let mut job = two();
    let mut at = 1_000_000;
    for call in 0..40 {
        at += gap(call);
        let (kind, group) = ("allreduce", if call % 3 == 0 { "1" } else { "2" });
        let starts = [(0, at), (1, at)];
        job.call(&Call {
            kind,
            group,
            ranks: &[0, 1],
            starts: &starts,
            end: at + 50_000,
            args: &plain,
        });
    }
    assert_eq!(
        job.store(&[]).lines(
            "SELECT group_name, status, count(*) FROM collective_calls GROUP BY 1, 2 ORDER BY 1"
        ),
        ["1 complete 14", "2 complete 26"]
    );
}

#[test]
fn without_groups_calls_are_matched_only_if_all_ranks_have_as_many() {
    for (late, expected) in [
        (0, "world complete 30 2 2 NULL"),
        (2, "world single 58 1 1 the group is not recorded, and not all ranks have as many calls"),
    ] {
        let mut job = two();
        let mut at = 1_000_000;
        for call in 0..30 {
            at += gap(call);
            let starts = if call < late { &[(0, at)][..] } else { &[(0, at), (1, at)] };
            let (kind, group) = ("allreduce", "");
            job.call(&Call { kind, group, ranks: &[], starts, end: at + 50_000, args: &plain });
        }
        assert_eq!(job.store(&[]).lines(STATUSES), [expected]);
    }
}

#[test]
fn groups_smaller_than_the_job_are_not_matched_over_all_ranks() {
    let mut job = Job::new(&[Clock::default(); 4]);
    let mut at = 1_000_000;
    for call in 0..30 {
        at += gap(call);
        // Two groups of two ranks, of which only the size is recorded.
        for (ranks, at) in [([0, 1], at), ([2, 3], at + 700)] {
            let (kind, group, args) = ("allreduce", "", r#","Group size":2"#);
            let starts = [(ranks[0], at), (ranks[1], at)];
            let args: &dyn Fn(usize) -> String = &|_| args.to_owned();
            job.call(&Call { kind, group, ranks: &[], starts: &starts, end: at + 50_000, args });
        }
    }
    let store = job.store(&[]);
    assert_eq!(store.lines(STATUSES), ["NULL single 120 1 1 the group is not known"]);
    assert_eq!(
        store.value("SELECT count(*) FROM rank_clocks WHERE status <> 'not_connected'"),
        "0"
    );
}

#[test]
fn a_negative_duration_keeps_its_place_among_the_calls() {
    let mut job = two();
    let mut at = 1_000_000;
    for call in 0..30 {
        at += gap(call);
        let end = if call == 7 { at - 1_500 } else { at + 50_000 };
        for (rank, end) in [(0, end), (1, at + 50_000)] {
            let (kind, group) = ("allreduce", "0");
            let (ranks, starts) = (&[0, 1], &[(rank, at)]);
            job.call(&Call { kind, group, ranks, starts, end, args: &plain });
        }
    }
    let store = job.store(&[]);
    assert_eq!(
        store.lines(STATUSES),
        ["order complete 29 2 2 NULL", "order mismatch 1 2 2 a member has a negative duration"]
    );
    assert_eq!(
        store.lines(
            "SELECT call, sum(wait_ns), min(dur_ns) FROM collective_members \
            WHERE status = 'mismatch' GROUP BY call"
        ),
        ["8 NULL 50000"]
    );
}

#[test]
fn two_jobs_in_one_folder_are_told_apart_by_their_names() {
    let (folder, store) = (TempDir::new().expect("a folder"), TestStore::new());
    // Rank 0 of one job begins before that of the other, rank 1 after it.
    for (name, offsets) in [(".first", [0, 9_000_000]), (".second", [2_000_000, 1_000_000])] {
        let clock = |offset| Clock { offset, ..Clock::default() };
        let mut job = Job::new(&offsets.map(clock));
        let mut at = 1_000_000;
        for call in 0..30 {
            at += gap(call);
            let (kind, group, starts) = ("allreduce", "0", &[(0, at), (1, at)]);
            let ranks = &[0, 1];
            job.call(&Call { kind, group, ranks, starts, end: at + 50_000, args: &plain });
        }
        job.write(&store, folder.path(), name, &[]);
    }
    assert_eq!(store.value("SELECT count(DISTINCT job) FROM job_ranks"), "2");
    assert_eq!(store.lines(STATUSES), ["order complete 60 2 2 NULL"]);
    assert_eq!(
        store.lines("SELECT offset_ns FROM rank_clocks ORDER BY 1"),
        ["-1000000", "0", "0", "9000000"]
    );
}
