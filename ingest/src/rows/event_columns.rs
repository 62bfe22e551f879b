//! The columns of `events`.

use crate::encode::columns;
use crate::schema;

columns! {
    /// The columns of `events`. The args of an event are encoded directly where they are read, so
    /// these rows are not structs: the values of a row are passed to the columns one by one.
    EventColumns of schema::EVENTS {
        trace_id: DictionaryStrings,
        event_id: Ints,
        track_id: Ints,
        pid: Ints,
        tid: Ints,
        ph: DictionaryStrings,
        cat: DictionaryStrings,
        name: DictionaryStrings,
        ts_ns: Ints,
        dur_ns: Ints,
        end_ns: Ints,
        parent_id: Ints,
        depth: Ints,
        self_ns: Ints,
        pre: Ints,
        post: Ints,
        step: Ints,
        external_id: Ints,
        correlation: Ints,
        sequence_number: Ints,
        fwd_thread_id: Ints,
        python_id: Ints,
        python_parent_id: Ints,
        python_module_id: Ints,
        device: Ints,
        stream: Ints,
        input_dims: DictionaryStrings,
        input_types: DictionaryStrings,
        input_strides: DictionaryStrings,
        concrete_inputs: DictionaryStrings,
        call_stack: DictionaryStrings,
        module_hierarchy: DictionaryStrings,
        overlaps: Flags,
        id: PlainStrings,
        args: PlainStrings,
        extra: PlainStrings,
    }
}
