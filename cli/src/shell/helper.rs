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
use tracesql::output::safe;
use tracesql::sql_text::is_complete;

use super::complete::{Completion, complete, signature};
use super::highlight::{self, DIM, paint};
use super::session::Session;

/// A helper of the line editor that uses the state of the session.
pub struct ShellHelper {
    session: Rc<RefCell<Session>>,
    files: FilenameCompleter,
    history: HistoryHinter,
    colour: bool,
}

impl ShellHelper {
    /// A helper that looks up names in a session.
    pub fn new(session: Rc<RefCell<Session>>, colour: bool) -> Self {
        Self { session, files: FilenameCompleter::new(), history: HistoryHinter::new(), colour }
    }
}

impl Helper for ShellHelper {}

impl Validator for ShellHelper {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        Ok(if is_complete(context.input()) {
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
        let catalog = self.session.try_borrow_mut().ok()?.catalog();
        let text = format!("   {}", safe(signature(line, &catalog)?));
        Some(ShellHint { text, can_take: false })
    }
}

impl Highlighter for ShellHelper {
    fn highlight<'l>(&self, line: &'l str, _at: usize) -> Cow<'l, str> {
        let is_command = line.trim_start().starts_with(['\\', '.']);
        if self.colour && !is_command {
            Cow::Owned(highlight::sql(line))
        } else {
            Cow::Borrowed(line)
        }
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(
        &'s self,
        prompt: &'p str,
        _default: bool,
    ) -> Cow<'b, str> {
        if self.colour { Cow::Owned(paint(DIM, prompt)) } else { Cow::Borrowed(prompt) }
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        if self.colour { Cow::Owned(paint(DIM, hint)) } else { Cow::Borrowed(hint) }
    }

    fn highlight_char(&self, _line: &str, _at: usize, kind: CmdKind) -> bool {
        self.colour && kind != CmdKind::MoveCursor
    }
}
