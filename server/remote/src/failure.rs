//! Turns errors of object storage into sentences that state what to do.

use std::path::PathBuf;

use object_store::Error as StoreError;
use tracesql::Error;
use tracesql::store::FAILURE;
use tracesql_ingest::IngestError;

use crate::kind::{Kind, tries};
use crate::words;

/// Why object storage could not be read or written.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{name}: {reason}")]
pub struct Failure {
    name: String,
    reason: String,
    /// `None` if the failure is not that of a request.
    kind: Option<Kind>,
}

impl Failure {
    /// A failure that another try would meet too.
    pub fn lasting(name: &str, reason: impl Into<String>) -> Self {
        Self { name: name.to_owned(), reason: reason.into(), kind: None }
    }

    /// The failure that caused an error of a request about a store or another URL.
    pub fn of(name: &str, error: &StoreError) -> Self {
        // An error that this crate returned to the engine.
        if let StoreError::Generic { source, .. } = error
            && let Some(failure) = source.downcast_ref::<Self>()
        {
            return failure.clone();
        }
        let kind = Kind::of(error);
        let reason = kind.reason(name, &whole_text(error), tries(error));
        Self { name: name.to_owned(), reason, kind: Some(kind) }
    }

    /// The failure to make a client with the settings of the environment.
    pub fn of_settings(name: &str, error: &StoreError) -> Self {
        let reason = format!(
            "the settings cannot be used ({}); check the variables that begin with {}",
            without_secrets(last_cause(&whole_text(error))),
            words::of(name).variables
        );
        Self { name: name.to_owned(), reason, kind: Some(Kind::NoCredentials) }
    }

    /// Whether another try may succeed: the server was overloaded or could not be reached.
    pub fn is_passing(&self) -> bool {
        matches!(self.kind, Some(Kind::Overloaded | Kind::Unreachable | Kind::Broken | Kind::Slow))
    }

    /// Whether the request may have been carried out although no answer came. A client does not
    /// repeat such a request if it has conditions.
    pub fn is_without_answer(&self) -> bool {
        matches!(self.kind, Some(Kind::Broken | Kind::Slow))
    }

    /// Whether the bucket exists, but the object does not.
    pub fn is_missing_object(&self) -> bool {
        self.kind == Some(Kind::Missing)
    }

    /// Whether the object is shorter than the range that was asked for.
    pub fn is_out_of_range(&self) -> bool {
        self.kind == Some(Kind::OutOfRange)
    }

    /// Whether the server refuses all requests until the user changes something.
    fn is_refusal(&self) -> bool {
        matches!(
            self.kind,
            Some(
                Kind::NoCredentials
                    | Kind::NoBucket
                    | Kind::BadCredentials
                    | Kind::Expired
                    | Kind::Denied
                    | Kind::Skew
                    | Kind::Region
                    | Kind::PlainHttp
                    | Kind::NotImplemented
            )
        )
    }

    /// The same as an error of the engine's object store.
    pub fn into_store_error(self) -> StoreError {
        StoreError::Generic { store: FAILURE, source: Box::new(self) }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        if failure.is_refusal() {
            return Self::Refused(failure.to_string());
        }
        IngestError::Store { path: PathBuf::from(failure.name), reason: failure.reason }.into()
    }
}

impl Kind {
    /// What happened, and what to do.
    fn reason(self, name: &str, text: &str, tries: Option<usize>) -> String {
        let code = between(text, "<Code>", "</Code>");
        let message = between(text, "<Message>", "</Message>");
        let server = match (code, message) {
            (Some(code), Some(message)) => format!(" ({code}: {message})"),
            (Some(code), None) => format!(" ({code})"),
            _ => String::new(),
        };
        let what = words::of(name);
        let tries = match tries {
            Some(tries) if tries > 1 => format!(", in {tries} tries"),
            _ => String::new(),
        };
        match self {
            Self::NoCredentials => format!(
                "there are no credentials; set {}, or {} for a public {}",
                what.credentials, what.public, what.bucket
            ),
            Self::NoBucket => {
                format!("there is no such {}{server}; check its name{}", what.bucket, what.place)
            }
            Self::Missing => format!("an object is missing{server}"),
            Self::BadCredentials => {
                format!("the server refuses the credentials{server}; check {}", what.credentials)
            }
            Self::Expired => {
                format!("the credentials are no longer valid{server}; get new ones and try again")
            }
            Self::Denied => format!(
                "access is denied{server}; the credentials need the rights to {}",
                what.rights
            ),
            Self::Skew => format!(
                "the clock of this machine and the clock of the server differ too much{server}; \
                 set the clock, for example with `timedatectl set-ntp true`"
            ),
            Self::Region => format!(
                "the bucket belongs to another region{server}; set AWS_REGION to its region"
            ),
            Self::Overloaded => format!(
                "the server is overloaded or failed{tries}{}{server}; try again later, or with \
                 fewer processes at once",
                status(text)
            ),
            Self::Unreachable => format!(
                "the server cannot be reached ({}){}",
                without_secrets(last_cause(text)),
                what.reach
            ),
            Self::Broken => format!(
                "the connection to the server ended early{tries} ({}); check the network",
                without_secrets(last_cause(text))
            ),
            Self::Slow => format!(
                "the server did not answer in time{tries}; check the network, or allow more time \
                 with {}",
                what.timeout
            ),
            Self::PlainHttp => "the endpoint begins with http://, which is refused unless \
                                AWS_ALLOW_HTTP=true is set"
                .to_owned(),
            Self::NotImplemented => format!(
                "the server does not implement a request that tracesql needs{server}{}",
                what.conditions
            ),
            Self::OutOfRange => format!("an object is shorter than expected{server}"),
            Self::Other => without_secrets(text),
        }
    }
}

/// The text of an error and of its causes, each once.
fn whole_text(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let rest = &text[text.find(from)? + from.len()..];
    Some(rest[..rest.find(to)?].trim()).filter(|found| !found.is_empty() && found.len() < 400)
}

fn status(text: &str) -> String {
    let code = text.split("status code: ").nth(1).and_then(|rest| rest.get(..3));
    code.map(|code| format!(" (status {code})")).unwrap_or_default()
}

fn last_cause(text: &str) -> &str {
    text.rsplit(": ").next().unwrap_or(text)
}

/// The text without the queries of URLs, which may be signatures.
fn without_secrets(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for (at, word) in text.split(' ').enumerate() {
        let cut = word.contains("://").then(|| word.find('?')).flatten();
        if at > 0 {
            clean.push(' ');
        }
        clean.push_str(cut.map_or(word, |end| &word[..end]));
    }
    clean
}

#[cfg(test)]
mod tests {
    use object_store::client::HttpErrorKind;

    use super::*;
    use crate::kind::tests::{Request, generic, transport};

    fn reason(error: StoreError) -> String {
        Failure::of("s3://bucket/run", &error).to_string()
    }

    fn answer(status: &str, code: &str) -> StoreError {
        generic(format!(
            "Server returned non-2xx status code: {status}: <Error><Code>{code}</Code>\
             <Message>why</Message></Error>"
        ))
    }

    #[test]
    fn every_kind_states_what_to_do() {
        for (error, wanted) in [
            (
                answer("404 Not Found", "NoSuchBucket"),
                "there is no such bucket (NoSuchBucket: why)",
            ),
            (answer("403 Forbidden", "RequestTimeTooSkewed"), "set the clock"),
            (answer("403 Forbidden", "AccessDenied"), "need the rights to s3:ListBucket"),
            (answer("403 Forbidden", "InvalidAccessKeyId"), "check AWS_ACCESS_KEY_ID"),
            (answer("400 Bad Request", "ExpiredToken"), "get new ones"),
            (answer("301 Moved", "PermanentRedirect"), "set AWS_REGION"),
            (answer("503 Service Unavailable", "SlowDown"), "(status 503) (SlowDown: why); try"),
            (
                generic("Server returned non-2xx status code: 500: oh"),
                "overloaded or failed (status 500)",
            ),
            (
                answer("501 Not Implemented", "NotImplemented"),
                "does not implement a request that tracesql needs (NotImplemented: why). If it \
                 has no conditional puts, set AWS_CONDITIONAL_PUT=disabled; then",
            ),
            (
                generic("Server returned non-2xx status code: 501 Not Implemented: oh"),
                "AWS_CONDITIONAL_PUT=disabled",
            ),
            (transport(HttpErrorKind::Connect, "refused"), "cannot be reached (refused)"),
            (transport(HttpErrorKind::Timeout, "late"), "AWS_TIMEOUT"),
            (transport(HttpErrorKind::Interrupted, "end of file"), "ended early (end of file)"),
            (
                generic(Request {
                    url: "http://169.254.169.254/latest/api/token",
                    source: "status".into(),
                }),
                "there are no credentials; set AWS_ACCESS_KEY_ID",
            ),
        ] {
            let text = reason(error);
            assert!(text.contains(wanted), "{text}");
            assert!(text.starts_with("s3://bucket/run: "), "{text}");
        }
    }

    #[test]
    fn only_tries_that_were_made_are_mentioned() {
        let source = "Server returned non-2xx status code: 503: oh".into();
        let several = reason(generic(Request { url: "http://h/b", source }));
        assert!(several.contains("failed, in 3 tries (status 503)"), "{several}");
        let once = reason(transport(HttpErrorKind::Timeout, "late"));
        assert!(!once.contains("tries"), "{once}");
    }

    #[test]
    fn signatures_in_urls_are_not_shown() {
        let text = reason(generic("GET https://a.example/b?sig=secret failed"));
        assert!(text.contains("https://a.example/b failed") && !text.contains("secret"), "{text}");
    }

    #[test]
    fn only_trouble_of_the_server_and_the_network_may_pass() {
        let of = |error: StoreError| Failure::of("s3://b", &error);
        let overloaded = of(answer("503 Service Unavailable", "SlowDown"));
        assert!(overloaded.is_passing() && !overloaded.is_without_answer());
        let late = of(transport(HttpErrorKind::Timeout, "late"));
        assert!(late.is_passing() && late.is_without_answer());
        let denied = of(answer("403 Forbidden", "AccessDenied"));
        assert!(!denied.is_passing());
        assert!(matches!(Error::from(denied), Error::Refused(_)));
        assert!(!matches!(Error::from(late), Error::Refused(_)));
    }
}
