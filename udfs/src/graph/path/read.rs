//! Reads the rows of a group: activities, orders, windows, members of collectives and changes.

use std::collections::BTreeMap;

use super::forecast::Change;
use super::meetings::{Meetings, Member};
use super::model::{Columns, Model};
use super::orders::{Order, Orders};
use super::walk::Window;
use crate::graph::rows::Rows;

/// What the rows of a query are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Work of threads and devices.
    Activities,
    /// Requests that make queues and calls wait.
    Orders,
    /// Stretches of time.
    Windows,
    /// Members of collectives.
    Members,
    /// Work whose length changes.
    Targets,
}

/// Changes of a target: other work does not wait for its work.
const HIDES: i64 = 1;
/// The launches of each step become one.
const GRAPHS: i64 = 2;
/// The device work that was launched inside the work changes too.
const WITH_LAUNCHED: i64 = 3;

/// What was read.
pub struct Read {
    pub model: Model,
    /// By number.
    pub windows: Vec<Window>,
    /// By target.
    pub changes: BTreeMap<i64, Change>,
}

/// Reads the rows of a group; the first column is the position of their query among the sides. Rows
/// that lack a time or an id are left out.
pub fn read(rows: &Rows<'_>, sides: &[Side]) -> Read {
    let side = rows.ints(0);
    let column = |i: usize| rows.ints(i + 1);
    let (first, second, third, fourth, fifth) =
        (column(0), column(1), column(2), column(3), column(4));
    let columns = Columns {
        id: first,
        lane: second,
        team: third,
        start: fourth,
        end: fifth,
        role: column(5),
        launch: column(6),
        domain: column(7),
    };
    let sixth = column(5);
    let (mut activities, mut orders, mut windows, mut members, mut targets) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (at, row) in (0u32..).zip(0..rows.len()) {
        let known = side.get(row).and_then(|side| sides.get(usize::try_from(side).ok()?));
        match known {
            Some(Side::Activities) => activities.extend(columns.activity(row).map(|_| at)),
            Some(Side::Orders) => {
                let (Some(at), Some(action)) = (fourth.get(row), fifth.get(row)) else { continue };
                orders.push(Order {
                    at,
                    action,
                    call: first.get(row),
                    lane: second.get(row),
                    key: third.get(row),
                    domain: sixth.get(row).unwrap_or(0),
                });
            }
            Some(Side::Windows) => {
                let (Some(number), Some(last_id)) = (first.get(row), second.get(row)) else {
                    continue;
                };
                let (Some(from), Some(to)) = (third.get(row), fourth.get(row)) else { continue };
                let (mark_id, domain) = (fifth.get(row), sixth.get(row).unwrap_or(0));
                windows.push(Window { number, domain, last_id, from, to, mark_id });
            }
            Some(Side::Members) => {
                let (Some(meeting), Some(id)) = (first.get(row), second.get(row)) else { continue };
                let (is_partial, missing_at) = (third.get(row) == Some(1), fourth.get(row));
                members.push(Member { meeting, id, is_partial, missing_at });
            }
            Some(Side::Targets) => {
                let target = |t| (t, second.get(row), third.get(row), fourth.get(row));
                targets.extend(first.get(row).map(target));
            }
            None => {}
        }
    }
    windows.sort_unstable_by_key(|w: &Window| (w.number, w.domain, w.from));
    let mut model = Model::new(&columns, activities);
    let marks: Vec<u32> = windows.iter().filter_map(|w| model.find(w.mark_id?)).collect();
    model.add_main(marks.into_iter());
    model.orders = Orders::new(&model, orders);
    model.meetings = Meetings::new(&model, &members);
    let mut changes: BTreeMap<i64, Change> = BTreeMap::new();
    for (target, id, length, how) in targets {
        let change = changes.entry(target).or_default();
        change.hides |= how == Some(HIDES);
        change.graphs |= how == Some(GRAPHS);
        match id {
            Some(id) => {
                let Some(at) = model.find(id) else { continue };
                change.work.push((at, length));
                if how == Some(WITH_LAUNCHED) {
                    let started = model.started_within(at);
                    change.work.extend(started.map(|work| (work, length)));
                }
            }
            None => change.launches |= how.is_none_or(|how| how == 0),
        }
    }
    changes.values_mut().for_each(Change::sort);
    Read { model, windows, changes }
}
