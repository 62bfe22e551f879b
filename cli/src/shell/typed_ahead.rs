//! Keeps what the user types or pastes while a statement runs.
//!
//! The line editor reads a piece of the input in raw mode, and keeps what follows the first line
//! for the next prompt. Between two prompts the terminal would echo typed text into the results,
//! join typed characters to lines of its own, and throw them away at Ctrl-C. So the shell turns
//! this off, and the text waits unchanged until the next prompt reads it.

use std::io::stdin;
use std::sync::Arc;

use rustix::io::ioctl_fionread;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

/// Terminals for which the line editor reads whole lines, which need the modes of the user.
const PLAIN_TERMINALS: [&str; 3] = ["dumb", "cons25", "emacs"];

/// The modes of the terminal between two prompts. Dropping the last copy restores those of the
/// user.
#[derive(Debug, Clone)]
pub struct TypedAhead(Arc<Modes>);

#[derive(Debug)]
struct Modes {
    of_user: Termios,
    between_prompts: Termios,
}

impl TypedAhead {
    /// Keeps typed text from now on; `None` if standard input does not allow it.
    pub fn keep() -> Option<Self> {
        let terminal = std::env::var("TERM").unwrap_or_default();
        if PLAIN_TERMINALS.iter().any(|plain| terminal.eq_ignore_ascii_case(plain)) {
            return None;
        }
        let of_user = tcgetattr(stdin()).ok()?;
        let mut between_prompts = of_user.clone();
        between_prompts.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
        // Ctrl-C still stops a statement, but no longer drops the text that waits.
        between_prompts.local_modes.insert(LocalModes::ISIG | LocalModes::NOFLSH);
        // Enter stays the character that the line editor expects.
        between_prompts.input_modes.remove(InputModes::ICRNL);
        between_prompts.special_codes[SpecialCodeIndex::VMIN] = 1;
        between_prompts.special_codes[SpecialCodeIndex::VTIME] = 0;
        let kept = Self(Arc::new(Modes { of_user, between_prompts }));
        kept.take_back();
        Some(kept)
    }

    /// Gives the terminal to another program, such as a pager or an editor.
    pub fn lend(&self) {
        self.0.of_user.set();
    }

    /// Takes the terminal back after that program has ended.
    pub fn take_back(&self) {
        self.0.between_prompts.set();
    }

    /// Whether typed text waits that another program would take for itself.
    pub fn waits(&self) -> bool {
        ioctl_fionread(stdin()).is_ok_and(|bytes| bytes > 0)
    }
}

trait Set {
    fn set(&self);
}

impl Set for Termios {
    fn set(&self) {
        // If the terminal is gone, its modes no longer matter.
        let _ = tcsetattr(stdin(), OptionalActions::Drain, self);
    }
}

impl Drop for Modes {
    fn drop(&mut self) {
        self.of_user.set();
    }
}
