//! Users and their passwords.
//!
//! The file of users has a line `NAME:VERIFIER` for each. A verifier is what PostgreSQL keeps of a
//! password, `SCRAM-SHA-256$ITERATIONS:SALT$STORED_KEY:SERVER_KEY`: the password can be checked with
//! it, but not found. Lines that are empty or begin with `#` are skipped.

use std::collections::BTreeMap;
use std::io::Write;
use std::num::NonZeroU32;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac, pbkdf2};
use tracesql::{Error, Result};

/// The scheme of verifiers.
const SCHEME: &str = "SCRAM-SHA-256";
/// The iterations of new verifiers; those of PostgreSQL.
const ITERATIONS: NonZeroU32 = NonZeroU32::MIN.saturating_add(4095);
/// The length of a hash in bytes.
const KEY_BYTES: usize = 32;
/// The length of a salt in bytes.
const SALT_BYTES: usize = 16;

/// Checks a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Verifier {
    /// Iterations of the hash.
    pub iterations: NonZeroU32,
    /// Salt of the hash.
    pub salt: Vec<u8>,
    /// The hash that a client proves to know.
    pub stored_key: [u8; KEY_BYTES],
    /// The key with which the server proves to know the password.
    pub server_key: [u8; KEY_BYTES],
}

/// Shows no keys: who has the server key can pose as the server.
impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Verifier").field("iterations", &self.iterations).finish_non_exhaustive()
    }
}

/// Users by name.
#[derive(Clone)]
pub struct Users {
    verifiers: BTreeMap<String, Verifier>,
    /// Makes a salt for names that do not exist, so that an answer does not tell which do. It
    /// follows from the verifiers, so that a name keeps its salt when the server starts again.
    secret: [u8; KEY_BYTES],
}

/// Shows names only.
impl std::fmt::Debug for Users {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.verifiers.keys()).finish()
    }
}

impl Users {
    /// Reads a file of users. Fails if it is missing, if a line is wrong, or if it has no user.
    pub fn load(path: &Path) -> Result<Self> {
        let name = path.display();
        let text =
            std::fs::read_to_string(path).map_err(|e| Error::Usage(format!("{name}: {e}")))?;
        let mut verifiers = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let entry = line.split_once(':').and_then(|(user, verifier)| {
                Some((user.to_owned(), Verifier::parse(verifier)?)).filter(|_| !user.is_empty())
            });
            let Some((user, verifier)) = entry else {
                return Err(Error::Usage(format!(
                    "{name}: line {}: not NAME:{SCHEME}$…; `tracesql-full user add NAME {name}` \
                     writes such a line",
                    at + 1
                )));
            };
            if verifiers.insert(user.clone(), verifier).is_some() {
                return Err(Error::Usage(format!("{name}: {user} is there twice")));
            }
        }
        if verifiers.is_empty() {
            return Err(Error::Usage(format!(
                "{name}: no users; `tracesql-full user add NAME {name}` adds one"
            )));
        }
        let mut hash = digest::Context::new(&digest::SHA256);
        hash.update(b"salts of names that do not exist");
        for verifier in verifiers.values() {
            hash.update(&verifier.stored_key);
            hash.update(&verifier.server_key);
        }
        Ok(Self { verifiers, secret: key_of(hash.finish().as_ref()) })
    }

    /// Adds a user to a file, which is made if it does not exist, or changes the user's password.
    pub fn add(path: &Path, user: &str, password: &str) -> Result<()> {
        let failed = |e: std::io::Error| Error::Output(path.display().to_string(), e);
        if user.is_empty() || user.contains([':', '\n', '\r', '\0']) || user.starts_with('#') {
            return Err(Error::Usage(format!("{user:?} cannot be the name of a user")));
        }
        if user.trim() != user {
            return Err(Error::Usage(format!(
                "{user:?} cannot be the name of a user, because it begins or ends with a blank"
            )));
        }
        if password.is_empty() {
            return Err(Error::Usage("an empty password is not allowed".into()));
        }
        let old = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(e) => return Err(failed(e)),
        };
        let is_other = |line: &&str| line.split_once(':').is_none_or(|(name, _)| name != user);
        let mut text: String = old.lines().filter(is_other).map(|l| format!("{l}\n")).collect();
        text.push_str(&format!("{user}:{}\n", Verifier::new(password)));
        // Only the owner may read it, and a reader sees the old or the new file.
        let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
        let mut file = tempfile(folder.unwrap_or(Path::new("."))).map_err(failed)?;
        file.1.write_all(text.as_bytes()).and_then(|()| file.1.sync_all()).map_err(failed)?;
        std::fs::rename(&file.0, path).map_err(failed)
    }

    /// The verifier of a user. A name that does not exist gets one that no password fits.
    pub fn verifier(&self, user: &str) -> Verifier {
        if let Some(verifier) = self.verifiers.get(user) {
            return verifier.clone();
        }
        let made = |what: &str| {
            let key = hmac::Key::new(hmac::HMAC_SHA256, &self.secret);
            let mut context = hmac::Context::with_key(&key);
            context.update(what.as_bytes());
            context.update(user.as_bytes());
            key_of(context.sign().as_ref())
        };
        Verifier {
            iterations: self.verifiers.values().next().map_or(ITERATIONS, |known| known.iterations),
            salt: made("salt")[..SALT_BYTES].to_vec(),
            stored_key: made("stored"),
            server_key: made("server"),
        }
    }

    /// Whether this is the user's password.
    pub fn check(&self, user: &str, password: &str) -> bool {
        self.verifier(user).check(password)
    }
}

/// A new file that only its owner can read, and its path.
fn tempfile(folder: &Path) -> std::io::Result<(std::path::PathBuf, std::fs::File)> {
    use std::os::unix::fs::OpenOptionsExt;
    let path = folder.join(format!(".users-{:016x}", rand::random::<u64>()));
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    Ok((path, file))
}

impl Verifier {
    /// A verifier of a password, with a new salt.
    pub fn new(password: &str) -> Self {
        Self::with(password, ITERATIONS, rand::random::<[u8; SALT_BYTES]>().to_vec())
    }

    fn with(password: &str, iterations: NonZeroU32, salt: Vec<u8>) -> Self {
        let mut salted = [0; KEY_BYTES];
        let prepared = stringprep::saslprep(password);
        let bytes = prepared.as_ref().map_or(password.as_bytes(), |p| p.as_bytes());
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, &salt, bytes, &mut salted);
        let signed = |text: &str| {
            let key = hmac::Key::new(hmac::HMAC_SHA256, &salted);
            hmac::sign(&key, text.as_bytes())
        };
        let stored = digest::digest(&digest::SHA256, signed("Client Key").as_ref());
        Self {
            iterations,
            salt,
            stored_key: key_of(stored.as_ref()),
            server_key: key_of(signed("Server Key").as_ref()),
        }
    }

    /// Reads a verifier; `None` if the text is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('$');
        if parts.next() != Some(SCHEME) {
            return None;
        }
        let (iterations, salt) = parts.next()?.split_once(':')?;
        let (stored, server) = parts.next()?.split_once(':')?;
        let key = |text| STANDARD.decode(text).ok()?.try_into().ok();
        Some(Self {
            iterations: iterations.parse().ok()?,
            salt: STANDARD.decode(salt).ok().filter(|salt| !salt.is_empty())?,
            stored_key: key(stored)?,
            server_key: key(server)?,
        })
        .filter(|_| parts.next().is_none())
    }

    /// Whether this is the password.
    pub fn check(&self, password: &str) -> bool {
        let given = Self::with(password, self.iterations, self.salt.clone());
        is_same(&given.stored_key, &self.stored_key)
    }
}

/// Whether two keys are equal, in a time that does not depend on where they differ.
pub(crate) fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

fn key_of(bytes: &[u8]) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    key.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    key
}

impl std::fmt::Display for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = |bytes: &[u8]| STANDARD.encode(bytes);
        write!(
            f,
            "{SCHEME}${}:{}${}:{}",
            self.iterations,
            text(&self.salt),
            text(&self.stored_key),
            text(&self.server_key)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verifier_of_postgresql_is_read_and_checks_its_password() {
        // Made by PostgreSQL's rules in Python for the password "pencil".
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").expect("base64");
        let verifier = Verifier::with("pencil", ITERATIONS, salt);
        let text = verifier.to_string();
        assert_eq!(
            text,
            "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:\
             wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
        );
        assert_eq!(Verifier::parse(&text), Some(verifier.clone()));
        assert_eq!(format!("{verifier:?}"), "Verifier { iterations: 4096, .. }");
        assert!(verifier.check("pencil") && !verifier.check("Pencil") && !verifier.check(""));
    }

    #[test]
    fn users_are_shown_without_their_verifiers() {
        let verifiers = [("ann".to_owned(), Verifier::new("secret"))].into();
        let users = Users { verifiers, secret: [7; KEY_BYTES] };
        assert_eq!(format!("{users:?}"), "{\"ann\"}");
    }

    #[test]
    fn a_file_keeps_one_line_per_user_and_only_its_owner_reads_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("tracesql-users-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("users");
        Users::add(&path, "ann", "one").expect("a user");
        Users::add(&path, "bob", "two").expect("a user");
        Users::add(&path, "ann", "three").expect("a user");
        let users = Users::load(&path).expect("users");
        assert!(users.check("ann", "three") && users.check("bob", "two"));
        assert!(!users.check("ann", "one") && !users.check("eve", "three"));
        // A name that does not exist has the same salt each time, as one that exists, also after
        // the server was started again.
        let again = Users::load(&path).expect("users");
        assert!(users.verifier("eve") == again.verifier("eve"));
        assert!(users.verifier("eve").salt != users.verifier("eva").salt);
        let mode = std::fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        for wrong in ["", "a:b:c", "#x", "a\nb", " eve", "eve ", "eve\t", "\u{a0}eve"] {
            assert!(Users::add(&path, wrong, "x").is_err(), "{wrong:?}");
        }
        Users::add(&path, "eve of mars", "x").expect("a blank within a name");
        Users::load(&path).expect("the file is as it should be");
        std::fs::write(&path, "ann:secret\n").expect("a file");
        let error = Users::load(&path).expect_err("a wrong line").to_string();
        assert!(error.contains("line 1"), "{error}");
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
