//! Computes the result rows group by group: the input rows that they come from, and their start and
//! end.

use arrow::array::{Array, BooleanArray, Int64Array};

use crate::intervals::algorithm::asof::asof;
use crate::intervals::algorithm::flatten::flatten;
use crate::intervals::algorithm::merge::merge;
use crate::intervals::algorithm::pairs::pairs;
use crate::intervals::algorithm::subtract::subtract;
use crate::intervals::algorithm::{Fault, Item, Span};

/// The operation on the rows of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// The innermost row at each instant.
    Flatten,
    /// The parts of left rows that no right row covers.
    Subtract,
    /// Pairs of left and right rows.
    Intersect,
    /// The latest right row for each left row.
    Asof,
}

/// The columns that determine the result.
pub struct Times<'a> {
    /// Whether a row belongs to the right side.
    pub right: &'a BooleanArray,
    /// The start, or the only time.
    pub start: &'a Int64Array,
    /// End.
    pub end: &'a Int64Array,
    /// Resolves ties between rows with equal times: the row with the greater id is later.
    pub id: &'a Int64Array,
}

impl Times<'_> {
    fn id(&self, row: u32) -> i64 {
        if self.id.is_valid(row as usize) { self.id.value(row as usize) } else { i64::MIN }
    }
}

/// The result rows.
pub struct Answers {
    operation: Operation,
    /// The start of each row.
    pub starts: Vec<i64>,
    /// The end of each row.
    pub ends: Vec<i64>,
    /// The row of the left side.
    pub left: Vec<u32>,
    /// The row of the right side, if there is one.
    pub right: Vec<Option<u32>>,
    a: Vec<Item>,
    b: Vec<Item>,
}

impl Answers {
    /// Creates an empty result.
    pub fn new(operation: Operation) -> Self {
        Self {
            operation,
            starts: vec![],
            ends: vec![],
            left: vec![],
            right: vec![],
            a: vec![],
            b: vec![],
        }
    }

    /// Adds the result for the rows of a group.
    pub fn group(&mut self, rows: &[u32], times: &Times<'_>) -> Result<(), Fault> {
        if self.operation == Operation::Asof {
            self.asof(rows, times);
            return Ok(());
        }
        self.split(rows, times)?;
        let (mut a, mut b) = (std::mem::take(&mut self.a), std::mem::take(&mut self.b));
        match self.operation {
            Operation::Flatten => {
                a.sort_unstable_by_key(|i| {
                    (i.span.start, std::cmp::Reverse(i.span.end), times.id(i.row), i.row)
                });
                flatten(&a, |row, span| self.push(row, None, span));
            }
            Operation::Subtract => {
                let mut merged = Vec::new();
                order(&mut b);
                merge(b.iter().map(|i| i.span), |part| merged.push(part));
                for item in &a {
                    subtract(item.span, &merged, |part| self.push(item.row, None, part));
                }
            }
            Operation::Intersect | Operation::Asof => {
                order(&mut a);
                order(&mut b);
                pairs(&a, &b, |left, right, span| self.push(left, Some(right), span));
            }
        }
        (self.a, self.b) = (a, b);
        Ok(())
    }

    /// Reads the intervals of both sides, except empty intervals and intervals without a start or
    /// an end.
    fn split(&mut self, rows: &[u32], times: &Times<'_>) -> Result<(), Fault> {
        self.a.clear();
        self.b.clear();
        for row in rows {
            let at = *row as usize;
            if times.start.is_null(at) || times.end.is_null(at) {
                continue;
            }
            let span = Span::new(times.start.value(at), times.end.value(at))?;
            if !span.is_empty() {
                let side = if times.right.value(at) { &mut self.b } else { &mut self.a };
                side.push(Item { row: *row, span });
            }
        }
        Ok(())
    }

    fn asof(&mut self, rows: &[u32], times: &Times<'_>) {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for row in rows {
            let at = *row as usize;
            match (times.start.is_valid(at), times.right.value(at)) {
                (true, true) => right.push((times.start.value(at), *row)),
                (true, false) => left.push((times.start.value(at), *row)),
                // A row without a time has no earlier row, but it stays in the result.
                (false, false) => self.push(*row, None, Span { start: 0, end: 0 }),
                (false, true) => {}
            }
        }
        left.sort_unstable();
        right.sort_unstable_by_key(|(time, row)| (*time, times.id(*row), *row));
        asof(&left, &right, |row, found| self.push(row, found, Span { start: 0, end: 0 }));
    }

    fn push(&mut self, left: u32, right: Option<u32>, span: Span) {
        self.starts.push(span.start);
        self.ends.push(span.end);
        self.left.push(left);
        self.right.push(right);
    }
}

fn order(items: &mut [Item]) {
    if !items.is_sorted_by_key(|i| i.span.start) {
        items.sort_unstable_by_key(|i| i.span.start);
    }
}
