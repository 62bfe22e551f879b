//! Places on object storage by their URLs.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ClientConfigKey, ObjectStore, ObjectStoreScheme};
use parking_lot::Mutex;
use tracesql::open::without_secrets;
use tracesql::{Error, Result};
use url::Url;

use crate::aws;
use crate::counted::Counted;
use crate::failure::Failure;
use crate::patience::Patience;

/// The schemes of URLs of object storage. Buckets have addresses with `https://` too, but those are
/// not names of a store.
const SCHEMES: [&str; 9] = ["s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss", "file"];

/// A prefix of a bucket, a folder, or one object.
#[derive(Debug, Clone)]
pub struct Place {
    /// The URL as the user wrote it, without a slash at its end.
    pub name: String,
    /// What reads the bucket.
    pub objects: Arc<dyn ObjectStore>,
    /// The key or prefix within the bucket.
    pub key: Path,
    /// The folder, if it is one on this machine.
    pub folder: Option<PathBuf>,
    /// The time after which no request is tried again.
    pub retry_time: Duration,
}

/// Clients of buckets, by the beginnings of their URLs. A client keeps connections open.
#[derive(Debug, Default)]
pub struct Buckets(Mutex<HashMap<String, Arc<dyn ObjectStore>>>);

fn scheme(name: &str) -> Option<(ObjectStoreScheme, Url)> {
    let (scheme, _) = name.split_once("://")?;
    SCHEMES.contains(&scheme).then_some(())?;
    let url = Url::parse(name).ok()?;
    let (scheme, _) = ObjectStoreScheme::parse(&url).ok()?;
    Some((scheme, url))
}

impl Place {
    /// Whether a name is a URL of object storage.
    pub fn takes(name: &str) -> bool {
        scheme(name).is_some()
    }

    /// Refuses a URL with credentials or parameters, and does not print them.
    pub fn check(name: &str) -> Result<()> {
        let shown = without_secrets(name);
        if shown != name {
            return Err(Error::Usage(format!(
                "{shown}: the URL has credentials or parameters (after `?` or `#`), which are \
                 refused; set credentials by environment variables, write `*` or `[0-9]` in \
                 patterns, and %3F and %23 for these characters of a key"
            )));
        }
        Ok(())
    }

    /// The place with a URL. Nothing is read for this. With `create`, a `file://` URL's folder is
    /// made if it does not exist.
    pub fn open(name: &str, create: bool) -> Result<Self> {
        Self::open_in(&Buckets::default(), name, create)
    }

    /// The same with a client that may be open already.
    pub fn open_in(buckets: &Buckets, name: &str, create: bool) -> Result<Self> {
        Self::check(name)?;
        let usage = |why: &str| Error::Usage(format!("{name}: {why}"));
        let (scheme, url) = scheme(name).ok_or_else(|| usage("not a URL of object storage"))?;
        if url.port().is_some() {
            return Err(usage("the URL has a port; name another server by AWS_ENDPOINT_URL"));
        }
        let name = name.trim_end_matches('/').to_owned();
        let (_, key) = ObjectStoreScheme::parse(&url)
            .map_err(|e| usage(&format!("the URL is not valid: {e}")))?;
        if scheme == ObjectStoreScheme::Local {
            return Self::folder(name, &url, create);
        }
        let patience = Patience::of_environment(&scheme).map_err(|why| usage(&why))?;
        let root = url[..url::Position::BeforePath].to_owned();
        let opened = buckets.0.lock().get(&root).cloned();
        let objects = match opened {
            Some(objects) => objects,
            None => {
                let opened = client(&scheme, &name, &patience)?;
                let counted: Arc<dyn ObjectStore> = Arc::new(Counted::new(opened));
                buckets.0.lock().insert(root, counted.clone());
                counted
            }
        };
        Ok(Self { name, objects, key, folder: None, retry_time: patience.retry_time })
    }

    fn folder(name: String, url: &Url, create: bool) -> Result<Self> {
        let failure = |e: &dyn std::fmt::Display| Failure::lasting(&name, e.to_string());
        let path = url.to_file_path().map_err(|()| failure(&"not the path of a folder"))?;
        if create {
            std::fs::create_dir_all(&path).map_err(|e| failure(&e))?;
        }
        // The prefix is not part of the keys, so that no folder above it needs to be readable. A
        // missing folder is an empty one.
        let objects: Arc<dyn ObjectStore> = match LocalFileSystem::new_with_prefix(&path) {
            Ok(folder) => Arc::new(folder),
            Err(_) if !path.exists() => Arc::new(object_store::memory::InMemory::new()),
            Err(e) => return Err(failure(&e).into()),
        };
        Ok(Self { folder: Some(path), ..Self::over(name, objects, Path::default()) })
    }

    /// A place in an object store, whose requests are counted.
    pub fn over(name: String, objects: Arc<dyn ObjectStore>, key: Path) -> Self {
        let objects = Arc::new(Counted::new(objects));
        Self { name, objects, key, folder: None, retry_time: Duration::ZERO }
    }

    /// The error about a request.
    pub fn failure(&self, error: &object_store::Error) -> Failure {
        Failure::of(&self.name, error)
    }

    /// An error that another try would meet too.
    pub fn lasting(&self, reason: impl Into<String>) -> Failure {
        Failure::lasting(&self.name, reason)
    }
}

/// A client of the bucket of a URL.
fn client(
    scheme: &ObjectStoreScheme,
    name: &str,
    patience: &Patience,
) -> Result<Arc<dyn ObjectStore>> {
    let (retry, timeout) = (patience.retry(), patience.timeout());
    let failure = |e: object_store::Error| Failure::of_settings(name, &e);
    Ok(match scheme {
        ObjectStoreScheme::AmazonS3 => Arc::new(aws::open(name, retry, timeout)?),
        ObjectStoreScheme::GoogleCloudStorage => Arc::new(
            GoogleCloudStorageBuilder::from_env()
                .with_config(GoogleConfigKey::Client(ClientConfigKey::Timeout), timeout)
                .with_url(name)
                .with_retry(retry)
                .build()
                .map_err(failure)?,
        ),
        _ => Arc::new(
            MicrosoftAzureBuilder::from_env()
                .with_config(AzureConfigKey::Client(ClientConfigKey::Timeout), timeout)
                .with_url(name)
                .with_retry(retry)
                .build()
                .map_err(failure)?,
        ),
    })
}

#[cfg(test)]
mod tests {
    use tracesql::open::InputSource;

    use super::*;

    #[test]
    fn urls_of_object_storage_are_taken_and_others_are_not() {
        for name in [
            "s3://b",
            "s3://b/p/",
            "gs://b/p",
            "az://c/p",
            "abfss://c@a.dfs.core.windows.net/p",
            "file:///tmp/x",
        ] {
            assert!(Place::takes(name), "{name}");
        }
        for name in
            ["runs/a", "https://bucket.s3.amazonaws.com/t.json", "hdfs://x/y", "s3:/b", "a://"]
        {
            assert!(!Place::takes(name), "{name}");
        }
    }

    #[test]
    fn secrets_in_urls_are_refused_and_not_shown() {
        for name in [
            "s3://id:hidden@bucket/p",
            "s3://hidden@b/p",
            "s3://ID:443/hidden@b/x",
            "s3://b/x.json?X-Amz-Signature=hidden",
            "s3://b/x.json#hidden",
            "az://c/p?sig=hidden",
        ] {
            for error in [
                Place::open(name, false).map(|_| ()).expect_err("refused"),
                crate::Objects::default().find(name).map(|_| ()).expect_err("refused"),
            ] {
                assert!(matches!(error, Error::Usage(_)), "{name}: {error}");
                let error = error.to_string();
                assert!(!error.contains("hidden"), "{error}");
            }
        }
    }
}
