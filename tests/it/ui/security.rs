//! Who gets an answer, on every address.

use serde_json::{Value, json};

use super::{pages, store};
use crate::support::root;

const PAGES: &[&str] = &["/", "/sql", "/views", "/timeline", "/stacks", "/compare", "/report"];

/// All addresses below `/api`, with their methods, as the router has them.
fn data() -> Vec<(&'static str, String)> {
    let router = std::fs::read_to_string(root().join("ui/src/server.rs")).expect("the router");
    let routes = router.lines().filter_map(|line| {
        let (path, rest) = line.trim().strip_prefix(".route(\"/api")?.split_once("\", ")?;
        let method = if rest.starts_with("get") { "GET" } else { "POST" };
        Some((method, format!("/api{}", path.replace("{name}", "events"))))
    });
    let routes: Vec<_> = routes.collect();
    assert!(routes.len() > 18, "{routes:?}");
    routes
}

#[test]
fn data_needs_the_token_the_host_and_our_own_pages() {
    let store = store(&["chrome_mixed.json"]);
    let ui = pages(&store);
    let (host, bearer) = (ui.host(), format!("Bearer {}", ui.token));
    let wrong = "0".repeat(64);
    let wrong = format!("Bearer {wrong}");
    let token = ("authorization", bearer.as_str());
    let own = ("host", host.as_str());
    let json = ("content-type", "application/json");
    for (method, path) in data() {
        let status = |headers: &[(&str, &str)]| ui.raw(method, &path, headers, b"{}").status;
        assert_eq!(status(&[own, json]), 401, "{path}");
        assert_eq!(status(&[own, json, ("authorization", &wrong)]), 401, "{path}");
        assert_eq!(status(&[own, json, ("cookie", &format!("token={}", ui.token))]), 401, "{path}");
        assert_eq!(status(&[("host", "evil.example"), json, token]), 403, "{path}");
        assert_eq!(status(&[own, json, token, ("origin", "http://evil.example")]), 403, "{path}");
        assert_eq!(status(&[own, json, token, ("sec-fetch-site", "cross-site")]), 403, "{path}");
        assert_eq!(status(&[own, json, token, ("sec-fetch-site", "same-site")]), 403, "{path}");
        if method == "POST" {
            assert_eq!(status(&[own, token, ("content-type", "text/plain")]), 415, "{path}");
        }
        for other in ["PUT", "DELETE", "OPTIONS", "PATCH"] {
            let reply = ui.raw(other, &path, &[own, json, token], b"");
            assert_eq!(reply.status, 405, "{other} {path}");
            assert_eq!(reply.header("access-control-allow-origin"), "", "{other} {path}");
        }
    }
}

#[test]
fn pages_are_the_same_for_all_and_may_load_nothing_from_elsewhere() {
    let store = store(&["chrome_mixed.json"]);
    let ui = pages(&store);
    let host = ui.host();
    for path in PAGES {
        let page = ui.raw("GET", path, &[("host", &host)], b"");
        assert_eq!(page.status, 200, "{path}");
        let policy = page.header("content-security-policy");
        for part in [
            "default-src 'none'",
            "script-src 'self';",
            "connect-src 'self';",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert_eq!(page.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(page.header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(page.header("cross-origin-resource-policy"), "same-origin", "{path}");
        assert_eq!(page.header("access-control-allow-origin"), "", "{path}");
        let text = String::from_utf8_lossy(&page.body);
        assert!(!text.contains(&ui.token) && !text.contains("chrome_mixed"), "{path}");
        assert!(!text.contains(" style=") && !text.contains("javascript:"), "{path}");
        for script in text.split("<script").skip(1) {
            assert!(script.trim_start().starts_with("type=\"module\" src=\"/"), "{path}: {script}");
        }
        assert_eq!(ui.raw("GET", path, &[("host", "evil.example")], b"").status, 403, "{path}");
    }
}

#[test]
fn addresses_lead_nowhere_else() {
    let store = store(&["chrome_mixed.json"]);
    let ui = pages(&store);
    let host = ui.host();
    for path in [
        "/assets/ui/../../Cargo.toml",
        "/assets/ui/%2e%2e/%2e%2e/Cargo.toml",
        "/assets/ui/..%2f..%2fCargo.toml",
        "/assets/web//etc/passwd",
        "/assets/report/page.html/..",
        "/assets/",
        "/nothing",
        "//evil.example/",
    ] {
        let reply = ui.raw("GET", path, &[("host", &host)], b"");
        assert_eq!(reply.status, 404, "{path}");
    }
    for name in ["..%2f..%2fsecret.sql", "%2fetc%2fpasswd", "x.sql"] {
        let reply = ui.ask("GET", &format!("/api/saved/{name}"), &Value::Null);
        assert_eq!(reply.status, 404, "{name}");
    }
}

#[test]
fn bodies_have_a_size_and_a_form() {
    let store = store(&["chrome_mixed.json"]);
    let ui = pages(&store);
    let large = json!({"sql": "x".repeat(2 << 20)});
    assert_eq!(ui.ask("POST", "/api/query", &large).status, 413);
    let (host, bearer) = (ui.host(), format!("Bearer {}", ui.token));
    let headers =
        [("host", host.as_str()), ("authorization", &bearer), ("content-type", "application/json")];
    for body in ["", "{", "[]", "{\"sql\": 5}", "\u{0}", "{\"sql\": \"SELECT 1\"} x"] {
        let reply = ui.raw("POST", "/api/query", &headers, body.as_bytes());
        assert_eq!(reply.status, 400, "{body:?}");
        assert!(reply.message().contains("not valid"), "{body:?}");
    }
}

/// What would change the session or read files.
#[test]
fn statements_only_query() {
    let store = store(&["chrome_mixed.json"]);
    let ui = pages(&store);
    for sql in [
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE t AS SELECT 1",
        "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '/etc/passwd'",
        "INSERT INTO events SELECT * FROM events",
        "COPY events TO '/tmp/never.csv'",
        "SELECT 1 INTO t",
        "DROP TABLE events",
        "SET datafusion.execution.batch_size = 1",
        "PREPARE p AS SELECT 1",
        "SELECT * FROM '/etc/passwd'",
        "SELECT 1; SELECT 2",
        "",
    ] {
        let reply = ui.ask("POST", "/api/query", &json!({"sql": sql}));
        assert_eq!(reply.status, 400, "{sql}");
    }
    for sql in ["EXPLAIN SELECT 1", "SHOW TABLES", "DESCRIBE events", "SELECT 1"] {
        assert_eq!(ui.ask("POST", "/api/query", &json!({"sql": sql})).status, 200, "{sql}");
    }
}
