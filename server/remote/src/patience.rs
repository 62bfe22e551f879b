//! How long the program waits for servers, from variables of the environment.

use std::time::Duration;

use object_store::{BackoffConfig, ObjectStoreScheme, RetryConfig};

/// The time limit of one request, unless the environment has another. A part of 16 MiB passes
/// within it at 0.3 MB/s.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The time after which no request is tried again, unless [`RETRY_VARIABLE`] has another. A request
/// that ran into its time limit can be repeated twice.
const RETRY_TIME: Duration = Duration::from_secs(180);
/// The environment variable with that time in seconds.
const RETRY_VARIABLE: &str = "TRACESQL_RETRY_SECONDS";
/// How often a request is tried again after an error that may pass.
const MAX_RETRIES: usize = 8;
/// Units of time and the number of seconds in them.
const UNITS: [(&str, f64); 4] = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];

/// The limits of requests to one kind of storage.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// The time limit of one request.
    request: Duration,
    /// The time after which no request is tried again.
    pub retry_time: Duration,
}

impl Patience {
    /// The limits that the environment sets. Fails with the reason if a value is wrong.
    pub fn of_environment(scheme: &ObjectStoreScheme) -> Result<Self, String> {
        Self::of(scheme, |name| std::env::var(name).ok())
    }

    fn of(
        scheme: &ObjectStoreScheme,
        get: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let variable = match scheme {
            ObjectStoreScheme::GoogleCloudStorage => "GOOGLE_TIMEOUT",
            ObjectStoreScheme::MicrosoftAzure => "AZURE_TIMEOUT",
            _ => "AWS_TIMEOUT",
        };
        let read = |name: &str, otherwise: Duration| match get(name) {
            Some(text) if !text.trim().is_empty() => time(&text).ok_or_else(|| {
                format!(
                    "{name} is {text:?}; set a number of seconds or a time, such as 120 or 120s"
                )
            }),
            _ => Ok(otherwise),
        };
        let request = read(variable, TIMEOUT)?;
        if request.is_zero() {
            return Err(format!("{variable} is zero; set a time such as 120s"));
        }
        Ok(Self { request, retry_time: read(RETRY_VARIABLE, RETRY_TIME)? })
    }

    /// The time limit of one request, as clients take it.
    pub fn timeout(&self) -> String {
        format!("{}ms", self.request.as_millis().max(1))
    }

    /// When clients try again.
    pub fn retry(&self) -> RetryConfig {
        RetryConfig {
            backoff: BackoffConfig {
                init_backoff: Duration::from_millis(100),
                max_backoff: Duration::from_secs(10),
                base: 2.0,
            },
            max_retries: MAX_RETRIES,
            retry_timeout: self.retry_time,
        }
    }
}

/// A number of seconds, or a number with a unit.
fn time(text: &str) -> Option<Duration> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.trim().parse().ok()?;
    let seconds = match unit {
        "" => 1.0,
        unit => UNITS.iter().find(|(name, _)| *name == unit)?.1,
    };
    Duration::try_from_secs_f64(number * seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_runs_into_its_limit_is_repeated() {
        let usual = Patience::of(&ObjectStoreScheme::AmazonS3, |_| None).expect("limits");
        assert!(usual.request * 2 < usual.retry_time, "{usual:?}");
    }

    #[test]
    fn times_are_seconds_or_have_a_unit() {
        let of = |variable: &'static str, value: &'static str, scheme: ObjectStoreScheme| {
            Patience::of(&scheme, move |name| (name == variable).then(|| value.to_owned()))
        };
        for (value, wanted) in
            [("120", "120000ms"), ("120s", "120000ms"), ("1.5 m", "90000ms"), ("", "60000ms")]
        {
            let patience = of("AWS_TIMEOUT", value, ObjectStoreScheme::AmazonS3).expect("a time");
            assert_eq!(patience.timeout(), wanted, "{value}");
        }
        for (variable, value, scheme) in [
            ("AWS_TIMEOUT", "soon", ObjectStoreScheme::AmazonS3),
            ("AWS_TIMEOUT", "-1", ObjectStoreScheme::AmazonS3),
            ("AWS_TIMEOUT", "0", ObjectStoreScheme::AmazonS3),
            ("GOOGLE_TIMEOUT", "2 weeks", ObjectStoreScheme::GoogleCloudStorage),
            ("AZURE_TIMEOUT", "120x", ObjectStoreScheme::MicrosoftAzure),
            ("TRACESQL_RETRY_SECONDS", "soon", ObjectStoreScheme::AmazonS3),
        ] {
            let error = of(variable, value, scheme).expect_err("no time");
            assert!(error.contains(variable) && error.contains("120s"), "{error}");
        }
    }
}
