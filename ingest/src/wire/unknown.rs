//! The numbers of the fields that are not read.

use std::collections::BTreeMap;

use crate::issues::{Code, Issues};

/// Maximum number of fields that are told apart.
const MAX_FIELDS: usize = 1_000;
/// Stands for all fields beyond these.
const OTHERS: u32 = u32::MAX;

/// A field that is not read: what holds it, and its number.
pub type UnknownField = (&'static str, u32);

/// How often each field that is not read occurs.
#[derive(Default)]
pub struct UnknownFields {
    counts: BTreeMap<UnknownField, u64>,
}

impl UnknownFields {
    /// Counts a field.
    pub fn add(&mut self, field: UnknownField) {
        self.add_many(field, 1);
    }

    fn add_many(&mut self, (holder, number): UnknownField, count: u64) {
        let is_new = !self.counts.contains_key(&(holder, number));
        let number = if is_new && self.counts.len() >= MAX_FIELDS { OTHERS } else { number };
        *self.counts.entry((holder, number)).or_default() += count;
    }

    /// Adds the counts of another part of the file.
    pub fn merge(&mut self, other: Self) {
        for (field, count) in other.counts {
            self.add_many(field, count);
        }
    }

    /// Lists the numbers in the detail of their issue.
    pub fn list(&self, issues: &mut Issues) {
        if !self.counts.is_empty() {
            issues.detail(Code::UnknownField, self.text());
        }
    }

    fn text(&self) -> String {
        let (mut text, mut last) = (String::new(), "");
        for (&(holder, number), count) in &self.counts {
            if holder == last {
                text.push_str(", ");
            } else {
                let end = if last.is_empty() { "" } else { "; " };
                text.push_str(&format!("{end}{holder}: "));
                last = holder;
            }
            match number {
                OTHERS => text.push_str(&format!("others: {count}")),
                _ => text.push_str(&format!("{number}: {count}")),
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_listed_by_what_holds_them() {
        let mut fields = UnknownFields::default();
        for field in [("lines", 12), ("events", 9), ("lines", 3), ("events", 9)] {
            fields.add(field);
        }
        assert_eq!(fields.text(), "events: 9: 2; lines: 3: 1, 12: 1");
    }

    #[test]
    fn fields_beyond_the_limit_share_a_count() {
        let (mut fields, mut more) = (UnknownFields::default(), UnknownFields::default());
        (0..1_000).for_each(|number| fields.add(("events", number)));
        (0..1_002).for_each(|number| more.add(("events", number)));
        fields.merge(more);
        assert!(fields.text().ends_with("999: 2, others: 2"), "{}", fields.text());
    }
}
