//! An aggregate that collects the rows of two sides with all their columns, and returns the result
//! rows as a list.
//!
//! Only the relation functions call this aggregate. Its arguments are `right, start, end, id`,
//! followed by the columns to keep. The result is a list of structs with the fields `start` and
//! `end`, and `c0, c1, …` for the columns.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int64Array, ListArray, StructArray, UInt32Array,
    new_empty_array,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{concat, filter, take};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Int64Type};
use datafusion_common::{Result, ScalarValue, exec_datafusion_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility,
};

use super::result_rows::{Answers, Operation, Times};
use crate::intervals::algorithm::Fault;

/// Number of arguments before the columns.
const FIXED: usize = 4;

/// The aggregate function of one call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Collect {
    function: &'static str,
    operation: Operation,
    left_columns: usize,
    columns: usize,
    signature: Signature,
}

impl Collect {
    /// Creates the aggregate for a function. The first `left_columns` of its columns belong to the
    /// left side.
    pub fn function(
        function: &'static str,
        operation: Operation,
        left_columns: usize,
        columns: usize,
    ) -> AggregateUDF {
        let signature = Signature::any(FIXED + columns, Volatility::Immutable);
        AggregateUDF::new_from_impl(Self { function, operation, left_columns, columns, signature })
    }

    fn answer_fields(&self, columns: &[DataType]) -> Fields {
        let mut fields = vec![
            Field::new("start", DataType::Int64, true),
            Field::new("end", DataType::Int64, true),
        ];
        fields.extend(
            columns
                .iter()
                .enumerate()
                .map(|(i, data_type)| Field::new(format!("c{i}"), data_type.clone(), true)),
        );
        fields.into()
    }

    fn collected(&self, args: &AccumulatorArgs<'_>) -> Collected {
        let types: Vec<DataType> = args.expr_fields.iter().map(|f| f.data_type().clone()).collect();
        let answer = self.answer_fields(&types[FIXED..]);
        Collected {
            call: self.clone(),
            fields: row_fields(&types),
            answer,
            batches: Vec::new(),
            groups: Vec::new(),
            group_count: 0,
            bytes: 0,
        }
    }
}

fn row_fields(types: &[DataType]) -> Fields {
    types
        .iter()
        .enumerate()
        .map(|(i, data_type)| Field::new(format!("r{i}"), data_type.clone(), true))
        .collect()
}

fn list_type(fields: Fields) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Struct(fields), true)))
}

impl AggregateUDFImpl for Collect {
    fn name(&self) -> &str {
        self.function
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(list_type(self.answer_fields(&types[FIXED..])))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let types: Vec<DataType> =
            args.input_fields.iter().map(|f| f.data_type().clone()).collect();
        Ok(vec![Arc::new(Field::new(
            format_state_name(args.name, "rows"),
            list_type(row_fields(&types)),
            true,
        ))])
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let mut collected = self.collected(&args);
        collected.group_count = 1;
        Ok(Box::new(Single(collected)))
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs) -> bool {
        true
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(self.collected(&args)))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

/// The rows of all groups.
#[derive(Debug)]
struct Collected {
    call: Collect,
    fields: Fields,
    answer: Fields,
    batches: Vec<ArrayRef>,
    groups: Vec<u32>,
    group_count: usize,
    bytes: usize,
}

/// Rows in the order of their groups.
struct Ordered {
    rows: ArrayRef,
    order: Vec<u32>,
    /// The position in `order` where each group begins, followed by the end of the last group.
    bounds: Vec<usize>,
}

impl Collected {
    fn fault(&self, fault: Fault) -> datafusion_common::DataFusionError {
        exec_datafusion_err!("{}: {fault}", self.call.function)
    }

    fn add(&mut self, rows: ArrayRef, groups: impl Iterator<Item = u32>) {
        self.bytes += rows.get_array_memory_size();
        self.groups.extend(groups);
        self.batches.push(rows);
    }

    /// Returns the rows as one array. Strings are copied, because views would keep whole pages of
    /// the input files in memory.
    fn rows(&self, values: &[ArrayRef]) -> Result<ArrayRef> {
        let own = |array: &ArrayRef| match array.as_string_view_opt() {
            Some(views) => Arc::new(views.gc()) as ArrayRef,
            None => array.clone(),
        };
        Ok(Arc::new(StructArray::try_new(
            self.fields.clone(),
            values.iter().map(own).collect(),
            None,
        )?))
    }

    /// Removes and returns the first groups. The groups after them move to the front.
    fn take(&mut self, emit: EmitTo) -> Result<Ordered> {
        let batches: Vec<&dyn Array> = self.batches.iter().map(|b| b.as_ref()).collect();
        let rows = if batches.is_empty() {
            new_empty_array(&DataType::Struct(self.fields.clone()))
        } else {
            concat(&batches)?
        };
        self.batches.clear();
        let groups = std::mem::take(&mut self.groups);
        self.bytes = 0;
        let first = match emit {
            EmitTo::First(first) if first < self.group_count => first,
            _ => std::mem::take(&mut self.group_count),
        };
        if self.group_count > 0 {
            self.group_count -= first;
            let kept: Vec<u32> = (0..groups.len() as u32)
                .filter(|row| groups[*row as usize] as usize >= first)
                .collect();
            let kept_groups: Vec<u32> =
                kept.iter().map(|row| groups[*row as usize] - first as u32).collect();
            self.add(take(&rows, &UInt32Array::from(kept), None)?, kept_groups.into_iter());
        }
        let mut bounds = vec![0usize; first + 1];
        for group in groups.iter().filter(|g| (**g as usize) < first) {
            bounds[*group as usize + 1] += 1;
        }
        for group in 0..first {
            bounds[group + 1] += bounds[group];
        }
        let (mut next, mut order) = (bounds.clone(), vec![0u32; bounds[first]]);
        for (row, group) in groups.iter().enumerate().filter(|(_, g)| (**g as usize) < first) {
            order[next[*group as usize]] = row as u32;
            next[*group as usize] += 1;
        }
        Ok(Ordered { rows, order, bounds })
    }

    fn offsets(&self, bounds: impl Iterator<Item = usize>) -> Result<OffsetBuffer<i32>> {
        let offsets: Result<Vec<i32>, _> = bounds.map(i32::try_from).collect();
        Ok(OffsetBuffer::new(offsets.map_err(|_| self.fault(Fault::TooMany))?.into()))
    }

    fn list(&self, offsets: OffsetBuffer<i32>, rows: ArrayRef) -> Result<ArrayRef> {
        let item = Arc::new(Field::new_list_field(rows.data_type().clone(), true));
        Ok(Arc::new(ListArray::try_new(item, offsets, rows, None)?))
    }

    fn states(&self, ordered: Ordered) -> Result<Vec<ArrayRef>> {
        let in_order = ordered.order.iter().enumerate().all(|(i, row)| i == *row as usize);
        let rows = if in_order {
            ordered.rows
        } else {
            take(&ordered.rows, &UInt32Array::from(ordered.order), None)?
        };
        Ok(vec![self.list(self.offsets(ordered.bounds.into_iter())?, rows)?])
    }

    fn answers(&self, ordered: &Ordered) -> Result<ArrayRef> {
        let rows = ordered.rows.as_struct();
        let ints = |i: usize| rows.column(i).as_primitive::<Int64Type>();
        let times =
            Times { right: rows.column(0).as_boolean(), start: ints(1), end: ints(2), id: ints(3) };
        let mut answers = Answers::new(self.call.operation);
        let mut ends = vec![0];
        for bounds in ordered.bounds.windows(2) {
            answers
                .group(&ordered.order[bounds[0]..bounds[1]], &times)
                .map_err(|e| self.fault(e))?;
            ends.push(answers.starts.len());
        }
        let offsets = self.offsets(ends.into_iter())?;
        let (left, right) = (UInt32Array::from(answers.left), UInt32Array::from(answers.right));
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(answers.starts)),
            Arc::new(Int64Array::from(answers.ends)),
        ];
        for (i, column) in rows.columns()[FIXED..].iter().enumerate() {
            let indices = if i < self.call.left_columns { &left } else { &right };
            columns.push(take(column, indices, None)?);
        }
        self.list(offsets, Arc::new(StructArray::try_new(self.answer.clone(), columns, None)?))
    }

    fn merge(&mut self, states: &[ArrayRef], group: impl Fn(usize) -> u32) {
        let lists = states[0].as_list::<i32>();
        let offsets = lists.value_offsets();
        let (first, last) = (offsets[0] as usize, offsets[lists.len()] as usize);
        let rows = lists.values().slice(first, last - first);
        let groups = (0..lists.len())
            .flat_map(|i| std::iter::repeat_n(group(i), (offsets[i + 1] - offsets[i]) as usize));
        self.add(rows, groups);
    }
}

impl GroupsAccumulator for Collected {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        wanted: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.group_count = self.group_count.max(total);
        let rows = self.rows(values)?;
        match wanted {
            None => self.add(rows, groups.iter().map(|g| *g as u32)),
            Some(wanted) => {
                let kept: Vec<u32> = (0..groups.len())
                    .filter(|i| wanted.is_valid(*i) && wanted.value(*i))
                    .map(|i| groups[i] as u32)
                    .collect();
                self.add(filter(&rows, wanted)?, kept.into_iter());
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.group_count = self.group_count.max(total);
        self.merge(values, |row| groups[row] as u32);
        Ok(())
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let ordered = self.take(emit)?;
        self.answers(&ordered)
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        let ordered = self.take(emit)?;
        self.states(ordered)
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        wanted: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let rows = self.rows(values)?;
        let count = rows.len();
        let is_wanted = |i: usize| wanted.is_none_or(|w| w.is_valid(i) && w.value(i));
        let order: Vec<u32> = (0..count).filter(|i| is_wanted(*i)).map(|i| i as u32).collect();
        let mut bounds = vec![0];
        for i in 0..count {
            bounds.push(bounds[i] + usize::from(is_wanted(i)));
        }
        self.states(Ordered { rows, order, bounds })
    }

    fn size(&self) -> usize {
        self.bytes + self.groups.capacity() * size_of::<u32>()
    }
}

/// The accumulator of a single group.
#[derive(Debug)]
struct Single(Collected);

impl Accumulator for Single {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let rows = self.0.rows(values)?;
        let count = rows.len();
        self.0.add(rows, std::iter::repeat_n(0, count));
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.0.merge(states, |_| 0);
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.0.group_count = 1;
        ScalarValue::try_from_array(&GroupsAccumulator::evaluate(&mut self.0, EmitTo::All)?, 0)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.0.group_count = 1;
        let states = GroupsAccumulator::state(&mut self.0, EmitTo::All)?;
        states.iter().map(|state| ScalarValue::try_from_array(state, 0)).collect()
    }

    fn size(&self) -> usize {
        size_of::<Self>() + GroupsAccumulator::size(&self.0)
    }
}
