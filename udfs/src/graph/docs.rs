//! The documentation of the graph functions.

use crate::doc::{Example, FunctionDoc};

const AREA: &str = "graphs";

/// `hta_graph`.
pub const HTA: FunctionDoc = FunctionDoc {
    name: "hta_graph",
    area: AREA,
    signature: "FROM hta_graph((query), by => (column, …), annotation => text, instance => \
        number) → by columns, edge, src_event_id, src_is_start, dst_event_id, dst_is_start, type, \
        weight_us, owner_event_id, bound_by, on_path, graph_events, graph_nodes",
    summary: "The graph and the critical path of Holistic Trace Analysis for each group.",
    detail: "The query gives the rows of hta_events, or rows with the same columns. annotation is \
        a part of the name of the event that gives the window, and instance its number among the \
        events with this text, from 0; without annotation the window is the whole trace. Each row \
        is an edge between the starts and ends of two events. A column queue_length of the query \
        replaces the queue lengths that are computed. The view hta_critical_path describes the \
        columns. The graph is that of traceinsight 0.6.1, except that at equal times a launch \
        comes before a start; HTA leaves that order open. The rows of the query are kept in \
        memory.",
    nulls: "NULL in a column of numbers stands for -1, which HTA writes for missing values; NULL \
        as queue length stands for an unknown one.",
    errors: "A query without one of the columns is refused. An annotation or instance that no \
        event has gives no rows.",
    examples: &[Example {
        sql: "SELECT type, weight_us, bound_by FROM hta_graph((SELECT *, '1' AS pid, -1 AS \
            wait_on_stream, -1 AS wait_on_correlation FROM (VALUES (1, 'aten::add', 'cpu_op', 0, \
            10, '1', -1, -1), (2, 'cudaLaunchKernel', 'cuda_runtime', 2, 3, '1', -1, 7), (3, \
            'add', 'kernel', 8, 20, '7', 7, 7)) AS t(event_id, name, cat, ts_us, dur_us, tid, \
            stream, correlation))) WHERE on_path ORDER BY edge",
        answer: "operator | 2 | cpu_bound\noperator | 20 | gpu_compute_bound\nkernel_launch_delay \
            | 6 | gpu_kernel_launch_overhead",
    }],
};

/// `event_path`.
pub const PATH: FunctionDoc = FunctionDoc {
    name: "event_path",
    area: AREA,
    signature: "FROM event_path((activities), (orders), (windows), by => (column, …)) → by columns, \
        window_id, position, start_ns, end_ns, kind, event_id, cause_id, lane, is_inferred",
    summary: "The path from the end of each window back to its start along what each activity \
        waited for, without gaps.",
    detail: "activities have the columns id, lane, team, start_ns, end_ns, role and launch_id. role \
        is 0 for work of a thread, 1 for frames and marks of a thread, 2 for device work, 3 for \
        a call that returns after the device work that it started, 4 for a call that returns \
        after all device work so far, and 5 for loading of data with all that runs inside. lane \
        is a thread or a queue, launch_id the call that started device work. Threads with the \
        same team hand work to one another. orders have the columns call_id, lane, key, at_ns \
        and action: 0 records the event key in the queue lane, 1 makes the queue wait for it, \
        2, 3 and 4 make the call wait for an event, a queue and all queues. At equal times the \
        lower call_id comes first. Without orders, work of another queue that ended up to 5 µs \
        before counts as awaited. windows have the columns window_id, last_id, from_ns and \
        to_ns; last_id is the activity that ends at to_ns. kind is host, host_gap (a thread \
        inside of frames only, or without anything), data_loading, device, launch, stream_gap, \
        event_delay, synchronisation, handoff or unknown. The pieces of a window add up to its \
        length. The rows of the queries are kept in memory.",
    nulls: "Rows without an id, a lane or a time are left out, and so are activities without a \
        duration. A NULL team is no team.",
    errors: "A query without one of the columns is refused.",
    examples: &[Example {
        sql: "SELECT start_ns, end_ns, kind, event_id, cause_id FROM event_path((SELECT * FROM \
            (VALUES (1, 1, 0, 10000, 0, NULL), (2, 1, 2000, 5000, 0, NULL), (3, 7, 9000, 30000, 2, \
            2)) AS t(id, lane, start_ns, end_ns, role, launch_id) CROSS JOIN (SELECT NULL AS \
            team)), (SELECT 0 AS call_id, 0 AS lane, 0 AS key, 0 AS at_ns, 9 AS action), (SELECT 1 \
            AS window_id, 3 AS last_id, 0 AS from_ns, 30000 AS to_ns)) ORDER BY position",
        answer: "0 | 2000 | host | 1 | NULL\n2000 | 9000 | launch | 3 | 2\n9000 | 30000 | device \
            | 3 | NULL",
    }],
};

/// `event_forecast`.
pub const FORECAST: FunctionDoc = FunctionDoc {
    name: "event_forecast",
    area: AREA,
    signature: "FROM event_forecast((activities), (orders), (windows), (targets), by => (column, \
        …), factor => number, second_factor => number) → by columns, target, window_id, \
        recorded_ns, forecast_ns, moved_ns, factor",
    summary: "The length that each window would have if the work of a target took a fraction of \
        its time.",
    detail: "The first three queries are those of event_path; windows of steps have the mark of the \
        step as mark_id. targets have the columns target, a number, and id, an activity, and \
        may have length_ns, the length that it would have instead of the factor; NULL as id \
        stands for the time from launch calls to the start of their work. A column change may be \
        1 for work that keeps its length while other device work sees it as if it took no time \
        (hidden work), or 2, with NULL as id, for the launches of a step as one launch each: work \
        then waits for the first launch since the step began, or since the host last waited for \
        the device or loaded data, and threads lose the time between these launches; or 3 for work \
        of a thread that takes the fraction together with all device work that was launched \
        inside. Each target \
        is computed on its own. factor is in thousandths: 500 halves the time, 0 removes it; with \
        a second_factor each target has rows for both. The graph is that of event_path with all \
        waits, not only those on the path: device work starts when its call, the work before it \
        in its queue and the events that its queue waits for are over, each with its recorded \
        lag. A call that waits returns when the device work is over, and threads move as a \
        whole. Without a change every start must stay where it was recorded; moved_ns is the \
        largest move in the window.",
    nulls: "forecast_ns is NULL for windows in which starts move by more than 1 µs without a \
        change. Rows without \
        an id, a lane or a time are left out.",
    errors: "A query without one of the columns is refused.",
    examples: &[Example {
        sql: "SELECT target, recorded_ns, forecast_ns FROM event_forecast((SELECT * FROM (VALUES \
            (1, 1, 0, 10000, 0, NULL), (2, 1, 2000, 5000, 0, NULL), (3, 7, 9000, 30000, 2, 2)) AS \
            t(id, lane, start_ns, end_ns, role, launch_id) CROSS JOIN (SELECT NULL AS team)), \
            (SELECT 0 AS call_id, 0 AS lane, 0 AS key, 0 AS at_ns, 9 AS action), (SELECT 1 AS \
            window_id, 3 AS last_id, 0 AS from_ns, 30000 AS to_ns), (SELECT 7 AS target, 3 AS \
            id), factor => 500)",
        answer: "7 | 30000 | 19500",
    }],
};

/// `event_slack`.
pub const SLACK: FunctionDoc = FunctionDoc {
    name: "event_slack",
    area: AREA,
    signature: "FROM event_slack((activities), (orders), (windows), by => (column, …)) → by \
        columns, id, slack_ns, is_reproduced",
    summary: "How much longer each activity could take before the end of its window moves.",
    detail: "The queries are those of event_forecast without targets. Each activity is taken alone: \
        slack_ns is the time by which its end can be later while every window of the activity \
        still ends where it was recorded. It is 0 for device work on the critical path, and for \
        work of a thread whose end is on it; work that contains the launch on the path may have \
        more, because it may go on after the launch. is_reproduced \
        is false for all activities of a group in which starts move by more than 1 µs without a \
        change.",
    nulls: "slack_ns is NULL where no window depends on the end of the activity, and where \
        is_reproduced is false.",
    errors: "A query without one of the columns is refused.",
    examples: &[Example {
        sql: "SELECT id, slack_ns FROM event_slack((SELECT * FROM (VALUES (1, 1, 0, 10000, 0, \
            NULL), (2, 1, 2000, 5000, 0, NULL), (3, 7, 9000, 30000, 2, 2)) AS t(id, lane, \
            start_ns, end_ns, role, launch_id) CROSS JOIN (SELECT NULL AS team)), (SELECT 0 AS \
            call_id, 0 AS lane, 0 AS key, 0 AS at_ns, 9 AS action), (SELECT 1 AS window_id, 3 AS \
            last_id, 0 AS from_ns, 30000 AS to_ns)) ORDER BY id",
        answer: "1 | 20000\n2 | 20000\n3 | 0",
    }],
};

/// `job_path`.
pub const JOB_PATH: FunctionDoc = FunctionDoc {
    name: "job_path",
    area: AREA,
    signature: "FROM job_path((activities), (orders), (windows), (members), by => (column, …)) → \
        by columns, window_id, position, start_ns, end_ns, kind, event_id, cause_id, lane, \
        is_inferred",
    summary: "The path of event_path through several traces that wait for one another in \
        collectives.",
    detail: "The first three queries are those of event_path with a column domain, the number of \
        the trace. Ids, lanes, teams and keys must differ between domains, and all times are on \
        one clock. Rows of windows with one window_id are one window, which ends at the latest \
        to_ns; the path ends at the from_ns of the domain that it has reached. members have the \
        columns call_id, id (the device work), is_partial (1 if members of the call are not among \
        the activities) and missing_ns (when such a member began, if it was the last one; else \
        NULL). A call leads to its member that began last, over the piece transfer. If a missing \
        member was the last, the piece missing_rank goes back to the end of the partial call \
        before. The pieces of a window have no gaps. The rows of the queries are kept in memory.",
    nulls: "As in event_path. A NULL domain is 0.",
    errors: "A query without one of the columns is refused.",
    examples: &[Example {
        sql: "SELECT start_ns, end_ns, kind, event_id, cause_id FROM job_path((SELECT * FROM \
            (VALUES (1, 1, 0, 2000, 0, NULL, 0), (2, 7, 1000, 30000, 2, 1, 0), (3, 2, 0, 20000, 0, \
            NULL, 1), (4, 8, 22000, 30000, 2, 3, 1)) AS t(id, lane, start_ns, end_ns, role, \
            launch_id, domain) CROSS JOIN (SELECT NULL AS team)), (SELECT 0 AS call_id, 0 AS lane, \
            0 AS key, 0 AS at_ns, 9 AS action), (SELECT 1 AS window_id, 2 AS last_id, 0 AS \
            from_ns, 30000 AS to_ns), (SELECT * FROM (VALUES (1, 2, 0, NULL), (1, 4, 0, NULL)) AS \
            m(call_id, id, is_partial, missing_ns))) ORDER BY position",
        answer: "0 | 22000 | launch | 4 | 3\n22000 | 30000 | transfer | 2 | 4",
    }],
};

/// `job_forecast`.
pub const JOB_FORECAST: FunctionDoc = FunctionDoc {
    name: "job_forecast",
    area: AREA,
    signature: "FROM job_forecast((activities), (orders), (windows), (members), (targets), by => \
        (column, …), factor => number, second_factor => number) → by columns, target, window_id, \
        recorded_ns, forecast_ns, moved_ns, factor",
    summary: "The lengths of event_forecast for several traces that wait for one another in \
        collectives.",
    detail: "The first four queries are those of job_path, targets those of event_forecast. All \
        members of a call end when the last one has begun and the exchange is over, which is the \
        part of the call that a target changes. A hidden call is seen as over when the last \
        member could have begun. A window lasts from its first start to its last \
        end in any domain. A missing member comes when it came.",
    nulls: "As in event_forecast.",
    errors: "A query without one of the columns is refused.",
    examples: &[Example {
        sql: "SELECT target, recorded_ns, forecast_ns FROM job_forecast((SELECT * FROM (VALUES (1, \
            1, 0, 2000, 0, NULL, 0), (2, 7, 1000, 30000, 2, 1, 0), (3, 2, 0, 20000, 0, NULL, 1), \
            (4, 8, 22000, 30000, 2, 3, 1)) AS t(id, lane, start_ns, end_ns, role, launch_id, \
            domain) CROSS JOIN (SELECT NULL AS team)), (SELECT 0 AS call_id, 0 AS lane, 0 AS key, \
            0 AS at_ns, 9 AS action), (SELECT 1 AS window_id, 2 AS last_id, 0 AS from_ns, 30000 AS \
            to_ns), (SELECT * FROM (VALUES (1, 2, 0, NULL), (1, 4, 0, NULL)) AS m(call_id, id, \
            is_partial, missing_ns)), (SELECT * FROM (VALUES (7, 2), (7, 4)) AS x(target, id)), \
            factor => 500)",
        answer: "7 | 30000 | 26000",
    }],
};
