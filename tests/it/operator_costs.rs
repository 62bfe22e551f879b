//! Operations and bytes of operators, computed by hand for each kind of formula.

use crate::support::elements;

/// The operator with the shapes, types and values of its arguments; the operations, bytes read and
/// bytes written, or None if they are not measurable.
type Case = (&'static str, &'static str, &'static str, &'static str, Option<[i64; 3]>);

const CASES: &[Case] = &[
    // The output is 5 x 8: (10 + 2 - 3) / 2 + 1 and (12 - 2 (3 - 1) - 1) / 1 + 1. The next case is
    // transposed. Its output is 10 x 10, with 2 groups of 3 channels.
    (
        "aten::convolution",
        "[[2,8,10,12],[16,4,3,3],[],[],[],[],[],[],[]]",
        r#"["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"]"#,
        r#"["","","","[2, 1]","[1, 0]","[1, 2]","False","[0, 0]","2"]"#,
        Some([92160, 9984, 5120]),
    ),
    (
        "aten::convolution",
        "[[2,8,5,5],[8,3,4,4],[],[],[],[],[],[],[]]",
        r#"["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"]"#,
        r#"["","","","[2, 2]","[1, 1]","[1, 1]","True","[0, 0]","2"]"#,
        Some([38400, 3136, 4800]),
    ),
    (
        "aten::cudnn_convolution",
        "[[4,2,100],[5,2,7],[],[],[],[],[],[],[]]",
        r#"["c10::Half","c10::Half","ScalarList","ScalarList","ScalarList","Scalar","Scalar","Scalar","Scalar"]"#,
        r#"["","","[3]","[1]","[1]","1","False","False","True"]"#,
        Some([56000, 1740, 4000]),
    ),
    (
        "aten::convolution",
        "[[1,3,8,8,8],[4,3,2,2,2],[],[],[],[],[],[],[]]",
        r#"["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"]"#,
        r#"["","","","[2, 2, 2]","[0, 0, 0]","[1, 1, 1]","False","[0, 0, 0]","1"]"#,
        Some([12288, 6528, 1024]),
    ),
    (
        "aten::convolution_backward",
        "[[4,8,8,8],[4,8,8,8],[8,8,3,3],[],[],[],[],[],[],[],[]]",
        r#"["float","float","float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar","ScalarList"]"#,
        r#"["","","","[0]","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","1","[True, True, False]"]"#,
        Some([589824, 18688, 10496]),
    ),
    ("aten::bmm", "[[3,4,5],[3,5,6]]", r#"["float","float"]"#, r#"["",""]"#, Some([720, 600, 288])),
    // The batch is broadcast to 2 x 3: 6 products of 2 * 4 * 5 * 6.
    (
        "aten::matmul",
        "[[2,1,4,5],[3,5,6]]",
        r#"["float","float"]"#,
        r#"["",""]"#,
        Some([1440, 520, 576]),
    ),
    ("aten::matmul", "[[2,4,5],[3,5,6]]", r#"["float","float"]"#, r#"["",""]"#, None),
    // The result is int32; that of the next one is bfloat16 (15), and its factors hold two values a
    // byte: 2 * 4 * 6 * (2 * 5).
    (
        "aten::_int_mm",
        "[[4,5],[5,6]]",
        r#"["signed char","signed char"]"#,
        r#"["",""]"#,
        Some([240, 50, 96]),
    ),
    (
        "aten::_scaled_mm",
        "[[4,5],[5,6],[1],[1],[],[],[],[]]",
        r#"["c10::Float4_e2m1fn_x2","c10::Float4_e2m1fn_x2","float","float","","","Scalar","Scalar"]"#,
        r#"["","","","","","","15","True"]"#,
        Some([480, 50, 48]),
    ),
    // 3 groups of rows: all 7 rows are taken as computed. In the other, the inner size is divided,
    // and each group has a result.
    (
        "aten::_grouped_mm",
        "[[7,4],[3,4,5],[3],[],[]]",
        r#"["c10::BFloat16","c10::BFloat16","int","",""]"#,
        r#"["","","","",""]"#,
        Some([280, 176, 70]),
    ),
    (
        "aten::_grouped_mm",
        "[[4,7],[7,5],[3],[],[]]",
        r#"["c10::BFloat16","c10::BFloat16","int","",""]"#,
        r#"["","","","",""]"#,
        Some([280, 126, 120]),
    ),
    (
        "aten::_weight_int8pack_mm",
        "[[2,4],[6,4],[6]]",
        r#"["c10::BFloat16","signed char","c10::BFloat16"]"#,
        r#"["","",""]"#,
        Some([96, 52, 24]),
    ),
    (
        "aten::conv_transpose2d",
        "[[1,2,3,3],[2,4,2,2],[4],[],[],[],[],[]]",
        r#"["float","float","float","ScalarList","ScalarList","ScalarList","Scalar","ScalarList"]"#,
        r#"["","","","[2, 2]","[0, 0]","[0, 0]","1","[1, 1]"]"#,
        Some([576, 216, 576]),
    ),
    // 4 query heads, 2 key heads; a causal mask leaves half of the 8 x 8 pairs.
    (
        "flash_attn::_flash_attn_forward",
        "[[1,8,4,16],[1,8,2,16],[1,8,2,16],[],[],[],[],[],[],[],[]]",
        r#"["c10::Half","c10::Half","c10::Half","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","","Scalar"]"#,
        r#"["","","","0.","0.25","True","-1","-1","0.","","False"]"#,
        Some([8192, 2048, 1024]),
    ),
    // 3 queries see the last 3 of 5 keys and all before: 3 + 4 + 5 pairs of 2 (16 + 16).
    (
        "flash_attn::_flash_attn_forward",
        "[[1,3,1,16],[1,5,1,16],[1,5,1,16],[],[],[],[],[],[],[],[]]",
        r#"["c10::Half","c10::Half","c10::Half","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","","Scalar"]"#,
        r#"["","","","0.","0.25","True","-1","-1","0.","","False"]"#,
        Some([768, 416, 96]),
    ),
    // 10 tokens in 3 sequences, the longest has 6: the others have 2 each, so 36 + 4 + 4 pairs at
    // least, of 2 (8 + 8).
    (
        "flash_attn::_flash_attn_varlen_forward",
        "[[10,1,8],[10,1,8],[10,1,8],[4],[4],[],[],[],[],[],[],[],[],[],[],[],[],[]]",
        r#"["c10::Half","c10::Half","c10::Half","int","int","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","","Scalar","","",""]"#,
        r#"["","","","","","6","6","0.","0.25","False","-1","-1","0.","","False","","",""]"#,
        Some([1408, 480, 160]),
    ),
    // 5 products of 2 * 2 * 3 * 3 * 4, and the result, the gradient and 4 bytes a row more are
    // read.
    (
        "aten::_scaled_dot_product_cudnn_attention_backward",
        "[[1,2,3,4],[1,2,3,4],[1,2,3,4],[1,2,3,4],[1,2,3,4],[1,2,3],[],[],[],[],[],[],[],[],[],[]]",
        r#"["c10::Half","c10::Half","c10::Half","c10::Half","c10::Half","float","","","","","","Scalar","Scalar","Scalar","Scalar",""]"#,
        r#"["","","","","","","","","","","","3","3","0.","False",""]"#,
        Some([720, 264, 144]),
    ),
    ("vllm::moe_forward", "[[5,8],[5,4],[]]", r#"["float","float",""]"#, r#"["","",""]"#, None),
    // 64 tokens choose all of 2 experts: 2 * 64 * 2 * 4 * (6 + 3).
    (
        "vllm::outplace_fused_experts",
        "[[64,4],[2,6,4],[2,4,3],[64,2],[64,2]]",
        r#"["c10::Half","c10::Half","c10::Half","float","int"]"#,
        r#"["","","","",""]"#,
        Some([9216, 1680, 512]),
    ),
    (
        "aten::_fused_adamw_",
        "[[[2,3],[4]],[[2,3],[4]],[[2,3],[4]],[[2,3],[4]],[],[[],[]]]",
        r#"["TensorList","TensorList","TensorList","TensorList","TensorList","TensorList"]"#,
        r#"["","","","","",""]"#,
        Some([140, 160, 120]),
    ),
    (
        "aten::_foreach_add_",
        "[[],[],[]]",
        r#"["TensorList","TensorList","Scalar"]"#,
        r#"["","","1"]"#,
        None,
    ),
    // The output is 3 x 3, and 64-bit positions are written too.
    (
        "aten::max_pool2d_with_indices",
        "[[1,2,6,6],[],[],[],[],[]]",
        r#"["float","ScalarList","ScalarList","ScalarList","ScalarList","Scalar"]"#,
        r#"["","[2, 2]","[2, 2]","[0, 0]","[1, 1]","False"]"#,
        Some([72, 288, 216]),
    ),
    (
        "_C::fused_add_rms_norm",
        "[[3,8],[3,8],[8],[]]",
        r#"["c10::Half","c10::Half","c10::Half","Scalar"]"#,
        r#"["","","","1e-05"]"#,
        Some([120, 112, 96]),
    ),
    (
        "aten::linear",
        "[[2,7,5],[3,5],[3]]",
        r#"["float","float","float"]"#,
        r#"["","",""]"#,
        Some([420, 352, 168]),
    ),
    (
        "aten::_scaled_dot_product_flash_attention",
        "[[2,8,128,64],[2,8,256,64],[2,8,256,64],[],[],[],[]]",
        r#"["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar","Scalar","Scalar","Scalar"]"#,
        r#"["","","","0.","False","False","0.125"]"#,
        Some([134217728, 1310720, 262144]),
    ),
    (
        "aten::_scaled_dot_product_flash_attention",
        "[[2,8,128,64],[2,8,128,64],[2,8,128,64],[],[],[],[]]",
        r#"["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar","Scalar","Scalar","Scalar"]"#,
        r#"["","","","0.","True","False","0.125"]"#,
        Some([33554432, 786432, 262144]),
    ),
    (
        "aten::_flash_attention_forward",
        "[[2,128,8,64],[2,256,8,64],[2,256,8,64],[],[],[],[],[],[],[]]",
        r#"["c10::BFloat16","c10::BFloat16","c10::BFloat16","","","Scalar","Scalar","Scalar","Scalar","Scalar"]"#,
        r#"["","","","","","128","256","0.","False","False"]"#,
        Some([134217728, 1310720, 262144]),
    ),
    (
        "aten::add",
        "[[3,1],[1,4],[]]",
        r#"["float","c10::Half","Scalar"]"#,
        r#"["","","1"]"#,
        Some([12, 20, 48]),
    ),
    (
        "aten::add_",
        "[[3,4],[4],[]]",
        r#"["c10::BFloat16","float","Scalar"]"#,
        r#"["","","1"]"#,
        Some([12, 40, 24]),
    ),
    ("aten::eq", "[[2,3],[]]", r#"["float","Scalar"]"#, r#"["","0"]"#, Some([6, 24, 6])),
    (
        "aten::where",
        "[[2,3],[2,3],[]]",
        r#"["bool","c10::Half","c10::Half"]"#,
        r#"["","",""]"#,
        Some([0, 20, 12]),
    ),
    ("aten::sum", "[[5,6],[]]", r#"["float",""]"#, r#"["",""]"#, Some([30, 120, 4])),
    (
        "aten::sum",
        "[[5,6,7],[],[],[]]",
        r#"["float","ScalarList","Scalar",""]"#,
        r#"["","[0, -1]","False",""]"#,
        Some([210, 840, 24]),
    ),
    (
        "aten::argmax",
        "[[15,10],[],[]]",
        r#"["float","Scalar","Scalar"]"#,
        r#"["","-1","False"]"#,
        Some([150, 600, 120]),
    ),
    (
        "aten::embedding",
        "[[100,16],[4,5],[],[],[]]",
        r#"["c10::Half","long int","Scalar","Scalar","Scalar"]"#,
        r#"["","","-1","False","False"]"#,
        Some([0, 800, 640]),
    ),
    (
        "aten::index_select",
        "[[6,8],[],[3]]",
        r#"["float","Scalar","long int"]"#,
        r#"["","1",""]"#,
        Some([0, 96, 72]),
    ),
    (
        "aten::gather",
        "[[6,8],[],[6,2],[]]",
        r#"["float","Scalar","long int","Scalar"]"#,
        r#"["","1","","False"]"#,
        Some([0, 144, 48]),
    ),
    (
        "aten::native_layer_norm",
        "[[2,5,16],[],[16],[16],[]]",
        r#"["float","ScalarList","float","float","Scalar"]"#,
        r#"["","[16]","","","","1e-05"]"#,
        Some([1280, 768, 640]),
    ),
    (
        "aten::_softmax",
        "[[4,10],[],[]]",
        r#"["float","Scalar","Scalar"]"#,
        r#"["","-1","False"]"#,
        Some([200, 160, 160]),
    ),
    (
        "aten::copy_",
        "[[10],[10],[]]",
        r#"["c10::Half","float","Scalar"]"#,
        r#"["","","False"]"#,
        Some([0, 40, 20]),
    ),
    ("aten::fill_", "[[3,4],[]]", r#"["float","Scalar"]"#, r#"["","0"]"#, Some([0, 0, 48])),
    ("aten::cat", "[[[2,3],[2,3]],[]]", r#"["TensorList","Scalar"]"#, r#"["","0"]"#, None),
    ("aten::mm", "[[4,5],[6,7]]", r#"["float","float"]"#, r#"["",""]"#, None),
    ("aten::mm", "[[-4,5],[5,7]]", r#"["float","float"]"#, r#"["",""]"#, None),
    ("aten::mm", "[[4,5],[5,7]]", r#"["float",""]"#, r#"["",""]"#, None),
    (
        "aten::mm",
        "[[4000000000,4000000000],[4000000000,4000000000]]",
        r#"["float","float"]"#,
        r#"["",""]"#,
        None,
    ),
    ("aten::mm", "[[8,0],[0,4]]", r#"["float","float"]"#, r#"["",""]"#, Some([0, 0, 128])),
    (
        "aten::add",
        "[[9000000000,9000000000,9000000000],[1],[]]",
        r#"["float","float","Scalar"]"#,
        r#"["","","1"]"#,
        None,
    ),
];

#[test]
fn costs_are_those_counted_by_hand() {
    let events: Vec<String> = CASES
        .iter()
        .enumerate()
        .map(|(i, (name, dims, types, values, _))| {
            format!(
                r#"{{"ph":"X","cat":"cpu_op","name":"{name}","pid":1,"tid":1,"ts":{},"dur":5,"args":{{"Input Dims":{dims},"Input type":{types},"Concrete Inputs":{values}}}}}"#,
                i * 10
            )
        })
        .collect();
    let store = elements(events.join(",\n"));
    let found = store.lines(
        "SELECT e.event_id, c.flop, c.read_bytes, c.written_bytes, c.reason IS NULL FROM events e
         JOIN operator_costs c ON c.name = e.name AND c.input_shapes = e.input_dims
             AND c.input_types = e.input_types
             AND (c.arguments IS NULL OR c.arguments = e.concrete_inputs)
         ORDER BY e.event_id",
    );
    let wanted: Vec<String> = CASES
        .iter()
        .enumerate()
        .map(|(i, case)| match case.4 {
            Some([flop, read, written]) => format!("{i} {flop} {read} {written} true"),
            None => format!("{i} NULL NULL NULL false"),
        })
        .collect();
    for (found, wanted) in found.iter().zip(&wanted) {
        assert_eq!(
            found,
            wanted,
            "{:?}",
            wanted.split(' ').next().and_then(|i| CASES.get(i.parse::<usize>().ok()?))
        );
    }
    assert_eq!(found.len(), CASES.len());
}

#[test]
fn shapes_and_values_of_any_form_give_a_reason_and_no_error() {
    let odd = [
        r#""Input Dims":[],"Input type":[]"#,
        r#""Input Dims":"[[2,3","Input type":"x""#,
        r#""Input Dims":[[[1,2],[3]],7,"a",[null]],"Input type":["float",1,null]"#,
        r#""Input Dims":[[2.5,-1],[1e40]],"Input type":["float","float"],"Concrete Inputs":["(","[","{"]"#,
        r#""Input Dims":[[0,3,0,0],[0,3,1,1],[]],"Input type":["float","float",""],"Concrete Inputs":["","","[0, 0]","[0, 0]","[0, 0]","1"]"#,
    ];
    let names = [
        "aten::mm",
        "aten::cudnn_convolution",
        "aten::convolution_backward",
        "aten::add",
        "aten::sum",
        "aten::index_select",
        "aten::linear",
    ];
    let events: Vec<String> = odd
        .iter()
        .flat_map(|args| names.iter().map(move |name| (name, args)))
        .enumerate()
        .map(|(i, (name, args))| format!(r#"{{"ph":"X","cat":"cpu_op","name":"{name}","pid":1,"tid":1,"ts":{},"dur":5,"args":{{{args}}}}}"#, i * 10))
        .collect();
    let store = elements(events.join(",\n"));
    let calls = store.ints(
        "SELECT sum(calls), count(*) FILTER (WHERE (flop IS NULL) <> (reason IS \
        NOT NULL)) FROM operator_costs",
    );
    assert_eq!(calls, [(odd.len() * names.len()) as i64, 0]);
}
