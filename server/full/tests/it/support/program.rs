//! Runs `tracesql-full` with a cache of its own and without settings of the caller's environment.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::child::Child;

/// The longest time that one call may take.
const LIMIT: Duration = Duration::from_secs(300);
/// Beginnings of variables that would change what the program does.
const FOREIGN: [&str; 13] = [
    "AWS_",
    "AZURE_",
    "GOOGLE_",
    "JOB_COMPLETION_INDEX",
    "PBS_",
    "RANK",
    "SLURM_",
    "TORCHELASTIC_",
    "TRACESQL_CACHE",
    "TRACESQL_SHARES",
    "WORLD_SIZE",
    "http_proxy",
    "HTTP_PROXY",
];

/// A call of the program.
pub struct Program(Command);

/// What a call wrote and returned.
#[derive(Debug)]
pub struct Finished {
    /// The exit code; `None` if a signal ended the program.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Program {
    /// A call of `tracesql-full` with its cache in a folder of the test.
    pub fn new(folder: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tracesql-full"));
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if FOREIGN.iter().any(|start| text.starts_with(start)) {
                command.env_remove(&name);
            }
        }
        command.env("TRACESQL_CACHE", folder.join("cache")).stdin(Stdio::null());
        Self(command)
    }

    /// Adds arguments.
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.0.args(arguments);
        self
    }

    /// Sets a variable of its environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    /// Sets variables of its environment.
    pub fn envs(mut self, all: impl IntoIterator<Item = (String, String)>) -> Self {
        self.0.envs(all);
        self
    }

    /// The folder in which it runs.
    pub fn folder(mut self, folder: &Path) -> Self {
        self.0.current_dir(folder);
        self
    }

    /// The command, for tests that start it in another way.
    pub fn command(self) -> Command {
        self.0
    }

    /// Starts the program. Its output can be read from the pipes of the child.
    pub fn start(mut self) -> Child {
        Child::start(self.0.stdout(Stdio::piped()).stderr(Stdio::piped()))
    }

    /// Runs the program to its end.
    pub fn run(self) -> Finished {
        self.run_within(LIMIT)
    }

    /// Runs the program. The test fails if it takes longer.
    pub fn run_within(self, limit: Duration) -> Finished {
        Finished::of(&mut self.start(), limit)
    }
}

impl Finished {
    /// Waits for a started program.
    pub fn of(child: &mut Child, limit: Duration) -> Self {
        let stdout = child.pipes().stdout.take().map(read_all);
        let stderr = child.pipes().stderr.take().map(read_all);
        let status = child.wait(limit);
        let text = |thread: Option<std::thread::JoinHandle<String>>| {
            thread.map(|t| t.join().expect("no panic")).unwrap_or_default()
        };
        Self { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }

    /// Standard output of a call that must succeed.
    #[track_caller]
    pub fn success(self) -> String {
        assert_eq!(self.code, Some(0), "{}\n{}", self.stdout, self.stderr);
        self.stdout
    }

    /// Standard error of a call that must end with an exit code.
    #[track_caller]
    pub fn failure(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}\n{}", self.stdout, self.stderr);
        self.stderr
    }
}

fn read_all(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a pipe can be read");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[test]
fn the_program_runs_without_the_callers_settings() {
    let folder = tempfile::tempdir().expect("a folder");
    let version = Program::new(folder.path()).args(["--version"]).run().success();
    assert!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
}
