//! Credentials, and answers of servers that refuse.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};

use super::{call, text};
use crate::support::moto::bucket;
use crate::support::{Program, fixture};

/// A server that gives each request the same answer. Returns its URL.
fn server(status: &'static str, code: &'static str) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 8192]);
            let body = format!("<Error><Code>{code}</Code><Message>the reason</Message></Error>");
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    });
    format!("http://{address}")
}

fn with_keys(at: &std::path::Path, endpoint: &str) -> Program {
    Program::new(at)
        .env("AWS_ENDPOINT_URL", endpoint)
        .env("AWS_ACCESS_KEY_ID", "known")
        .env("AWS_SECRET_ACCESS_KEY", "hidden")
}

#[test]
fn refusals_state_what_to_do_and_no_secrets() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for (status, code, wanted) in [
        ("403 Forbidden", "AccessDenied", "need the rights to s3:ListBucket"),
        ("403 Forbidden", "InvalidAccessKeyId", "refuses the credentials"),
        ("403 Forbidden", "SignatureDoesNotMatch", "refuses the credentials"),
        ("403 Forbidden", "RequestTimeTooSkewed", "set the clock"),
        ("400 Bad Request", "ExpiredToken", "no longer valid"),
        ("404 Not Found", "NoSuchBucket", "no such bucket"),
        ("301 Moved Permanently", "PermanentRedirect", "AWS_REGION"),
    ] {
        let endpoint = server(status, code);
        for arguments in [
            vec!["list", "s3://bucket/run"],
            vec!["query", "s3://bucket/run", "-c", "SELECT 1"],
            vec!["ingest", text(&fixture("perf.json")), "-o", "s3://bucket/run"],
        ] {
            let error = with_keys(at, &endpoint).args(&arguments).run().failure(3);
            assert!(error.contains(wanted), "{code}: {error}");
            assert!(error.contains("s3://bucket/run: "), "{error}");
            assert!(!error.contains("hidden"), "{error}");
        }
    }
}

#[test]
fn missing_buckets_and_misspelled_stores_are_named() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let missing = call(at, &bucket, &["list", "s3://no-such-bucket-here/run"]).failure(3);
    assert!(missing.contains("there is no such bucket (NoSuchBucket"), "{missing}");
    let small = fixture("perf.json");
    call(at, &bucket, &["ingest", "-q", text(&small), "-o", &bucket.url("runs/base")]).success();
    for name in ["runs/bass", "runs/bas/"] {
        let near = call(at, &bucket, &["list", &bucket.url(name)]).failure(3);
        let wanted = format!("did you mean {}?", bucket.url("runs/base"));
        assert!(near.contains(&wanted), "{near}");
    }
    let absent = call(at, &bucket, &["list", &bucket.url("other")]).failure(3);
    assert!(absent.contains("make one with"), "{absent}");
}

#[test]
fn credentials_come_from_the_environment_or_a_profile() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let url = bucket.url("run");
    let endpoint = || {
        let all = bucket.environment().into_iter();
        all.filter(|(name, _)| !name.contains("KEY"))
    };
    let without = || Program::new(at).envs(endpoint()).env("HOME", at).args(["list", &url]);
    let none = without().run().failure(3);
    assert!(none.contains("set AWS_ACCESS_KEY_ID"), "{none}");
    std::fs::create_dir(at.join(".aws")).expect("a folder");
    let profile = "[default]\nregion = us-east-1\n[lab]\naws_access_key_id = key\n\
                   aws_secret_access_key = secret\n[sso]\nsso_session = x\n";
    std::fs::write(at.join(".aws/credentials"), profile).expect("a profile");
    let there = without().env("AWS_PROFILE", "lab").run().failure(3);
    assert!(there.contains("no such store"), "the keys were accepted: {there}");
    let sso = without().env("AWS_PROFILE", "sso").run().failure(3);
    assert!(sso.contains("sso_session") && sso.contains("export-credentials"), "{sso}");
    let unknown = without().env("AWS_PROFILE", "other").run().failure(3);
    assert!(unknown.contains("\"other\""), "{unknown}");
}

#[test]
fn secrets_in_urls_are_refused_and_not_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let (at, trace) = (folder.path(), fixture("perf.json"));
    for url in [
        "s3://known:hidden@bucket/x.json",
        "s3://ID:abc/hidden@bucket/x.json",
        "s3://bucket/x.json?X-Amz-Signature=hidden",
        "s3://bucket/*.json?sig=hidden",
    ] {
        for arguments in [
            vec!["list", url],
            vec!["ingest", url, "-o", text(&at.join("store"))],
            vec!["ingest", text(&trace), "-o", url],
            vec![url, "-c", "SELECT 1"],
        ] {
            let refused = with_keys(at, "http://127.0.0.1:9").args(&arguments).run();
            assert!(matches!(refused.code, Some(2 | 3)), "{arguments:?}: {}", refused.stderr);
            assert!(!refused.stderr.contains("hidden"), "{arguments:?}: {}", refused.stderr);
            assert!(refused.stderr.contains("s3://bucket/"), "{arguments:?}: {}", refused.stderr);
        }
    }
}

#[test]
fn wrong_settings_are_named_with_an_example() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = || Program::new(folder.path());
    let keys = || with_keys(folder.path(), "http://127.0.0.1:9");
    for (program, url, code, wanted) in [
        (keys().env("AWS_TIMEOUT", "soon"), "s3://b/run", 2, "AWS_TIMEOUT is \"soon\"; set a"),
        (keys().env("AZURE_TIMEOUT", "x"), "az://c/run", 2, "AZURE_TIMEOUT is \"x\"; set a"),
        (
            program().env("AWS_ACCESS_KEY_ID", "known"),
            "s3://b/run",
            3,
            "AWS_ACCESS_KEY_ID is set, but not AWS_SECRET_ACCESS_KEY; set both",
        ),
        (keys().env("AWS_SKIP_SIGNATURE", "maybe"), "s3://b/run", 3, "begin with AWS_"),
        (program(), "az://c/run", 3, "begin with AZURE_"),
        (program(), "https://acct.blob.core.windows.net/c/run", 3, "reads files, not addresses"),
    ] {
        let error = program.args(["list", url]).run().failure(code);
        assert!(error.contains(wanted) && !error.contains("Generic"), "{error}");
    }
}

/// Takes half a minute, because the program tries again several times.
#[test]
#[ignore = "takes half a minute"]
fn tries_again_are_limited() {
    let folder = tempfile::tempdir().expect("a folder");
    let begin = std::time::Instant::now();
    let endpoint = server("503 Service Unavailable", "SlowDown");
    let error = with_keys(folder.path(), &endpoint).args(["list", "s3://bucket/run"]).run();
    let error = error.failure(3);
    assert!(error.contains("overloaded") && error.contains("SlowDown"), "{error}");
    println!("{:?}: {error}", begin.elapsed());
    let program = with_keys(folder.path(), "http://127.0.0.1:9").args(["list", "s3://bucket/run"]);
    let error = program.run().failure(3);
    assert!(error.contains("cannot be reached"), "{error}");
    println!("{:?}: {error}", begin.elapsed());
}
