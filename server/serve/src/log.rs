//! The log of statements: a line on standard error for each.

use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use arrow::temporal_conversions::timestamp_ms_to_datetime;

/// The number of characters of a statement that the log shows.
const MAX_CHARACTERS: usize = 300;

/// A statement that ended.
pub struct Entry<'a> {
    /// The protocol.
    pub protocol: &'a str,
    /// The user; empty if the server has no users.
    pub user: &'a str,
    /// The address of the client.
    pub peer: &'a str,
    /// The time from its arrival to its end.
    pub time: Duration,
    /// The rows that the client was given.
    pub rows: u64,
    /// `ok`, or a code of SQLSTATE.
    pub outcome: &'a str,
    /// Its text.
    pub sql: &'a str,
}

/// Writes a line about a statement.
pub fn statement(entry: &Entry<'_>) {
    let user = if entry.user.is_empty() { "-".to_owned() } else { quoted(entry.user) };
    line(&format!(
        "{} user={user} from={} time={:.1}ms rows={} outcome={} sql={}",
        entry.protocol,
        entry.peer,
        entry.time.as_secs_f64() * 1e3,
        entry.rows,
        entry.outcome,
        quoted(entry.sql)
    ));
}

/// Writes a line with the time of day in UTC.
pub fn line(text: &str) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let _ = writeln!(std::io::stderr().lock(), "{} {text}", utc(now));
}

/// A text without line breaks and other control characters, shortened, so that no client can write
/// lines of its own into the log.
fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_CHARACTERS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

/// A time since 1970 as ISO 8601 with milliseconds.
fn utc(since: Duration) -> String {
    let time = i64::try_from(since.as_millis()).ok().and_then(timestamp_ms_to_datetime);
    time.map(|time| time.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        assert_eq!(utc(Duration::from_millis(0)), "1970-01-01T00:00:00.000Z");
        assert_eq!(utc(Duration::from_millis(951_782_400_123)), "2000-02-29T00:00:00.123Z");
        assert_eq!(utc(Duration::from_secs(1_795_437_492)), "2026-11-23T12:38:12.000Z");
    }

    #[test]
    fn a_statement_cannot_write_lines_into_the_log() {
        assert_eq!(quoted("SELECT 1\n2026 ok\u{1b}[31m"), r#""SELECT 1\n2026 ok\u{1b}[31m""#);
        assert!(quoted(&"x".repeat(10_000)).len() < 320);
    }
}
