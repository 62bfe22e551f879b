//! The documentation of the functions on names.

use crate::doc::{Example, FunctionDoc};

pub(super) const CLASSIFY: FunctionDoc = FunctionDoc {
    name: "classify",
    area: "names",
    signature: "classify(ruleset VARCHAR, text VARCHAR) → VARCHAR",
    summary: "The class of a text: the value of the first rule of a ruleset whose pattern is found \
        in it.",
    detail: "Rules are data, see the table name_rules. Each has a ruleset, a priority (the lowest \
        is tried first), a regular expression that can match anywhere in the text, and a value. \
        Matching is case-sensitive unless the pattern begins with (?i). A rule with an empty value \
        ends the search with NULL. Rulesets about kernels (kernel_class, kernel_library, \
        kernel_matrix_unit, kernel_precision, kernel_vendor) expect plain_name(name); \
        kernel_matrix_unit expects the class and a space before it. The view kernel_names has \
        their results. Others: collective, launch_call, sync_call, dataloader, op_category, \
        operator_class, operator_family, op_category_by_kernel, tensor_core, tensor_core_eligible; \
        and for comparison with other tools hta_0_5, hta_0_6, hta_queue_call, hta_launch_call, \
        hta_blocking_call, tracelens_kernel_type, tb_communication, tb_node. Each distinct text of \
        a batch is classified once, by its first 4,096 bytes.",
    nulls: "NULL if the ruleset or the text is NULL, or if no rule matches.",
    errors: "A ruleset that does not exist (the message lists those that do) and an argument that \
        is not text are refused.",
    examples: &[
        Example {
            sql: "SELECT classify('collective', \
                'ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)')",
            answer: "all_gather",
        },
        Example {
            sql: "SELECT classify('sync_call', 'cudaStreamSynchronize'), classify('sync_call', \
                'cudaLaunchKernel')",
            answer: "stream | NULL",
        },
        Example {
            sql: "SELECT classify('hta_0_6', 'hipMemcpy'), classify('op_category', 'aten::addmm')",
            answer: "COMMUNICATION | GEMM",
        },
    ],
};

pub(super) const CLASSIFY_RULE: FunctionDoc = FunctionDoc {
    name: "classify_rule",
    area: "names",
    signature: "classify_rule(ruleset VARCHAR, text VARCHAR) → BIGINT",
    summary: "The priority of the rule that classify follows.",
    detail: "Ruleset and priority identify a row of name_rules, which tells the purpose and the \
        source of the rule. Among rules with the same priority the first one decides.",
    nulls: "NULL if the ruleset or the text is NULL, or if no rule matches.",
    errors: "As for classify.",
    examples: &[Example {
        sql: "SELECT value FROM name_rules WHERE ruleset = 'sync_call' AND priority = \
            classify_rule('sync_call', 'cudaStreamSynchronize')",
        answer: "stream",
    }],
};

pub(super) const PLAIN_NAME: FunctionDoc = FunctionDoc {
    name: "plain_name",
    area: "names",
    signature: "plain_name(name VARCHAR) → VARCHAR",
    summary: "The name of a kernel in the form that rules match: readable, without return type and \
        anonymous namespaces, 4,096 bytes at most.",
    detail: "A mangled name is written out in one walk over its first 8,192 bytes: every \
        identifier in its order, namespaces joined by ::, template arguments in <>. Back \
        references are dropped, so the text is not the exact C++ name, which demangle returns. \
        Other names lose a leading void and (anonymous namespace)::, and are cut.",
    nulls: "NULL for NULL.",
    errors: "An argument that is not text is refused.",
    examples: &[
        Example {
            sql: "SELECT plain_name('_ZN5aiter41I8gemm_bf16_perTokenI8_BpreShuffle_32x128E')",
            answer: "aiter::I8gemm_bf16_perTokenI8_BpreShuffle_32x128",
        },
        Example {
            sql: "SELECT plain_name('void (anonymous namespace)::softmax<float>(float*)')",
            answer: "softmax<float>(float*)",
        },
    ],
};

pub(super) const KERNEL_TYPE: FunctionDoc = FunctionDoc {
    name: "kernel_type",
    area: "names",
    signature: "kernel_type(name VARCHAR) → VARCHAR",
    summary: "The type of a device activity, by its name: computation, communication, memcpy, \
        memset or sync.",
    detail: "The function follows the ruleset kernel_class. communication, memcpy, memset and sync \
        are separate types; all other classes are computation, and so is a name that no rule \
        matches. A name alone is not always enough: the view kernel_classes also uses the trace's \
        category, the arguments of collectives and the operator that launched the kernel, and it \
        marks unclassified kernels.",
    nulls: "NULL for NULL.",
    errors: "An argument that is not text is refused.",
    examples: &[
        Example {
            sql: "SELECT kernel_type('ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, \
                unsigned long, ncclWork*)')",
            answer: "communication",
        },
        Example {
            sql: "SELECT kernel_type('Memcpy HtoD (Pageable -> Device)'), \
                kernel_type('volta_sgemm_64x64_nt')",
            answer: "memcpy | computation",
        },
    ],
};

pub(super) const SHORT_NAME: FunctionDoc = FunctionDoc {
    name: "short_name",
    area: "names",
    signature: "short_name(name VARCHAR) → VARCHAR",
    summary: "The name of a kernel without template arguments, parameters, return type and inner \
        namespaces.",
    detail: "A mangled name is demangled first; if that fails, its namespaces and function are \
        read from its start. Then brackets after a name are removed, then everything up to the \
        last space (the return type), then all namespaces except the outermost one; anonymous \
        namespaces do not count. A text that is not a C++ function, such as 'Memcpy HtoD (Pageable \
        -> Device)', stays as it is. Different kernels can have the same short name. The short \
        name of a short name is itself. Only the first 16,384 bytes of a name are read.",
    nulls: "NULL for NULL.",
    errors: "An argument that is not text is refused.",
    examples: &[
        Example {
            sql: "SELECT short_name('void at::native::vectorized_elementwise_kernel<4, \
                at::native::AddFunctor<float> >(int)')",
            answer: "at::vectorized_elementwise_kernel",
        },
        Example {
            sql: "SELECT short_name('_ZN5aiter24add_rmsnorm_quant_kernelIfLi256ELb0EEEvPT_i')",
            answer: "aiter::add_rmsnorm_quant_kernel",
        },
    ],
};

pub(super) const DEMANGLE: FunctionDoc = FunctionDoc {
    name: "demangle",
    area: "names",
    signature: "demangle(name VARCHAR) → VARCHAR",
    summary: "The C++ name for a mangled name.",
    detail: "Mangled names of the Itanium ABI begin with _Z. A .kd at the end, which AMD's \
        compiler adds to kernels, is dropped. A name stays as it is if it is not mangled or cannot \
        be read, if the name or its C++ form is longer than 65,536 bytes, or if reading it would \
        take too long. The time for a name is bounded, and no name of a real trace comes near the \
        bound.",
    nulls: "NULL for NULL.",
    errors: "An argument that is not text is refused.",
    examples: &[
        Example {
            sql: "SELECT demangle('_ZN2at6native4fillIfEEvPT_i')",
            answer: "void at::native::fill<float>(float*, int)",
        },
        Example { sql: "SELECT demangle('volta_sgemm_64x64_nt')", answer: "volta_sgemm_64x64_nt" },
    ],
};

pub(super) const DTYPE_BYTES: FunctionDoc = FunctionDoc {
    name: "dtype_bytes",
    area: "names",
    signature: "dtype_bytes(dtype VARCHAR) → BIGINT",
    summary: "Bytes of one element of a data type, by any of the names that occur in traces.",
    detail: "Known are the names of C++ as in args 'Input type' (float, long int, c10::BFloat16), \
        of PyTorch's scalar types as in args 'dtype' of collectives (Float, Long, BFloat16), of \
        torch and numpy (torch.int64, float32), and of NCCL. Case is ignored. Int is 4 bytes even \
        where PyTorch writes it for a Python number. Types that pack two elements into a byte \
        (Float4_e2m1fn_x2, quint4x2) count 1 for the pair.",
    nulls: "NULL for NULL, for names that are not element types (Scalar, TensorList, ''), and for \
        unknown names.",
    errors: "An argument that is not text is refused.",
    examples: &[Example {
        sql: "SELECT dtype_bytes('c10::BFloat16'), dtype_bytes('long int'), dtype_bytes('Scalar')",
        answer: "2 | 8 | NULL",
    }],
};
