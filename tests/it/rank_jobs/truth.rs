//! The simulated jobs next to the corpus: all views of jobs compared with the simulation.

use super::simulated::Simulated;

#[test]
fn calls_and_waits_of_a_job_of_8_ranks_are_as_simulated() {
    let Some(job) = Simulated::recorded("job8") else { return };
    assert_eq!(counts(&job), ["580 580"]);
    job.check_calls(1.0);
    job.check_clocks();
}

#[test]
fn calls_and_waits_of_a_job_of_64_ranks_are_as_simulated() {
    let Some(job) = Simulated::recorded("job64") else { return };
    assert_eq!(counts(&job), ["1635 1635"]);
    job.check_calls(1.0);
    job.check_clocks();
}

#[test]
fn faults_of_both_jobs_are_on_top_of_the_list() {
    for name in ["job8", "job64"] {
        let Some(job) = Simulated::recorded(name) else { return };
        job.check_blame(&[]);
    }
}

/// The bus bandwidth is that of nccl-tests, with the exchange that the clocks show as the time.
#[test]
fn bandwidths_of_both_jobs_are_those_of_nccl_tests() {
    for name in ["job8", "job64"] {
        let Some(job) = Simulated::recorded(name) else { return };
        let rows = job.store.rows(
            "SELECT m.rank, k.correlation, c.transfer_ns * c.bus_bandwidth_gb_s \
            FROM collective_members m \
            JOIN kernels k ON k.trace_id = m.trace_id AND k.event_id = m.event_id \
            JOIN collective_calls c ON c.job = m.job AND c.call_id = m.call_id \
            WHERE c.transfer_ns > 0",
        );
        let mut bytes = std::collections::HashMap::new();
        for call in job.truth["collectives"].as_array().expect("calls") {
            let ranks = super::simulated::ints(&call["ranks"]);
            let members = ranks.into_iter().zip(super::simulated::ints(&call["correlation"]));
            let of = call["transfer_ns"].as_f64().expect("ns")
                * call["busbw_gb_s"].as_f64().expect("GB/s");
            // The truth is rounded to 6 digits after the point.
            let rounded = 5e-7 / call["busbw_gb_s"].as_f64().expect("GB/s");
            bytes.extend(members.map(|member| (member, (of, rounded))));
        }
        for row in rows {
            let key = (row[0].parse().expect("a rank"), row[1].parse().expect("an id"));
            let (of, rounded) = bytes[&key];
            let found: f64 = row[2].parse().expect("a number");
            assert!((found / of - 1.0).abs() <= 1e-9 + rounded, "{name}: {found}, truth {of}");
        }
    }
}

/// All calls, and those that are complete.
fn counts(job: &Simulated) -> Vec<String> {
    job.store
        .lines("SELECT count(*), count(*) FILTER (WHERE status = 'complete') FROM collective_calls")
}
