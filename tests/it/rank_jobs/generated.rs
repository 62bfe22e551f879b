//! Jobs with other sizes, layouts, faults and gaps than those next to the corpus, made by the same
//! generator and compared with their truth.

use super::simulated::Simulated;

fn all(options: &str) {
    let Some(job) = Simulated::made(options) else { return };
    job.check_all();
}

#[test]
fn two_ranks_that_share_their_data() {
    all("--ranks 2 --tp 1 --pp 1 --steps 5 --seed 21 --nccl-args plain --slow 1:-1:1.2");
}

#[test]
fn two_stages_that_only_send_and_receive() {
    all("--ranks 2 --tp 1 --pp 2 --steps 4 --seed 23 --p2p-only-world --nccl-args plain \
        --pause 1:5:2500");
}

#[test]
fn three_ranks_without_arguments_of_collectives() {
    all("--ranks 3 --tp 1 --pp 1 --steps 6 --seed 24 --nccl-args none --slow 2:-1:1.1 \
        --pause 0:5:4000");
}

#[test]
fn six_stages_with_clocks_that_drift() {
    all("--ranks 6 --tp 1 --pp 6 --steps 4 --seed 28 --p2p-only-world --drift-ppm 60 \
        --slow 3:-1:1.3 --micro 8");
}

#[test]
fn clocks_that_are_days_apart() {
    all("--ranks 8 --tp 2 --pp 2 --steps 3 --seed 36 --host-offset-us 200000000000 \
        --slow 6:-1:1.2");
}

#[test]
fn a_slow_link_and_a_slow_step() {
    all("--ranks 16 --tp 4 --pp 2 --steps 4 --seed 35 --slow-link 2:0.5 --slow 15:5:1.4");
}

#[test]
fn four_faults_in_24_ranks() {
    all("--ranks 24 --tp 4 --pp 3 --steps 3 --seed 29 --nccl-args plain --slow-link 12:0.4 \
        --slow 20:-1:1.2 --slow-load 9:4:9000 --pause 2:5:7000 --zero");
}

#[test]
fn nothing_is_blamed_without_faults() {
    all("--ranks 8 --tp 2 --pp 2 --steps 4 --seed 37 --moe --zero");
}

#[test]
fn a_rank_without_a_trace_whose_host_is_not_known() {
    let options = "--ranks 6 --tp 1 --pp 3 --steps 4 --seed 25 --moe --missing 4 --slow 1:-1:1.25 \
        --micro 6";
    let Some(job) = Simulated::made(options) else { return };
    job.check_calls(0.85);
    job.check_clocks();
    job.check_blame(&[]);
    job.check_paths(0);
    job.check_forecasts(0);
}

#[test]
fn a_slow_rank_without_a_trace_and_another_one() {
    let options = "--ranks 16 --tp 2 --pp 2 --steps 4 --seed 38 --missing 0 --missing 9 \
        --slow 9:-1:1.3 --slow-load 4:4:5000";
    let Some(job) = Simulated::made(options) else { return };
    job.check_calls(0.85);
    job.check_clocks();
    job.check_blame(&[]);
    job.check_paths(0);
    job.check_forecasts(0);
    let finding = "SELECT DISTINCT status, subject FROM findings WHERE rule = 'slow_links'";
    assert_eq!(job.lines(finding), ["finding rank 9 (no trace)"]);
}

#[test]
fn half_of_the_ranks_without_traces() {
    let missing: String = (0..16).map(|pair| format!(" --missing {}", 2 * pair + 1)).collect();
    let options = format!(
        "--ranks 32 --tp 2 --pp 4 --steps 3 --seed 31 --layers 1 --slow 24:-1:1.2{missing}"
    );
    let Some(job) = Simulated::made(&options) else { return };
    // No complete call is like those of pairs and of all ranks.
    job.check_calls(0.5);
    job.check_clocks();
    job.check_blame(&[]);
    job.check_paths(0);
    job.check_forecasts(0);
}

#[test]
fn a_missing_rank_and_a_clock_that_steps() {
    let options = "--ranks 12 --tp 2 --pp 3 --steps 4 --seed 26 --missing 7 --clock-step 3:40:1500 \
        --slow 5:-1:1.2 --slow-load 8:4:7000 --moe";
    let Some(job) = Simulated::made(options) else { return };
    job.check_calls(0.95);
    job.check_clocks();
    job.check_blame(&[]);
    job.check_paths(0);
    job.check_forecasts(0);
}

#[test]
fn ranks_that_begin_to_record_later() {
    let options = "--ranks 16 --tp 2 --pp 4 --steps 5 --seed 27 --nccl-args plain --late 5:5 \
        --late 12:4 --slow 9:-1:1.15 --pause 2:6:5000";
    let Some(job) = Simulated::made(options) else { return };
    job.check_calls(0.99);
    job.check_clocks();
    job.check_blame(&[]);
    job.check_paths(2);
    job.check_forecasts(6);
}

/// Calls that the late rank did not record are compared with others of the same slow link.
#[test]
fn a_slow_link_of_a_rank_that_begins_to_record_later() {
    let options = "--ranks 44 --tp 2 --pp 1 --steps 2 --layers 1 --micro 2 --seed 602 --late 3:4 \
        --slow-link 2:0.3";
    let Some(job) = Simulated::made(options) else { return };
    job.check_clocks();
    job.check_blame(&[]);
}

/// Either the link is slow, or the missing rank comes late to each call. Nobody is charged, and the
/// path does not call the time a transfer.
#[test]
fn a_slow_link_of_a_rank_without_a_trace() {
    let options = "--ranks 8 --tp 2 --pp 2 --steps 3 --seed 502 --layers 1 --missing 5 \
        --slow-link 3:0.3";
    let Some(job) = Simulated::made(options) else { return };
    job.check_clocks();
    let charged = job.lines("SELECT rank, cause FROM straggler_ranks WHERE verdict <> 'weak'");
    assert_eq!(charged, [""; 0]);
    let unclear = job.lines(
        "SELECT collective, count(*), min(reason) FROM collective_calls
         WHERE group_name = '3' AND missing_was_last IS NULL GROUP BY collective",
    );
    assert_eq!(unclear, ["all_reduce 24 it is not known whether a missing rank came last"]);
    let transfers = job.lines(
        "SELECT count(*) FROM job_critical_path p
         JOIN collective_calls c ON c.job = p.job AND c.call_id = p.call_id
         WHERE p.kind = 'transfer' AND c.group_name = '3' AND c.missing_was_last IS NULL",
    );
    assert_eq!(transfers, ["0"]);
}

/// The exchanges of other groups scatter as before, so that a rank that is late is still seen.
#[test]
fn a_slow_link_beside_a_late_rank_without_a_trace() {
    let options = "--ranks 16 --tp 2 --pp 1 --steps 4 --seed 511 --slow-link 3:0.1 --missing 9 \
        --slow 9:-1:1.3 --nccl-args plain";
    let Some(job) = Simulated::made(options) else { return };
    job.check_calls(0.85);
    job.check_clocks();
    let charged = "SELECT coalesce(rank, -1), cause FROM straggler_ranks WHERE verdict <> 'weak' \
        ORDER BY lost_ns DESC";
    assert_eq!(job.lines(charged), ["-1 transfer", "9 not_recorded"]);
    let finding = "SELECT DISTINCT status, severity, subject, round(value) FROM findings \
        WHERE rule = 'slow_links'";
    assert_eq!(job.lines(finding), ["finding high the link of group 3 27.0"]);
}

#[test]
fn a_clock_that_steps_back() {
    let options = "--ranks 8 --tp 2 --pp 2 --steps 4 --seed 33 --clock-step 5:35:-3000 \
        --slow 1:-1:1.2 --pause 6:4:3000";
    let Some(job) = Simulated::made(options) else { return };
    job.check_calls(0.98);
    job.check_clocks();
    job.check_blame(&[]);
    job.check_paths(2);
    job.check_forecasts(6);
}

/// The lengths of the work in which a clock steps are not known to any view.
#[test]
fn views_agree_where_a_clock_steps_during_computation() {
    let options = "--ranks 6 --tp 3 --pp 1 --zero --seed 325 --slow 3:-1:1.2 \
        --slow-load 5:4:4000 --clock-step 4:11:5000 --clock-step 4:33:-2000";
    let Some(job) = Simulated::made(options) else { return };
    job.check_layout(0);
    let stepped = "SELECT h.rank, h.step, count(h.computation_ns), w.status FROM rank_step_heat h
        JOIN job_critical_path_windows w ON w.job = h.job AND w.step = h.step
        WHERE h.status = 'clock stepped' GROUP BY ALL ORDER BY h.step";
    assert_eq!(job.lines(stepped), ["4 3 0 clock stepped", "4 4 0 clock stepped"]);
}

/// A job that waits for long exchanges, one that waits for its hosts, and one that does both. Of
/// the last one, the forecast without transfers is 0.8 % off in a step: more than 0.5 %, which
/// holds for all other jobs.
#[test]
fn exchanges_and_hosts_that_are_waited_for() {
    let jobs = [
        "--ranks 8 --tp 2 --pp 2 --steps 3 --seed 51 --hidden 8192 --net 8 --params 80000000",
        "--ranks 4 --tp 2 --pp 1 --steps 3 --seed 52 --fwd-us 2 --hidden 16 --params 1000 \
            --opt-us 2 --latency-us 0.5 --layers 4",
    ];
    for options in jobs {
        let Some(job) = Simulated::made(options) else { return };
        job.check_forecasts(6);
    }
    let both = "--ranks 8 --tp 2 --pp 2 --steps 3 --seed 53 --fwd-us 20 --hidden 256 \
        --params 400000 --moe --zero --nccl-args plain";
    let Some(job) = Simulated::made(both) else { return };
    job.check_forecasts_within(6, 0.01);
}
