//! Recognizes calls without a command that were meant as something else: a misspelled command, SQL
//! without `-c`, a file of SQL.

use std::path::Path;

use tracesql::suggest;
use tracesql::{Error, Result};

use crate::{command_line, elsewhere};

/// Words with which SQL begins.
const SQL: [&str; 10] = [
    "SELECT", "FROM", "WITH", "SHOW", "DESCRIBE", "EXPLAIN", "SUMMARIZE", "VALUES", "CREATE", "SET",
];

/// Refuses inputs that are none, with the call that was probably meant.
pub fn refuse(inputs: &[String]) -> Result<()> {
    let exists = |name: &str| name == "-" || Path::new(name).exists();
    if let Some(first) = inputs.first().filter(|name| !exists(name))
        && let Some(text) = elsewhere::command(first)
    {
        return Err(Error::Usage(text));
    }
    if let Some(first) = inputs.first()
        && !exists(first)
        && let Some(command) = misspelled_command(first)
    {
        let rest = inputs[1..].iter().map(|word| format!(" {}", quoted(word))).collect::<String>();
        return Err(Error::Usage(format!(
            "there is no command {first:?}, and no such file; did you mean \
             `tracesql {command}{rest}`?"
        )));
    }
    let is_command = |name: &&String| !exists(name) && is_command(name);
    if let Some(command) = inputs.iter().find(is_command) {
        let others = inputs.iter().filter(|name| *name != command);
        let rest = others.map(|word| format!(" {}", quoted(word))).collect::<String>();
        return Err(Error::Usage(format!(
            "the command comes first: write `tracesql {command}{rest}`"
        )));
    }
    let is_sql = |name: &&String| looks_like_sql(name) && !exists(name);
    if let Some(sql) = inputs.iter().find(is_sql) {
        let others: Vec<&String> = inputs.iter().filter(|name| !is_sql(name)).collect();
        let of = others.first().map_or("TRACE".to_owned(), |name| quoted(name));
        return Err(Error::Usage(format!(
            "{sql:?} looks like SQL: give it with -c, as in `tracesql {of} -c {}`",
            quoted(sql)
        )));
    }
    let is_script = |name: &&String| name.to_lowercase().ends_with(".sql");
    if let Some(script) = inputs.iter().find(is_script) {
        let others: Vec<&String> = inputs.iter().filter(|name| !is_script(name)).collect();
        let of = others.first().map_or("TRACE".to_owned(), |name| quoted(name));
        return Err(Error::Usage(format!(
            "{script} is a file of SQL: give it with -f, as in `tracesql {of} -f {script}`"
        )));
    }
    Ok(())
}

fn is_command(word: &str) -> bool {
    command_line::command().get_subcommands().any(|command| command.get_name() == word)
}

/// The command that a word may stand for. A word with a dot or a slash is the name of a file.
fn misspelled_command(word: &str) -> Option<String> {
    if word.contains(['.', '/', '*', ':', ' ']) {
        return None;
    }
    let known = command_line::command();
    let names: Vec<&str> = known.get_subcommands().map(|c| c.get_name()).collect();
    if names.contains(&word) {
        return None;
    }
    let synonym = SYNONYMS.iter().find(|(other, _)| other.eq_ignore_ascii_case(word));
    let near = || suggest::nearest(word, names.iter().copied()).first().copied();
    synonym.map(|(_, command)| *command).or_else(near).map(str::to_owned)
}

/// Words that other programs use, and the commands that do the same here.
const SYNONYMS: [(&str, &str); 14] = [
    ("sql", "query"),
    ("run", "query"),
    ("import", "ingest"),
    ("load", "ingest"),
    ("convert", "export"),
    ("ls", "list"),
    ("rm", "remove"),
    ("delete", "remove"),
    ("diff", "compare"),
    ("verify", "doctor"),
    ("test", "check"),
    ("flame", "flamegraph"),
    ("html", "report"),
    ("views", "docs"),
];

fn looks_like_sql(text: &str) -> bool {
    let text = text.trim_start();
    let word = text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    text.len() > word.len()
        && SQL.iter().any(|known| known.eq_ignore_ascii_case(word))
        && text[word.len()..].starts_with(char::is_whitespace)
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else if word.contains(['"', '$', '`', '\\', '!']) {
        format!("'{}'", word.replace('\'', r"'\''"))
    } else {
        format!("\"{word}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_commands_find_theirs() {
        for (word, command) in [("reprot", "report"), ("compair", "compare"), ("diff", "compare")] {
            assert_eq!(misspelled_command(word).as_deref(), Some(command), "{word}");
        }
        for word in ["trace.json", "runs/base", "mytraces", "query"] {
            assert_eq!(misspelled_command(word), None, "{word}");
        }
    }

    #[test]
    fn commands_of_the_other_program_name_it() {
        for words in [vec!["serve", "runs/a"], vec!["cluster"], vec!["gc", "s3://b/x"]] {
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            let text = refuse(&words).expect_err("refused").to_string();
            assert!(text.contains("a command of the program tracesql-full; see docs/"), "{text}");
        }
    }

    #[test]
    fn sql_is_recognized_by_its_first_word() {
        assert!(looks_like_sql("select 1") && looks_like_sql("FROM kernels"));
        assert!(
            !looks_like_sql("select.json") && !looks_like_sql("from") && !looks_like_sql("x y")
        );
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("runs/a.json"), "runs/a.json");
        assert_eq!(quoted("SELECT 'x'"), "\"SELECT 'x'\"");
        assert_eq!(quoted("SELECT \"x\""), "'SELECT \"x\"'");
    }
}
