//! Tools and data that a machine may lack: the corpus, Python packages, Go, graphviz, `script`,
//! Chromium.
//!
//! A test requests what it needs here and returns if the result is `None`. Such a skip is visible:
//! the name of the test goes to standard error and into the file that `TRACESQL_SKIPPED` names,
//! which `scripts/test` prints at its end. If `CI` is set, the test fails instead, unless
//! `TRACESQL_MAY_SKIP` lists the tool (names separated by commas).

use std::fmt::Display;
use std::io::Write;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The corpus of public traces next to the project, or in the folder that `TRACESQL_CORPUS` names.
#[track_caller]
pub fn corpus() -> Option<PathBuf> {
    let path = std::env::var_os("TRACESQL_CORPUS")
        .map_or_else(|| super::root().join("../shared/traces"), PathBuf::from);
    let found =
        path.join("public").is_dir().then(|| path.canonicalize().expect("the corpus has a path"));
    or_skip("corpus", found, format_args!("{} does not exist", path.join("public").display()))
}

/// A file or folder of the corpus, by its path in the corpus.
#[track_caller]
pub fn in_corpus(path: &str) -> Option<PathBuf> {
    let path = corpus()?.join(path);
    let found = path.exists().then_some(&path).cloned();
    or_skip("corpus", found, format_args!("{} does not exist", path.display()))
}

/// Python with the packages of `tests/requirements.txt`, in the place where `scripts/test` installs
/// it.
#[track_caller]
pub fn python() -> Option<PathBuf> {
    let found =
        std::env::var_os("TRACESQL_TEST_PYTHON").map(PathBuf::from).filter(|path| path.is_file());
    or_skip("python", found, "TRACESQL_TEST_PYTHON names no Python")
}

/// Whether a Python installation has a package of `tests/requirements.txt`.
#[track_caller]
pub fn package(python: &Path, name: &str) -> Option<()> {
    let found = has_package(python, name).then_some(());
    or_skip("python", found, format_args!("{} has no {name}", python.display()))
}

fn has_package(python: &Path, name: &str) -> bool {
    let mut command = Command::new(python);
    command.args(["-c", &format!("import {name}")]);
    command.output().is_ok_and(|out| out.status.success())
}

/// Go, for its `go tool pprof`: `TRACESQL_TEST_GO`, or a Go next to the Python of the tests, or one
/// on the path.
#[track_caller]
pub fn go() -> Option<PathBuf> {
    let beside = std::env::var_os("TRACESQL_TEST_PYTHON")
        .and_then(|python| Some(Path::new(&python).parent()?.join("go")));
    let named = std::env::var_os("TRACESQL_TEST_GO").map(PathBuf::from);
    let found = named.into_iter().chain(beside).find(|path| path.is_file());
    or_skip("go", found.or_else(|| on_path(&["go"])), "no Go; TRACESQL_TEST_GO names one")
}

/// Graphviz, which pprof uses for drawing.
#[track_caller]
pub fn graphviz() -> Option<PathBuf> {
    or_skip("graphviz", on_path(&["dot"]), "no dot on the path")
}

/// `script` of util-linux, which provides a terminal.
#[track_caller]
pub fn script() -> Option<PathBuf> {
    // Other programs with this name do not support `--version`.
    let runs = |path: &PathBuf| {
        let mut command = Command::new(path);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    or_skip("script", on_path(&["script"]).filter(runs), "no script of util-linux on the path")
}

/// Chromium: `TRACESQL_TEST_CHROMIUM`, or one on the path.
#[track_caller]
pub fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("TRACESQL_TEST_CHROMIUM").map(PathBuf::from);
    let found = named
        .filter(|path| path.is_file())
        .or_else(|| on_path(&["chromium", "chromium-browser", "google-chrome"]));
    or_skip("chromium", found, "no Chromium; TRACESQL_TEST_CHROMIUM names one")
}

/// The tool that makes and reads Debian packages.
#[track_caller]
pub fn dpkg_deb() -> Option<PathBuf> {
    or_skip("dpkg-deb", on_path(&["dpkg-deb"]), "no dpkg-deb on the path")
}

/// The folder that `scripts/artifacts` filled: `TRACESQL_ARTIFACTS`, or `dist`.
#[track_caller]
pub fn artifacts() -> Option<PathBuf> {
    let folder = std::env::var_os("TRACESQL_ARTIFACTS")
        .map_or_else(|| super::root().join("dist"), PathBuf::from);
    let found = folder.join("SHA256SUMS").is_file().then_some(folder);
    or_skip("artifacts", found, "scripts/artifacts was not run")
}

/// The device that is always full.
#[track_caller]
pub fn full_device() -> Option<PathBuf> {
    let path = PathBuf::from("/dev/full");
    or_skip("dev-full", path.exists().then_some(path), "no /dev/full")
}

/// Returns the tool that was found. If there is none, the test is skipped, or fails in CI.
#[track_caller]
fn or_skip<T>(tool: &str, found: Option<T>, why: impl Display) -> Option<T> {
    if found.is_none() {
        skip(tool, why);
    }
    found
}

/// Reports that a test, or a part of it, does not run because a tool is missing.
///
/// # Panics
///
/// In CI, unless `TRACESQL_MAY_SKIP` names the tool.
#[track_caller]
pub fn skip(tool: &str, why: impl Display) {
    let test = running_test();
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let allowed = std::env::var("TRACESQL_MAY_SKIP").unwrap_or_default();
    assert!(
        !is_set("CI") || allowed.split(',').any(|name| name.trim() == tool),
        "{test} needs {tool}: {why} (TRACESQL_MAY_SKIP={tool} leaves it out)"
    );
    eprintln!("skipped: {test} needs {tool}: {why}");
    if let Some(path) = std::env::var_os("TRACESQL_SKIPPED") {
        // A short line is written at once, so that the lines of parallel tests do not mix.
        let line = format!("{tool}\t{test}\t{why}\n");
        std::fs::File::options()
            .append(true)
            .create(true)
            .open(&path)
            .and_then(|mut file| file.write_all(line.as_bytes()))
            .unwrap_or_else(|e| panic!("{}: {e}", Path::new(&path).display()));
    }
}

/// The name of the running test, or the place of the caller.
#[track_caller]
fn running_test() -> String {
    // A test thread has the name of its test. A test that runs alone is in the main thread, and
    // nextest gives its name in the arguments.
    let thread = std::thread::current().name().filter(|name| *name != "main").map(str::to_owned);
    thread
        .or_else(|| std::env::args().skip(1).find(|argument| argument.contains("::")))
        .unwrap_or_else(|| Location::caller().to_string())
}

fn on_path(names: &[&str]) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|path| path.is_file())
}

#[test]
fn a_skip_names_the_test() {
    assert_eq!(running_test(), "support::needs::a_skip_names_the_test");
}
