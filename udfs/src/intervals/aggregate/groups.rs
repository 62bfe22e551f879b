//! Reads rows and states into groups, and returns the results and states of groups.
//!
//! The state of a group is one list of integers: the start and end of each interval, preceded by
//! the set if there are sets. Sets named by strings are numbered within the group, and a second
//! list holds the strings.

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int64Array, ListBuilder, PrimitiveBuilder,
    StringBuilder,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::Int64Type;
use datafusion_common::DataFusionError;
use datafusion_common::{Result, ScalarValue, exec_datafusion_err, exec_err};
use datafusion_expr::{Accumulator, EmitTo, GroupsAccumulator};
use std::sync::Arc;

use super::Measure;
use super::labels::{Labels, OwnLabels};
use super::rows::{Row, Rows, united};
use super::struct_lists::Lists;
use crate::intervals::algorithm::count::{max_overlap, segments};
use crate::intervals::algorithm::merge::union_len;
use crate::intervals::algorithm::overlap::overlap;
use crate::intervals::algorithm::{Fault, MAX_SETS, Span, as_bigint};

/// The intervals of all groups of an aggregation.
#[derive(Debug)]
pub struct Groups {
    measure: Measure,
    rows: Rows,
    labels: Option<Labels>,
}

impl Groups {
    /// Creates an aggregation without groups.
    pub fn new(measure: Measure, text_sets: bool) -> Self {
        Self { measure, rows: Rows::new(measure.unites()), labels: text_sets.then(Labels::default) }
    }

    fn fault(&self, fault: Fault) -> DataFusionError {
        exec_datafusion_err!("{}: {fault}", self.measure.name())
    }

    fn stride(&self) -> usize {
        if self.measure == Measure::OverlapLen { 3 } else { 2 }
    }

    fn set_number(set: i64) -> Result<u32, Fault> {
        if (0..MAX_SETS as i64).contains(&set) { Ok(set as u32) } else { Err(Fault::Set(set)) }
    }

    /// Adds rows. `group` maps each row to its group.
    fn read(
        &mut self,
        values: &[ArrayRef],
        group: impl Fn(usize) -> usize,
        filter: Option<&BooleanArray>,
    ) -> Result<()> {
        let (starts, ends) =
            (values[0].as_primitive::<Int64Type>(), values[1].as_primitive::<Int64Type>());
        let valid = values.iter().fold(None, |valid, array| {
            NullBuffer::union(valid.as_ref(), array.logical_nulls().as_ref())
        });
        for row in 0..starts.len() {
            let wanted = filter.is_none_or(|f| f.is_valid(row) && f.value(row))
                && valid.as_ref().is_none_or(|v| v.is_valid(row));
            if !wanted {
                continue;
            }
            let span = Span::new(starts.value(row), ends.value(row)).map_err(|e| self.fault(e))?;
            let set = match (values.get(2), &mut self.labels) {
                (None, _) => 0,
                (Some(sets), Some(labels)) => labels.number(sets.as_string_view().value(row)),
                (Some(sets), None) => Self::set_number(sets.as_primitive::<Int64Type>().value(row))
                    .map_err(|e| self.fault(e))?,
            };
            self.rows.push(Row { group: group(row) as u32, set, span });
        }
        Ok(())
    }

    fn read_state(&mut self, values: &[ArrayRef], group: impl Fn(usize) -> usize) -> Result<()> {
        let intervals = values[0].as_list::<i32>();
        let texts = values.get(1).map(|texts| texts.as_list::<i32>());
        let mut numbers = Vec::new();
        for row in 0..intervals.len() {
            if let (Some(texts), Some(labels)) = (texts, &mut self.labels) {
                numbers.clear();
                numbers.extend(
                    texts
                        .value(row)
                        .as_string::<i32>()
                        .iter()
                        .map(|text| labels.number(text.unwrap_or_default())),
                );
            }
            let offsets = intervals.value_offsets();
            let list = &intervals.values().as_primitive::<Int64Type>().values()
                [offsets[row] as usize..offsets[row + 1] as usize];
            for interval in list.chunks_exact(self.stride()) {
                let (set, start, end) = match interval {
                    [start, end] => (0, *start, *end),
                    [set, start, end] => (*set as u32, *start, *end),
                    _ => return exec_err!("{}: a state has an odd length", self.measure.name()),
                };
                let set = if texts.is_some() {
                    numbers.get(set as usize).copied().unwrap_or(set)
                } else {
                    set
                };
                self.rows.push(Row { group: group(row) as u32, set, span: Span { start, end } });
            }
        }
        Ok(())
    }

    /// Computes the results of groups whose rows are sorted.
    fn answers(&self, rows: &Rows) -> Result<ArrayRef> {
        let fault = |fault| self.fault(fault);
        match self.measure {
            Measure::UnionLen => {
                let lens: Result<Int64Array, Fault> = rows
                    .each_group()
                    .map(|own| union_len(own.iter().map(|r| r.span)).map(Some))
                    .collect();
                Ok(Arc::new(lens.map_err(fault)?))
            }
            Measure::MaxOverlap => {
                let mut ends = Vec::new();
                Ok(Arc::new(Int64Array::from_iter_values(rows.each_group().map(|own| {
                    max_overlap(own.iter().map(|r| r.span.start), sorted_ends(own, &mut ends))
                }))))
            }
            Measure::Merge => {
                let mut lists = Lists::new(["start", "end"]);
                for own in rows.each_group() {
                    united(own, |part| lists.push([part.start, part.end]));
                    lists.close().map_err(fault)?;
                }
                lists.finish()
            }
            Measure::OverlapCount => {
                let (mut lists, mut ends) = (Lists::new(["start", "end", "open"]), Vec::new());
                for own in rows.each_group() {
                    segments(
                        own.iter().map(|r| r.span.start),
                        sorted_ends(own, &mut ends),
                        |part, open| lists.push([part.start, part.end, open]),
                    );
                    lists.close().map_err(fault)?;
                }
                lists.finish()
            }
            Measure::OverlapLen => self.combinations(rows),
        }
    }

    fn combinations(&self, rows: &Rows) -> Result<ArrayRef> {
        let fault = |fault| self.fault(fault);
        let Some(labels) = &self.labels else {
            let mut lists = Lists::new(["sets", "len"]);
            for own in rows.each_group() {
                for (mask, len) in overlap(own.iter().map(|r| (r.set, r.span))) {
                    lists.push([mask as i64, as_bigint(len).map_err(fault)?]);
                }
                lists.close().map_err(fault)?;
            }
            return lists.finish();
        };
        let (mut lists, mut own_labels) = (Lists::labelled("sets", ["len"]), OwnLabels::default());
        for own in rows.each_group() {
            own_labels.set(own.iter().map(|r| r.set), labels);
            let order = own_labels.in_order();
            if order.len() > MAX_SETS {
                return Err(fault(Fault::TooManySets(order.len())));
            }
            let mut found = Vec::new();
            for (mask, len) in overlap(own.iter().map(|r| (own_labels.position(r.set), r.span))) {
                let positions: Vec<usize> =
                    (0..order.len()).filter(|bit| mask >> bit & 1 == 1).collect();
                found.push((positions, as_bigint(len).map_err(fault)?));
            }
            found.sort();
            for (positions, len) in found {
                lists.push_labelled(positions.into_iter().map(|at| labels.text(order[at])), [len]);
            }
            lists.close().map_err(fault)?;
        }
        lists.finish()
    }

    /// Returns the states of groups whose rows are in the order of groups.
    fn states(&self, rows: &Rows) -> Result<Vec<ArrayRef>> {
        let mut intervals = ListBuilder::new(PrimitiveBuilder::<Int64Type>::new());
        let mut texts = ListBuilder::new(StringBuilder::new());
        let mut own_labels = OwnLabels::default();
        for own in rows.each_group() {
            if let Some(labels) = &self.labels {
                own_labels.set(own.iter().map(|r| r.set), labels);
                own_labels
                    .in_order()
                    .iter()
                    .for_each(|number| texts.values().append_value(labels.text(*number)));
                texts.append(true);
            }
            for row in own {
                if self.stride() == 3 {
                    let set =
                        if self.labels.is_some() { own_labels.position(row.set) } else { row.set };
                    intervals.values().append_value(i64::from(set));
                }
                intervals.values().append_value(row.span.start);
                intervals.values().append_value(row.span.end);
            }
            intervals.append(true);
        }
        let mut states: Vec<ArrayRef> = vec![Arc::new(intervals.finish())];
        if self.labels.is_some() {
            states.push(Arc::new(texts.finish()));
        }
        Ok(states)
    }
}

fn sorted_ends<'a>(rows: &[Row], ends: &'a mut Vec<i64>) -> &'a [i64] {
    ends.clear();
    ends.extend(rows.iter().map(|r| r.span.end));
    ends.sort_unstable();
    ends
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.rows.grow(total);
        self.read(values, |row| groups[row], filter)
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.rows.grow(total);
        self.read_state(values, |row| groups[row])
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let mut rows = self.rows.take(emit);
        rows.sort();
        self.answers(&rows)
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        let mut rows = self.rows.take(emit);
        rows.compact();
        rows.sort();
        self.states(&rows)
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let mut alone = Self::new(self.measure, self.labels.is_some());
        alone.rows.grow(values[0].len());
        alone.read(values, |row| row, filter)?;
        alone.states(&alone.rows)
    }

    fn size(&self) -> usize {
        self.rows.size() + self.labels.as_ref().map_or(0, Labels::size)
    }
}

/// The accumulator of a single group.
#[derive(Debug)]
pub struct Single(Groups);

impl Single {
    /// Creates a group without rows.
    pub fn new(mut groups: Groups) -> Self {
        groups.rows.grow(1);
        Self(groups)
    }
}

impl Accumulator for Single {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.0.read(values, |_| 0, None)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.0.read_state(states, |_| 0)
    }

    // The rows are kept, because a window evaluates after each of its rows.
    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.0.rows.compact();
        self.0.rows.sort();
        ScalarValue::try_from_array(&self.0.answers(&self.0.rows)?, 0)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.0.rows.compact();
        self.0
            .states(&self.0.rows)?
            .iter()
            .map(|state| ScalarValue::try_from_array(state, 0))
            .collect()
    }

    fn size(&self) -> usize {
        size_of::<Self>() + GroupsAccumulator::size(&self.0)
    }
}
