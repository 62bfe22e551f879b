//! The protocol of PostgreSQL, with the clients that people use and with messages of our own.

mod catalogue;
mod clients;
mod hostile;
mod kept;
mod limits;
mod wire;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::support::{Child, Finished, Program, child, fixture, free_port, root, tools};

/// The longest time that a client may take.
const LIMIT: Duration = Duration::from_secs(300);

/// `tracesql-full serve` over a store.
pub struct Served {
    pub port: u16,
    pub process: Child,
    /// The store, and files of the test.
    pub folder: TempDir,
}

/// A folder with a store of fixtures.
pub fn store(names: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    Program::new(folder.path())
        .args(["ingest"])
        .args(names.iter().map(|name| fixture(name)))
        .args(["-o".as_ref(), folder.path().join("store").as_os_str()])
        .run()
        .success();
    folder
}

impl Served {
    /// A server over a trace with all kinds of rows.
    pub fn start(arguments: &[&str]) -> Self {
        Self::over(store(&["synthetic_gpu_rank0.json.gz"]), arguments)
    }

    /// A server over a store.
    pub fn over(folder: TempDir, arguments: &[&str]) -> Self {
        let port = free_port();
        let log = std::fs::File::create(folder.path().join("log")).expect("a log");
        let mut command = Program::new(folder.path())
            .args(["serve", "--pg", &format!("127.0.0.1:{port}")])
            .args(arguments)
            .args([folder.path().join("store")])
            .command();
        let process = Child::start(command.stdout(Stdio::null()).stderr(log));
        child::wait_for_port(port, Duration::from_secs(60));
        Self { port, process, folder }
    }

    /// What the server wrote.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).expect("a log")
    }

    /// A call of psql.
    #[track_caller]
    pub fn psql(&self, arguments: &[&str]) -> Option<Finished> {
        self.psql_as("host=127.0.0.1 user=me", "", arguments)
    }

    /// A call of psql with a connection string and a password.
    #[track_caller]
    pub fn psql_as(&self, to: &str, password: &str, arguments: &[&str]) -> Option<Finished> {
        let mut command = Command::new(tools::psql()?);
        command
            .args(["-X", "-w", "-d", &format!("{to} port={} dbname=tracesql", self.port)])
            .args(["-v", "ON_ERROR_STOP=1"])
            .args(arguments)
            .env("PGPASSWORD", password)
            .env("PGCONNECT_TIMEOUT", "20")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Some(Finished::of(&mut Child::start(&mut command), LIMIT))
    }

    /// The values of a statement, separated by `|`, as psql prints them.
    #[track_caller]
    pub fn values(&self, sql: &str) -> Option<String> {
        Some(self.psql(&["-At", "-c", sql])?.success())
    }

    /// Runs a part of a Python script of this folder against the server.
    #[track_caller]
    pub fn python(&self, script: &str, part: &str) -> Option<String> {
        let mut command = Command::new(tools::server_python()?);
        command
            .arg(script_path(script))
            .args([part, &self.port.to_string()])
            .arg(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let finished = Finished::of(&mut Child::start(&mut command), LIMIT);
        assert!(finished.code == Some(0), "{finished:?}\n{}", self.log());
        Some(finished.stdout)
    }
}

fn script_path(name: &str) -> PathBuf {
    root().join("server/full/tests/it/pg").join(name)
}
