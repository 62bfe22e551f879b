//! Responds to the line editor while the user types: completion, hints, colours, and ends of
//! inputs.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter, HistoryHinter};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use tracesql::output::{clip, safe};

use super::bare_words::{is_finished, is_misplaced};
use super::column_values::quoted;
use super::complete::{Completion, complete, signature};
use super::highlight::{self, DIM, paint};
use super::keys::without_prompts;
use super::reflow::Reflow;
use super::session::Session;

/// The width of a value in a list of values.
const MAX_DISPLAY: usize = 60;
/// The hint in the first further line of a statement.
const HOW_TO_END: &str = "  ; ends the statement, Ctrl-C drops it";
/// The hint after a word in a statement that may have been meant as a command.
const MISPLACED: &str = "  (is part of this statement; Ctrl-C drops it)";

/// A helper of the line editor that uses the state of the session.
pub struct ShellHelper {
    session: Rc<RefCell<Session>>,
    files: FilenameCompleter,
    history: HistoryHinter,
    reflow: Reflow,
    colour: bool,
}

impl ShellHelper {
    /// A helper that looks up names in a session.
    pub fn new(session: Rc<RefCell<Session>>, colour: bool) -> Self {
        Self {
            session,
            files: FilenameCompleter::new(),
            history: HistoryHinter::new(),
            reflow: Reflow::default(),
            colour,
        }
    }

    /// Prepares for the next input.
    pub fn begin(&self) {
        self.reflow.forget();
    }
}

impl Helper for ShellHelper {}

impl Validator for ShellHelper {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        Ok(if is_finished(&without_prompts(context.input())) {
            ValidationResult::Valid(None)
        } else {
            ValidationResult::Incomplete
        })
    }
}

impl Completer for ShellHelper {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        at: usize,
        context: &Context,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let Ok(mut session) = self.session.try_borrow_mut() else { return Ok((at, Vec::new())) };
        let (catalog, values) = (session.catalog(), session.values());
        match complete(line, at, &catalog, &values) {
            Completion::Files => self.files.complete(line, at, context),
            Completion::Values(start, wanted) => {
                let values = session.values_of(&wanted).into_iter().map(|value| Pair {
                    display: clip(&value, MAX_DISPLAY),
                    replacement: quoted(&value),
                });
                Ok((start, values.collect()))
            }
            Completion::Words(start, words) => Ok((
                start,
                words.into_iter().map(|w| Pair { display: safe(&w), replacement: w }).collect(),
            )),
        }
    }
}

/// A hint: the rest of a line from the history, which the user can accept, or a signature, which
/// the user cannot accept.
pub struct ShellHint {
    text: String,
    can_take: bool,
}

impl Hint for ShellHint {
    fn display(&self) -> &str {
        &self.text
    }

    fn completion(&self) -> Option<&str> {
        self.can_take.then_some(self.text.as_str())
    }
}

impl Hinter for ShellHelper {
    type Hint = ShellHint;

    fn hint(&self, line: &str, at: usize, context: &Context) -> Option<ShellHint> {
        if at < line.len() || line.trim().is_empty() {
            return None;
        }
        if let Some(text) = self.history.hint(line, at, context).filter(|h| !h.contains('\n')) {
            return Some(ShellHint { text, can_take: true });
        }
        if let Some(text) = of_further_line(&without_prompts(line)) {
            return Some(ShellHint { text: text.into(), can_take: false });
        }
        let catalog = self.session.try_borrow_mut().ok()?.catalog();
        let text = format!("   {}", safe(signature(line, &catalog)?));
        Some(ShellHint { text, can_take: false })
    }
}

/// The hint in a further line of a statement that is not finished.
fn of_further_line(input: &str) -> Option<&'static str> {
    let (before, line) = input.rsplit_once('\n')?;
    if is_finished(input) {
        None
    } else if is_misplaced(input) {
        Some(MISPLACED)
    } else {
        (line.trim().is_empty() && !before.contains('\n')).then_some(HOW_TO_END)
    }
}

impl Highlighter for ShellHelper {
    fn highlight<'l>(&self, line: &'l str, at: usize) -> Cow<'l, str> {
        self.reflow.remember(&line[..at]);
        let screen = self.session.try_borrow().ok().and_then(|s| s.screen);
        let columns = screen.map_or(usize::MAX, |s| s.width);
        Cow::Owned(highlight::shown(line, self.colour, columns))
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(
        &'s self,
        prompt: &'p str,
        _default: bool,
    ) -> Cow<'b, str> {
        let codes = self.reflow.codes(prompt);
        Cow::Owned(codes + &if self.colour { paint(DIM, prompt) } else { prompt.to_owned() })
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        if self.colour { Cow::Owned(paint(DIM, hint)) } else { Cow::Borrowed(hint) }
    }

    fn highlight_char(&self, line: &str, at: usize, kind: CmdKind) -> bool {
        self.reflow.remember(&line[..at]);
        self.colour && kind != CmdKind::MoveCursor
    }
}
