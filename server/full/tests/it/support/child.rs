//! Child processes that end with the test.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// A process that is killed when the value is dropped.
pub struct Child(std::process::Child);

impl Child {
    /// Starts a command.
    pub fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}")))
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Its pipes, as far as the command asked for them.
    pub fn pipes(&mut self) -> &mut std::process::Child {
        &mut self.0
    }

    /// Whether the process still runs.
    pub fn is_running(&mut self) -> bool {
        self.0.try_wait().expect("a child can be waited for").is_none()
    }

    /// Kills the process with SIGKILL and waits for its end.
    pub fn kill(&mut self) -> ExitStatus {
        let _ = self.0.kill();
        self.0.wait().expect("a child can be waited for")
    }

    /// Waits until the process ends. After `limit` the test fails.
    pub fn wait(&mut self, limit: Duration) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().expect("a child can be waited for") {
                return status;
            }
            assert!(start.elapsed() < limit, "it did not end within {limit:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port of loopback that is free now.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("an address").port()
}

/// Waits until something accepts connections on a port of loopback. After `limit` the test fails.
pub fn wait_for_port(port: u16, limit: Duration) {
    let start = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        assert!(start.elapsed() < limit, "nothing listens on port {port} after {limit:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
