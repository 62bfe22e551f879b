//! What a connection keeps: views, prepared statements, portals and settings.

use super::limits::memory;
use super::wire::{Message, Wire};
use super::{Served, store};

/// The text of the first message of a kind, up to its first zero.
fn text(messages: &[Message], kind: u8) -> String {
    let body = messages.iter().find(|m| m.kind == kind).map(|m| &m.body[..]).unwrap_or_default();
    let end = body.iter().position(|byte| *byte == 0).unwrap_or(body.len());
    String::from_utf8_lossy(&body[..end]).into()
}

#[test]
fn views_of_a_connection_do_not_reach_the_catalogue_of_others() {
    let served = Served::over(store(&["perf.json"]), &[]);
    let mut one = Wire::start(served.port);
    let made = one.extended("-- app=dash\nCREATE VIEW leak_ext AS SELECT 1 AS secret");
    assert_eq!(text(&made, b'C'), "CREATE VIEW", "{made:?}");
    let explained = one.extended("/* app */ EXPLAIN SELECT 1");
    assert_eq!(text(&explained, b'C'), "EXPLAIN", "{explained:?}");
    // The first question about the catalogue comes from the connection with the view.
    let listed = "SELECT count(*) FROM pg_catalog.pg_class WHERE relname = 'leak_ext'";
    assert_eq!(one.value(listed), "1");
    let mut other = Wire::start(served.port);
    assert_eq!(other.value(listed), "0");
    let columns = "SELECT count(*) FROM information_schema.columns WHERE column_name = 'secret'";
    assert_eq!((one.value(columns), other.value(columns)), ("1".to_owned(), "0".to_owned()));
}

#[test]
fn the_memory_of_a_connection_has_a_bound() {
    let served = Served::over(store(&["perf.json"]), &[]);
    let mut wire = Wire::start(served.port);
    assert_eq!(wire.codes("SELECT count(*) FROM events"), Vec::<String>::new());
    let long = format!("SELECT 1 -- {}", "x".repeat((4 << 20) - 100));
    let before = memory(served.process.id());
    // Portals share the text of their statement.
    wire.parse("long", &long);
    (0..600).for_each(|number| wire.bind(&format!("portal {number}"), "long"));
    wire.send(b'H', b"");
    let bound = wire.until(b'2', 600);
    assert!(bound.iter().all(|m| m.kind != b'E'), "{:?}", bound.last());
    let grown = memory(served.process.id()).saturating_sub(before);
    assert!(grown < 200 << 20, "{} MiB", grown >> 20);
    wire.send(b'S', b"");
    wire.until_ready();
    // Texts of statements and values of portals count.
    let mut codes = Vec::new();
    for number in 0..10 {
        wire.parse(&format!("statement {number}"), &long);
        wire.send(b'S', b"");
        let answer = wire.until_ready();
        codes.extend(answer.iter().filter(|m| m.kind == b'E').map(Message::code));
    }
    assert!(codes.len() >= 2 && codes.iter().all(|code| code == "54000"), "{codes:?}");
    let mut wire = Wire::start(served.port);
    wire.parse("values", "SELECT $1::VARCHAR");
    for number in 0..10 {
        let mut bind = format!("{number}\0values\0\0\0\0\x01").into_bytes();
        bind.extend((12_u32 << 20).to_be_bytes());
        bind.resize(bind.len() + (12 << 20), b'x');
        bind.extend(b"\0\0");
        wire.send(b'B', &bind);
    }
    wire.send(b'S', b"");
    let answer = wire.until_ready();
    let errors: Vec<_> = answer.iter().filter(|m| m.kind == b'E').map(Message::code).collect();
    assert_eq!(errors, ["54000"]);
    assert_eq!(wire.codes("SELECT 1"), Vec::<String>::new());
}

#[test]
fn settings_and_views_have_a_maximum_size() {
    let served = Served::over(store(&["perf.json"]), &[]);
    let mut wire = Wire::start(served.port);
    let long = "x".repeat(300_000);
    let set: Vec<_> = (0..5).flat_map(|n| wire.codes(&format!("SET a.b{n} = '{long}'"))).collect();
    assert!(set.len() >= 2 && set.iter().all(|code| code == "54000"), "{set:?}");
    assert_eq!(wire.codes(&format!("SET tracesql.compare_base = '{long}'")), ["54000"]);
    let view = |number: usize| format!("CREATE OR REPLACE VIEW v{number} AS SELECT '{long}' AS x");
    let made: Vec<_> = (0..5).flat_map(|n| wire.codes(&view(n))).collect();
    assert_eq!(made, ["54000", "54000"]);
    assert_eq!(wire.codes("DROP VIEW v0"), Vec::<String>::new());
    assert_eq!(wire.codes(&view(4)), Vec::<String>::new());
}
