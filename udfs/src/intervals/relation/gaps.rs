//! Finds the gaps in a list of merged intervals. Only the relation functions call this function.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Int64Type};
use datafusion_common::{Result, exec_datafusion_err, exec_err};
use datafusion_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use crate::intervals::aggregate::{Lists, list_of};
use crate::intervals::algorithm::gaps::gaps;
use crate::intervals::algorithm::{Fault, Span};

/// Returns the function `(merged LIST, from BIGINT, to BIGINT) → LIST<STRUCT<start, end>>`.
pub fn gaps_function() -> ScalarUDF {
    ScalarUDF::new_from_impl(Gaps { signature: Signature::user_defined(Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Gaps {
    signature: Signature,
}

fn spans_type() -> DataType {
    list_of(vec![("start", DataType::Int64), ("end", DataType::Int64)])
}

impl ScalarUDFImpl for Gaps {
    fn name(&self) -> &str {
        "interval_gaps"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, _: &[DataType]) -> Result<Vec<DataType>> {
        Ok(vec![spans_type(), DataType::Int64, DataType::Int64])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(spans_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        Ok(ColumnarValue::Array(all_gaps(&arrays)?))
    }
}

fn all_gaps(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [merged, from, to] = arrays else {
        return exec_err!("interval_gaps: three columns are needed");
    };
    let (merged, from, to) =
        (merged.as_list::<i32>(), from.as_primitive::<Int64Type>(), to.as_primitive::<Int64Type>());
    let parts = merged.values().as_struct();
    let (starts, ends) =
        (parts.column(0).as_primitive::<Int64Type>(), parts.column(1).as_primitive::<Int64Type>());
    let fault = |fault: Fault| exec_datafusion_err!("interval_gaps: {fault}");
    let mut lists = Lists::new(["start", "end"]);
    for row in 0..merged.len() {
        let own = merged.value_offsets()[row] as usize..merged.value_offsets()[row + 1] as usize;
        let bound =
            |bounds: &arrow::array::Int64Array| bounds.is_valid(row).then(|| bounds.value(row));
        let (from, to) = (bound(from), bound(to));
        if let (Some(from), Some(to)) = (from, to)
            && from > to
        {
            return Err(fault(Fault::Bounds { from, to }));
        }
        let spans = own.map(|at| Span { start: starts.value(at), end: ends.value(at) });
        gaps(spans, from, to, |gap| lists.push([gap.start, gap.end]));
        lists.close().map_err(fault)?;
    }
    lists.finish()
}
