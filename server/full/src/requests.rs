//! With `-v`, reports the requests to object storage at the end of the program.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ArgMatches;

static IS_WANTED: AtomicBool = AtomicBool::new(false);

/// Looks whether the user wants the report.
pub fn listen(matches: &ArgMatches) {
    let is_set = |matches: &ArgMatches| {
        matches.try_get_one::<bool>("verbose").ok().flatten().is_some_and(|set| *set)
    };
    let inner = matches.subcommand().is_some_and(|(_, inner)| is_set(inner));
    IS_WANTED.store(inner || is_set(matches), Ordering::Relaxed);
}

/// Writes the report to standard error.
pub fn report() {
    let counts = tracesql_remote::counts();
    if IS_WANTED.load(Ordering::Relaxed) && !counts.is_empty() {
        let _ = writeln!(std::io::stderr(), "requests to object storage: {counts}");
    }
}
