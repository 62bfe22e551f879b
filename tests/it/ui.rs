//! `tracesql ui`: the server without a browser.

mod answers;
mod bad_inputs;
mod browser;
mod picture;
mod security;
mod timeline;
mod wire;

use wire::Ui;

use crate::support::{TestStore, fixture};

/// A store with these fixtures.
fn store(names: &[&str]) -> TestStore {
    let store = TestStore::new();
    for name in names {
        store.ingest(&fixture(name)).expect("the trace is read");
    }
    store
}

/// Pages over a store.
fn pages(store: &TestStore) -> Ui {
    Ui::start(&[store.store.root().to_str().expect("a path in UTF-8")])
}
