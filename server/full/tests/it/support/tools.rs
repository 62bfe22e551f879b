//! Tools that tests of the second workspace need. A test without its tool is skipped, or fails in
//! CI; `needs` describes how.

use std::path::{Path, PathBuf};

use super::needs;

/// Python with the packages of `server/requirements.txt`: `TRACESQL_SERVER_PYTHON`, or the one of
/// the folder into which `scripts/test-server` installs them.
#[track_caller]
pub fn server_python() -> Option<PathBuf> {
    let named = std::env::var_os("TRACESQL_SERVER_PYTHON").map(PathBuf::from);
    let usual = std::env::var_os("HOME")
        .map(|home| Path::new(&home).join(".cache/tracesql/server-venv/bin/python"));
    let found = named.or(usual).filter(|path| path.is_file());
    if found.is_none() {
        needs::skip("server-python", "no Python with the packages of server/requirements.txt");
    }
    found
}

/// The client of PostgreSQL.
#[track_caller]
pub fn psql() -> Option<PathBuf> {
    program("psql")
}

/// A program on the path.
#[track_caller]
pub fn program(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let found =
        std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file());
    if found.is_none() {
        needs::skip(name, format_args!("no {name} on the path"));
    }
    found
}
