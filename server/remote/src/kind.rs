//! What happened, from an error of a request.
//!
//! The texts of errors contain URLs and keys, which the user chose. So only the types of causes are
//! looked at, and texts of causes that contain neither.

use std::error::Error;
use std::io;

use object_store::Error as StoreError;
use object_store::client::{HttpError, HttpErrorKind};

/// How the text of an answer with an error status begins. The status and the body follow.
const STATUS: &str = "Server returned non-2xx status code: ";
/// How the text of an answer begins that contains an error in spite of its status.
const ERROR_BODY: &str = "Server returned error response: ";
/// How the text about one object of a request for many begins. It ends with `(code: CODE)`.
const OF_MANY: &str = "DeleteObjects request failed for key ";
/// The services that give credentials to virtual machines. Requests go there only if the
/// environment has no credentials. Keys have no `//`.
const METADATA: [&str; 3] =
    ["http://169.254.169.254/", "http://metadata.google.internal/", "http://metadata/"];

/// The kinds of errors that need an advice of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
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
    NotImplemented,
    OutOfRange,
    Other,
}

/// Codes of S3, Google Cloud Storage and Azure, and what they mean.
const CODES: [(&str, Kind); 24] = [
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
    ("NotImplemented", Kind::NotImplemented),
    ("InvalidRange", Kind::OutOfRange),
];

impl Kind {
    /// The kind of an error.
    pub fn of(error: &StoreError) -> Self {
        let facts = Facts::of(error);
        if let Some(kind) = facts.by_code() {
            return kind;
        }
        if facts.is_about_metadata {
            return Self::NoCredentials;
        }
        match (error, facts.status) {
            (StoreError::PermissionDenied { .. }, _) => Self::Denied,
            (StoreError::Unauthenticated { .. }, _) => Self::BadCredentials,
            // Google's answer about a missing bucket has no code.
            _ if facts.body.contains("The specified bucket does not exist") => Self::NoBucket,
            (StoreError::NotFound { .. }, _) => Self::Missing,
            (_, Some(416)) => Self::OutOfRange,
            (_, Some(429 | 500 | 502 | 503 | 504)) => Self::Overloaded,
            (_, Some(501)) => Self::NotImplemented,
            (_, Some(_)) => Self::Other,
            _ if facts.is_plain_http => Self::PlainHttp,
            _ if facts.is_bare_redirect => Self::Region,
            _ if facts.is_short_file => Self::OutOfRange,
            _ => match (facts.transport, facts.io) {
                (Some(HttpErrorKind::Timeout), _) => Self::Slow,
                (Some(HttpErrorKind::Connect), _) => Self::Unreachable,
                (
                    Some(
                        HttpErrorKind::Request | HttpErrorKind::Interrupted | HttpErrorKind::Decode,
                    ),
                    _,
                ) => Self::Broken,
                (Some(_), _) => Self::Unreachable,
                (None, Some(io::ErrorKind::PermissionDenied)) => Self::Denied,
                _ => Self::Other,
            },
        }
    }
}

/// The causes of an error, from the one that the store returned to the first one.
fn causes(error: &StoreError) -> impl Iterator<Item = &(dyn Error + 'static)> {
    let mut next = error.source();
    std::iter::from_fn(move || {
        let cause = next?;
        next = cause.source();
        Some(cause)
    })
}

/// The parts of an error that tell what happened.
#[derive(Debug, Default)]
struct Facts {
    status: Option<u16>,
    /// The body of the answer.
    body: String,
    code: Option<String>,
    transport: Option<HttpErrorKind>,
    io: Option<io::ErrorKind>,
    is_about_metadata: bool,
    is_plain_http: bool,
    is_bare_redirect: bool,
    is_short_file: bool,
}

impl Facts {
    fn of(error: &StoreError) -> Self {
        let mut facts = Self::default();
        for cause in causes(error) {
            if let Some(http) = cause.downcast_ref::<HttpError>() {
                facts.transport.get_or_insert(http.kind());
            }
            if let Some(io) = cause.downcast_ref::<io::Error>() {
                facts.io.get_or_insert(io.kind());
            }
            facts.read(&cause.to_string());
        }
        facts
    }

    /// Reads the text of one cause.
    fn read(&mut self, text: &str) {
        if let Some(answer) = text.strip_prefix(STATUS) {
            self.status = answer.get(..3).and_then(|status| status.parse().ok());
            self.body = answer.split_once(": ").map_or(answer, |(_, body)| body).to_owned();
        } else if let Some(body) = text.strip_prefix(ERROR_BODY) {
            self.body = body.to_owned();
        } else if text.starts_with(OF_MANY)
            && let Some((_, code)) = text.rsplit_once("(code: ")
        {
            self.code = Some(code.trim_end_matches(')').to_owned());
        }
        self.is_about_metadata |= METADATA.iter().any(|address| text.contains(address));
        self.is_plain_http |= text == "URL scheme is not allowed";
        self.is_bare_redirect |= text.starts_with("Received redirect without LOCATION");
        self.is_short_file |=
            ["Wanted range", "Requested range"].iter().any(|b| text.starts_with(b));
    }

    fn by_code(&self) -> Option<Kind> {
        let is_it = |code: &str| {
            self.code.as_deref() == Some(code)
                || self.body.contains(&format!("<Code>{code}<"))
                || self.body.contains(&format!("\"{code}\""))
        };
        CODES.iter().find(|(code, _)| is_it(code)).map(|(_, kind)| *kind)
    }
}

/// How often a request was sent, if the error states it.
pub fn tries(error: &StoreError) -> Option<usize> {
    causes(error).find_map(|cause| {
        let text = cause.to_string();
        // The URL between these words has no blanks.
        let (_, rest) = text.strip_prefix("Error performing ")?.split_once(", after ")?;
        let retries: usize = rest.split_once(" retries, ")?.0.parse().ok()?;
        Some(retries + 1)
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// An error as a client of a cloud returns it.
    pub fn generic(source: impl Into<Box<dyn Error + Send + Sync>>) -> StoreError {
        StoreError::Generic { store: "S3", source: source.into() }
    }

    /// An error of a connection.
    pub fn transport(kind: HttpErrorKind, text: &str) -> StoreError {
        generic(HttpError::new(kind, io::Error::other(text.to_owned())))
    }

    /// A cause with a text that contains a URL.
    #[derive(Debug, thiserror::Error)]
    #[error(
        "Error performing GET {url} in 1.2ms, after 2 retries, max_retries: 8, \
         retry_timeout: 1s  - {source}"
    )]
    pub struct Request {
        pub url: &'static str,
        pub source: Box<dyn Error + Send + Sync>,
    }

    #[test]
    fn words_in_urls_and_keys_prove_nothing() {
        let hostile = "http://h:416/b/reconnect/Timeout/429/status%20code:%20503/timed%20out\
                       /AccessDenied/Wanted%20range";
        let answer = |status: &str| {
            let source = format!("{STATUS}{status}: body").into();
            generic(Request { url: hostile, source })
        };
        assert_eq!(Kind::of(&answer("418 I'm a teapot")), Kind::Other);
        assert_eq!(Kind::of(&answer("502 Bad Gateway")), Kind::Overloaded);
        assert_eq!(Kind::of(&answer("416 Range Not Satisfiable")), Kind::OutOfRange);
        let broken = HttpError::new(HttpErrorKind::Interrupted, io::Error::other("closed"));
        let broken = generic(Request { url: hostile, source: Box::new(broken) });
        assert_eq!(Kind::of(&broken), Kind::Broken);
        let in_key = "Error performing GET connect: connection closed, timed out";
        assert_eq!(Kind::of(&generic(in_key)), Kind::Other);
        let missing = StoreError::NotFound {
            path: "status code: 503 connect".to_owned(),
            source: format!("{STATUS}404 Not Found: ").into(),
        };
        assert_eq!(Kind::of(&missing), Kind::Missing);
    }

    #[test]
    fn the_number_of_tries_is_that_of_the_client() {
        let error = Request { url: "http://h/b", source: "timed out".into() };
        assert_eq!(tries(&generic(error)), Some(3));
        assert_eq!(tries(&generic("after 7 retries, ")), None);
    }

    #[test]
    fn refusals_of_single_objects_have_codes_too() {
        let text = "DeleteObjects request failed for key a (code: x)b: no (code: AccessDenied)";
        assert_eq!(Kind::of(&generic(text)), Kind::Denied);
    }
}
