//! Writes the log of schedulers and executors to standard error, one line for each event.

use std::io::Write;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use log::{Level, LevelFilter, Log, Metadata, Record};

struct Logger {
    /// The least level of lines of other crates.
    others: Level,
}

static LOGGER: OnceLock<Logger> = OnceLock::new();

/// Starts the log. With `verbose` it has what the parts of Ballista write too.
pub fn start(verbose: bool) {
    let others = if verbose { Level::Info } else { Level::Error };
    if log::set_logger(LOGGER.get_or_init(|| Logger { others })).is_ok() {
        log::set_max_level(LevelFilter::Info);
    }
}

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let own = metadata.target().starts_with("tracesql");
        metadata.level() <= if own { Level::Info } else { self.others }
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let line = format!(
                "{}.{:03} {:5} {}\n",
                now.as_secs(),
                now.subsec_millis(),
                record.level(),
                record.args()
            );
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    }

    fn flush(&self) {}
}
