//! The certificate and key of a server.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tracesql::{Error, Result};

/// TLS of a server: its certificates and key were read and fit each other.
#[derive(Clone)]
pub struct Tls {
    /// The certificates as PEM, for libraries that make a configuration of their own.
    pub certificates: Vec<u8>,
    /// The key as PEM.
    pub key: Vec<u8>,
}

/// Shows no key.
impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let certificates = String::from_utf8_lossy(&self.certificates);
        f.debug_struct("Tls").field("certificates", &certificates).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads a certificate, with those that signed it, and its key. Fails if a file is missing,
    /// contains something else, or if the key is not that of the certificate.
    pub fn load(certificates: &Path, key: &Path) -> Result<Self> {
        let tls = Self { certificates: read(certificates)?, key: read(key)? };
        tls.config(&[]).map_err(|e| {
            Error::Usage(format!("TLS with {} and {}: {e}", certificates.display(), key.display()))
        })?;
        Ok(tls)
    }

    /// The configuration of rustls, for these protocols of ALPN.
    pub fn config(&self, protocols: &[&[u8]]) -> Result<Arc<ServerConfig>> {
        let wrong = |what: &str, e: &dyn std::fmt::Display| Error::Usage(format!("{what}: {e}"));
        let chain = CertificateDer::pem_slice_iter(&self.certificates)
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(|e| wrong("the file of certificates is not PEM", &e))?;
        if chain.is_empty() {
            return Err(Error::Usage("the file of certificates contains no certificate".into()));
        }
        let key = PrivateKeyDer::from_pem_slice(&self.key)
            .map_err(|e| wrong("the file of the key contains no PEM key", &e))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| wrong("versions of TLS", &e))?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|e| wrong("certificate and key", &e))?;
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Ok(Arc::new(config))
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| Error::Usage(format!("{}: {e}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::Tls;

    #[test]
    fn the_key_is_not_shown() {
        let tls = Tls { certificates: b"public".to_vec(), key: b"secret".to_vec() };
        let shown = format!("{tls:?}");
        assert!(shown.contains("public"), "{shown}");
        let bytes = format!("{:?}", b"secret");
        assert!(!shown.contains("secret") && !shown.contains(&bytes), "{shown}");
    }
}
