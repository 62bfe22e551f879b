//! The keys that the shell treats in its own way: Enter, Ctrl-C, Backspace and Home.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustyline::history::FileHistory;
use rustyline::{
    Cmd, ConditionalEventHandler, Editor, Event, EventContext, EventHandler, Helper, KeyCode,
    KeyEvent, Modifiers, Movement, RepeatCount,
};

use super::bare_words::is_finished;

/// What Enter inserts in an unfinished statement. The tab has the width of the prompt and is shown
/// as a prompt ([`super::highlight::shown`]).
pub const NEXT_LINE: &str = "\n\t";

/// Binds the keys. The flag that is returned is true if Ctrl-C ended the last input.
pub fn bind<H: Helper>(editor: &mut Editor<H, FileHistory>) -> Arc<AtomicBool> {
    let dropped = Arc::new(AtomicBool::new(false));
    let key = |code| KeyEvent(code, Modifiers::NONE);
    for enter in [key(KeyCode::Enter), KeyEvent::ctrl('J')] {
        editor.bind_sequence(enter, EventHandler::Conditional(Box::new(Enter)));
    }
    for backspace in [key(KeyCode::Backspace), KeyEvent::ctrl('H')] {
        editor.bind_sequence(backspace, EventHandler::Conditional(Box::new(Backspace)));
    }
    for home in [key(KeyCode::Home), KeyEvent::ctrl('A')] {
        editor.bind_sequence(home, EventHandler::Conditional(Box::new(Home)));
    }
    let drop_input = EventHandler::Conditional(Box::new(DropInput(dropped.clone())));
    editor.bind_sequence(KeyEvent::ctrl('C'), drop_input);
    dropped
}

/// The text of an input without the tabs of [`NEXT_LINE`].
pub fn without_prompts(input: &str) -> String {
    input.replace(NEXT_LINE, "\n")
}

struct Enter;

impl ConditionalEventHandler for Enter {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, at: &EventContext) -> Option<Cmd> {
        (!is_finished(&without_prompts(at.line()))).then(|| Cmd::Insert(1, NEXT_LINE.into()))
    }
}

struct Backspace;

impl ConditionalEventHandler for Backspace {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, at: &EventContext) -> Option<Cmd> {
        at.line()[..at.pos()].ends_with(NEXT_LINE).then_some(Cmd::Kill(Movement::BackwardChar(2)))
    }
}

struct Home;

impl ConditionalEventHandler for Home {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, at: &EventContext) -> Option<Cmd> {
        let before = &at.line()[..at.pos()];
        let chars = before[before.rfind(NEXT_LINE)? + NEXT_LINE.len()..].chars();
        if chars.clone().any(|c| c == '\n') {
            return None;
        }
        let count = RepeatCount::try_from(chars.count()).ok().filter(|&n| n > 0)?;
        Some(Cmd::Move(Movement::BackwardChar(count)))
    }
}

/// Accepts the input, so that the line editor keeps the text that was typed after Ctrl-C. The shell
/// then drops the input.
struct DropInput(Arc<AtomicBool>);

impl ConditionalEventHandler for DropInput {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext) -> Option<Cmd> {
        self.0.store(true, Ordering::Relaxed);
        Some(Cmd::AcceptLine)
    }
}
