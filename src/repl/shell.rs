//! The shell: reads what is typed, runs it, and goes on after errors.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{ColorMode, CompletionType, Config, Editor};
use tokio::signal::unix::{SignalKind, signal};

use super::hello;
use super::helper::ShellHelper;
use super::pager::Size;
use super::session::{Next, Session};
use crate::error::{Error, Result};
use crate::messages::{self, say_line};

const PROMPT: &str = "tracesql> ";
/// Inputs that are remembered.
const HISTORY: usize = 5000;

/// Reads and runs until the end of input or `\q`. `history` is the file for what was typed.
pub fn run(session: Session, history: Option<&Path>, quiet: bool) -> Result<()> {
    let colour = messages::wants_colour();
    let session = Rc::new(RefCell::new(session));
    let mut editor = editor(session.clone(), colour)?;
    if let Some(path) = history {
        // A history that cannot be read is an empty one.
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = editor.load_history(path);
    }
    // From here on Ctrl-C ends queries, and what is started for the user, but not the shell.
    let _interrupts = session.borrow().runtime.block_on(async { signal(SignalKind::interrupt()) });
    resize(&session, &mut editor);
    if !quiet {
        greet(&session.borrow());
    }
    loop {
        let line = match editor.readline(PROMPT) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(e) => return Err(Error::Usage(format!("the terminal cannot be read: {e}"))),
        };
        if line.trim().is_empty() {
            continue;
        }
        let _ = editor.add_history_entry(line.trim());
        if let Some(path) = history {
            let _ = editor.append_history(path);
        }
        resize(&session, &mut editor);
        let mut session = session.borrow_mut();
        let next = session.input(&line);
        if !matches!(line.trim().as_bytes(), [b'\\' | b'.', ..]) {
            session.last_input = line;
            session.forget_new_names();
        }
        match next {
            Ok(Next::Go) => {}
            Ok(Next::Quit) => break,
            Err(Error::Cancelled) => say_line("cancelled"),
            Err(e) => messages::error(&e.to_string()),
        }
    }
    Ok(())
}

fn editor(session: Rc<RefCell<Session>>, colour: bool) -> Result<Editor<ShellHelper, FileHistory>> {
    let failed = |e: ReadlineError| Error::Usage(format!("the terminal cannot be used: {e}"));
    let config = Config::builder()
        .max_history_size(HISTORY)
        .map_err(failed)?
        .history_ignore_space(true)
        .completion_type(CompletionType::List)
        .completion_show_all_if_ambiguous(true)
        .color_mode(if colour { ColorMode::Enabled } else { ColorMode::Disabled })
        .build();
    let mut editor = Editor::with_config(config).map_err(failed)?;
    editor.set_helper(Some(ShellHelper::new(session, colour)));
    Ok(editor)
}

fn resize(session: &RefCell<Session>, editor: &mut Editor<ShellHelper, FileHistory>) {
    let size = editor
        .dimensions()
        .map(|(width, height)| Size { width: width.into(), height: height.into() });
    session.borrow_mut().screen = size.filter(|s| s.width > 0 && s.height > 0);
}

fn greet(session: &Session) {
    say_line(concat!(
        "tracesql ",
        env!("CARGO_PKG_VERSION"),
        ": \\? helps, \\d lists tables, Ctrl-D leaves"
    ));
    match hello::loaded(session) {
        Ok(text) => say_line(text.trim_end_matches('\n')),
        Err(e) => messages::error(&e.to_string()),
    }
}
