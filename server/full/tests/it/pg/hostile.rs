//! Wrong passwords, statements that write, and messages that break the protocol.

use std::process::Command;
use std::time::Duration;

use super::wire::Wire;
use super::{Served, store};
use crate::support::{Program, free_port, tools};

const TRACE: [&str; 1] = ["perf.json"];

#[test]
fn passwords_are_checked() {
    let folder = store(&TRACE);
    let users = folder.path().join("users");
    let mut add = Program::new(folder.path()).args(["user", "add", "ann"]).args([&users]).command();
    let mut child = crate::support::Child::start(add.stdin(std::process::Stdio::piped()));
    std::io::Write::write_all(&mut child.pipes().stdin.take().expect("a pipe"), b"secret\n")
        .expect("a password");
    assert!(child.wait(Duration::from_secs(30)).success());
    let users = users.display().to_string();
    let served = Served::over(folder, &["--users", &users]);
    let ask = ["-At", "-c", "SELECT current_user"];
    let Some(right) = served.psql_as("host=127.0.0.1 user=ann", "secret", &ask) else { return };
    assert_eq!(right.success(), "ann\n");
    for (user, password) in [("ann", "wrong"), ("ann", ""), ("eve", "secret")] {
        let to = format!("host=127.0.0.1 user={user}");
        let refused = served.psql_as(&to, password, &ask).expect("psql").failure(2);
        let is_clear = refused.contains("password authentication failed")
            || refused.contains("no password supplied");
        assert!(is_clear, "{user} {password:?}: {refused}");
    }
}

#[test]
fn a_server_with_tls_takes_no_plain_connections() {
    let folder = store(&TRACE);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (cert, key) = (path("cert.pem"), path("key.pem"));
    let Some(openssl) = tools::program("openssl") else { return };
    let made = Command::new(openssl)
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=localhost", "-keyout", &key, "-out", &cert])
        .output()
        .expect("openssl");
    assert!(made.status.success(), "{made:?}");
    let served = Served::over(folder, &["--tls-cert", &cert, "--tls-key", &key]);
    let ask = ["-At", "-c", "SELECT 1"];
    let with =
        |mode: &str| served.psql_as(&format!("host=127.0.0.1 user=me sslmode={mode}"), "", &ask);
    let Some(secure) = with("require") else { return };
    assert_eq!(secure.success(), "1\n");
    let refused = with("disable").expect("psql").failure(2);
    assert!(refused.contains("TLS only"), "{refused}");
}

#[test]
fn a_server_does_not_start_with_less_security_than_it_was_told() {
    let folder = store(&TRACE);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let start = |arguments: &[&str]| {
        Program::new(folder.path())
            .args(["serve", &path("store")])
            .args(arguments)
            .run_within(Duration::from_secs(60))
            .failure(2)
    };
    let port = free_port();
    let open = format!("0.0.0.0:{port}");
    let error = start(&["--pg", &open]);
    assert!(error.contains("needs --users, --tls-cert and --tls-key"), "{error}");
    let local = format!("127.0.0.1:{port}");
    let (cert, key) = (path("none.crt"), path("none.key"));
    let error = start(&["--pg", &local, "--tls-cert", &cert, "--tls-key", &key]);
    assert!(error.contains("none.crt"), "{error}");
    let error = start(&["--pg", &local, "--users", &path("nobody")]);
    assert!(error.contains("nobody"), "{error}");
}

#[test]
fn statements_that_write_or_open_files_are_refused() {
    let served = Served::over(store(&TRACE), &[]);
    let file = served.folder.path().join("out.csv").display().to_string();
    let mut wire = Wire::start(served.port);
    for (sql, code) in [
        ("INSERT INTO events SELECT * FROM events", "25006"),
        ("UPDATE events SET name = 'x'", "25006"),
        ("DELETE FROM events", "25006"),
        ("DROP TABLE events", "25006"),
        ("CREATE TABLE t AS SELECT 1", "25006"),
        ("SELECT event_id INTO mine FROM events", "25006"),
        ("TRUNCATE events", "25006"),
        ("COPY events FROM STDIN", "25006"),
        (&format!("COPY (SELECT 1) TO '{file}'"), "42501"),
        (&format!("COPY events TO '{file}' STORED AS CSV"), "42501"),
        ("COPY (SELECT 1) TO PROGRAM 'id'", "42501"),
        ("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '/etc/passwd'", "42501"),
        ("SET datafusion.runtime.memory_limit = '1G'", "42501"),
        ("SET datafusion.execution.target_partitions = '1000'", "42501"),
        ("CREATE DATABASE x", "42501"),
        ("SELECT * FROM '/etc/passwd'", "42P01"),
        ("SELECT * FROM read_csv('/etc/passwd')", ""),
        ("SELECT * FROM read_parquet('/etc/passwd')", ""),
        ("SELECT pg_read_file('/etc/passwd')", ""),
        ("DO $$ BEGIN END $$", "0A000"),
        ("SELECT 1; DROP VIEW findings", ""),
    ] {
        let codes = wire.codes(sql);
        assert_eq!(codes.len(), 1, "{sql}");
        assert!(code.is_empty() || codes == [code], "{sql}: {codes:?}");
    }
    assert!(!std::path::Path::new(&file).exists());
    assert_eq!(wire.codes("SELECT count(*) FROM kernels_by_name"), Vec::<String>::new());
}

#[test]
fn only_queries_have_cursors_and_copies() {
    let served = Served::over(store(&TRACE), &[]);
    let mut wire = Wire::start(served.port);
    for sql in [
        "BEGIN; DECLARE c CURSOR FOR CREATE VIEW made AS SELECT 1",
        "COPY (CREATE VIEW made AS SELECT 1) TO STDOUT",
        "COPY (EXPLAIN SELECT 1) TO STDOUT",
    ] {
        assert_eq!(wire.codes(sql), ["42601"], "{sql}");
        wire.codes("ROLLBACK");
        assert_eq!(wire.codes("SELECT * FROM made"), ["42P01"], "{sql}");
    }
    assert_eq!(wire.codes("COPY (INSERT INTO events SELECT 1) TO STDOUT"), ["25006"]);
}

#[test]
fn the_log_shows_statements_that_were_refused() {
    let served = Served::over(store(&TRACE), &[]);
    let mut wire = Wire::start(served.port);
    for (sql, code) in [
        ("SET datafusion.runtime.memory_limit = '1G'", "42501"),
        ("COPY (SELECT 1) TO PROGRAM 'id'", "42501"),
        ("DO $$ BEGIN END $$", "0A000"),
        ("FETCH 1 FROM nothing", "34000"),
        ("SELECT nope FROM pg_class", "42703"),
        ("SELECT nope FROM events", "42703"),
    ] {
        assert_eq!(wire.codes(sql), [code], "{sql}");
        let line = format!("outcome={code} sql={sql:?}");
        assert_eq!(served.log().matches(&line).count(), 1, "{sql}: {}", served.log());
    }
    wire.extended("CLOSE nothing");
    wire.parse("twice", "SELECT 1");
    wire.parse("twice", "SELECT 2");
    wire.send(b'S', b"");
    wire.until_ready();
    for line in ["outcome=34000 sql=\"CLOSE nothing\"", "outcome=42P05 sql=\"SELECT 2\""] {
        assert_eq!(served.log().matches(line).count(), 1, "{line}: {}", served.log());
    }
}

#[test]
fn messages_that_break_the_protocol_end_only_their_connection() {
    let served = Served::over(store(&TRACE), &[]);
    let after_start: [(&str, Vec<u8>); 8] = [
        ("a negative length", b"Q\xff\xff\xff\xff".to_vec()),
        ("a length of 0", b"Q\0\0\0\0".to_vec()),
        ("a length of 2 GB", b"Q\x7f\xff\xff\xffSELECT".to_vec()),
        ("an unknown message", b"\x01\0\0\0\x08abcd".to_vec()),
        ("a text without its end", b"Q\0\0\0\x0aSELECT".to_vec()),
        ("a bind of many formats", b"B\0\0\0\x0a\0\0\xff\xff\xff\xff".to_vec()),
        ("a parse without a name", b"P\0\0\0\x05x".to_vec()),
        ("a password after the start", b"p\0\0\0\x08abc\0".to_vec()),
    ];
    for (what, bytes) in after_start {
        let mut wire = Wire::start(served.port);
        wire.bytes(&bytes);
        let _ = wire.0.shutdown(std::net::Shutdown::Write);
        while let Some(message) = wire.next() {
            assert!(matches!(message.kind, b'E' | b'Z'), "{what}: {message:?}");
        }
    }
    for bytes in [&b"\0\0\0\0"[..], b"\xff\xff\xff\xff\0\x03\0\0", b"GET / HTTP/1.1\r\n\r\n", b""] {
        let mut wire = Wire::open(served.port);
        wire.bytes(bytes);
        let _ = wire.0.shutdown(std::net::Shutdown::Write);
        assert!(wire.next().is_none_or(|message| message.kind == b'E'));
    }
    // Messages in a wrong order are errors of statements; the connection goes on.
    let mut wire = Wire::start(served.port);
    wire.send(b'E', b"nope\0\0\0\0\0");
    wire.send(b'D', b"Snope\0");
    wire.send(b'S', b"");
    let answer = wire.until_ready();
    let errors: Vec<_> = answer.iter().filter(|m| m.kind == b'E').collect();
    assert_eq!(errors.len(), 1, "the first error skips the rest: {answer:?}");
    assert_eq!(errors[0].code(), "34000");
    assert_eq!(wire.codes("SELECT 1"), Vec::<String>::new());
    assert!(!served.log().contains("panicked"), "{}", served.log());
}

#[test]
fn long_statements_and_many_parameters_have_answers() {
    let served = Served::over(store(&TRACE), &[]);
    let mut wire = Wire::start(served.port);
    let long = format!("SELECT '{}'", "x".repeat(10 << 20));
    assert_eq!(wire.codes(&long), ["54000"]);
    let deep = format!("SELECT {}1{}", "(".repeat(5_000), ")".repeat(5_000));
    assert_eq!(wire.codes(&deep).len(), 1);
    let names: Vec<String> = (1..=10_000).map(|n| format!("${n}")).collect();
    let sql = format!("SELECT count(*) FROM events WHERE event_id IN ({})", names.join(","));
    wire.send(b'P', &[b"\0", sql.as_bytes(), b"\0\0\0"].concat());
    let mut bind = b"\0\0\0\0\x27\x10".to_vec();
    (0..10_000).for_each(|_| bind.extend(b"\0\0\0\x011"));
    bind.extend(b"\0\0");
    wire.send(b'B', &bind);
    wire.send(b'E', b"\0\0\0\0\0");
    wire.send(b'S', b"");
    let answer = wire.until_ready();
    assert!(answer.iter().any(|m| m.kind == b'D'), "{:?}", answer.last());
    assert_eq!(wire.codes("SELECT 1"), Vec::<String>::new());
}
