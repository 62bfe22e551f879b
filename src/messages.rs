//! Errors and warnings on standard error.

use std::io::{IsTerminal, Write};

use crate::output::safe;

/// Whether the user wants colours at all.
pub fn wants_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// Whether messages may be coloured.
pub fn colour() -> bool {
    std::io::stderr().is_terminal() && wants_colour()
}

/// Says what is wrong.
pub fn error(message: &str) {
    say("error", anstyle::AnsiColor::Red, message);
}

/// Says what is odd.
pub fn warning(message: &str) {
    say("warning", anstyle::AnsiColor::Yellow, message);
}

fn say(word: &str, hue: anstyle::AnsiColor, message: &str) {
    // Names of files and events are not ours: nothing in them may reach the terminal raw.
    let message = message.lines().map(safe).collect::<Vec<_>>().join("\n");
    if colour() {
        let style = anstyle::Style::new().fg_color(Some(hue.into())).bold();
        say_line(&format!("{style}{word}{style:#}: {message}"));
    } else {
        say_line(&format!("{word}: {message}"));
    }
}

/// A line on standard error. That nobody can read it changes nothing: results and exit codes are
/// elsewhere.
pub fn say_line(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
