//! An aggregate that hands all rows of a group to an algorithm and returns its rows as a list.
//!
//! Only the relation functions call this aggregate.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, StructArray, new_empty_array};
use arrow::buffer::OffsetBuffer;
use arrow::compute::concat;
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use datafusion_common::{Result, ScalarValue, exec_datafusion_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};

use super::relation::Graph;
use crate::relation::RelationFunction;

/// The aggregate function of one call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Collect {
    graph: Graph,
    signature: Signature,
}

impl Collect {
    /// Creates the aggregate for an algorithm that takes this number of columns.
    pub fn function(graph: Graph, columns: usize) -> AggregateUDF {
        let signature = Signature::any(columns, Volatility::Immutable);
        AggregateUDF::new_from_impl(Self { graph, signature })
    }
}

fn row_fields(types: impl Iterator<Item = DataType>) -> Fields {
    types.enumerate().map(|(i, data_type)| Field::new(format!("c{i}"), data_type, true)).collect()
}

fn list_type(fields: Fields) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Struct(fields), true)))
}

impl AggregateUDFImpl for Collect {
    fn name(&self) -> &str {
        self.graph.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(list_type(self.graph.result_fields()))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let fields = row_fields(args.input_fields.iter().map(|f| f.data_type().clone()));
        let name = format_state_name(args.name, "rows");
        Ok(vec![Arc::new(Field::new(name, list_type(fields), true))])
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let fields = row_fields(args.expr_fields.iter().map(|f| f.data_type().clone()));
        Ok(Box::new(Collected { graph: self.graph, fields, batches: Vec::new(), bytes: 0 }))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

/// The rows of a group.
#[derive(Debug)]
struct Collected {
    graph: Graph,
    fields: Fields,
    batches: Vec<ArrayRef>,
    bytes: usize,
}

impl Collected {
    fn add(&mut self, rows: ArrayRef) {
        self.bytes += rows.get_array_memory_size();
        self.batches.push(rows);
    }

    /// Removes and returns the rows as one array.
    fn take(&mut self) -> Result<ArrayRef> {
        let batches = std::mem::take(&mut self.batches);
        self.bytes = 0;
        let arrays: Vec<&dyn Array> = batches.iter().map(|b| b.as_ref()).collect();
        match arrays.as_slice() {
            [] => Ok(new_empty_array(&DataType::Struct(self.fields.clone()))),
            [_] => Ok(batches[0].clone()),
            _ => Ok(concat(&arrays)?),
        }
    }
}

/// Makes a list with one element, which holds all rows.
fn one_list(rows: ArrayRef, name: &str) -> Result<ScalarValue> {
    if i32::try_from(rows.len()).is_err() {
        return Err(exec_datafusion_err!("{name}: a group has more than 2^31 rows"));
    }
    let item = Arc::new(Field::new_list_field(rows.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths([rows.len()]);
    Ok(ScalarValue::List(Arc::new(ListArray::try_new(item, offsets, rows, None)?)))
}

impl Accumulator for Collected {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add(Arc::new(StructArray::try_new(self.fields.clone(), values.to_vec(), None)?));
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let lists = states[0].as_list::<i32>();
        let offsets = lists.value_offsets();
        let (first, last) = (offsets[0] as usize, offsets[lists.len()] as usize);
        self.add(lists.values().slice(first, last - first));
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let rows = self.take()?;
        let answer = self.graph.run(rows.as_struct())?;
        one_list(Arc::new(answer), self.graph.name())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![one_list(self.take()?, self.graph.name())?])
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.bytes
    }
}
