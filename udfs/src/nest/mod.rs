//! Nesting of intervals as window functions: parent, depth and self time within any set of rows.
//!
//! The functions never sort or repair their input. They refuse rows that come in another order.

mod crosses;
mod docs;
mod intervals;
mod lane;
mod rules;
mod window;

use crate::doc::Function;

pub use docs::ERRORS;
pub use intervals::{Intervals, nest_all};
pub use rules::{Nested, Nester, Refused};

/// The functions of this folder.
pub fn functions() -> Vec<Function> {
    let [parent, depth, self_time] = window::functions();
    vec![parent, depth, self_time, crosses::function(), lane::function()]
}
