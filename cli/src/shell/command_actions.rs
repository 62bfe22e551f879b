//! The actions of the shell's commands.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command as Process;
use std::time::Duration;

use super::commands::{self, Action, COMMANDS};
use tracesql::docs::{Reference, hits_text};
use tracesql::output::{Format, lines, safe};
use tracesql::suggest::nearest;
use tracesql::{Error, Result};

use super::session::{Flow, Session, scalar};
use super::typed_ahead::TypedAhead;
use super::{describe, startup_message};
use crate::stderr;

/// The width of lines if the output is not a terminal.
const WIDTH: usize = 100;
const ABOUT_STATEMENTS: &str = "Statements end with ; and may span lines. Tab completes names and \
    values, Ctrl-R searches the history, Ctrl-C cancels, Ctrl-D leaves.";
const ABOUT_NAMES: &str = "A . in place of \\ does the same. help, quit, exit and clear need \
    neither. Usual commands of psql, DuckDB and sqlite3 work too, such as \\d+, \\l, .tables, \
    .schema, .mode, .timer, .read and .once.";

impl Session {
    /// Runs a line that begins with `\` or `.`.
    pub(super) fn command(&mut self, line: &str) -> Result<Flow> {
        let (name, rest) = commands::cut(line);
        let Some(command) = commands::find(name) else {
            return Err(Error::Usage(unknown(line, name)));
        };
        let usage = |e: String| Error::Usage(format!("\\{}: {e}", command.names[0]));
        let needs = |what: &str| Error::Usage(format!("\\{} needs {what}", command.names[0]));
        match command.action {
            Action::Describe | Action::Tables | Action::Views | Action::Functions => {
                let text = self.described(command.action, rest).map_err(Error::Usage)?;
                self.print(&text);
            }
            Action::Search if rest.is_empty() => return Err(needs("words")),
            Action::Search => {
                let hits = Reference::of(&self.engine).search(rest);
                if hits.is_empty() {
                    return Err(usage(format!("nothing contains {rest:?}; \\d lists everything")));
                }
                let width = self.page().width.unwrap_or(WIDTH);
                self.print(&format!("{}\n\\d NAME describes an entry.\n", hits_text(&hits, width)));
            }
            Action::Format if rest.is_empty() => {
                self.note(&format!("format: {}", self.format.unwrap_or(Format::Table).name()));
            }
            Action::Format => {
                self.format = Some(commands::format(rest).ok_or_else(|| {
                    let names = Format::ALL.map(Format::name).join(", ");
                    usage(format!("{rest:?} is not a format; there are {names}"))
                })?);
            }
            Action::Output => self.set_output(rest).map_err(usage)?,
            Action::Include => {
                let paths = paths(rest).map_err(usage)?;
                let [path] = paths.as_slice() else { return Err(needs("the name of one file")) };
                return self.include(path);
            }
            Action::Timing => {
                self.timing = self.switch("timing", self.timing, rest).map_err(usage)?
            }
            Action::Vertical => {
                self.vertical =
                    self.switch("one value a line", self.vertical, rest).map_err(usage)?
            }
            Action::Pager => self.pager = self.switch("pager", self.pager, rest).map_err(usage)?,
            Action::Fit => self.fit = self.switch("fit", self.fit, rest).map_err(usage)?,
            Action::MaxRows if rest.is_empty() => self.note(&format!(
                "maxrows: {}",
                self.max_rows.map_or("off".to_owned(), |n| n.to_string())
            )),
            Action::MaxRows if rest == "off" => self.max_rows = None,
            Action::MaxRows => {
                let rows = rest.parse().ok().filter(|n| *n > 0);
                self.max_rows = Some(rows.ok_or_else(|| {
                    usage(format!("{rest:?} is neither a number of rows nor off"))
                })?);
            }
            Action::Set => self.set(rest).map_err(usage)?,
            Action::Unset => {
                let before = self.parameters.len();
                self.parameters.retain(|(n, _)| n != rest);
                if self.parameters.len() == before && !self.engine.settings().reset(rest) {
                    return Err(usage(format!("nothing is set as {rest:?}")));
                }
            }
            Action::Explain if rest.is_empty() => return Err(needs("a statement")),
            Action::Explain => self.sql(&format!("EXPLAIN {rest}"))?,
            Action::Loaded => {
                let text = startup_message::loaded(self)?;
                self.print(&text);
            }
            Action::Open | Action::Ingest => {
                let inputs = commands::arguments(rest).map_err(usage)?;
                if inputs.is_empty() {
                    return Err(needs("a trace or store"));
                }
                let inputs: Vec<String> = inputs.iter().map(|i| home(i)).collect();
                let (engine, location) = if command.action == Action::Open {
                    self.opening.open(inputs, self.in_shell)?
                } else {
                    self.opening.add(self.location.clone(), inputs, self.in_shell)?
                };
                self.replace(engine, location);
                if self.in_shell {
                    stderr::line(startup_message::loaded(self)?.trim_end_matches('\n'));
                }
            }
            Action::Timeout if rest.is_empty() => self.note(&format!(
                "timeout: {}",
                self.timeout.map_or("off".to_owned(), |t| format!("{} s", t.as_secs_f64()))
            )),
            Action::Timeout if rest == "off" => self.timeout = None,
            Action::Timeout => {
                let seconds = rest.parse().ok().filter(|s| *s > 0.0);
                let limit = seconds.and_then(|s| Duration::try_from_secs_f64(s).ok());
                self.timeout = Some(limit.ok_or_else(|| {
                    usage(format!("{rest:?} is neither a number of seconds nor off"))
                })?);
            }
            Action::System if !self.in_shell => {
                return Err(usage("only a shell runs commands of the system".into()));
            }
            Action::System => self.system(rest).map_err(usage)?,
            Action::Clear if !self.in_shell => {
                return Err(usage("only a shell has a screen".into()));
            }
            Action::Clear => {
                let _ = write!(std::io::stdout(), "\x1b[H\x1b[2J");
                let _ = std::io::stdout().flush();
            }
            Action::Edit if !self.in_shell => return Err(usage("only a shell can edit".into())),
            Action::Edit => return self.edit(),
            Action::Help => self.print(&help(self.page().width)),
            Action::Quit => return Ok(Flow::Quit),
        }
        Ok(Flow::Continue)
    }

    /// The output of `\d` and similar commands, which include names that this session has created.
    fn described(&mut self, action: Action, rest: &str) -> Result<String, String> {
        self.forget_catalog();
        let (catalog, page) = (self.catalog(), self.page());
        match action {
            Action::Tables => Ok(describe::relations(&catalog, "table", rest, page)),
            Action::Views => Ok(describe::relations(&catalog, "view", rest, page)),
            Action::Functions => Ok(describe::functions(&catalog, rest, page)),
            _ if rest.is_empty() => Ok(describe::relations(&catalog, "", "", page)),
            _ => describe::name(&catalog, rest.trim_matches('"'), page),
        }
    }

    fn switch(&self, what: &str, now: bool, argument: &str) -> Result<bool, String> {
        let on = commands::switched(now, argument)?;
        if self.in_shell {
            self.note(&format!("{what}: {}", if on { "on" } else { "off" }));
        }
        Ok(on)
    }

    fn set_output(&mut self, rest: &str) -> Result<(), String> {
        let paths = paths(rest)?;
        self.output = match paths.as_slice() {
            [] => None,
            [path] => Some(path.clone()),
            _ => return Err("one file takes one result; name one".into()),
        };
        if self.in_shell {
            match &self.output {
                Some(path) => {
                    let format =
                        self.format.or_else(|| Format::of_file(path)).unwrap_or(Format::Table);
                    self.note(&format!(
                        "the next result goes to {} ({})",
                        path.display(),
                        format.name()
                    ));
                }
                None => self.note("results go to the terminal"),
            }
        }
        Ok(())
    }

    fn set(&mut self, rest: &str) -> Result<(), String> {
        let words = commands::arguments(rest)?;
        let [name, value @ ..] = words.as_slice() else {
            self.print(&self.what_is_set());
            return Ok(());
        };
        if value.is_empty() {
            return Err(format!("{name} needs a value; \\unset {name} forgets it"));
        }
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            return Err(format!("{name:?} is not a name; names have letters, digits and _"));
        }
        // `\set name = value` is accepted too.
        let value = if value.len() > 1 && value[0] == "=" { &value[1..] } else { value };
        let value = value.join(" ");
        if let Some(error) = self.engine.settings().type_error(name, &value) {
            return Err(error);
        }
        if !self.engine.settings().set(name, &value) {
            self.parameters.retain(|(n, _)| n != name);
            self.parameters.push((name.clone(), scalar(&value)));
        }
        Ok(())
    }

    /// The parameters, and the settings with their units. A star marks settings that were changed.
    fn what_is_set(&self) -> String {
        let mut lines: Vec<(String, String)> =
            self.parameters.iter().map(|(n, v)| (format!("${n}"), v.to_string())).collect();
        for (name, setting) in self.engine.settings().all() {
            let mark = if setting.value == setting.default { "" } else { " *" };
            let unit = if matches!(setting.unit.as_str(), "" | "text" | "count" | "ratio") {
                String::new()
            } else {
                format!(" {}", setting.unit)
            };
            lines.push((
                name,
                format!("{}{unit}{mark}", setting.value.as_deref().unwrap_or("NULL")),
            ));
        }
        let width = lines.iter().map(|(n, _)| n.chars().count()).max().unwrap_or(0);
        lines
            .iter()
            .map(|(name, value)| format!("{:width$}  {}\n", safe(name), safe(value)))
            .collect()
    }

    /// Runs a command of the system; without one, the user's shell.
    fn system(&self, command: &str) -> Result<(), String> {
        let shell = std::env::var("SHELL").unwrap_or_else(|_| "sh".into());
        let mut process = Process::new(if command.is_empty() { shell.as_str() } else { "sh" });
        if !command.is_empty() {
            process.args(["-c", command]);
        }
        let status = self.with_terminal(|| process.status()).map_err(|e| e.to_string())?;
        match status.code() {
            Some(0) => Ok(()),
            Some(code) => Err(format!("the command ended with exit code {code}")),
            None => Err("a signal ended the command".into()),
        }
    }

    /// Runs another program, which uses the terminal as its user has set it.
    fn with_terminal<T>(&self, program: impl FnOnce() -> T) -> T {
        self.typed_ahead.iter().for_each(TypedAhead::lend);
        let done = program();
        self.typed_ahead.iter().for_each(TypedAhead::take_back);
        done
    }

    /// Opens the last input in an editor, and runs the edited text.
    fn edit(&mut self) -> Result<Flow> {
        let editor = ["VISUAL", "EDITOR"]
            .iter()
            .find_map(|v| std::env::var(v).ok().filter(|e| !e.trim().is_empty()))
            .unwrap_or_else(|| "vi".into());
        let path = std::env::temp_dir().join(format!("tracesql-{}.sql", std::process::id()));
        let failed = |e| Error::Output(path.display().to_string(), e);
        std::fs::write(&path, &self.last_input).map_err(failed)?;
        let mut command = Process::new("sh");
        command.args(["-c", &format!("{editor} \"$1\""), "sh"]).arg(&path);
        let status = self.with_terminal(|| command.status());
        let text = std::fs::read_to_string(&path);
        let _ = std::fs::remove_file(&path);
        if !status.is_ok_and(|s| s.success()) {
            return Err(Error::Usage(format!(
                "the editor {editor:?} failed; $EDITOR names another"
            )));
        }
        let text = text.map_err(failed)?;
        let _ = write!(
            std::io::stdout(),
            "{}",
            text.lines().map(|l| format!("{}\n", safe(l))).collect::<String>()
        );
        self.last_input = text.clone();
        // A command is a mistake here: `\e` would open the editor again.
        if text.trim_start().starts_with(['\\', '.']) {
            Ok(Flow::Continue)
        } else {
            self.input(&text)
        }
    }
}

/// The message for a command that does not exist. It names the nearest one, and writes commands as
/// the user does, with `\` or `.`.
fn unknown(line: &str, name: &str) -> String {
    let mark = if line.trim_start().starts_with('.') { '.' } else { '\\' };
    let near = nearest(name, COMMANDS.iter().flat_map(|c| c.names).copied());
    let help = near
        .first()
        .map_or(format!("{mark}help lists all commands"), |n| format!("did you mean {mark}{n}?"));
    format!("there is no command {mark}{}; {help}", safe(name))
}

/// The text of the list of commands.
fn help(room: Option<usize>) -> String {
    let room = room.unwrap_or(usize::MAX);
    let filled = |text: &str, indent: usize| {
        lines(text.split(' ').map(str::to_owned), indent, indent, room.max(indent + 20))
            .join(&format!("\n{}", " ".repeat(indent)))
    };
    let lead =
        |c: &commands::Command| format!("\\{} {}", c.names[0], c.usage).trim_end().to_owned();
    let width = COMMANDS.iter().map(|c| lead(c).chars().count()).max().unwrap_or(0);
    let mut out = format!("{}\n\n", filled(ABOUT_STATEMENTS, 0));
    for command in COMMANDS {
        let about = filled(command.about, width + 4);
        out.push_str(&format!("  {:width$}  {about}\n", lead(command)));
    }
    out.push_str(&format!("\n{}\n", filled(ABOUT_NAMES, 0)));
    out
}

fn paths(rest: &str) -> Result<Vec<PathBuf>, String> {
    Ok(commands::arguments(rest)?.iter().map(|p| PathBuf::from(home(p))).collect())
}

/// Expands `~/` as a shell does.
fn home(path: &str) -> String {
    match (path.strip_prefix("~/"), std::env::var("HOME")) {
        (Some(rest), Ok(home)) => format!("{home}/{rest}"),
        _ => path.to_owned(),
    }
}
