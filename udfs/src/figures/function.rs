//! `operator_figures`: what a call of an operator computes, reads and writes.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringViewArray, StructArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Fields};
use datafusion_common::{HashMap, Result, exec_err};
use datafusion_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::call::Call;
use super::docs::DOC;
use super::exact::{Counted, Reason};
use super::formula::Formula;
use super::result::{Figures, Quality};
use super::{
    attention, convolution, elements, experts, lists, precision, products, serving, transforms,
    windows,
};
use crate::doc::{Call as Kind, Function};

/// Returns the function with its documentation.
pub fn function() -> Function {
    let udf = OperatorFigures { signature: Signature::string(ARGUMENTS, Volatility::Immutable) };
    Function { call: Kind::Scalar(Arc::new(ScalarUDF::new_from_impl(udf))), doc: DOC }
}

const ARGUMENTS: usize = 7;

#[derive(Debug, PartialEq, Eq, Hash)]
struct OperatorFigures {
    signature: Signature,
}

/// The texts of a row: name, form, options, shapes, types, values, mark.
type Texts<'a> = [Option<&'a str>; ARGUMENTS];

/// A row of the result.
#[derive(Default)]
struct Row<'a> {
    numbers: [Option<i64>; NUMBERS.len()],
    texts: [Option<&'a str>; TEXTS.len()],
}

const NUMBERS: [&str; 11] = [
    "flop", "flop_full", "flop_upper", "read_bytes", "written_bytes", "bytes_upper", "batch", "m",
    "n", "k", "dilation",
];
const TEXTS: [&str; 4] = ["dtype", "compute_type", "quality", "reason"];

fn fields() -> Fields {
    let numbers = NUMBERS.map(|name| Field::new(name, DataType::Int64, true));
    let texts = TEXTS.map(|name| Field::new(name, DataType::Utf8View, true));
    numbers.into_iter().chain(texts).collect()
}

impl ScalarUDFImpl for OperatorFigures {
    fn name(&self) -> &str {
        DOC.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _given: &[DataType]) -> Result<DataType> {
        Ok(DataType::Struct(fields()))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let columns = args
            .args
            .into_iter()
            .map(|arg| Ok(cast(&arg.into_array(args.number_rows)?, &DataType::Utf8View)?))
            .collect::<Result<Vec<ArrayRef>>>()?;
        let Ok(columns) = <[ArrayRef; ARGUMENTS]>::try_from(columns) else {
            return exec_err!("{} takes {ARGUMENTS} arguments", DOC.name);
        };
        let columns = columns.each_ref().map(|column| column.as_string_view());
        // Calls repeat, so each different one is counted once.
        let mut places: HashMap<Texts, usize> = HashMap::new();
        let mut different = Vec::new();
        let mut rows = Vec::with_capacity(args.number_rows);
        for row in 0..args.number_rows {
            let texts = columns.map(|column| column.is_valid(row).then(|| column.value(row)));
            rows.push(*places.entry(texts).or_insert_with(|| {
                different.push(texts);
                different.len() - 1
            }));
        }
        let found: Vec<Row> = different.iter().map(row).collect();
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(NUMBERS.len() + TEXTS.len());
        for i in 0..NUMBERS.len() {
            let column: Int64Array = rows.iter().map(|at| found[*at].numbers[i]).collect();
            arrays.push(Arc::new(column));
        }
        for i in 0..TEXTS.len() {
            let column: StringViewArray = rows.iter().map(|at| found[*at].texts[i]).collect();
            arrays.push(Arc::new(column));
        }
        Ok(ColumnarValue::Array(Arc::new(StructArray::try_new(fields(), arrays, None)?)))
    }
}

fn row<'a>(texts: &Texts<'a>) -> Row<'a> {
    let [name, form, options, shapes, types, values, mark] = *texts;
    let Some(form) = form else {
        return refused(Reason::NoFormula);
    };
    let formula = Formula::new(form, options.unwrap_or_default());
    let call = match Call::new(shapes.unwrap_or("[]"), types, values) {
        Ok(call) => call,
        Err(reason) => return refused(reason),
    };
    let dtype = types.and_then(|types| precision::element(types, formula.first()));
    match figures(&call, &formula, name.unwrap_or_default(), mark) {
        Ok(found) => {
            // An operation on complex numbers is several on real ones, which transforms count.
            let is_complex =
                call.type_name(formula.first()).contains("omplex") && formula.form != "transform";
            let quality = if is_complex && found.flop.is_some_and(|flop| flop > 0) {
                Quality::LowerBound
            } else {
                found.quality
            };
            let compute_type = precision::of(&call, &formula);
            Row {
                numbers: numbers(&found),
                texts: [dtype, compute_type, Some(quality.text()), None],
            }
        }
        Err(reason) => Row { texts: [dtype, None, None, Some(reason.text())], ..Row::default() },
    }
}

fn refused<'a>(reason: Reason) -> Row<'a> {
    Row { texts: [None, None, None, Some(reason.text())], ..Row::default() }
}

fn numbers(found: &Figures) -> [Option<i64>; NUMBERS.len()] {
    let [batch, m, n, k] = found.sizes.map_or([None; 4], |sizes| sizes.map(Some));
    [
        found.flop,
        found.flop_full.or(found.flop),
        found.flop_upper,
        Some(found.read),
        Some(found.written),
        found.bytes_upper,
        batch,
        m,
        n,
        k,
        found.dilation,
    ]
}

fn figures(call: &Call, formula: &Formula, name: &str, mark: Option<&str>) -> Counted<Figures> {
    match formula.form {
        "matmul" => products::matmul(call, formula),
        "linear" => products::linear(call, formula),
        "packed_weight" => products::packed_weight(call, formula),
        "sparse" => products::sparse(call, formula),
        "grouped" => products::grouped(call, formula),
        "convolution" => convolution::forward(call, formula),
        "convolution_backward" => convolution::backward(call, formula),
        "attention" => attention::forward(call, formula),
        "attention_backward" => attention::backward(call, formula),
        "cached_attention" => serving::attention(call, formula, mark),
        "experts" => experts::fused(call, formula),
        "map" => elements::map(call, formula),
        "like_first" => elements::like_first(call, formula),
        "reduction" => elements::reduction(call, formula),
        "extreme" => elements::extreme(call, formula),
        "gather" => elements::gather(call, formula),
        "copy" => elements::copy(call, formula),
        "fill" => elements::fill(call, formula),
        "arguments" => elements::arguments(call, formula),
        "pool" => windows::pool(call, formula),
        "adaptive_pool" => windows::adaptive_pool(call, formula),
        "upsample" => windows::upsample(call, formula),
        "transform" => transforms::fourier(call, formula),
        "lists" => lists::lists(call, formula),
        "pointers" => lists::pointers(call, name),
        "hidden_weights" => Err(Reason::HiddenWeights),
        "hidden_lengths" => Err(Reason::Lengths),
        "hidden_indices" => Err(Reason::Indices),
        _ => Err(Reason::NoFormula),
    }
}
