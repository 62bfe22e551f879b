//! Faults for tests. A process has none unless the variable of the environment names some.

use std::sync::LazyLock;
use std::time::Duration;

/// The variable: `abort:TRACE` ends an executor when it computes the trace, `wait:MS` delays every
/// trace on an executor, `hold:MS` makes a client wait between the success of a job and reading its
/// rows, and a comma separates several faults.
const VARIABLE: &str = "TRACESQL_TEST_CLUSTER_FAULTS";

/// The faults of a process.
#[derive(Debug, Default)]
pub struct Faults {
    aborts: Vec<String>,
    wait: Option<Duration>,
    hold: Option<Duration>,
}

static FAULTS: LazyLock<Faults> = LazyLock::new(Faults::of_environment);

impl Faults {
    /// The faults of this process.
    pub fn get() -> &'static Self {
        &FAULTS
    }

    fn of_environment() -> Self {
        let milliseconds = |text: &str| text.parse().ok().map(Duration::from_millis);
        let mut faults = Self::default();
        let named = std::env::var(VARIABLE).unwrap_or_default();
        for fault in named.split(',').filter_map(|fault| fault.split_once(':')) {
            match fault {
                ("abort", trace) => faults.aborts.push(trace.to_owned()),
                ("wait", ms) => faults.wait = milliseconds(ms),
                ("hold", ms) => faults.hold = milliseconds(ms),
                _ => {}
            }
        }
        faults
    }

    /// Lets the faults of a client happen before it reads rows.
    pub async fn before_reading(&self) {
        if let Some(hold) = self.hold {
            tokio::time::sleep(hold).await;
        }
    }

    /// Lets the faults of an executor happen that a trace has.
    pub async fn strike(&self, trace: &str) {
        if let Some(wait) = self.wait {
            tokio::time::sleep(wait).await;
        }
        if self.aborts.iter().any(|t| t == trace) {
            std::process::abort();
        }
    }
}
