//! Turns errors of object storage into sentences that state what to do.

use std::path::PathBuf;

use object_store::Error as StoreError;
use tracesql::Error;
use tracesql::store::FAILURE;
use tracesql_ingest::IngestError;

/// Why object storage could not be read or written.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{name}: {reason}")]
pub struct Failure {
    name: String,
    reason: String,
    is_passing: bool,
    is_missing_object: bool,
}

impl Failure {
    /// A failure that another try would meet too.
    pub fn lasting(name: &str, reason: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            reason: reason.into(),
            is_passing: false,
            is_missing_object: false,
        }
    }

    /// The failure behind an error of a request about a store or another URL.
    pub fn of(name: &str, error: &StoreError) -> Self {
        // An error that this crate returned to the engine.
        if let StoreError::Generic { source, .. } = error
            && let Some(failure) = source.downcast_ref::<Self>()
        {
            return failure.clone();
        }
        let text = whole_text(error);
        let kind = Kind::of(error, &text);
        Self {
            name: name.to_owned(),
            reason: kind.reason(name, &text),
            is_passing: matches!(
                kind,
                Kind::Overloaded | Kind::Unreachable | Kind::Broken | Kind::Slow
            ),
            is_missing_object: kind == Kind::Missing,
        }
    }

    /// Whether another try may succeed: the server was overloaded or could not be reached.
    pub fn is_passing(&self) -> bool {
        self.is_passing
    }

    /// Whether the bucket exists, but the object does not.
    pub fn is_missing_object(&self) -> bool {
        self.is_missing_object
    }

    /// The same as an error of the engine's object store.
    pub fn into_store_error(self) -> StoreError {
        StoreError::Generic { store: FAILURE, source: Box::new(self) }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        IngestError::Store { path: PathBuf::from(failure.name), reason: failure.reason }.into()
    }
}

/// The kinds of errors that need an advice of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    NoCredentials,
    NoBucket,
    Missing,
    BadCredentials,
    Expired,
    Denied,
    Skew,
    Region,
    Overloaded,
    Unreachable,
    Broken,
    Slow,
    PlainHttp,
    Other,
}

/// Codes of S3, Google Cloud Storage and Azure, and what they mean.
const CODES: [(&str, Kind); 22] = [
    ("NoSuchBucket", Kind::NoBucket),
    ("ContainerNotFound", Kind::NoBucket),
    ("InvalidBucketName", Kind::NoBucket),
    ("RequestTimeTooSkewed", Kind::Skew),
    ("RequestExpired", Kind::Skew),
    ("ExpiredToken", Kind::Expired),
    ("TokenRefreshRequired", Kind::Expired),
    ("InvalidAccessKeyId", Kind::BadCredentials),
    ("SignatureDoesNotMatch", Kind::BadCredentials),
    ("InvalidToken", Kind::BadCredentials),
    ("AuthenticationFailed", Kind::BadCredentials),
    ("PermanentRedirect", Kind::Region),
    ("AuthorizationHeaderMalformed", Kind::Region),
    ("IllegalLocationConstraintException", Kind::Region),
    ("AccessDenied", Kind::Denied),
    ("AuthorizationPermissionMismatch", Kind::Denied),
    ("SlowDown", Kind::Overloaded),
    ("ServiceUnavailable", Kind::Overloaded),
    ("InternalError", Kind::Overloaded),
    ("ServerBusy", Kind::Overloaded),
    ("NoSuchKey", Kind::Missing),
    ("BlobNotFound", Kind::Missing),
];

impl Kind {
    fn of(error: &StoreError, text: &str) -> Self {
        let by_code = CODES.iter().find(|(code, _)| {
            text.contains(&format!("<Code>{code}<")) || text.contains(&format!("\"{code}\""))
        });
        if let Some((_, kind)) = by_code {
            return *kind;
        }
        let has = |part: &str| text.contains(part);
        // The services that give credentials to virtual machines. Requests go there only if the
        // environment has no credentials.
        if has("//169.254.169.254/") || has("//metadata.google.internal/") || has("//metadata/") {
            return Self::NoCredentials;
        }
        match error {
            StoreError::PermissionDenied { .. } => Self::Denied,
            StoreError::Unauthenticated { .. } => Self::BadCredentials,
            // Google's answer about a missing bucket has no code.
            _ if has("The specified bucket does not exist") => Self::NoBucket,
            StoreError::NotFound { .. } => Self::Missing,
            _ if has("URL scheme is not allowed") => Self::PlainHttp,
            _ if has("redirect without LOCATION") => Self::Region,
            _ if ["429", "500", "502", "503", "504"]
                .iter()
                .any(|status| has(&format!("status code: {status}"))) =>
            {
                Self::Overloaded
            }
            _ if has("timed out") || has("Timeout") => Self::Slow,
            _ if ["before message length", "connection closed", "decoding response body"]
                .iter()
                .any(|part| has(part)) =>
            {
                Self::Broken
            }
            _ if has("error sending request") || has("connect") => Self::Unreachable,
            _ => Self::Other,
        }
    }

    fn reason(self, name: &str, text: &str) -> String {
        let code = between(text, "<Code>", "</Code>");
        let message = between(text, "<Message>", "</Message>");
        let server = match (code, message) {
            (Some(code), Some(message)) => format!(" ({code}: {message})"),
            (Some(code), None) => format!(" ({code})"),
            _ => String::new(),
        };
        let what = what_of(name);
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
                "the server is overloaded or failed{}{server}, and several tries did not help; \
                 try again later, or with fewer processes at once",
                status(text)
            ),
            Self::Unreachable => format!(
                "the server cannot be reached ({}){}",
                without_secrets(last_cause(text)),
                what.reach
            ),
            Self::Broken => format!(
                "the connection to the server ended early ({}), and several tries did not help; \
                 check the network",
                without_secrets(last_cause(text))
            ),
            Self::Slow => format!(
                "the server did not answer in time{}; check the network, or allow more time with \
                 {}",
                what.reach_short, what.timeout
            ),
            Self::PlainHttp => "the endpoint begins with http://, which is refused unless \
                                AWS_ALLOW_HTTP=true is set"
                .to_owned(),
            Self::Other => without_secrets(text),
        }
    }
}

/// Words that depend on the kind of storage.
struct Words {
    bucket: &'static str,
    place: &'static str,
    credentials: &'static str,
    public: &'static str,
    rights: &'static str,
    reach: &'static str,
    reach_short: &'static str,
    timeout: &'static str,
}

fn what_of(name: &str) -> Words {
    let scheme = name.split("://").next().unwrap_or_default();
    match scheme {
        "gs" => Words {
            bucket: "bucket",
            place: " and the project of the credentials",
            credentials: "GOOGLE_SERVICE_ACCOUNT or GOOGLE_APPLICATION_CREDENTIALS",
            public: "GOOGLE_SKIP_SIGNATURE=true",
            rights: "list and read objects, and, to write, to create and delete them \
                     (roles/storage.objectUser)",
            reach: "; check the network",
            reach_short: "",
            timeout: "GOOGLE_TIMEOUT=120s",
        },
        "az" | "adl" | "azure" | "abfs" | "abfss" => Words {
            bucket: "container",
            place: " and AZURE_STORAGE_ACCOUNT_NAME",
            credentials: "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, or the \
                          variables of another kind of credentials",
            public: "AZURE_SKIP_SIGNATURE=true",
            rights: "list and read blobs, and, to write, to create and delete them (Storage Blob \
                     Data Contributor)",
            reach: "; check AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ENDPOINT and the network",
            reach_short: "",
            timeout: "AZURE_TIMEOUT=120s",
        },
        "file" => Words {
            bucket: "folder",
            place: "",
            credentials: "the permissions of the folder",
            public: "nothing",
            rights: "read the folder, and, to write, to change it",
            reach: "",
            reach_short: "",
            timeout: "a faster disk",
        },
        _ => Words {
            bucket: "bucket",
            place: ", AWS_REGION and AWS_ENDPOINT_URL",
            credentials: "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or \
                          AWS_PROFILE",
            public: "AWS_SKIP_SIGNATURE=true",
            rights: "s3:ListBucket and s3:GetObject, and, to write, s3:PutObject, \
                     s3:DeleteObject and s3:AbortMultipartUpload",
            reach: "; check AWS_ENDPOINT_URL and the network",
            reach_short: " (several tries)",
            timeout: "AWS_TIMEOUT=120s",
        },
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
    use super::*;

    fn reason(error: StoreError) -> String {
        Failure::of("s3://bucket/run", &error).to_string()
    }

    fn generic(text: &str) -> StoreError {
        StoreError::Generic { store: "S3", source: text.to_owned().into() }
    }

    #[test]
    fn every_kind_states_what_to_do() {
        let answer = |status: &str, code: &str| {
            generic(&format!(
                "Server returned non-2xx status code: {status}: <Error><Code>{code}</Code>\
                 <Message>why</Message></Error>"
            ))
        };
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
            (answer("503 Service Unavailable", "SlowDown"), "(status 503) (SlowDown: why), and"),
            (generic("status code: 500: oh"), "overloaded or failed (status 500)"),
            (generic("HTTP error: error sending request: refused"), "cannot be reached (refused)"),
            (generic("operation timed out"), "AWS_TIMEOUT"),
            (generic("body: end of file before message length reached"), "ended early"),
            (
                generic("PUT http://169.254.169.254/latest/api/token: 403"),
                "there are no credentials; set AWS_ACCESS_KEY_ID",
            ),
        ] {
            let text = reason(error);
            assert!(text.contains(wanted), "{text}");
            assert!(text.starts_with("s3://bucket/run: "), "{text}");
        }
    }

    #[test]
    fn signatures_in_urls_are_not_shown() {
        let text = reason(generic("GET https://a.example/b?sig=secret failed"));
        assert!(text.contains("https://a.example/b failed") && !text.contains("secret"), "{text}");
    }

    #[test]
    fn only_trouble_of_the_server_and_the_network_may_pass() {
        let passes = |text: &str| Failure::of("s3://b", &generic(text)).is_passing();
        assert!(passes("status code: 503") && passes("operation timed out"));
        assert!(!passes("<Code>AccessDenied</Code>"));
    }
}
