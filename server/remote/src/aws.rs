//! Opens buckets of Amazon S3 and of servers with its protocol. Credentials come from the
//! environment, as in other tools.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use object_store::RetryConfig;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};

use crate::failure::Failure;
use crate::profile;

/// The address of the service that gives credentials to virtual machines of AWS.
const INSTANCE_METADATA: ([u8; 4], u16) = ([169, 254, 169, 254], 80);
/// How long to wait for that service to accept a connection.
const INSTANCE_TIMEOUT: Duration = Duration::from_secs(1);

/// Both are needed.
const KEYS: [&str; 2] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];

/// Opens the bucket of a URL. Fails if there are no credentials.
pub fn open(url: &str, retry: RetryConfig, timeout: String) -> Result<AmazonS3, Failure> {
    let mut builder = AmazonS3Builder::from_env();
    match KEYS.map(is_set) {
        [true, false] => return Err(half(url, KEYS[0], KEYS[1])),
        [false, true] => return Err(half(url, KEYS[1], KEYS[0])),
        _ => {}
    }
    if !has_credentials() {
        builder = with_profile(builder).map_err(|reason| Failure::lasting(url, reason))?;
    }
    let endpoint = builder
        .get_config_value(&AmazonS3ConfigKey::S3Endpoint)
        .or_else(|| builder.get_config_value(&AmazonS3ConfigKey::Endpoint));
    // A user who writes `http://` wants a connection without TLS.
    if endpoint.is_some_and(|e| e.starts_with("http://")) && !is_set("AWS_ALLOW_HTTP") {
        builder = builder.with_allow_http(true);
    }
    let key = AmazonS3ConfigKey::Client(object_store::ClientConfigKey::Timeout);
    let builder = builder.with_config(key, timeout).with_url(url).with_retry(retry);
    builder.build().map_err(|e| Failure::of_settings(url, &e))
}

fn half(url: &str, there: &str, missing: &str) -> Failure {
    Failure::lasting(url, format!("{there} is set, but not {missing}; set both"))
}

/// Whether the environment has credentials, or a way to get them that needs no probing.
fn has_credentials() -> bool {
    [
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_METADATA_ENDPOINT",
    ]
    .iter()
    .any(|name| is_set(name))
        || std::env::var("AWS_SKIP_SIGNATURE")
            .is_ok_and(|v| v.eq_ignore_ascii_case("true") || v == "1")
}

fn with_profile(mut builder: AmazonS3Builder) -> Result<AmazonS3Builder, String> {
    let profile = profile::chosen()?;
    let get = |name: &str| profile.get(name).filter(|value| !value.is_empty());
    if let Some(region) = get("region")
        && !is_set("AWS_REGION")
        && !is_set("AWS_DEFAULT_REGION")
    {
        builder = builder.with_region(region);
    }
    if let Some(endpoint) = get("endpoint_url")
        && !["AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"].iter().any(|n| is_set(n))
    {
        builder = builder.with_endpoint(endpoint);
    }
    if let (Some(id), Some(secret)) = (get("aws_access_key_id"), get("aws_secret_access_key")) {
        builder = builder.with_access_key_id(id).with_secret_access_key(secret);
        return Ok(match get("aws_session_token") {
            Some(token) => builder.with_token(token),
            None => builder,
        });
    }
    let indirect = ["sso_session", "sso_start_url", "role_arn", "credential_process"];
    if let Some(setting) = indirect.iter().find(|setting| get(setting).is_some()) {
        return Err(format!(
            "the AWS profile has no keys, but {setting}, which tracesql does not resolve; set its \
             keys first: eval \"$(aws configure export-credentials --format env)\""
        ));
    }
    let address = SocketAddr::from(INSTANCE_METADATA);
    if TcpStream::connect_timeout(&address, INSTANCE_TIMEOUT).is_err() {
        return Err(
            "there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
                    AWS_PROFILE, or AWS_SKIP_SIGNATURE=true for a public bucket"
                .to_owned(),
        );
    }
    Ok(builder)
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}
