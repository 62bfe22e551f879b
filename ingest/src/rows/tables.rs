//! The rows of all tables except `events`, one struct per table. [`crate::schema`] documents the
//! columns, and the compiler checks that the fields match them.

use std::borrow::Cow;

use crate::encode::{Interned, row};
use crate::schema;

row! {
    /// A row of `traces`.
    TraceRow of schema::TRACES {
        trace_id: &'a str,
        path: &'a str,
        format: &'a str,
        content_hash: &'a str,
        input_bytes: i64,
        text_bytes: i64,
        rank: Option<i64>,
        world_size: Option<i64>,
        backend: Option<&'a str>,
        host: Option<&'a str>,
        framework: Option<&'a str>,
        base_time_ns: Option<i64>,
        start_ns: Option<i64>,
        end_ns: Option<i64>,
        duration_ns: Option<i64>,
        element_count: i64,
        event_count: i64,
        skipped_count: i64,
        metadata: &'a str,
    }
}

row! {
    /// A row of `devices`.
    DeviceRow of schema::DEVICES {
        trace_id: &'a str,
        device: Option<i64>,
        name: Option<&'a str>,
        total_memory_bytes: Option<i64>,
        compute_major: Option<i64>,
        compute_minor: Option<i64>,
        sm_count: Option<i64>,
        max_threads_per_block: Option<i64>,
        max_threads_per_sm: Option<i64>,
        registers_per_block: Option<i64>,
        registers_per_sm: Option<i64>,
        shared_memory_per_block_bytes: Option<i64>,
        shared_memory_per_sm_bytes: Option<i64>,
        warp_size: Option<i64>,
        metadata: Option<&'a str>,
    }
}

row! {
    /// A row of `tracks`.
    #[derive(Default)]
    TrackRow of schema::TRACKS {
        trace_id: &'a str,
        track_id: i64,
        pid: Option<i64>,
        tid: Option<i64>,
        pid_text: Option<&'a str>,
        tid_text: Option<&'a str>,
        process_name: Option<&'a str>,
        thread_name: Option<&'a str>,
        labels: Option<&'a str>,
        sort_index: Option<i64>,
        kind: &'a str,
        device: Option<i64>,
        stream: Option<i64>,
    }
}

row! {
    /// A row of `kernels`.
    #[derive(Default)]
    KernelRow of schema::KERNELS {
        trace_id: &'a str,
        event_id: i64,
        kind: &'a str,
        name: Option<Interned<'a>>,
        device: Option<i64>,
        context: Option<i64>,
        stream: Option<i64>,
        track_id: i64,
        ts_ns: Option<i64>,
        dur_ns: Option<i64>,
        end_ns: Option<i64>,
        correlation: Option<i64>,
        external_id: Option<i64>,
        launch_id: Option<i64>,
        op_id: Option<i64>,
        link: &'a str,
        link_reason: Option<&'a str>,
        step: Option<i64>,
        grid_x: Option<i64>,
        grid_y: Option<i64>,
        grid_z: Option<i64>,
        block_x: Option<i64>,
        block_y: Option<i64>,
        block_z: Option<i64>,
        registers_per_thread: Option<i64>,
        shared_memory_bytes: Option<i64>,
        blocks_per_sm: Option<f64>,
        warps_per_sm: Option<f64>,
        occupancy_pct: Option<f64>,
        queued: Option<i64>,
        bytes: Option<i64>,
        bandwidth_gb_s: Option<f64>,
        activity_kind: Option<Cow<'a, str>>,
        graph_id: Option<i64>,
        graph_node_id: Option<i64>,
        sync_kind: Option<Cow<'a, str>>,
        wait_on_stream: Option<i64>,
        wait_on_event_id: Option<i64>,
        wait_on_event_record_correlation: Option<i64>,
        collective_name: Option<Cow<'a, str>>,
        collective_dtype: Option<Cow<'a, str>>,
        in_msg_nelems: Option<i64>,
        out_msg_nelems: Option<i64>,
        group_size: Option<i64>,
        process_group_name: Option<Cow<'a, str>>,
        process_group_description: Option<Cow<'a, str>>,
        process_group_ranks: Option<Cow<'a, str>>,
        in_split_size: Option<Cow<'a, str>>,
        out_split_size: Option<Cow<'a, str>>,
        collective_seq: Option<i64>,
        comms_id: Option<Cow<'a, str>>,
        group_rank: Option<i64>,
        src_rank: Option<i64>,
        dst_rank: Option<i64>,
    }
}

row! {
    /// A row of `memory`.
    #[derive(Default)]
    MemoryRow of schema::MEMORY {
        trace_id: &'a str,
        event_id: i64,
        ts_ns: Option<i64>,
        action: Option<&'a str>,
        addr: Option<i64>,
        bytes: Option<i64>,
        device_type: Option<&'a str>,
        device: Option<i64>,
        total_allocated_bytes: Option<i64>,
        total_reserved_bytes: Option<i64>,
        step: Option<i64>,
        stream: Option<i64>,
        stack_id: Option<i64>,
        allocation_id: Option<i64>,
        pool: Option<&'a str>,
        category: Option<&'a str>,
    }
}

row! {
    /// A row of `memory_segments`.
    MemorySegmentRow of schema::MEMORY_SEGMENTS {
        trace_id: &'a str,
        segment_id: i64,
        device: Option<i64>,
        address: Option<i64>,
        total_bytes: Option<i64>,
        allocated_bytes: Option<i64>,
        active_bytes: Option<i64>,
        requested_bytes: Option<i64>,
        stream: Option<i64>,
        kind: Option<&'a str>,
        pool: Option<&'a str>,
        expandable: bool,
        stack_id: Option<i64>,
        block_count: i64,
    }
}

row! {
    /// A row of `memory_blocks`.
    MemoryBlockRow of schema::MEMORY_BLOCKS {
        trace_id: &'a str,
        segment_id: i64,
        block_id: i64,
        device: Option<i64>,
        address: Option<i64>,
        bytes: Option<i64>,
        requested_bytes: Option<i64>,
        state: Option<&'a str>,
        stack_id: Option<i64>,
        allocation_id: Option<i64>,
    }
}

row! {
    /// A row of `memory_stacks`.
    MemoryStackRow of schema::MEMORY_STACKS {
        trace_id: &'a str,
        stack_id: i64,
        depth: i64,
        name: Option<&'a str>,
        file: Option<&'a str>,
        line: Option<i64>,
        frame_id: i64,
        extra: Option<&'a str>,
    }
}

row! {
    /// A row of `flight_records`.
    FlightRecordRow of schema::FLIGHT_RECORDS {
        trace_id: &'a str,
        event_id: i64,
        record_id: Option<i64>,
        group_id: Option<i64>,
        group_name: Option<&'a str>,
        group_description: Option<&'a str>,
        collective_seq: Option<i64>,
        p2p_seq: Option<i64>,
        op_id: Option<i64>,
        name: Option<&'a str>,
        is_p2p: bool,
        state: Option<&'a str>,
        retired: bool,
        created_ns: Option<i64>,
        started_ns: Option<i64>,
        completed_ns: Option<i64>,
        duration_ns: Option<i64>,
        timeout_ns: Option<i64>,
        input_sizes: Option<&'a str>,
        input_dtypes: Option<&'a str>,
        output_sizes: Option<&'a str>,
        output_dtypes: Option<&'a str>,
        thread_id: Option<&'a str>,
        thread_name: Option<&'a str>,
    }
}

row! {
    /// A row of `flight_groups`.
    FlightGroupRow of schema::FLIGHT_GROUPS {
        trace_id: &'a str,
        group_id: Option<i64>,
        group_name: Option<&'a str>,
        description: Option<&'a str>,
        ranks: Option<&'a str>,
        size: Option<i64>,
        last_enqueued_seq: Option<i64>,
        last_started_seq: Option<i64>,
        last_completed_seq: Option<i64>,
    }
}

row! {
    /// A row of `et_nodes`.
    EtNodeRow of schema::ET_NODES {
        trace_id: &'a str,
        event_id: i64,
        node_id: Option<i64>,
        name: Option<&'a str>,
        parent_id: Option<i64>,
        rf_id: Option<i64>,
        fw_parent_id: Option<i64>,
        sequence_number: Option<i64>,
        scope: Option<i64>,
        tid: Option<i64>,
        fw_tid: Option<i64>,
        op_schema: Option<&'a str>,
        kernel_backend: Option<&'a str>,
        kernel_file: Option<&'a str>,
        input_values: Option<&'a str>,
        input_shapes: Option<&'a str>,
        input_types: Option<&'a str>,
        input_strides: Option<&'a str>,
        output_values: Option<&'a str>,
        output_shapes: Option<&'a str>,
        output_types: Option<&'a str>,
        output_strides: Option<&'a str>,
        attrs: Option<&'a str>,
        extra: Option<&'a str>,
    }
}

row! {
    /// A row of `modules`.
    ModuleRow of schema::MODULES {
        trace_id: &'a str,
        module_id: i64,
        name: &'a str,
        class: Option<&'a str>,
        parent_module_id: Option<i64>,
        path: &'a str,
        depth: i64,
        first_ts_ns: i64,
        call_count: i64,
        source: &'a str,
    }
}

row! {
    /// A row of `flows`.
    FlowRow of schema::FLOWS {
        trace_id: &'a str,
        kind: &'a str,
        name: Option<&'a str>,
        flow_id: &'a str,
        src_event_id: Option<i64>,
        dst_event_id: Option<i64>,
        src_ts_ns: i64,
        dst_ts_ns: i64,
        src_flow_event_id: i64,
        dst_flow_event_id: i64,
    }
}

row! {
    /// A row of `counters`.
    CounterRow of schema::COUNTERS {
        trace_id: &'a str,
        event_id: i64,
        ts_ns: i64,
        track_id: i64,
        name: Option<Interned<'a>>,
        series: Cow<'a, str>,
        value: Option<f64>,
    }
}

row! {
    /// A row of `steps`.
    StepRow of schema::STEPS {
        trace_id: &'a str,
        step: i64,
        name: Option<&'a str>,
        event_id: i64,
        track_id: i64,
        start_ns: i64,
        end_ns: i64,
        dur_ns: i64,
    }
}

row! {
    /// A row of `ingest_issues`.
    IssueRow of schema::INGEST_ISSUES {
        trace_id: &'a str,
        severity: &'a str,
        code: &'a str,
        count: i64,
        skipped_count: i64,
        first_event_id: Option<i64>,
        first_byte_offset: Option<i64>,
        example: Option<&'a str>,
        detail: &'a str,
    }
}
