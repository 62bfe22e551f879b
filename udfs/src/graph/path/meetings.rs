//! Collectives: device work of several domains that ends together, after the last of it has begun.

use std::collections::BTreeMap;

use datafusion_common::HashMap;

use super::model::Model;

/// A member of a collective as it was given.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    /// Number of the collective.
    pub meeting: i64,
    /// The device work.
    pub id: i64,
    /// Whether other members were not recorded.
    pub is_partial: bool,
    /// When a member that was not recorded came last; `None` if none did.
    pub missing_at: Option<i64>,
}

/// A collective.
#[derive(Debug, Clone)]
pub struct Meeting {
    /// The device work that was recorded.
    pub members: Vec<u32>,
    /// The member that began last.
    pub last: u32,
    /// When all had begun.
    pub full: i64,
    /// Whether the last one was not recorded.
    pub awaits_missing: bool,
}

/// All collectives.
#[derive(Debug, Default)]
pub struct Meetings {
    all: Vec<Meeting>,
    of_work: HashMap<u32, u32>,
    /// A member of each collective that lacks members, by the end.
    partial: Vec<(i64, u32)>,
}

impl Meetings {
    /// Puts members together. Members that are not among the activities are left out.
    pub fn new(model: &Model, given: &[Member]) -> Self {
        let mut by_number: BTreeMap<i64, Vec<(u32, &Member)>> = BTreeMap::new();
        for member in given {
            if let Some(at) = model.find(member.id) {
                by_number.entry(member.meeting).or_default().push((at, member));
            }
        }
        let mut found = Self::default();
        for (number, members) in (0u32..).zip(by_number.into_values()) {
            let start = |member: &(u32, &Member)| (model.activity(member.0).start, member.0);
            let Some((last, first)) = members.iter().copied().max_by_key(start) else { continue };
            let begun = model.activity(last).start;
            let missing_at = first.missing_at.filter(|at| *at > begun);
            if first.is_partial {
                found.partial.push((model.activity(last).end, last));
            }
            found.of_work.extend(members.iter().map(|(at, _)| (*at, number)));
            found.all.push(Meeting {
                members: members.into_iter().map(|(at, _)| at).collect(),
                last,
                full: missing_at.unwrap_or(begun),
                awaits_missing: missing_at.is_some(),
            });
        }
        found.partial.sort_unstable();
        found
    }

    /// The collective that device work belongs to, with its position.
    pub fn of(&self, at: u32) -> Option<(usize, &Meeting)> {
        let number = *self.of_work.get(&at)? as usize;
        Some((number, self.all.get(number)?))
    }

    /// How many collectives there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// A member of the collective with missing members that ended last before a time, and its end.
    pub fn partial_before(&self, time: i64) -> Option<(u32, i64)> {
        let before = self.partial.partition_point(|(end, _)| *end < time);
        before.checked_sub(1).map(|at| (self.partial[at].1, self.partial[at].0))
    }
}
