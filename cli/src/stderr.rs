//! Writes errors and warnings to standard error.

use std::io::{IsTerminal, Write};

use tracesql::output::safe;

/// Whether the user wants colours in general.
pub fn wants_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Whether messages may be coloured.
pub fn colour() -> bool {
    std::io::stderr().is_terminal() && wants_colour()
}

/// Reports an error.
pub fn error(message: &str) {
    report("error", anstyle::AnsiColor::Red, message);
}

/// Reports a warning.
pub fn warning(message: &str) {
    report("warning", anstyle::AnsiColor::Yellow, message);
}

fn report(word: &str, hue: anstyle::AnsiColor, message: &str) {
    // Names of files and events come from outside, so none of their control characters may reach
    // the terminal.
    let message = message.lines().map(safe).collect::<Vec<_>>().join("\n");
    if colour() {
        let style = anstyle::Style::new().fg_color(Some(hue.into())).bold();
        line(&format!("{style}{word}{style:#}: {message}"));
    } else {
        line(&format!("{word}: {message}"));
    }
}

/// Writes a line to standard error. A failure is ignored, because results and exit codes do not
/// depend on it.
pub fn line(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
