//! Faults for tests. An executor has none unless the variable of the environment names some.

use std::time::Duration;

/// The variable: `abort:TRACE` ends the process when the trace is computed, `wait:MS` delays every
/// trace, and a comma separates several faults.
const VARIABLE: &str = "TRACESQL_TEST_CLUSTER_FAULTS";

/// The faults of a process.
#[derive(Debug, Default)]
pub struct Faults {
    aborts: Vec<String>,
    wait: Option<Duration>,
}

impl Faults {
    /// The faults that the environment names.
    pub fn of_environment() -> Self {
        let mut faults = Self::default();
        let named = std::env::var(VARIABLE).unwrap_or_default();
        for fault in named.split(',').filter_map(|fault| fault.split_once(':')) {
            match fault {
                ("abort", trace) => faults.aborts.push(trace.to_owned()),
                ("wait", ms) => faults.wait = ms.parse().ok().map(Duration::from_millis),
                _ => {}
            }
        }
        faults
    }

    /// Lets the faults happen that a trace has.
    pub async fn strike(&self, trace: &str) {
        if let Some(wait) = self.wait {
            tokio::time::sleep(wait).await;
        }
        if self.aborts.iter().any(|t| t == trace) {
            std::process::abort();
        }
    }
}
