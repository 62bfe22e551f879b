//! Tokens: what a client sends with each request after it gave its password once.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use arrow_flight::BasicAuth;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use prost::Message;
use rand::RngCore;
use ring::digest;
use tonic::Status;
use tonic::metadata::MetadataMap;

/// The encoding of passwords in headers. Clients written in Go leave out the padding.
const BASIC: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
/// The maximum number of tokens of one user. When another is given out, the one ends that was not
/// used for the longest time.
const MAX_TOKENS: usize = 100;

struct Entry {
    user: String,
    since: Instant,
    used: Instant,
}

/// What the server keeps of a token. It is compared in place of the token, so that the time of a
/// comparison does not depend on how much of a guess is right.
type Key = Vec<u8>;

fn key(token: &str) -> Key {
    digest::digest(&digest::SHA256, token.as_bytes()).as_ref().to_vec()
}

/// The tokens that were given out.
pub struct Tokens {
    lifetime: Duration,
    entries: Mutex<HashMap<Key, Entry>>,
}

impl Tokens {
    /// Tokens that end after this time.
    pub fn new(lifetime: Duration) -> Self {
        Self { lifetime, entries: Mutex::default() }
    }

    /// A new token of a user.
    pub fn give(&self, user: &str) -> String {
        let mut bytes = [0; 32];
        rand::rng().fill_bytes(&mut bytes);
        let token = BASE64_URL_SAFE_NO_PAD.encode(bytes);
        let mut entries = self.entries.lock();
        let of_user = entries.iter().filter(|(_, entry)| entry.user == user);
        if of_user.clone().count() >= MAX_TOKENS {
            let unused = of_user.min_by_key(|(_, entry)| entry.used).map(|(t, _)| t.clone());
            unused.and_then(|unused| entries.remove(&unused));
        }
        let now = Instant::now();
        let entry = Entry { user: user.to_owned(), since: now, used: now };
        entries.insert(key(&token), entry);
        token
    }

    /// The user of a token. The token counts as used.
    pub fn user(&self, token: &str) -> Result<String, Status> {
        let (key, mut entries) = (key(token), self.entries.lock());
        let entry = entries.get_mut(&key).ok_or_else(|| {
            Status::unauthenticated("the token is unknown or has expired; log in again")
        })?;
        if entry.since.elapsed() >= self.lifetime {
            entries.remove(&key);
            return Err(Status::unauthenticated("the token has expired; log in again"));
        }
        entry.used = Instant::now();
        Ok(entry.user.clone())
    }

    /// Ends a token.
    pub fn end(&self, token: &str) {
        self.entries.lock().remove(&key(token));
    }

    /// Forgets tokens that ended.
    pub fn drop_expired(&self) {
        self.entries.lock().retain(|_, entry| entry.since.elapsed() < self.lifetime);
    }
}

/// What a request carries to show who sends it.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// Nothing.
    Nothing,
    /// A user and a password.
    Password(String, String),
    /// A token that the server gave out.
    Token(String),
}

/// Shows no secret.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => f.write_str("Nothing"),
            Self::Password(user, _) => write!(f, "Password of {user:?}"),
            Self::Token(_) => f.write_str("Token"),
        }
    }
}

impl Credentials {
    /// The credentials in the headers of a request.
    pub fn of_headers(headers: &MetadataMap) -> Result<Self, Status> {
        let Some(value) = headers.get("authorization") else { return Ok(Self::Nothing) };
        let wrong = || {
            Status::unauthenticated(
                "the header authorization must be \"Basic …\" or \"Bearer TOKEN\"",
            )
        };
        let value = value.to_str().map_err(|_| wrong())?;
        let (scheme, rest) = value.split_once(' ').ok_or_else(wrong)?;
        match scheme.to_ascii_lowercase().as_str() {
            "bearer" => Ok(Self::Token(rest.trim().to_owned())),
            "basic" => {
                let bytes = BASIC.decode(rest.trim()).map_err(|_| wrong())?;
                let text = String::from_utf8(bytes).map_err(|_| wrong())?;
                let (user, password) = text.split_once(':').ok_or_else(wrong)?;
                Ok(Self::Password(user.to_owned(), password.to_owned()))
            }
            _ => Err(wrong()),
        }
    }

    /// The credentials in the first message of a handshake, where older clients put them.
    pub fn of_payload(payload: &[u8]) -> Self {
        match BasicAuth::decode(payload) {
            Ok(basic) if !basic.username.is_empty() => {
                Self::Password(basic.username, basic.password)
            }
            _ => Self::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use arrow_flight::BasicAuth;
    use prost::Message;
    use tonic::metadata::MetadataMap;

    use super::{Credentials, MAX_TOKENS, Tokens};

    fn header(value: &str) -> Option<Credentials> {
        let mut headers = MetadataMap::new();
        headers.insert("authorization", value.parse().expect("a header"));
        Credentials::of_headers(&headers).ok()
    }

    #[test]
    fn passwords_and_tokens_are_read_from_headers() {
        let password = Credentials::Password("ann".into(), "a:b".into());
        assert_eq!(header("Basic YW5uOmE6Yg=="), Some(password.clone()));
        assert_eq!(header("Basic YW5uOmE6Yg"), Some(password), "as Go encodes it");
        assert_eq!(header("bearer abc"), Some(Credentials::Token("abc".into())));
        assert_eq!(Credentials::of_headers(&MetadataMap::new()).ok(), Some(Credentials::Nothing));
        for wrong in ["Basic", "Basic ???", "Basic YWJj", "Digest x"] {
            assert_eq!(header(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn older_clients_send_the_password_as_a_message() {
        let sent = BasicAuth { username: "ann".into(), password: "secret".into() };
        let password = Credentials::Password("ann".into(), "secret".into());
        assert_eq!(Credentials::of_payload(&sent.encode_to_vec()), password);
        assert_eq!(Credentials::of_payload(b"\xff\xff"), Credentials::Nothing);
        assert_eq!(Credentials::of_payload(b""), Credentials::Nothing);
    }

    #[test]
    fn a_token_ends_after_its_time_or_when_it_is_closed() {
        let tokens = Tokens::new(Duration::from_secs(60));
        let token = tokens.give("ann");
        assert_eq!(tokens.user(&token).expect("a user"), "ann");
        tokens.end(&token);
        assert!(tokens.user(&token).is_err());
        let short = Tokens::new(Duration::ZERO);
        assert!(short.user(&short.give("ann")).is_err());
    }

    #[test]
    fn the_least_recently_used_of_too_many_tokens_ends() {
        let tokens = Tokens::new(Duration::from_secs(60));
        let [first, second] = [tokens.give("ann"), tokens.give("ann")];
        let others: Vec<String> = (2..MAX_TOKENS).map(|_| tokens.give("ann")).collect();
        let of_bob = tokens.give("bob");
        assert!(tokens.user(&first).is_ok());
        tokens.give("ann");
        assert!(tokens.user(&first).is_ok(), "it is in use");
        assert!(tokens.user(&second).is_err());
        assert!(others.iter().all(|token| tokens.user(token).is_ok()));
        assert!(tokens.user(&of_bob).is_ok());
    }
}
