//! Places on object storage by their URLs.

use std::sync::Arc;
use std::time::Duration;

use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientConfigKey, ObjectStore, ObjectStoreScheme, RetryConfig};
use tracesql::{Error, Result};
use url::Url;

use crate::aws;
use crate::counted::Counted;
use crate::failure::Failure;

/// The time limit of one request, unless the environment has another.
pub const TIMEOUT: &str = "60s";
/// How often a request is tried again after an error that may pass.
const MAX_RETRIES: usize = 8;
/// The time after which no request is tried again, unless `RETRY_VARIABLE` has another.
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);
/// The environment variable with that time in seconds.
const RETRY_VARIABLE: &str = "TRACESQL_RETRY_SECONDS";

/// A prefix of a bucket, a folder, or one object.
#[derive(Debug, Clone)]
pub struct Place {
    /// The URL as the user wrote it, without a slash at its end.
    pub name: String,
    /// What reads the bucket.
    pub objects: Arc<dyn ObjectStore>,
    /// The key or prefix within the bucket.
    pub key: Path,
    /// Whether it is a folder on this machine.
    pub is_local: bool,
}

fn scheme(name: &str) -> Option<(ObjectStoreScheme, Url)> {
    name.split_once("://")?;
    let url = Url::parse(name).ok()?;
    let (scheme, _) = ObjectStoreScheme::parse(&url).ok()?;
    let is_ours = matches!(
        scheme,
        ObjectStoreScheme::AmazonS3
            | ObjectStoreScheme::GoogleCloudStorage
            | ObjectStoreScheme::MicrosoftAzure
            | ObjectStoreScheme::Local
    );
    is_ours.then_some((scheme, url))
}

impl Place {
    /// Whether a name is a URL of object storage.
    pub fn takes(name: &str) -> bool {
        scheme(name).is_some()
    }

    /// The place with a URL. Nothing is read for this. With `create`, a `file://` URL's folder is
    /// made if it does not exist.
    pub fn open(name: &str, create: bool) -> Result<Self> {
        let usage = |why: &str| Error::Usage(format!("{}: {why}", without_query(name)));
        let (scheme, url) = scheme(name).ok_or_else(|| usage("not a URL of object storage"))?;
        let has_secret =
            url.password().is_some() || url.query().is_some() || url.fragment().is_some();
        let is_azure = scheme == ObjectStoreScheme::MicrosoftAzure;
        if has_secret || (!is_azure && !url.username().is_empty()) {
            return Err(usage(
                "the URL of a store has neither credentials nor parameters; set credentials by \
                 environment variables",
            ));
        }
        let name = name.trim_end_matches('/').to_owned();
        let (_, key) = ObjectStoreScheme::parse(&url)
            .map_err(|e| usage(&format!("the URL is not valid: {e}")))?;
        if scheme == ObjectStoreScheme::Local {
            return Self::folder(name, &url, create);
        }
        let retry = retry().map_err(|why| usage(&why))?;
        let opened: Result<Arc<dyn ObjectStore>, String> = match scheme {
            ObjectStoreScheme::AmazonS3 => {
                aws::open(&name, retry).map(|store| Arc::new(store) as _)
            }
            ObjectStoreScheme::GoogleCloudStorage => GoogleCloudStorageBuilder::from_env()
                .with_config(GoogleConfigKey::Client(ClientConfigKey::Timeout), timeout("GOOGLE"))
                .with_url(&name)
                .with_retry(retry)
                .build()
                .map(|store| Arc::new(store) as _)
                .map_err(|e| e.to_string()),
            _ => MicrosoftAzureBuilder::from_env()
                .with_config(AzureConfigKey::Client(ClientConfigKey::Timeout), timeout("AZURE"))
                .with_url(&name)
                .with_retry(retry)
                .build()
                .map(|store| Arc::new(store) as _)
                .map_err(|e| e.to_string()),
        };
        let objects = opened.map_err(|reason| Failure::lasting(&name, reason))?;
        Ok(Self::over(name, objects, key, false))
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
        Ok(Self::over(name, objects, Path::default(), true))
    }

    /// A place in an object store.
    pub fn over(name: String, objects: Arc<dyn ObjectStore>, key: Path, is_local: bool) -> Self {
        Self { name, objects: Arc::new(Counted::new(objects)), key, is_local }
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

fn retry() -> Result<RetryConfig, String> {
    let retry_timeout = match std::env::var(RETRY_VARIABLE) {
        Ok(text) if !text.is_empty() => seconds(&text)?,
        _ => RETRY_TIMEOUT,
    };
    Ok(RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(10),
            base: 2.0,
        },
        max_retries: MAX_RETRIES,
        retry_timeout,
    })
}

fn seconds(text: &str) -> Result<Duration, String> {
    let time =
        text.trim().parse::<f64>().ok().and_then(|number| Duration::try_from_secs_f64(number).ok());
    time.ok_or_else(|| format!("{RETRY_VARIABLE} is {text:?}; set a number of seconds, such as 60"))
}

fn timeout(prefix: &str) -> String {
    std::env::var(format!("{prefix}_TIMEOUT")).unwrap_or_else(|_| TIMEOUT.to_owned())
}

fn without_query(name: &str) -> &str {
    let end = name.find(['?', '#']).unwrap_or(name.len());
    let name = &name[..end];
    // Credentials precede an `@`.
    match name.rsplit_once('@') {
        Some((_, after)) => after,
        None => name,
    }
}

#[cfg(test)]
mod tests {
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
            ["runs/a", "https://example.org/t.json", "http://x/y", "hdfs://x/y", "s3:/b", "a://"]
        {
            assert!(!Place::takes(name), "{name}");
        }
    }

    #[test]
    fn secrets_in_urls_are_refused_and_not_shown() {
        for name in ["s3://id:hidden@bucket/p", "az://c/p?sig=hidden", "s3://hidden@b/p"] {
            let error = Place::open(name, false).expect_err("refused").to_string();
            assert!(!error.contains("hidden"), "{error}");
        }
    }
}
