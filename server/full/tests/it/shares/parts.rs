//! Shares of the inputs: together they are the whole, again and again.

use std::path::Path;

use super::killed::Gate;
use super::{call, contents, done, program, text};
use crate::support::moto::bucket;
use crate::support::traces::ranks;
use crate::support::{Bucket, Program};

const RANKS: usize = 12;

fn whole(at: &Path, bucket: &Bucket) -> (String, super::BTreeMap<String, super::Tables>) {
    ranks(&at.join("traces"), RANKS);
    let inputs = text(&at.join("traces")).to_owned();
    done(at, bucket, &["ingest", "-q", &inputs, "-o", &bucket.url("whole")]);
    (inputs, contents(bucket, "whole"))
}

#[test]
fn all_shares_together_are_the_store_without_shares() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (inputs, wanted) = whole(at, &bucket);
    assert_eq!(wanted.len(), RANKS);
    for of in [1, 2, 5, 16] {
        let store = format!("shares{of}");
        let url = bucket.url(&store);
        let mut ids = Vec::new();
        for index in 0..of {
            let share = format!("{index}/{of}");
            let finished = call(at, &bucket, &["ingest", &inputs, "-o", &url, "--share", &share]);
            assert!(finished.stderr.contains(&format!("share {share}: ")), "{}", finished.stderr);
            ids.extend(finished.success().lines().map(str::to_owned));
        }
        ids.sort();
        assert_eq!(ids, wanted.keys().cloned().collect::<Vec<_>>(), "each input in one of {of}");
        assert_eq!(contents(&bucket, &store), wanted, "{of} shares");
    }
}

#[test]
fn shares_may_be_repeated_and_what_is_missing_is_read_without_them() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (inputs, wanted) = whole(at, &bucket);
    let url = bucket.url("run");
    let share = |share: &'static str| ["ingest", "-q", &inputs, "-o", &url, "--share", share];
    let temporary = at.join("temporary");
    std::fs::create_dir(&temporary).expect("a folder");
    let worker = || program(at, &bucket, &share("0/3")).env("TMPDIR", &temporary);
    let scratch = || std::fs::read_dir(&temporary).expect("a folder").count();
    // A worker is killed after its first trace, started again, and then once more by mistake.
    let gate = Gate::before(&bucket.server().endpoint(), 2);
    let mut killed = worker().env("AWS_ENDPOINT", &gate.address).start();
    gate.wait_for(&mut killed, 2);
    killed.kill();
    assert_eq!((contents(&bucket, "run").len(), scratch()), (1, 1));
    let once = worker().run().success();
    assert_eq!(scratch(), 0, "the folder of the dead worker is removed");
    let twice = worker().run().success();
    assert_eq!(once, twice);
    // Another worker never runs.
    done(at, &bucket, &share("2/3"));
    assert!(contents(&bucket, "run").len() < RANKS);
    done(at, &bucket, &["ingest", "-q", &inputs, "-o", &url]);
    assert_eq!(contents(&bucket, "run"), wanted);
    let found = done(at, &bucket, &["doctor", &url]);
    assert!(found.contains(&format!("sound; {RANKS} traces")), "{found}");
}

#[test]
fn a_job_scheduler_names_the_share() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (inputs, wanted) = whole(at, &bucket);
    // The index of a worker of three goes where `#` is.
    for (scheduler, variables) in [
        ("kubernetes", "JOB_COMPLETION_INDEX=# TRACESQL_SHARES=3"),
        (
            "slurm-array",
            "SLURM_JOB_ID=7 SLURM_ARRAY_TASK_ID=# SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=2 \
             SLURM_ARRAY_TASK_COUNT=3",
        ),
        (
            "slurm-srun",
            "SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=# SLURM_NTASKS=3 \
             SLURM_STEP_NUM_TASKS=3",
        ),
        ("torchrun", "RANK=# WORLD_SIZE=3 LOCAL_RANK=0 MASTER_ADDR=10.0.0.1"),
        (
            "torchrun-srun",
            "TORCHELASTIC_RUN_ID=x RANK=# WORLD_SIZE=3 SLURM_JOB_ID=7 SLURM_STEP_ID=0 \
             SLURM_PROCID=0 SLURM_NTASKS=2",
        ),
    ] {
        let url = bucket.url(scheduler);
        for index in 0..3 {
            let mut worker: Program =
                program(at, &bucket, &["ingest", &inputs, "-o", &url, "--share", "auto"]);
            for pair in variables.split_whitespace() {
                let (name, value) = pair.split_once('=').expect("NAME=VALUE");
                worker = worker.env(name, value.replace('#', &index.to_string()));
            }
            let finished = worker.run();
            let line = format!("share {index}/3 (from ");
            assert!(finished.stderr.contains(&line), "{scheduler}: {}", finished.stderr);
            finished.success();
        }
        assert_eq!(contents(&bucket, scheduler), wanted, "{scheduler}");
    }
    let nothing = call(at, &bucket, &["ingest", &inputs, "-o", "x", "--share", "auto"]).failure(2);
    assert!(nothing.contains("no scheduler's variables are set"), "{nothing}");
    let beyond = call(at, &bucket, &["ingest", &inputs, "-o", "x", "--share", "3/3"]).failure(2);
    assert!(beyond.contains("the last of 3 is 2/3"), "{beyond}");
}
