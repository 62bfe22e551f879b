//! The settings of a connection that clients of PostgreSQL change and ask for.
//!
//! Most change nothing here: they are kept so that a client reads back what it set. The exceptions
//! are `statement_timeout`, and settings that clients rely on, which only take the value that the
//! server works with.

use std::collections::BTreeMap;
use std::time::Duration;

use super::zone;
use crate::failure::{Failure, code};

/// The maximum size of the settings of a connection, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// The version of PostgreSQL whose behaviour clients may expect.
pub const SERVER_VERSION: &str = "16.6";
/// Name and default of each setting.
const DEFAULTS: &[(&str, &str)] = &[
    ("application_name", ""),
    ("backslash_quote", "safe_encoding"),
    ("block_size", "8192"),
    ("bytea_output", "hex"),
    ("client_encoding", "UTF8"),
    ("client_min_messages", "notice"),
    ("check_function_bodies", "on"),
    ("cursor_tuple_fraction", "0.1"),
    ("DateStyle", "ISO, MDY"),
    ("default_tablespace", ""),
    ("default_transaction_deferrable", "off"),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_read_only", "on"),
    ("enable_seqscan", "on"),
    ("extra_float_digits", "1"),
    ("geqo", "on"),
    ("idle_in_transaction_session_timeout", "0"),
    ("idle_session_timeout", "0"),
    ("in_hot_standby", "off"),
    ("integer_datetimes", "on"),
    ("IntervalStyle", "postgres"),
    ("is_superuser", "off"),
    ("jit", "off"),
    ("lc_collate", "C"),
    ("lc_ctype", "C"),
    ("lc_messages", "C"),
    ("lc_monetary", "C"),
    ("lc_numeric", "C"),
    ("lc_time", "C"),
    ("lock_timeout", "0"),
    ("max_identifier_length", "63"),
    ("max_index_keys", "32"),
    ("max_parallel_workers_per_gather", "0"),
    ("password_encryption", "scram-sha-256"),
    ("quote_all_identifiers", "off"),
    ("role", "none"),
    ("row_security", "on"),
    ("search_path", "\"$user\", public"),
    ("server_encoding", "UTF8"),
    ("server_version", SERVER_VERSION),
    ("server_version_num", "160006"),
    ("session_authorization", ""),
    ("ssl", "off"),
    ("standard_conforming_strings", "on"),
    ("statement_timeout", "0"),
    ("synchronize_seqscans", "on"),
    ("synchronous_commit", "on"),
    ("TimeZone", "Etc/UTC"),
    ("transaction_deferrable", "off"),
    ("transaction_isolation", "read committed"),
    ("transaction_read_only", "on"),
    ("wal_level", "replica"),
    ("work_mem", "4MB"),
    ("xmloption", "content"),
];
/// Settings that no client changes.
const FIXED: &[&str] = &[
    "block_size",
    "in_hot_standby",
    "integer_datetimes",
    "is_superuser",
    "lc_collate",
    "lc_ctype",
    "max_identifier_length",
    "max_index_keys",
    "server_encoding",
    "server_version",
    "server_version_num",
    "session_authorization",
    "ssl",
    "wal_level",
];
/// Settings whose changes are reported to the client, in the order of its start.
pub const REPORTED: &[&str] = &[
    "application_name",
    "client_encoding",
    "DateStyle",
    "default_transaction_read_only",
    "in_hot_standby",
    "integer_datetimes",
    "IntervalStyle",
    "is_superuser",
    "server_encoding",
    "server_version",
    "session_authorization",
    "standard_conforming_strings",
    "TimeZone",
];

/// Values by name in lower case, with the name as it is written.
type Values = BTreeMap<String, (String, String)>;

/// The settings of a connection.
#[derive(Debug, Clone)]
pub struct Variables {
    values: Values,
    /// The values that the connection began with, which RESET restores.
    start: Values,
    /// The values from before `SET LOCAL`, which the end of a transaction restores.
    before_local: BTreeMap<String, Option<(String, String)>>,
}

impl Variables {
    /// The settings of a user's connection.
    pub fn new(user: &str, is_secure: bool) -> Self {
        let (values, start, before_local) = Default::default();
        let mut variables = Self { values, start, before_local };
        for (name, value) in DEFAULTS {
            variables.put(name, value);
        }
        variables.put("session_authorization", user);
        variables.put("ssl", if is_secure { "on" } else { "off" });
        variables.begin();
        variables
    }

    /// Makes the values of now those that RESET restores.
    pub fn begin(&mut self) {
        self.start = self.values.clone();
    }

    fn put(&mut self, name: &str, value: &str) {
        self.values.insert(name.to_lowercase(), (name.to_owned(), value.to_owned()));
    }

    /// The value of a setting, and its name as it is written.
    pub fn get(&self, name: &str) -> Option<(&str, &str)> {
        let (name, value) = self.values.get(&name.to_lowercase())?;
        Some((name, value))
    }

    /// All settings: names and values.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.values().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Changes a setting.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        let key = name.to_lowercase();
        let mut value = value;
        let wrong = |hint: &str| {
            let message = format!("invalid value for parameter \"{name}\": {value:?}");
            Err(Failure::new(code::INVALID_PARAMETER_VALUE, message).with_hint(hint))
        };
        if FIXED.contains(&key.as_str()) {
            let message = format!("parameter \"{name}\" cannot be changed");
            return Err(Failure::new("55P02", message));
        }
        let zone;
        let is = |allowed: &[&str]| allowed.iter().any(|a| value.eq_ignore_ascii_case(a));
        match key.as_str() {
            "client_encoding" if !is(&["utf8", "utf-8", "unicode", "sql_ascii", "auto"]) => {
                return wrong("this server sends texts as UTF-8");
            }
            "client_encoding" => value = "UTF8",
            "timezone" if is(&["local"]) => return self.reset(name),
            "timezone" => match zone::written(value) {
                Some(known) => {
                    zone = known;
                    value = &zone;
                }
                None => return wrong("write for example 'Europe/Berlin' or 'UTC'"),
            },
            "datestyle" if !value.to_lowercase().starts_with("iso") => {
                return wrong("this server sends dates as ISO 8601");
            }
            "standard_conforming_strings" if !is(&["on", "true", "1", "yes"]) => {
                return wrong("backslashes in texts have no meaning here");
            }
            "bytea_output" if !is(&["hex"]) => {
                return wrong("bytes are sent as hexadecimal digits");
            }
            "transaction_read_only" | "default_transaction_read_only"
                if is(&["off", "false", "0", "no"]) =>
            {
                return wrong("this server only reads");
            }
            "statement_timeout" | "lock_timeout" | "idle_in_transaction_session_timeout"
                if milliseconds(value).is_none() =>
            {
                return wrong("write for example 30s, or a number of milliseconds");
            }
            _ => {}
        }
        let written = match self.values.get(&key) {
            Some((written, _)) => written.clone(),
            // Settings of extensions have a dot in their names.
            None if key.contains('.') => name.to_owned(),
            None => {
                let message = format!("unrecognized configuration parameter \"{name}\"");
                return Err(Failure::new(code::UNDEFINED_OBJECT, message));
            }
        };
        let others = self.values.iter().filter(|(other, _)| **other != key);
        let bytes = others.map(|(key, (_, value))| key.len() + value.len()).sum::<usize>();
        if bytes + key.len() + value.len() > MAX_BYTES {
            let message = format!("the settings of a connection have at most {MAX_BYTES} bytes");
            return Err(Failure::new(code::PROGRAM_LIMIT_EXCEEDED, message));
        }
        self.put(&written, value);
        self.before_local.remove(&key);
        Ok(())
    }

    /// Changes a setting until the transaction ends.
    pub fn set_local(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        let key = name.to_lowercase();
        let now = self.values.get(&key).cloned();
        let before = self.before_local.get(&key).cloned().unwrap_or(now);
        self.set(name, value)?;
        self.before_local.insert(key, before);
        Ok(())
    }

    /// Undoes `SET LOCAL`.
    pub fn end_transaction(&mut self) {
        for (key, before) in std::mem::take(&mut self.before_local) {
            match before {
                Some(value) => drop(self.values.insert(key, value)),
                None => drop(self.values.remove(&key)),
            }
        }
    }

    /// Sets a setting to the value that the connection began with.
    pub fn reset(&mut self, name: &str) -> Result<(), Failure> {
        let key = name.to_lowercase();
        if FIXED.contains(&key.as_str()) {
            let message = format!("parameter \"{name}\" cannot be changed");
            return Err(Failure::new("55P02", message));
        }
        match self.start.get(&key) {
            Some(value) => drop(self.values.insert(key.clone(), value.clone())),
            None if self.values.remove(&key).is_some() => {}
            None => {
                let message = format!("unrecognized configuration parameter \"{name}\"");
                return Err(Failure::new(code::UNDEFINED_OBJECT, message));
            }
        }
        self.before_local.remove(&key);
        Ok(())
    }

    /// Sets all settings to the values that the connection began with.
    pub fn reset_all(&mut self) {
        self.values = self.start.clone();
        self.before_local.clear();
    }

    /// The time limit of statements that the client chose.
    pub fn statement_timeout(&self) -> Option<Duration> {
        let (_, value) = self.get("statement_timeout")?;
        milliseconds(value).filter(|time| !time.is_zero())
    }
}

/// A time as PostgreSQL reads it: milliseconds, or a number with a unit.
fn milliseconds(text: &str) -> Option<Duration> {
    let text = text.trim();
    let at = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 = text.get(..at)?.parse().ok()?;
    let seconds = match text[at..].trim() {
        "" | "ms" => number / 1e3,
        "us" => number / 1e6,
        "s" => number,
        "min" => number * 60.0,
        "h" => number * 3_600.0,
        "d" => number * 86_400.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Variables {
        Variables::new("ann", false)
    }

    #[test]
    fn settings_are_read_back_and_reset() {
        let mut all = variables();
        assert_eq!(all.set("application_name", "x"), Ok(()));
        assert_eq!(all.set("timezone", "Europe/Berlin"), Ok(()));
        assert_eq!(all.set("my.setting", "1"), Ok(()));
        assert_eq!(all.get("TIMEZONE"), Some(("TimeZone", "Europe/Berlin")));
        assert_eq!(all.reset("TimeZone"), Ok(()));
        assert_eq!((all.reset("my.setting"), all.get("my.setting")), (Ok(()), None));
        assert!(all.set("TimeZone", "nonsense").is_err());
        assert!(all.reset("server_version").is_err());
        assert_eq!(all.get("timezone"), Some(("TimeZone", "Etc/UTC")));
        assert!(all.set("server_version", "9.0").is_err());
        assert!(all.set("nonsense", "1").is_err());
        assert!(all.set("client_encoding", "LATIN1").is_err());
        assert!(all.set("transaction_read_only", "off").is_err());
    }

    #[test]
    fn a_local_setting_ends_with_its_transaction() {
        let mut all = variables();
        assert_eq!(all.set_local("statement_timeout", "1s"), Ok(()));
        assert_eq!(all.set_local("statement_timeout", "2s"), Ok(()));
        assert_eq!(all.set_local("timezone", "utc"), Ok(()));
        assert_eq!(all.get("TimeZone"), Some(("TimeZone", "UTC")));
        assert_eq!(all.statement_timeout(), Some(Duration::from_secs(2)));
        all.end_transaction();
        assert_eq!(all.statement_timeout(), None);
        assert_eq!(all.get("timezone"), Some(("TimeZone", "Etc/UTC")));
        // SET in the same transaction outlives it.
        assert_eq!(all.set_local("statement_timeout", "1s"), Ok(()));
        assert_eq!(all.set("statement_timeout", "3s"), Ok(()));
        all.end_transaction();
        assert_eq!(all.statement_timeout(), Some(Duration::from_secs(3)));
    }

    #[test]
    fn times_have_units() {
        for (text, expected) in [
            ("1500", Some(1_500)),
            ("1s", Some(1_000)),
            ("2min", Some(120_000)),
            ("250 ms", Some(250)),
            ("soon", None),
            ("-1", None),
        ] {
            assert_eq!(milliseconds(text), expected.map(Duration::from_millis), "{text}");
        }
    }
}
