//! The number of this worker and of all workers, from the variables that schedulers set.

use super::share::Share;

/// The number of parts, for schedulers that do not state it.
const SHARES: &str = "TRACESQL_SHARES";

/// Set by torchrun for each of its workers. Slurm or Kubernetes may have started torchrun itself, and
/// their variables are then about torchrun and not about its workers.
const TORCHRUN: &str = "TORCHELASTIC_RUN_ID";

/// The value of a variable.
type Get<'a> = &'a dyn Fn(&str) -> Option<String>;
/// A scheduler: its name, and what it states about this worker. `None` if it did not start it.
type Scheduler = (&'static str, fn(Get<'_>) -> Result<Option<Share>, String>);

const SCHEDULERS: [Scheduler; 4] = [
    ("Kubernetes", |get| with_shares(get, "JOB_COMPLETION_INDEX", "the job's `completions`")),
    ("Slurm", slurm),
    ("PBS", |get| with_shares(get, "PBS_ARRAY_INDEX", "the size of the array, which begins at 0")),
    ("RANK and WORLD_SIZE", ranks),
];

/// The share of this worker, and where it comes from as the end of a sentence. Fails with the
/// reason if the variables are missing, incomplete or contradictory.
pub fn share(get: impl Fn(&str) -> Option<String>) -> Result<(Share, String), String> {
    let get = |name: &str| get(name).filter(|value| !value.trim().is_empty());
    if get(TORCHRUN).is_some()
        && let Some(share) = ranks(&get)?
    {
        return Ok((share, " (from torchrun)".to_owned()));
    }
    let mut found: Vec<(&str, Share)> = Vec::new();
    for (name, read) in SCHEDULERS {
        if let Some(share) = read(&get)? {
            found.push((name, share));
        }
    }
    let Some(&(name, share)) = found.first() else {
        return Err(
            "no scheduler's variables are set (JOB_COMPLETION_INDEX, SLURM_ARRAY_TASK_ID, \
             SLURM_PROCID, PBS_ARRAY_INDEX, RANK); write the part as I/N"
                .to_owned(),
        );
    };
    if let Some((other, theirs)) = found.iter().find(|(_, other)| *other != share) {
        return Err(format!(
            "{name} states part {share}, and {other} states {theirs}; write the part as I/N"
        ));
    }
    Ok((share, format!(" (from {name})")))
}

/// A number of the environment.
fn number(get: Get<'_>, name: &str) -> Result<Option<usize>, String> {
    let Some(text) = get(name) else { return Ok(None) };
    let wrong = || format!("{name}={text} is not a number from 0");
    text.trim().parse().map(Some).map_err(|_| wrong())
}

/// The share with a number, in words that name the variables.
fn numbered(index: usize, of: usize, names: &str) -> Result<Option<Share>, String> {
    Share::new(index, of).map(Some).map_err(|reason| format!("{names}: {reason}"))
}

/// A scheduler that states the number of a worker, but not the number of workers.
fn with_shares(get: Get<'_>, index: &str, shares: &str) -> Result<Option<Share>, String> {
    let Some(number_of_worker) = number(get, index)? else { return Ok(None) };
    let of = number(get, SHARES)?.ok_or(format!(
        "{index}={number_of_worker} is set, but not {SHARES}; set it to {shares}"
    ))?;
    numbered(number_of_worker, of, &format!("{index}={number_of_worker}, {SHARES}={of}"))
}

fn ranks(get: Get<'_>) -> Result<Option<Share>, String> {
    match (number(get, "RANK")?, number(get, "WORLD_SIZE")?) {
        (None, None) => Ok(None),
        (Some(rank), Some(size)) => {
            numbered(rank, size, &format!("RANK={rank}, WORLD_SIZE={size}"))
        }
        (Some(rank), None) => Err(format!("RANK={rank} is set, but not WORLD_SIZE")),
        (None, Some(size)) => Err(format!("WORLD_SIZE={size} is set, but not RANK")),
    }
}

/// An array of jobs, the tasks of one job, or an array of jobs with several tasks each.
fn slurm(get: Get<'_>) -> Result<Option<Share>, String> {
    match (slurm_array(get)?, slurm_tasks(get)?) {
        (Some(array), Some(tasks)) => numbered(
            array.index * tasks.of + tasks.index,
            array.of * tasks.of,
            "Slurm's array and tasks",
        ),
        (array, tasks) => Ok(array.or(tasks)),
    }
}

fn slurm_array(get: Get<'_>) -> Result<Option<Share>, String> {
    let Some(id) = number(get, "SLURM_ARRAY_TASK_ID")? else { return Ok(None) };
    // With the number of parts a single job of the array can be started again alone.
    if let Some(of) = number(get, SHARES)? {
        return numbered(id, of, &format!("SLURM_ARRAY_TASK_ID={id}, {SHARES}={of}"));
    }
    let missing = |name: &str| {
        format!(
            "SLURM_ARRAY_TASK_ID={id} is set, but not {name}; set {SHARES} to the size of the \
             array, which begins at 0"
        )
    };
    let name = "SLURM_ARRAY_TASK_COUNT";
    let count = number(get, name)?.ok_or_else(|| missing(name))?;
    let name = "SLURM_ARRAY_TASK_MIN";
    let first = number(get, name)?.ok_or_else(|| missing(name))?;
    let step = number(get, "SLURM_ARRAY_TASK_STEP")?.unwrap_or(1).max(1);
    let last = first + count.saturating_sub(1) * step;
    let is_regular = number(get, "SLURM_ARRAY_TASK_MAX")?.is_none_or(|max| max == last);
    if !is_regular || id < first || id > last || !(id - first).is_multiple_of(step) {
        return Err(format!(
            "the array of jobs has gaps, so that {id} is not the number of a part; use \
             --array=0-{}, or set {SHARES} to the size of the whole array",
            count.saturating_sub(1)
        ));
    }
    numbered((id - first) / step, count, &format!("SLURM_ARRAY_TASK_ID={id}"))
}

fn slurm_tasks(get: Get<'_>) -> Result<Option<Share>, String> {
    let Some(task) = number(get, "SLURM_PROCID")? else { return Ok(None) };
    let in_step = number(get, "SLURM_STEP_NUM_TASKS")?;
    let tasks = match in_step {
        Some(tasks) => Some(tasks),
        None => number(get, "SLURM_NTASKS")?,
    };
    let is_batch = in_step.is_none() && get("SLURM_JOB_ID").is_some();
    match tasks {
        // In a batch script the variables describe the script, which is one process.
        _ if is_batch && get("SLURM_STEP_ID").is_none() => match tasks {
            Some(tasks) if tasks > 1 => Err(format!(
                "the job has {tasks} tasks, but this process is its batch script; start \
                 tracesql-full with srun"
            )),
            _ => Ok(None),
        },
        // A job of one task may be a part of an array.
        None | Some(1) if task == 0 => Ok(None),
        None => Err(format!("SLURM_PROCID={task} is set, but not SLURM_NTASKS")),
        Some(tasks) => numbered(task, tasks, &format!("SLURM_PROCID={task}, SLURM_NTASKS={tasks}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share in an environment that is written as `NAME=VALUE NAME=VALUE`.
    fn of(environment: &str) -> Result<String, String> {
        let get = |name: &str| {
            let mut pairs = environment.split(' ').filter_map(|pair| pair.split_once('='));
            pairs.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
        };
        share(get).map(|(share, from)| format!("{share}{from}"))
    }

    #[test]
    fn each_scheduler_states_the_part() {
        for (environment, wanted) in [
            ("JOB_COMPLETION_INDEX=3 TRACESQL_SHARES=8", "3/8 (from Kubernetes)"),
            (
                "SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=8",
                "5/8 (from Slurm)",
            ),
            (
                "SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=8 \
                 SLURM_ARRAY_TASK_COUNT=8",
                "4/8 (from Slurm)",
            ),
            (
                "SLURM_ARRAY_TASK_ID=6 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_MAX=8 \
                 SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_COUNT=4",
                "2/4 (from Slurm)",
            ),
            (
                "SLURM_ARRAY_TASK_ID=17 SLURM_ARRAY_TASK_COUNT=1 TRACESQL_SHARES=64",
                "17/64 (from Slurm)",
            ),
            ("SLURM_PROCID=2 SLURM_NTASKS=4", "2/4 (from Slurm)"),
            (
                "SLURM_JOB_ID=9 SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4 \
                 SLURM_NTASKS=8",
                "0/4 (from Slurm)",
            ),
            (
                "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=3 \
                 SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4",
                "6/12 (from Slurm)",
            ),
            (
                "SLURM_JOB_ID=9 SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_ARRAY_TASK_ID=1 \
                 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=3",
                "1/3 (from Slurm)",
            ),
            ("PBS_ARRAY_INDEX=0 TRACESQL_SHARES=2", "0/2 (from PBS)"),
            ("RANK=7 WORLD_SIZE=8", "7/8 (from RANK and WORLD_SIZE)"),
            ("SLURM_PROCID=7 SLURM_NTASKS=8 RANK=7 WORLD_SIZE=8", "7/8 (from Slurm)"),
            (
                "SLURM_JOB_ID=9 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_NTASKS=4 \
                 TORCHELASTIC_RUN_ID=x RANK=8 WORLD_SIZE=32",
                "8/32 (from torchrun)",
            ),
            (
                "JOB_COMPLETION_INDEX=1 TORCHELASTIC_RUN_ID=x RANK=8 WORLD_SIZE=32",
                "8/32 (from torchrun)",
            ),
        ] {
            assert_eq!(of(environment).as_deref(), Ok(wanted), "{environment}");
        }
    }

    #[test]
    fn incomplete_and_contradictory_variables_are_refused() {
        for (environment, wanted) in [
            ("", "no scheduler's variables are set"),
            ("JOB_COMPLETION_INDEX=3", "but not TRACESQL_SHARES; set it to the job's"),
            ("JOB_COMPLETION_INDEX=8 TRACESQL_SHARES=8", "the last of 8 is 7/8"),
            ("JOB_COMPLETION_INDEX=x TRACESQL_SHARES=8", "JOB_COMPLETION_INDEX=x is not a number"),
            ("SLURM_ARRAY_TASK_ID=5", "but not SLURM_ARRAY_TASK_COUNT"),
            ("SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=9", "but not SLURM_ARRAY_TASK_MIN"),
            (
                "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=5 \
                 SLURM_ARRAY_TASK_COUNT=3",
                "has gaps",
            ),
            ("SLURM_JOB_ID=9 SLURM_PROCID=0 SLURM_NTASKS=4", "with srun"),
            ("SLURM_PROCID=3", "but not SLURM_NTASKS"),
            ("PBS_ARRAY_INDEX=1", "but not TRACESQL_SHARES"),
            ("RANK=1", "but not WORLD_SIZE"),
            ("WORLD_SIZE=4", "but not RANK"),
            ("RANK=4 WORLD_SIZE=4", "the last of 4 is 3/4"),
            (
                "JOB_COMPLETION_INDEX=1 TRACESQL_SHARES=4 RANK=0 WORLD_SIZE=1",
                "Kubernetes states part 1/4, and RANK and WORLD_SIZE states 0/1",
            ),
        ] {
            let error = of(environment).expect_err("no part");
            assert!(error.contains(wanted), "{environment}: {error}");
        }
    }
}
