//! Credentials and signatures in URLs, which are never printed.

use std::borrow::Cow;

/// Schemes whose URLs name a container before an `@`: `abfss://CONTAINER@ACCOUNT/PREFIX`.
const WITH_CONTAINER: [&str; 5] = ["abfs", "abfss", "az", "azure", "adl"];

/// A name without the parts of a URL that may be secret: user and password before an `@`, and
/// parameters after `?` or `#`. The URL need not be valid. A name without such parts is returned
/// unchanged.
pub fn without_secrets(name: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = name.split_once("://") else { return name.into() };
    let user = rest.rfind('@').filter(|&at| is_user(scheme, &rest[..at]));
    let parameters = rest.find(['?', '#']);
    let shown = match (user, parameters) {
        (None, None) => return name.into(),
        (None, Some(end)) => &rest[..end],
        (Some(at), None) => &rest[at + 1..],
        (Some(at), Some(end)) if at < end => &rest[at + 1..end],
        // A password with a `?`, or parameters with an `@`.
        (Some(_), Some(_)) => "…",
    };
    format!("{scheme}://{shown}").into()
}

/// Whether the part before an `@` may be a user and a password. Keys may contain an `@` too. A
/// password may contain a slash.
fn is_user(scheme: &str, before: &str) -> bool {
    let (first, has_slash) = match before.split_once('/') {
        Some((first, _)) => (first, true),
        None => (before, false),
    };
    match scheme {
        // A port may precede the path.
        "http" | "https" => !has_slash,
        scheme if WITH_CONTAINER.contains(&scheme) => first.contains(':'),
        _ => !has_slash || first.contains(':'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_passwords_and_parameters_are_left_out() {
        for (name, shown) in [
            ("s3://id:hidden@bucket/run", "s3://bucket/run"),
            ("s3://hidden@bucket/run", "s3://bucket/run"),
            ("s3://ID:abc/hidden@bucket/run", "s3://bucket/run"),
            ("s3://ID:443/hidden@bucket/run", "s3://bucket/run"),
            ("s3://id:hid/den@more/hidden@bucket/run", "s3://bucket/run"),
            ("s3://bucket/x.json?X-Amz-Signature=hidden", "s3://bucket/x.json"),
            ("s3://bucket/x.json#hidden", "s3://bucket/x.json"),
            ("s3://id:hid?den@bucket/x", "s3://…"),
            ("s3://id:hidden@bucket/x?sig=hidden", "s3://bucket/x"),
            ("az://container/run?sig=hidden", "az://container/run"),
            ("abfss://id:hidden@account/run", "abfss://account/run"),
            ("https://user:hidden@host/t.json", "https://host/t.json"),
            ("https://host/t.json?sig=hidden@x", "https://host/t.json"),
        ] {
            assert_eq!(without_secrets(name), shown, "{name}");
        }
    }

    #[test]
    fn names_without_secrets_are_unchanged() {
        for name in [
            "runs/a?b@c#d",
            "s3://bucket/run",
            "s3://bucket/a@b/c",
            "abfss://container@account.dfs.core.windows.net/run",
            "https://host:8080/a@b",
            "file:///tmp/a@b",
        ] {
            assert_eq!(without_secrets(name), name);
        }
    }
}
