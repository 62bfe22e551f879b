//! SCRAM-SHA-256 (RFC 5802, RFC 7677), the server's side.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac};

use crate::failure::{Failure, code};
use crate::users::{Verifier, is_same};

/// The name of the mechanism.
pub const MECHANISM: &str = "SCRAM-SHA-256";
/// The random bytes of a nonce.
const NONCE_BYTES: usize = 18;

/// An exchange whose first message was answered.
#[derive(Debug)]
pub struct Exchange {
    verifier: Verifier,
    /// The header about channel binding, which the client repeats.
    header: String,
    client_first: String,
    server_first: String,
    nonce: String,
}

impl Exchange {
    /// Takes the client's first message, and returns the answer.
    pub fn begin(verifier: Verifier, first: &[u8]) -> Result<(Self, String), Failure> {
        let first = text(first)?;
        let mut parts = first.splitn(3, ',');
        let (binding, identity, bare) = match (parts.next(), parts.next(), parts.next()) {
            (Some(binding), Some(identity), Some(bare)) => (binding, identity, bare),
            _ => return Err(malformed("the client's first message")),
        };
        if binding.starts_with("p=") {
            return Err(malformed("channel binding, which this server does not offer"));
        }
        if !matches!(binding, "n" | "y") || !identity.is_empty() {
            return Err(malformed("the client's first message"));
        }
        let client_nonce = value(bare, "r=").filter(|nonce| !nonce.is_empty());
        let client_nonce = client_nonce.ok_or_else(|| malformed("the client's nonce"))?;
        let random: [u8; NONCE_BYTES] = rand::random();
        let nonce = format!("{client_nonce}{}", STANDARD.encode(random));
        let server_first =
            format!("r={nonce},s={},i={}", STANDARD.encode(&verifier.salt), verifier.iterations);
        let exchange = Self {
            verifier,
            header: format!("{binding},,"),
            client_first: bare.to_owned(),
            server_first: server_first.clone(),
            nonce,
        };
        Ok((exchange, server_first))
    }

    /// Takes the client's last message. Returns the server's proof, or fails if the password is
    /// wrong.
    pub fn finish(&self, last: &[u8], user: &str) -> Result<String, Failure> {
        let last = text(last)?;
        let (without_proof, proof) =
            last.rsplit_once(",p=").ok_or_else(|| malformed("the client's proof"))?;
        let header = value(without_proof, "c=").unwrap_or_default();
        if STANDARD.decode(header).ok().as_deref() != Some(self.header.as_bytes())
            || value(without_proof, "r=") != Some(&self.nonce)
        {
            return Err(malformed("the client's last message"));
        }
        let proof = STANDARD.decode(proof).map_err(|_| malformed("the client's proof"))?;
        let signed = format!("{},{},{without_proof}", self.client_first, self.server_first);
        let signature = sign(&self.verifier.stored_key, &signed);
        let client_key: Vec<u8> =
            proof.iter().zip(signature.as_ref()).map(|(a, b)| a ^ b).collect();
        let stored = digest::digest(&digest::SHA256, &client_key);
        let is_right = proof.len() == signature.as_ref().len()
            && is_same(stored.as_ref(), &self.verifier.stored_key);
        if !is_right {
            let message = format!("password authentication failed for user {user:?}");
            return Err(Failure::new(code::INVALID_PASSWORD, message));
        }
        Ok(format!("v={}", STANDARD.encode(sign(&self.verifier.server_key, &signed))))
    }
}

fn sign(key: &[u8], text: &str) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes())
}

fn text(bytes: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(bytes).map_err(|_| malformed("a message"))
}

/// The value of an attribute in a list with commas.
fn value<'a>(list: &'a str, name: &str) -> Option<&'a str> {
    list.split(',').find_map(|part| part.strip_prefix(name))
}

fn malformed(what: &str) -> Failure {
    Failure::new(code::PROTOCOL_VIOLATION, format!("malformed SCRAM message: {what}"))
}

#[cfg(test)]
mod tests {
    use ring::pbkdf2;

    use super::*;

    /// The client's last message for a password.
    fn last(password: &str, exchange: &Exchange, header: &str) -> String {
        let mut salted = [0; 32];
        let (rounds, salt) = (exchange.verifier.iterations, &exchange.verifier.salt);
        let algorithm = pbkdf2::PBKDF2_HMAC_SHA256;
        pbkdf2::derive(algorithm, rounds, salt, password.as_bytes(), &mut salted);
        let key = sign(&salted, "Client Key");
        let stored = digest::digest(&digest::SHA256, key.as_ref());
        let without = format!("c={},r={}", STANDARD.encode(header), exchange.nonce);
        let signed = format!("{},{},{without}", exchange.client_first, exchange.server_first);
        let signature = sign(stored.as_ref(), &signed);
        let proof: Vec<u8> =
            key.as_ref().iter().zip(signature.as_ref()).map(|(a, b)| a ^ b).collect();
        format!("{without},p={}", STANDARD.encode(proof))
    }

    #[test]
    fn the_right_password_is_proved_and_others_are_not() {
        let begin = || Exchange::begin(Verifier::new("pencil"), b"n,,n=,r=abc").expect("a start").0;
        let exchange = begin();
        assert!(exchange.finish(last("pencil", &exchange, "n,,").as_bytes(), "u").is_ok());
        let wrong = exchange.finish(last("Pencil", &exchange, "n,,").as_bytes(), "u");
        assert_eq!(wrong.map_err(|f| f.code), Err(code::INVALID_PASSWORD));
        // The message of one exchange does not fit another.
        let other = begin();
        assert!(exchange.finish(last("pencil", &other, "n,,").as_bytes(), "u").is_err());
        // A header that was changed on the way.
        assert!(exchange.finish(last("pencil", &exchange, "y,,").as_bytes(), "u").is_err());
    }

    #[test]
    fn malformed_messages_are_refused() {
        for first in ["", "n", "n,,", "p=tls-unique,,n=,r=a", "n,a=x,n=,r=a", "n,,n=,r=", "x,,r=a"]
        {
            let begun = Exchange::begin(Verifier::new("pencil"), first.as_bytes());
            assert_eq!(begun.err().map(|f| f.code), Some(code::PROTOCOL_VIOLATION), "{first}");
        }
        let (exchange, _) =
            Exchange::begin(Verifier::new("pencil"), b"n,,n=,r=abc").expect("a start");
        for last in ["", ",p=", "c=biws,r=abc,p=AAAA", "c=biws"] {
            assert!(exchange.finish(last.as_bytes(), "u").is_err(), "{last}");
        }
        let short = format!("c=biws,r={},p=", exchange.nonce);
        assert!(exchange.finish(short.as_bytes(), "u").is_err());
    }
}
