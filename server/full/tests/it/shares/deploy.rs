//! The examples of `deploy/`: the files are valid, their command lines are the program's, and the
//! scripts ingest what they should.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{contents, done, program, text};
use crate::support::moto::bucket;
use crate::support::traces::ranks;
use crate::support::{Bucket, Program, needs, root, tools};

/// A script that replaces a program.
pub fn stand_in(folder: &Path, name: &str, script: &str) {
    let path = folder.join("bin").join(name);
    std::fs::create_dir_all(folder.join("bin")).expect("a folder");
    std::fs::write(&path, format!("#!/bin/bash\nset -e\n{script}\n")).expect("a script");
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, all).expect("a script can be run");
}

/// A variable `PATH` that begins with the stand-ins of a folder.
pub fn path_with(folder: &Path) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{}:{path}", folder.join("bin").display())
}

/// Makes the program of the tests available under both names.
pub fn program_on_path(folder: &Path) {
    let built = env!("CARGO_BIN_EXE_tracesql-full");
    for name in ["tracesql", "tracesql-full"] {
        stand_in(folder, name, &format!("exec '{built}' \"$@\""));
    }
}

/// Runs a command in the environment of a call of the program on a bucket, and expects success.
#[track_caller]
fn run(at: &Path, bucket: &Bucket, command: &[&str], variables: &[(&str, &str)]) -> String {
    let mut environment = program(at, bucket, &[]).env("PATH", path_with(at));
    for (name, value) in variables {
        environment = environment.env(name, value);
    }
    let call = environment.command();
    let mut process = Command::new(command[0]);
    process.args(&command[1..]).current_dir(at);
    for (name, value) in call.get_envs() {
        match value {
            Some(value) => process.env(name, value),
            None => process.env_remove(name),
        };
    }
    let output = process.stdin(std::process::Stdio::null()).output().expect("it starts");
    let (out, err) = (&output.stdout, &output.stderr);
    let all = format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err));
    assert!(output.status.success(), "{command:?}: {}\n{all}", output.status);
    all
}

/// Traces in a folder, and a store of all of them.
fn wanted(at: &Path, bucket: &Bucket) -> (String, super::BTreeMap<String, super::Tables>) {
    ranks(&at.join("traces"), 7);
    let inputs = format!("{}/*.json", at.join("traces").display());
    done(at, bucket, &["ingest", "-q", &inputs, "-o", &bucket.url("whole")]);
    (inputs, contents(bucket, "whole"))
}

fn deploy(name: &str) -> PathBuf {
    root().join("deploy").join(name)
}

#[test]
fn the_files_of_kubernetes_are_consistent_and_their_arguments_are_known() {
    let Some(python) = tools::server_python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let script = root().join("server/scripts/check_deploy.py");
    let output = Command::new(python).arg(script).arg(deploy("kubernetes")).output();
    let output = output.expect("Python starts");
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{lines}{}", String::from_utf8_lossy(&output.stderr));
    let mut names = Vec::new();
    for line in lines.lines() {
        let container: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let texts = container["args"].as_array().expect("arguments").iter();
        let arguments: Vec<&str> = texts.map(|text| text.as_str().expect("a text")).collect();
        // All arguments before --help are checked.
        let help = Program::new(folder.path()).args(&arguments).args(["--help"]).run().success();
        assert!(help.contains("Usage: tracesql-full "), "{line}: {help}");
        names.push(container["name"].as_str().expect("a name").to_owned());
    }
    assert_eq!(names, ["scheduler", "executor", "tracesql-ingest", "tracesql-query", "serve"]);
}

#[test]
fn the_arguments_of_the_indexed_job_ingest_all_traces() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (inputs, wanted) = wanted(at, &bucket);
    let yaml = std::fs::read_to_string(deploy("kubernetes/ingest.yaml")).expect("a file");
    let arguments: Vec<String> = yaml
        .lines()
        .skip_while(|line| line.trim() != "args:")
        .skip(1)
        .map_while(|line| line.trim().strip_prefix("- "))
        .map(|text| {
            text.replace("$(TRACES)", &inputs).replace("$(STORE)", &bucket.url("kubernetes"))
        })
        .collect();
    for index in ["0", "1", "2"] {
        let worker = program(at, &bucket, &[]).args(&arguments);
        worker.env("TRACESQL_SHARES", "3").env("JOB_COMPLETION_INDEX", index).run().success();
    }
    assert_eq!(contents(&bucket, "kubernetes"), wanted);
}

#[test]
fn the_scripts_of_slurm_torchrun_and_ssh_ingest_all_traces() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (inputs, wanted) = wanted(at, &bucket);
    program_on_path(at);

    let url = bucket.url("slurm");
    let script = deploy("slurm/ingest.sbatch");
    for index in ["0", "1", "2"] {
        let variables = [
            ("TRACES", inputs.as_str()),
            ("STORE", &url),
            ("SLURM_JOB_ID", "7"),
            ("SLURM_ARRAY_TASK_ID", index),
            ("SLURM_ARRAY_TASK_MIN", "0"),
            ("SLURM_ARRAY_TASK_MAX", "2"),
            ("SLURM_ARRAY_TASK_COUNT", "3"),
            // As in a batch script with --ntasks=1.
            ("SLURM_PROCID", "0"),
            ("SLURM_NTASKS", "1"),
            ("SLURM_CPUS_PER_TASK", "2"),
        ];
        run(at, &bucket, &["bash", text(&script)], &variables);
    }
    assert_eq!(contents(&bucket, "slurm"), wanted, "Slurm");

    let script = deploy("torchrun/ingest_traces.py");
    // The second and the third torchrun were started by srun on a node, and in an indexed job.
    let slurm = [
        ("SLURM_JOB_ID", "7"),
        ("SLURM_STEP_ID", "0"),
        ("SLURM_PROCID", "1"),
        ("SLURM_NTASKS", "4"),
    ];
    let kubernetes = [("JOB_COMPLETION_INDEX", "1")];
    for (store, started) in
        [("torchrun", &[][..]), ("torchrun-srun", &slurm[..]), ("torchrun-job", &kubernetes[..])]
    {
        let url = bucket.url(store);
        for rank in ["0", "1"] {
            let own = [("RANK", rank), ("WORLD_SIZE", "2"), ("LOCAL_WORLD_SIZE", "2")];
            let variables = [&own[..], started].concat();
            run(at, &bucket, &["python3", text(&script), &inputs, &url], &variables);
        }
        assert_eq!(contents(&bucket, store), wanted, "{store}");
    }

    // The machine is this one, and its shell gets the command line as ssh would send it.
    stand_in(at, "ssh", "[ \"$1\" = -o ] && shift 2\nshift\nexec sh -c \"$*\"");
    let url = bucket.url("ssh");
    let script = deploy("ssh/ingest");
    let printed = run(at, &bucket, &[text(&script), &inputs, &url, "one", "two", "three"], &[]);
    for line in ["one: share 0/3: ", "two: share 1/3: ", "three: share 2/3: "] {
        assert!(printed.contains(line), "{printed}");
    }
    assert_eq!(contents(&bucket, "ssh"), wanted, "SSH");
}

#[test]
fn the_ssh_script_names_machines_that_failed() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let (inputs, wanted) = wanted(at, &bucket);
    program_on_path(at);
    stand_in(at, "remote", "[ \"$1\" != down ] || exit 255\nshift\nexec sh -c \"$*\"");
    let url = bucket.url("ssh");
    let call =
        format!("'{}' '{inputs}' '{url}' up down || echo exit=$?", deploy("ssh/ingest").display());
    let variables = [("SSH", "remote"), ("THREADS", "1")];
    let printed = run(at, &bucket, &["bash", "-c", &call], &variables);
    assert!(printed.contains("down: share 1/2 failed with exit code 255"), "{printed}");
    assert!(printed.contains("exit=1"), "{printed}");
    assert!(contents(&bucket, "ssh").len() < wanted.len());
    run(at, &bucket, &["bash", "-c", &call.replace("down", "again")], &variables);
    assert_eq!(contents(&bucket, "ssh"), wanted);
}

#[test]
fn shell_scripts_pass_shellcheck() {
    let Some(python) = tools::server_python() else { return };
    let checker = python.with_file_name("shellcheck");
    if !checker.is_file() {
        needs::skip("server-python", "no shellcheck next to it");
        return;
    }
    let scripts = ["race-writers", "kill-writers", "read-while-writing", "share-speed"];
    let ours = scripts.map(|name| root().join("server/scripts").join(name));
    let mut command = Command::new(checker);
    command.args([deploy("ssh/ingest"), deploy("slurm/ingest.sbatch")]).args(ours);
    command.args([root().join("scripts/test-server"), root().join(".ci/run")]);
    let output = command.output().expect("shellcheck starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Programs other than ours do nothing, and ours prints its help after it checked its arguments.
#[test]
fn command_lines_of_the_readme_are_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let readme = std::fs::read_to_string(deploy("README.md")).expect("a page");
    let indented = readme.lines().map(|line| line.strip_prefix("  ").unwrap_or(line));
    let unindented = indented.collect::<Vec<_>>().join("\n");
    let blocks = super::page::blocks(&unindented);
    let code: Vec<&str> =
        blocks.iter().filter(|b| b.language == "sh").map(|b| b.code.as_str()).collect();
    assert!(code.len() >= 8, "{code:?}");
    for name in ["cargo", "docker", "kubectl", "sbatch", "torchrun"] {
        stand_in(at, name, "");
    }
    let built = env!("CARGO_BIN_EXE_tracesql-full");
    stand_in(at, "tracesql-full", &format!("echo called\nexec '{built}' \"$@\" --help"));
    stand_in(at, "ssh", "");
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", &code.join("\n")]).current_dir(root());
    let output = command.env("PATH", path_with(at)).output().expect("bash starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    let calls = readme.lines().filter(|line| line.trim().starts_with("tracesql-full ")).count();
    assert_eq!(printed.matches("called").count(), calls, "{printed}");
}
