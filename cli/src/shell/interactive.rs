//! The interactive shell: reads lines, runs them, and continues after errors.

use std::cell::RefCell;
use std::io::IsTerminal;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{ColorMode, CompletionType, Config, Editor};
use tokio::signal::unix::{SignalKind, signal};

use tracesql::{Error, Result};

use super::helper::ShellHelper;
use super::highlight::{PROMPT, PROMPT_WIDTH};
use super::keys::{self, without_prompts};
use super::pager::Size;
use super::session::{Flow, Session};
use super::typed_ahead::TypedAhead;
use super::{bare_words, startup_message};
use crate::stderr;

/// The number of inputs that the history keeps.
const HISTORY: usize = 5000;

/// Reads and runs lines until the end of input or `\q`. `history` is the file that stores them.
pub fn run(session: Session, history: Option<&Path>, quiet: bool) -> Result<()> {
    let colour = stderr::wants_colour();
    let session = Rc::new(RefCell::new(session));
    let mut editor = editor(session.clone(), colour)?;
    let was_dropped = keys::bind(&mut editor);
    if let Some(path) = history {
        // If the history cannot be read, it is empty.
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = editor.load_history(path);
    }
    // From here on, Ctrl-C stops queries and the reading of traces, but not the shell.
    let _interrupts = session.borrow().runtime.block_on(async { signal(SignalKind::interrupt()) });
    session.borrow_mut().typed_ahead = TypedAhead::keep();
    resize(&session, &mut editor);
    if !quiet {
        greet(&session.borrow());
    }
    loop {
        editor.helper().inspect(|helper| helper.begin());
        let line = match editor.readline(PROMPT) {
            Ok(_) if was_dropped.swap(false, Ordering::Relaxed) => continue,
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(e) => return Err(Error::Usage(format!("the terminal cannot be read: {e}"))),
        };
        if line.trim().is_empty() {
            continue;
        }
        let _ = editor.add_history_entry(line.trim_end());
        if let Some(path) = history {
            let _ = editor.append_history(path);
        }
        resize(&session, &mut editor);
        let line = without_prompts(&line);
        let line = bare_words::command(&line).unwrap_or(line);
        let mut session = session.borrow_mut();
        let next = session.input(&line);
        if !matches!(line.trim().as_bytes(), [b'\\' | b'.', ..]) {
            session.last_input = line;
            session.forget_new_names();
        }
        match next {
            Ok(Flow::Continue) => {}
            Ok(Flow::Quit) => break,
            Err(Error::Cancelled) => stderr::line("cancelled"),
            Err(e) => stderr::error(&e.to_string()),
        }
    }
    Ok(())
}

fn editor(session: Rc<RefCell<Session>>, colour: bool) -> Result<Editor<ShellHelper, FileHistory>> {
    let failed = |e: ReadlineError| Error::Usage(format!("the terminal cannot be used: {e}"));
    let is_terminal = std::io::stdout().is_terminal();
    let config = Config::builder()
        .max_history_size(HISTORY)
        .map_err(failed)?
        .history_ignore_space(true)
        .completion_type(CompletionType::List)
        .completion_show_all_if_ambiguous(true)
        // The helper shows the prompts of further lines, and uses colours only if it may. Other
        // modes would ignore it if NO_COLOR is set.
        .color_mode(if is_terminal { ColorMode::Forced } else { ColorMode::Disabled })
        .tab_stop(PROMPT_WIDTH as u8)
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
    stderr::line(concat!(
        "tracesql ",
        env!("CARGO_PKG_VERSION"),
        ": \\? helps, \\d lists tables, Ctrl-D leaves"
    ));
    match startup_message::loaded(session) {
        Ok(text) => stderr::line(text.trim_end_matches('\n')),
        Err(e) => stderr::error(&e.to_string()),
    }
}
