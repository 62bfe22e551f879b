//! A scheduler and executors as processes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::support::{Child, Program, free_port};

/// How long the parts of a cluster may take to find each other.
const START: Duration = Duration::from_secs(60);

/// A cluster that ends with the test.
pub struct Cluster {
    pub scheduler: Child,
    /// `HOST:PORT` of the scheduler.
    pub address: String,
    pub executors: Vec<Executor>,
    pub folder: tempfile::TempDir,
}

/// An executor with a port and a folder of its own.
pub struct Executor {
    pub child: Child,
    options: Vec<String>,
    variables: Vec<(String, String)>,
    /// The lines that it writes to standard error.
    lines: Receiver<String>,
}

/// What a cluster is made with.
#[derive(Default)]
pub struct Options<'o> {
    /// More options of each executor.
    pub options: &'o [&'o str],
    /// Variables of the environment of each executor.
    pub variables: Vec<(String, String)>,
}

impl Cluster {
    /// A cluster of some executors with one slot each.
    pub fn of(executors: usize) -> Self {
        Self::with(executors, &Options::default())
    }

    /// A cluster whose executors have options and variables of their own.
    pub fn with(executors: usize, options: &Options<'_>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (scheduler, address) = scheduler(folder.path(), "127.0.0.1:0", &[]);
        let mut cluster = Self { scheduler, address, executors: Vec::new(), folder };
        for _ in 0..executors {
            cluster.add(options);
        }
        cluster.wait_for(executors);
        cluster
    }

    /// Starts one more executor.
    pub fn add(&mut self, options: &Options<'_>) {
        let number = self.executors.len();
        let work_dir = self.folder.path().join(format!("executor{number}"));
        let mut all = vec![
            "--scheduler".to_owned(),
            self.address.clone(),
            "--port".to_owned(),
            two_free_ports().to_string(),
            "--work-dir".to_owned(),
            work_dir.to_str().expect("a text").to_owned(),
        ];
        let defaults = ["--slots", "1", "--threads", "1", "--heartbeat", "1"];
        for option in defaults.chunks(2).filter(|pair| !options.options.contains(&pair[0])) {
            all.extend(option.iter().map(|text| (*text).to_owned()));
        }
        all.extend(options.options.iter().map(|text| (*text).to_owned()));
        let variables = options.variables.clone();
        let (child, lines) = executor(self.folder.path(), &all, &variables);
        self.executors.push(Executor { child, options: all, variables, lines });
    }

    /// Starts an executor again with the same ports and in the same folder.
    pub fn restart(&mut self, number: usize) {
        let executor_ = &mut self.executors[number];
        executor_.child.kill();
        let (child, lines) = executor(self.folder.path(), &executor_.options, &executor_.variables);
        (executor_.child, executor_.lines) = (child, lines);
    }

    /// Waits until the scheduler knows a number of executors.
    pub fn wait_for(&self, executors: usize) {
        let start = Instant::now();
        loop {
            let known = self.state()["executors"].clone();
            if known == executors {
                return;
            }
            assert!(start.elapsed() < START, "{known} instead of {executors} executors");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// The first line of a session.
    fn state(&self) -> serde_json::Value {
        let agent = format!("tracesql-full/{}", env!("CARGO_PKG_VERSION"));
        let text = session(&self.address, Some(&agent));
        let line = text.lines().find(|line| line.starts_with('{'));
        serde_json::from_str(line.unwrap_or_else(|| panic!("{text}"))).expect("JSON")
    }

    /// A call of a command on this cluster.
    pub fn call(&self, arguments: &[&str]) -> Program {
        Program::new(self.folder.path()).args(arguments).args(["--cluster", &self.address])
    }
}

impl Executor {
    /// Waits for a line of the log.
    pub fn wait_for_line(&self, part: &str, limit: Duration) -> String {
        let end = Instant::now() + limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) if line.contains(part) => return line,
                Ok(_) => {}
                Err(e) => panic!("no line with {part:?}: {e}"),
            }
        }
    }

    /// The lines of the log that no test has read yet.
    pub fn lines(&self) -> Vec<String> {
        self.lines.try_iter().collect()
    }
}

/// Starts a scheduler. Returns its address.
fn scheduler(folder: &Path, listen: &str, options: &[&str]) -> (Child, String) {
    let arguments = ["cluster", "scheduler", "--listen", listen, "--executor-timeout", "3"];
    let mut child = Program::new(folder).args(arguments).args(options).start();
    let lines = lines_of(child.pipes().stderr.take().expect("a pipe"));
    let line = lines.recv_timeout(START).expect("the scheduler starts");
    let address = line.rsplit(' ').next().unwrap_or_default().to_owned();
    assert!(line.contains("listens at"), "{line}");
    (child, address)
}

fn executor(
    folder: &Path,
    options: &[String],
    variables: &[(String, String)],
) -> (Child, Receiver<String>) {
    let program = Program::new(folder).args(["cluster", "executor"]).args(options);
    let mut child = program.envs(variables.to_vec()).start();
    let lines = lines_of(child.pipes().stderr.take().expect("a pipe"));
    (child, lines)
}

/// Reads lines in a thread of its own, so that the pipe is never full.
fn lines_of(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    receiver
}

/// A port whose successor is free too.
fn two_free_ports() -> u16 {
    loop {
        let port = free_port();
        if port < u16::MAX && std::net::TcpListener::bind(("127.0.0.1", port + 1)).is_ok() {
            return port;
        }
    }
}

/// The beginning of what a scheduler answers to a process that begins a session.
pub fn session(address: &str, agent: Option<&str>) -> String {
    let mut stream = TcpStream::connect(address).expect("the scheduler accepts");
    stream.set_read_timeout(Some(Duration::from_millis(500))).expect("a timeout");
    let agent = agent.map(|agent| format!("user-agent: {agent}\r\n")).unwrap_or_default();
    let request =
        format!("GET /tracesql/session HTTP/1.0\r\nhost: x\r\n{agent}x-tracesql-id: test\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("a request");
    let (mut text, mut bytes) = (Vec::new(), [0; 1024]);
    while let Ok(read) = stream.read(&mut bytes) {
        text.extend_from_slice(&bytes[..read]);
        if read == 0 || text.ends_with(b"}\n") {
            break;
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}
