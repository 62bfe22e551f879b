//! The commands of the shell, and the parsing of their arguments.

use tracesql::glob;
use tracesql::output::Format;

/// The kind of argument that a command takes, for completion.
#[derive(Debug, Clone, Copy)]
pub enum Argument {
    /// No argument.
    None,
    /// A table, view or function.
    Name,
    /// A pattern for tables.
    Table,
    /// A pattern for views.
    View,
    /// A pattern for functions.
    Function,
    /// One of these words.
    Words(&'static [&'static str]),
    /// The name of a parameter or setting, followed by a value.
    Value,
    /// Names of files.
    Files,
    /// SQL.
    Sql,
}

/// Identifies a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Describe,
    Tables,
    Views,
    Functions,
    Search,
    Format,
    Output,
    Include,
    Timing,
    Vertical,
    Pager,
    Fit,
    MaxRows,
    Set,
    Unset,
    Explain,
    Loaded,
    Open,
    Ingest,
    Timeout,
    Edit,
    System,
    Clear,
    Help,
    Quit,
}

/// A command.
#[derive(Debug)]
pub struct Command {
    /// The names without `\`. Help shows the first one.
    pub names: &'static [&'static str],
    /// The action.
    pub action: Action,
    /// The kind of argument.
    pub argument: Argument,
    /// The arguments as help shows them.
    pub usage: &'static str,
    /// A description of one line.
    pub about: &'static str,
}

const SWITCH: Argument = Argument::Words(&["on", "off"]);
const FORMATS: Argument = Argument::Words(&[
    "table", "csv", "tsv", "json", "ndjson", "markdown", "vertical", "parquet", "arrow",
]);

/// All commands, in the order in which help shows them.
pub const COMMANDS: &[Command] = &[
    command(
        &["d", "d+", "describe", "schema"],
        Action::Describe,
        Argument::Name,
        "[NAME]",
        "tables and views; what is known of a table, view or function",
    ),
    command(&["dt", "dt+", "tables"], Action::Tables, Argument::Table, "[PATTERN]", "tables"),
    command(&["dv", "dv+", "views"], Action::Views, Argument::View, "[PATTERN]", "views by area"),
    command(
        &["df", "df+", "functions"],
        Action::Functions,
        Argument::Function,
        "[PATTERN]",
        "functions; * for all of them",
    ),
    command(
        &["search", "apropos"],
        Action::Search,
        Argument::None,
        "WORDS",
        "search tables, views, columns, functions, settings and topics",
    ),
    command(
        &["loaded", "l", "databases", "conninfo"],
        Action::Loaded,
        Argument::None,
        "",
        "what is open: traces, ranks, time, issues",
    ),
    command(
        &["open", "c", "connect"],
        Action::Open,
        Argument::Files,
        "STORE|TRACE…",
        "open something else",
    ),
    command(
        &["ingest"],
        Action::Ingest,
        Argument::Files,
        "TRACE…",
        "read more traces: into the store that is open, else into the cache",
    ),
    command(
        &["i", "read"],
        Action::Include,
        Argument::Files,
        "FILE",
        "run the statements and commands of a file",
    ),
    command(
        &["o", "output", "once"],
        Action::Output,
        Argument::Files,
        "[FILE]",
        "write the next result to a file; its name says the format",
    ),
    command(&["format", "mode"], Action::Format, FORMATS, "[FORMAT]", "format of results"),
    command(&["x"], Action::Vertical, SWITCH, "[on|off]", "one value a line"),
    command(
        &["fit"],
        Action::Fit,
        SWITCH,
        "[on|off]",
        "cut long texts so that tables fit the terminal",
    ),
    command(
        &["maxrows"],
        Action::MaxRows,
        Argument::Words(&["off"]),
        "[N|off]",
        "most rows to show of a result",
    ),
    command(
        &["pager"],
        Action::Pager,
        SWITCH,
        "[on|off]",
        "show what is longer than the screen with $PAGER or less",
    ),
    command(
        &["timing", "timer"],
        Action::Timing,
        SWITCH,
        "[on|off]",
        "time, rows and what was read of the store, after each statement",
    ),
    command(
        &["explain"],
        Action::Explain,
        Argument::Sql,
        "[analyze] SQL",
        "the plan of a statement; with analyze, what each part took",
    ),
    command(
        &["set"],
        Action::Set,
        Argument::Value,
        "[NAME VALUE]",
        "a setting, or the value of $NAME in statements; without arguments a list",
    ),
    command(
        &["unset"],
        Action::Unset,
        Argument::Value,
        "NAME",
        "forget a parameter; give a setting its default",
    ),
    command(
        &["timeout"],
        Action::Timeout,
        Argument::Words(&["off"]),
        "[SECONDS|off]",
        "stop statements that take longer",
    ),
    command(
        &["!", "shell", "system"],
        Action::System,
        Argument::Files,
        "[COMMAND]",
        "run a command of the system, or $SHELL",
    ),
    command(&["clear"], Action::Clear, Argument::None, "", "clear the screen"),
    command(&["e", "edit"], Action::Edit, Argument::None, "", "edit the last input with $EDITOR"),
    command(&["?", "h", "help"], Action::Help, Argument::None, "", "this list"),
    command(&["q", "quit", "exit"], Action::Quit, Argument::None, "", "leave; so does Ctrl-D"),
];

const fn command(
    names: &'static [&'static str],
    action: Action,
    argument: Argument,
    usage: &'static str,
    about: &'static str,
) -> Command {
    Command { names, action, argument, usage, about }
}

/// The command with this name, given without `\`.
pub fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|c| c.names.contains(&name))
}

/// Splits a line into the command's name and the rest. A `;` at the end is treated as a mistake and
/// ignored, except after SQL.
pub fn cut(line: &str) -> (&str, &str) {
    let line = line.trim();
    let body = &line[line.len().min(1)..];
    let (name, rest) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
    // `\!ls` needs no blank.
    let (name, rest) = match body.strip_prefix('!') {
        Some(command) => ("!", command),
        None => (name, rest),
    };
    (name.trim_end_matches(';'), rest.trim().trim_end_matches(';').trim_end())
}

/// The format that a name stands for in this or in other shells.
pub fn format(name: &str) -> Option<Format> {
    let name = name.to_lowercase();
    let synonym = match name.as_str() {
        "box" | "duckbox" | "column" | "columns" | "aligned" => Format::Table,
        "line" | "lines" | "expanded" => Format::Vertical,
        "jsonlines" | "jsonl" => Format::Ndjson,
        "tabs" => Format::Tsv,
        "md" => Format::Markdown,
        _ => return Format::ALL.into_iter().find(|f| f.name() == name),
    };
    Some(synonym)
}

/// The words of an argument. They are separated by blanks, unless quotes or `\` protect the blanks.
pub fn arguments(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(quote) = quote {
        return Err(format!("a {quote} is not closed"));
    }
    words.extend(word);
    Ok(words)
}

/// The new state of a switch: `on`, `off`, or the opposite of the current state if there is no
/// argument.
pub fn switched(now: bool, argument: &str) -> Result<bool, String> {
    match argument {
        "" => Ok(!now),
        "on" | "true" | "1" => Ok(true),
        "off" | "false" | "0" => Ok(false),
        other => Err(format!("{other:?} is neither on nor off")),
    }
}

/// Whether a name matches a pattern, regardless of case. A `*` stands for any text. A pattern
/// without `*` also matches a part of the name.
pub fn fits(name: &str, pattern: &str) -> bool {
    let (name, pattern) = (name.to_lowercase(), pattern.to_lowercase());
    if pattern.contains('*') { glob::matches(&pattern, &name) } else { name.contains(&pattern) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut all: Vec<&str> = COMMANDS.iter().flat_map(|c| c.names).copied().collect();
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn lines_are_cut() {
        assert_eq!(cut("\\d events;"), ("d", "events"));
        assert_eq!(cut(" .timing "), ("timing", ""));
        assert_eq!(cut("\\q;"), ("q", ""));
        assert_eq!(cut("\\"), ("", ""));
        assert_eq!(cut("\\!ls -l"), ("!", "ls -l"));
        assert_eq!(cut("\\! ls"), ("!", "ls"));
        assert_eq!(cut(".mode box"), ("mode", "box"));
    }

    #[test]
    fn commands_of_other_shells_are_known() {
        for name in ["l", "d+", "!", "mode", "timer", "tables", "schema", "quit", "exit", "help"] {
            assert!(find(name).is_some(), "{name}");
        }
        for name in ["open", "read", "output", "once", "timeout", "databases", "shell"] {
            assert!(find(name).is_some(), "{name}");
        }
        assert_eq!(format("Box"), Some(Format::Table));
        assert_eq!(format("jsonlines"), Some(Format::Ndjson));
        assert_eq!(format("csv"), Some(Format::Csv));
        assert_eq!(format("pdf"), None);
    }

    #[test]
    fn words_of_arguments() {
        let words = |text| arguments(text).expect("words");
        assert_eq!(words("a 'b c' \"d'e\" f\\ g ''"), ["a", "b c", "d'e", "f g", ""]);
        assert!(arguments("n it's").is_err());
    }

    #[test]
    fn a_pattern_without_a_star_is_a_part_of_the_name() {
        assert!(fits("format_ns", "ns") && fits("format_ns", "FORMAT*") && fits("x", "*"));
        assert!(!fits("format_ns", "ns*") && !fits("format_ns", "bytes"));
    }
}
