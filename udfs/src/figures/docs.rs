//! The documentation of the function.

use crate::doc::{Example, FunctionDoc};

pub const DOC: FunctionDoc = FunctionDoc {
    name: "operator_figures",
    area: "roofline",
    signature: "operator_figures(name VARCHAR, form VARCHAR, options VARCHAR, input_shapes \
        VARCHAR, input_types VARCHAR, arguments VARCHAR, mark VARCHAR) → STRUCT(flop, flop_full, \
        flop_upper, read_bytes, written_bytes, bytes_upper, batch, m, n, k, dilation BIGINT, \
        dtype, compute_type, quality, reason VARCHAR)",
    summary: "The operations, and the bytes read and written, of one call of an operator, from its \
        shapes, types and values of arguments.",
    detail: "form and options are those of the view operator_forms, which has them for each \
        operator of operator_formulas. Shapes, types and arguments are the JSON texts of \
        events.input_dims, input_types and concrete_inputs. mark is the name of the annotation \
        around a step of a serving engine, from which attention over a cache takes the lengths of \
        sequences. A fused multiply-add is 2 operations; each input is read once and each result \
        written once. flop counts the visible part of attention, flop_full all of it. quality is \
        exact, lower_bound, bounds (between these figures and the upper ones) or estimate. batch, \
        m, n and k are the sizes of a product; attention has batch times heads, lengths of query \
        and key and the head size there, a convolution its groups, positions, output channels of a \
        group and elements of a filter. Arithmetic is exact.",
    nulls: "If a call cannot be counted, all figures are NULL and reason says why; otherwise \
        reason is NULL. flop is NULL where only bytes are known.",
    errors: "None. Texts of other forms, shapes that do not fit the operator and figures beyond 64 \
        bits give a reason.",
    examples: &[
        Example {
            sql: "SELECT f.flop, f.read_bytes, f.written_bytes FROM (SELECT \
                operator_figures('aten::mm', 'matmul', 'reads=2 second=1 unit=matrix', \
                '[[4,5],[5,6]]', '[\"float\",\"float\"]', NULL, NULL) AS f)",
            answer: "240 | 200 | 96",
        },
        Example {
            sql: "SELECT f.flop, f.reason FROM (SELECT operator_figures('aten::mm', 'matmul', \
                'reads=2', '[[4,5],[6,7]]', '[\"float\",\"float\"]', NULL, NULL) AS f)",
            answer: "NULL | the shapes of the inputs are not those the formula is for",
        },
    ],
};
