//! The state of a shell or script. It runs statements and commands.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use datafusion::common::ScalarValue;
use datafusion::sql::parser::Statement;
use tokio::runtime::Runtime;

use tracesql::catalog::Catalog;
use tracesql::engine::Engine;
use tracesql::explain::{Audience, explain, render};
use tracesql::open::Location;
use tracesql::output::{Format, TableStyle, safe};
use tracesql::sql_text::{Part, Piece, split};
use tracesql::{Error, Result, runtime};

use super::column_values::ColumnValues;
use super::complete::{Values, WantedValues};
use super::describe::Page;
use super::execution::{self, Destination};
use super::opening::Opening;
use super::pager::{Screen, Size, Wide};
use super::query_progress::Watched;
use super::scanned::{self, rows};
use super::typed_ahead::TypedAhead;
use crate::global::Global;
use crate::stderr;
use crate::time_limit::within;

/// The number of rows of a result that the shell shows unless `\maxrows` changes it.
const MAX_ROWS: usize = 10_000;
/// The maximum nesting depth of files that include files.
const MAX_DEPTH: usize = 16;

/// The options that a session starts with.
pub struct Options {
    /// The values of `$name`.
    pub parameters: Vec<(String, ScalarValue)>,
    /// The format of results.
    pub format: Option<Format>,
    /// The file for the next result.
    pub output: Option<PathBuf>,
    /// Whether the session is a shell on a terminal and not a script.
    pub in_shell: bool,
}

/// A session: an engine with the state of its user interface.
pub struct Session {
    pub(super) engine: Arc<Engine>,
    pub(super) location: Location,
    pub(super) opening: Opening,
    pub(super) runtime: Runtime,
    threads: usize,
    /// The time limit of a statement.
    pub(super) timeout: Option<Duration>,
    /// Whether lines that begin with `\\` are commands. Otherwise they are refused.
    allows_commands: bool,
    /// The values of `$name`.
    pub(super) parameters: Vec<(String, ScalarValue)>,
    /// The format of results. The default is the format of the output file's name, else a table.
    pub(super) format: Option<Format>,
    /// The file for the next result.
    pub(super) output: Option<PathBuf>,
    pub(super) vertical: bool,
    pub(super) timing: bool,
    pub(super) pager: bool,
    pub(super) fit: bool,
    pub(super) max_rows: Option<usize>,
    /// The size of a shell's terminal. A script has none.
    pub(super) screen: Option<Size>,
    /// The width of the terminal that a script's results go to, if there is one.
    pub(super) width: Option<usize>,
    pub(super) in_shell: bool,
    /// Keeps what is typed while a statement runs.
    pub(super) typed_ahead: Option<TypedAhead>,
    pub(super) last_input: String,
    catalog: Option<Arc<Catalog>>,
    column_values: ColumnValues,
    depth: usize,
}

/// Whether a session continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Continue with the next statement.
    Continue,
    /// The user entered `\q`.
    Quit,
}

/// A statement or command of a text.
enum Step<'a> {
    Command(&'a str),
    Statement(Box<Statement>, Part<'a>),
}

impl Session {
    /// Creates a session over traces that are open.
    pub fn new(
        engine: Engine,
        location: Location,
        global: &Global,
        options: Options,
    ) -> Result<Self> {
        Ok(Self {
            engine: Arc::new(engine),
            location,
            opening: Opening::new(global),
            runtime: runtime::with_threads(global.threads)?,
            threads: global.threads,
            timeout: global.timeout,
            allows_commands: !global.no_commands,
            parameters: options.parameters,
            format: options.format,
            output: options.output,
            vertical: false,
            timing: false,
            pager: true,
            fit: true,
            max_rows: options.in_shell.then_some(MAX_ROWS),
            screen: None,
            width: None,
            in_shell: options.in_shell,
            typed_ahead: None,
            last_input: String::new(),
            catalog: None,
            column_values: ColumnValues::default(),
            depth: 0,
        })
    }

    /// Makes the tables of a script fit a terminal of this width.
    pub fn set_width(&mut self, width: Option<usize>) {
        self.width = width;
    }

    /// Runs a script. All its statements are parsed before the first one runs.
    pub fn script(&mut self, text: &str, file: Option<&str>) -> Result<()> {
        let steps = self.steps(text, file)?;
        if steps.is_empty() {
            return Err(Error::Usage("there is no SQL to run".into()));
        }
        if self.output.is_some()
            && steps.iter().filter(|s| matches!(s, Step::Statement(..))).count() > 1
        {
            return Err(Error::Usage("-o takes the result of one statement; give one".into()));
        }
        self.steps_in_order(steps, text, file).map(drop)
    }

    /// Runs an input of the shell.
    pub fn input(&mut self, text: &str) -> Result<Flow> {
        let steps = self.steps(text, None)?;
        self.steps_in_order(steps, text, None)
    }

    /// Runs a file with statements and commands.
    pub fn include(&mut self, path: &Path) -> Result<Flow> {
        if self.depth >= MAX_DEPTH {
            return Err(Error::Usage(format!(
                "{}: files include each other {MAX_DEPTH} deep",
                path.display()
            )));
        }
        let text = std::fs::read_to_string(path)
            .map_err(|e| Error::Usage(format!("{}: {e}", path.display())))?;
        let name = path.display().to_string();
        self.depth += 1;
        let steps = self.steps(&text, Some(&name));
        let next = steps.and_then(|steps| self.steps_in_order(steps, &text, Some(&name)));
        self.depth -= 1;
        next
    }

    fn steps<'a>(&mut self, text: &'a str, file: Option<&str>) -> Result<Vec<Step<'a>>> {
        let mut steps = Vec::new();
        for part in split(text) {
            match part.piece {
                Piece::Gap => {}
                Piece::Command if !self.allows_commands => {
                    return Err(Error::Usage(format!(
                        "{:?} is a command, not SQL, and --no-commands was given",
                        safe(part.text.trim())
                    )));
                }
                Piece::Command => steps.push(Step::Command(part.text)),
                Piece::Statement | Piece::Unfinished => {
                    let parsed = self
                        .engine
                        .parse(part.text)
                        .map_err(|e| self.located(e, part, text, file))?;
                    steps.extend(parsed.into_iter().map(|s| Step::Statement(Box::new(s), part)));
                }
            }
        }
        Ok(steps)
    }

    fn steps_in_order(&mut self, steps: Vec<Step>, text: &str, file: Option<&str>) -> Result<Flow> {
        for step in steps {
            match step {
                Step::Command(line) => {
                    if self.command(line)? == Flow::Quit {
                        return Ok(Flow::Quit);
                    }
                }
                Step::Statement(statement, part) => {
                    self.statement(*statement).map_err(|e| self.located(e, part, text, file))?
                }
            }
        }
        Ok(Flow::Continue)
    }

    /// Runs the SQL of a command.
    pub(super) fn sql(&mut self, sql: &str) -> Result<()> {
        let part = Part { piece: Piece::Statement, text: sql, start: 0 };
        for statement in self.engine.parse(sql).map_err(|e| self.located(e, part, sql, None))? {
            self.statement(statement).map_err(|e| self.located(e, part, sql, None))?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: Statement) -> Result<()> {
        let output = self.output.take();
        let watched = Watched::start(self.in_shell);
        let destination = match &output {
            Some(path) => Destination::File(
                self.format.or_else(|| Format::of_file(path)).unwrap_or(Format::Table),
                path.clone(),
            ),
            None => self.to_terminal(&watched)?,
        };
        let work = execution::run(
            self.engine.clone(),
            statement,
            self.parameters.clone(),
            destination,
            watched.clone(),
        );
        let done = if self.in_shell {
            match execution::cancellable(&self.runtime, self.timeout, &watched, work)? {
                execution::Ended::Itself(done) => done,
                execution::Ended::Cancelled(why) => Err(why),
                execution::Ended::Abandoned(why) => {
                    self.note(
                        "a part of the query cannot be stopped; \
                         it goes on until its end or that of the shell",
                    );
                    std::mem::replace(&mut self.runtime, runtime::with_threads(self.threads)?)
                        .shutdown_background();
                    Err(why)
                }
            }
        } else {
            within(&self.runtime, self.timeout, work)
        };
        let done = match done {
            // The pager was closed before the end.
            Err(e) if self.in_shell && e.is_broken_pipe() => return Ok(()),
            done => done?,
        };
        if let Some(path) = output.filter(|_| self.in_shell) {
            self.note(&format!("{} to {}", rows(done.shown.rows), path.display()));
        }
        if self.timing {
            let first = if done.shown.has_more { "the first " } else { "" };
            self.note(&format!(
                "{} for {first}{}{}",
                execution::time(done.elapsed),
                rows(done.shown.rows),
                scanned::text(done.scanned)
            ));
        }
        Ok(())
    }

    fn to_terminal(&self, watched: &Arc<Watched>) -> Result<Destination> {
        let format = match self.format.unwrap_or(Format::Table) {
            Format::Table if self.vertical => Format::Vertical,
            format => format,
        };
        if self.in_shell && matches!(format, Format::Parquet | Format::Arrow) {
            return Err(Error::Usage(
                "this format is not for reading; name a file with \\o FILE, \
                 or choose another with \\format"
                    .into(),
            ));
        }
        if !self.in_shell && self.width.is_none() {
            return Ok(Destination::Plain(format));
        }
        let width = self.width.or(self.screen.map(|s| s.width)).filter(|_| self.fit);
        let style = TableStyle { width, max_rows: self.max_rows, in_shell: self.in_shell };
        let wide = match format {
            Format::Table | Format::Vertical if self.fit => Wide::Cut,
            Format::Table => Wide::Page,
            _ => Wide::Wrap,
        };
        Ok(Destination::Screen(format, style, self.screen(wide, watched.clone())))
    }

    /// The terminal, with a pager if the user wants one.
    fn screen(&self, wide: Wide, watched: Arc<Watched>) -> Screen {
        let size = self.screen.filter(|_| self.pager && self.in_shell);
        Screen::new(size, wide, self.typed_ahead.clone(), watched)
    }

    /// Prints a text that may be longer than the screen. It is not an error if the user closes the
    /// pager before the end.
    pub(super) fn print(&self, text: &str) {
        let _ = self.screen(Wide::Wrap, Watched::start(false)).write_all(text.as_bytes());
    }

    /// Reports a message that is not a result.
    pub(super) fn note(&self, text: &str) {
        stderr::line(&safe(text));
    }

    /// The layout of descriptions in this session.
    pub(super) fn page(&self) -> Page {
        Page {
            width: self.screen.map(|s| s.width).or(self.width),
            colour: self.in_shell && stderr::colour(),
        }
    }

    /// The catalog of names. It is made when it is first needed.
    pub fn catalog(&mut self) -> Arc<Catalog> {
        let made = || Arc::new(Catalog::of(&self.engine, &self.runtime));
        self.catalog.get_or_insert_with(made).clone()
    }

    /// Drops the catalog after statements that may have created names.
    pub(super) fn forget_catalog(&mut self) {
        self.catalog = None;
        self.column_values = ColumnValues::default();
    }

    /// Drops the catalog if the last input may have created names.
    pub(super) fn forget_new_names(&mut self) {
        let makes = ["create", "drop"].iter().any(|w| self.last_input.to_lowercase().contains(w));
        if makes {
            self.forget_catalog();
        }
    }

    /// The values of a column that complete a string.
    pub fn values_of(&mut self, wanted: &WantedValues) -> Vec<String> {
        self.column_values.of(wanted, &self.engine, &self.runtime)
    }

    /// The names of parameters and settings.
    pub fn values(&self) -> Values {
        Values {
            parameters: self.parameters.iter().map(|(n, _)| n.clone()).collect(),
            settings: self.engine.settings().all().into_keys().collect(),
        }
    }

    /// Switches to other traces. Settings that were changed are kept.
    pub(super) fn replace(&mut self, engine: Engine, location: Location) {
        for (name, setting) in self.engine.settings().all() {
            if let Some(value) = setting.value.filter(|v| setting.default.as_ref() != Some(v)) {
                engine.settings().set(&name, &value);
            }
        }
        self.engine = Arc::new(engine);
        self.location = location;
        self.forget_catalog();
    }

    /// An engine error, explained with its place in the text.
    fn located(&mut self, error: Error, part: Part, text: &str, file: Option<&str>) -> Error {
        let Error::Sql(e) = error else { return error };
        let catalog = self.catalog();
        Error::Query(render(
            &explain(&e, part.text, &catalog, Audience::Shell),
            text,
            part.start,
            file,
        ))
    }
}

/// Parses a value as on the command line: a number, true, false, null, or text.
pub fn scalar(text: &str) -> ScalarValue {
    if let Ok(n) = text.parse::<i64>() {
        return ScalarValue::Int64(Some(n));
    }
    match text {
        "true" => ScalarValue::Boolean(Some(true)),
        "false" => ScalarValue::Boolean(Some(false)),
        "null" => ScalarValue::Null,
        _ => match text.parse::<f64>() {
            Ok(f) if f.is_finite() => ScalarValue::Float64(Some(f)),
            _ => ScalarValue::Utf8(Some(text.to_owned())),
        },
    }
}
