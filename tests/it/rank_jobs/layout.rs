//! Groups, pipelines, overlap and balance of simulated jobs, compared with their truth.

use std::collections::HashMap;

use super::simulated::{Simulated, ints};

/// Sums of lengths may differ by the drift of a clock, ns.
const MAX_ERROR_NS: i64 = 5_000;

fn parsed(text: &str) -> Option<i64> {
    (text != "NULL").then(|| text.parse().expect("a number"))
}

impl Simulated {
    /// Groups have the kinds that they were made for; pipelines, overlap and imbalance are as
    /// simulated where they are measured, and `least` steps of ranks must be.
    pub fn check_layout(&self, least: usize) {
        self.check_groups();
        self.check_pipelines(least);
        self.check_overlap();
        self.check_balance();
    }

    fn check_groups(&self) {
        let kinds: HashMap<&str, &str> = HashMap::from([
            ("default_pg", "world"),
            ("TENSOR_MODEL_PARALLEL_GROUP", "tensor"),
            ("DATA_PARALLEL_GROUP", "data"),
            ("PIPELINE_MODEL_PARALLEL_GROUP", "pipeline"),
            ("EXPERT_MODEL_PARALLEL_GROUP", "expert"),
        ]);
        let rows = self.store.rows("SELECT group_name, ranks, kind FROM process_groups");
        let groups = self.truth["groups"].as_object().expect("groups");
        for row in rows.iter().filter(|row| row[0] != "NULL") {
            let group = &groups[&row[0]];
            assert_eq!(row[1], format!("{:?}", ints(&group["ranks"])), "group {}", row[0]);
            let made_for = group["desc"].as_str().expect("a description");
            // A pipeline of all ranks is a pipeline.
            if made_for != "default_pg" {
                assert_eq!(row[2], kinds[made_for], "group {}", row[0]);
            }
        }
    }

    fn check_pipelines(&self, least: usize) {
        let (tp, dp) = (self.truth["tp"].as_i64(), self.truth["dp"].as_i64());
        let across = tp.expect("tp") * dp.expect("dp");
        if self.truth["pp"] == 1 {
            assert_eq!(self.store.value("SELECT count(*) FROM pipeline_bubbles"), "0");
            return;
        }
        let rows = self.store.rows(
            "SELECT rank, step, stage, microbatches, computation_ns, exposed_recv_ns, span_ns, \
                bubble_ns, status, coalesce(reason, ''), warm_up_ns FROM pipeline_bubbles",
        );
        let measured = rows.iter().filter(|row| row[8] == "measured").count();
        assert!(measured >= least, "{measured} steps of ranks are measured");
        for row in &rows {
            let (rank, step) = (row[0].parse::<i64>().expect("a rank"), &row[1]);
            let steps = self.truth["steps"].as_array().expect("steps").iter();
            let of_step =
                steps.clone().find(|s| s["step"].as_i64() == step.parse().ok()).expect("a step");
            let truth = &of_step["ranks"][rank.to_string()];
            assert_eq!(row[2], (rank / across).to_string(), "rank {rank}: stage");
            let near = |at: usize, wanted: i64| {
                let Some(found) = parsed(&row[at]) else { return };
                let error = (found - wanted).abs();
                assert!(error <= MAX_ERROR_NS, "rank {rank} step {step}: {found}, truth {wanted}");
            };
            near(4, truth["compute_ns"].as_i64().expect("ns"));
            near(5, truth["exposed_recv_ns"].as_i64().expect("ns"));
            let is_whole = row[8] == "measured";
            assert_eq!(row[9].is_empty(), is_whole, "rank {rank} step {step}: {}", row[9]);
            assert_eq!(row[7] != "NULL", is_whole, "rank {rank} step {step}: bubble {}", row[7]);
            if is_whole {
                assert_eq!(row[3], self.truth["microbatches"].to_string(), "step {step}");
                let (span, own) = (parsed(&row[6]), parsed(&row[4]));
                near(7, span.expect("a span") - own.expect("a time"));
                assert!(parsed(&row[10]) >= Some(0), "rank {rank} step {step}: {}", row[10]);
            }
        }
    }

    /// Communication beside which nothing computes, of ranks that recorded all steps.
    fn check_overlap(&self) {
        let rows = self.store.rows(
            "SELECT r.rank, r.computation_ns, r.exposed_communication_ns FROM rank_communication r \
            WHERE r.trace_id NOT IN (SELECT trace_id FROM rank_clocks WHERE segment > 1)",
        );
        let ranks = self.truth["ranks"].as_array().expect("ranks");
        let first_step = |rank: &str| {
            let of =
                ranks.iter().find(|r| r["rank"].as_i64() == rank.parse().ok()).expect("the rank");
            of["first_step"].as_i64().expect("a step")
        };
        for row in rows {
            let steps = self.truth["steps"].as_array().expect("steps").iter();
            let seen = steps.filter(|s| s["step"].as_i64() >= Some(first_step(&row[0])));
            let (mut own, mut exposed) = (0, 0);
            for step in seen {
                let truth = &step["ranks"][&row[0]];
                own += truth["compute_ns"].as_i64().expect("ns");
                exposed += truth["exposed_communication_ns"].as_i64().expect("ns");
            }
            for (found, wanted) in [(&row[1], own), (&row[2], exposed)] {
                let error = (parsed(found).expect("a time") - wanted).abs();
                let most = MAX_ERROR_NS + wanted / 5_000;
                assert!(error <= most, "rank {}: {found}, truth {wanted}", row[0]);
            }
        }
    }

    fn check_balance(&self) {
        let mut of = HashMap::new();
        for call in self.truth["collectives"].as_array().expect("calls") {
            let members = ints(&call["ranks"]).into_iter().zip(ints(&call["correlation"]));
            of.extend(members.map(|member| (member, call)));
        }
        let rows = self.store.rows(
            "SELECT m.rank, k.correlation, b.hot_rank, b.max_bytes, b.imbalance, b.status, \
                coalesce(b.reason, '') \
            FROM all_to_all_balance b \
            JOIN collective_members m ON m.job = b.job AND m.call_id = b.call_id \
            JOIN kernels k ON k.trace_id = m.trace_id AND k.event_id = m.event_id",
        );
        for row in rows {
            let key = (row[0].parse().expect("a rank"), row[1].parse().expect("an id"));
            assert_eq!(row[6].is_empty(), row[5] == "measured", "{row:?}");
            if row[5] != "measured" {
                assert!(row[2..5].iter().all(|cell| cell == "NULL"), "{row:?}");
                continue;
            }
            let (ranks, bytes) = (ints(&of[&key]["ranks"]), ints(&of[&key]["out_bytes"]));
            let most = *bytes.iter().max().expect("a rank");
            let hot = bytes.iter().position(|of_rank| *of_rank == most).expect("a rank");
            assert_eq!(row[2], ranks[hot].to_string(), "the rank that gets most");
            assert_eq!(row[3], most.to_string(), "what it gets");
            let mean = bytes.iter().sum::<i64>() as f64 / bytes.len() as f64;
            let found: f64 = row[4].parse().expect("a number");
            assert!((found - most as f64 / mean).abs() < 1e-9, "imbalance {found}");
        }
    }
}

#[test]
fn layouts_of_both_jobs_are_as_simulated() {
    for (name, steps) in [("job8", 32), ("job64", 192)] {
        let Some(job) = Simulated::recorded(name) else { return };
        job.check_layout(steps);
    }
}

#[test]
fn four_stages_with_experts_and_shards() {
    let options = "--ranks 16 --tp 2 --pp 4 --steps 3 --seed 41 --micro 6 --moe --zero \
        --slow 3:-1:1.2";
    let Some(job) = Simulated::made(options) else { return };
    job.check_layout(48);
}

#[test]
fn two_stages_with_few_microbatches() {
    let options = "--ranks 8 --tp 1 --pp 2 --steps 4 --seed 42 --micro 3 --nccl-args plain";
    let Some(job) = Simulated::made(options) else { return };
    job.check_layout(32);
}

#[test]
fn experts_without_a_pipeline() {
    let options = "--ranks 8 --tp 2 --pp 1 --steps 3 --seed 43 --moe --nccl-args plain --hot 4";
    let Some(job) = Simulated::made(options) else { return };
    job.check_layout(0);
}

/// What depends on a stage that was not recorded is not known.
#[test]
fn a_pipeline_with_a_missing_stage() {
    let options = "--ranks 12 --tp 2 --pp 3 --steps 3 --seed 26 --missing 7 --moe";
    let Some(job) = Simulated::made(options) else { return };
    job.check_layout(27);
    let missing = job.store.lines(
        "SELECT status, stages_recorded, count(*), count(span_ns), count(bubble_ns), \
            count(exposed_recv_ns) FROM pipeline_bubbles GROUP BY 1, 2 ORDER BY 1",
    );
    assert_eq!(missing, ["measured 3 27 27 27 27", "stages missing 2 6 0 0 6"]);
}

#[test]
fn a_stage_whose_clock_steps() {
    let options = "--ranks 12 --tp 2 --pp 3 --steps 4 --seed 44 --micro 5 --moe --hot 4 \
        --clock-step 3:40:1500";
    let Some(job) = Simulated::made(options) else { return };
    job.check_layout(44);
    let heat = "SELECT DISTINCT rank FROM rank_step_heat WHERE status = 'clock stepped'";
    assert_eq!(job.store.lines(heat), ["3"]);
}

/// Without arguments of collectives the clocks are not aligned, so nothing across ranks is known.
#[test]
fn a_pipeline_without_arguments_of_collectives() {
    let options = "--ranks 8 --tp 2 --pp 2 --steps 3 --seed 46 --nccl-args none";
    let Some(job) = Simulated::made(options) else { return };
    job.check_layout(0);
    let rows = "SELECT status, count(*), count(bubble_ns), count(exposed_recv_ns) \
        FROM pipeline_bubbles GROUP BY status";
    assert_eq!(job.store.lines(rows), ["not aligned 24 0 24"]);
    let heat = "SELECT status, count(*), count(wait_ns), count(lost_ns), count(reason) \
        FROM rank_step_heat GROUP BY status";
    assert_eq!(job.store.lines(heat), ["not measured 24 0 0 24"]);
    let covered = "SELECT sum(calls_recorded) > 0, sum(calls_measured), count(DISTINCT status) \
        FROM collective_coverage";
    assert_eq!(job.store.lines(covered), ["true 0 1"]);
}
