//! Words that mean a command of the shell although they lack the `\`, such as `help` and `quit`.

use tracesql::sql_text::is_complete;

/// The words with the commands that they stand for. `()` is for those who come from Python.
const WORDS: [(&str, &str); 6] = [
    ("help", "\\?"),
    ("quit", "\\q"),
    ("quit()", "\\q"),
    ("exit", "\\q"),
    ("exit()", "\\q"),
    ("clear", "\\clear"),
];

/// The command that an input without `\` means, if it means one. `help NAME` describes a name.
pub fn command(input: &str) -> Option<String> {
    let input = input.trim().trim_end_matches(';').trim_end();
    if let Some(command) = of_word(input) {
        return Some(command.to_owned());
    }
    let (word, name) = input.split_once(char::is_whitespace)?;
    let is_name = name.trim().chars().all(|c| c.is_alphanumeric() || c == '_');
    (word.eq_ignore_ascii_case("help") && is_name).then(|| format!("\\d {}", name.trim()))
}

/// Whether Enter runs an input and does not continue it in a new line.
pub fn is_finished(input: &str) -> bool {
    command(input).is_some() || is_complete(input)
}

/// Whether the last line of an unfinished statement looks as if it was meant as a command.
pub fn is_misplaced(input: &str) -> bool {
    let Some((_, last)) = input.trim_end().rsplit_once('\n') else { return false };
    let last = last.trim();
    of_word(last).is_some() || ["\\?", "\\q", "\\h"].contains(&last)
}

fn of_word(text: &str) -> Option<&'static str> {
    WORDS.iter().find(|(word, _)| text.eq_ignore_ascii_case(word)).map(|(_, command)| *command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_alone_is_a_command() {
        for (input, meant) in [
            ("help", "\\?"),
            (" EXIT ;", "\\q"),
            ("quit()", "\\q"),
            ("clear", "\\clear"),
            ("help findings", "\\d findings"),
        ] {
            assert_eq!(command(input).as_deref(), Some(meant), "{input}");
            assert!(is_finished(input));
        }
        for input in ["SELECT 1", "help, please", "quit smoking", "helper", "", "SELECT\nhelp"] {
            assert_eq!(command(input), None, "{input}");
        }
    }

    #[test]
    fn a_word_in_a_statement_is_noticed() {
        assert!(is_misplaced("SELECT name,\nhelp") && is_misplaced("SELECT name,\n\\?\n"));
        assert!(!is_misplaced("SELECT name,\nevent_id") && !is_misplaced("help"));
    }
}
