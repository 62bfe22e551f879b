//! Writes the log of schedulers and executors to standard error, one line for each event.

use std::io::Write;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use arrow::temporal_conversions::timestamp_ms_to_datetime;
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

/// The time of day in UTC, as ISO 8601 with milliseconds.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    let time = timestamp_ms_to_datetime(millis).unwrap_or_default();
    format!("{}Z", time.format("%Y-%m-%dT%H:%M:%S%.3f"))
}

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let own = metadata.target().starts_with("tracesql");
        metadata.level() <= if own { Level::Info } else { self.others }
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let line = format!("{} {:5} {}\n", now(), record.level(), record.args());
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    }

    fn flush(&self) {}
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_begin_with_the_time_in_utc() {
        let now = super::now();
        assert!(now.len() == 24 && now.starts_with("20") && now.ends_with('Z'), "{now}");
    }
}
