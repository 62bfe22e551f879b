//! The areas of the library in the order in which a map shows them, each with its purpose.

/// An area of the library: a folder under `sql/`.
pub struct Area {
    /// The name.
    pub name: &'static str,
    /// The questions that its views answer, as a heading.
    pub purpose: &'static str,
    /// Whether a map shows its views only by name.
    pub brief: bool,
}

/// All areas with views.
pub const AREAS: &[Area] = &[
    area("core", "What the trace contains, and what to look at first"),
    area("steps", "Steps: how long they take, what they consist of, which are slow"),
    area("operators", "Operators: calls, times, shapes, FLOPs"),
    area("kernels", "Kernels: time by kernel, operator, class and matrix unit"),
    area("timeline", "Device time: busy, idle and why, utilization, synchronization"),
    area("queues", "Launches: queues, delays, rates of copies"),
    area("memory", "Memory: peaks, allocations, fragmentation, leaks"),
    area("modules", "Modules: time by nn.Module"),
    area("ranks", "Ranks: communication, waits, stragglers"),
    area("stacks", "Stacks: flame graphs and call graphs as tables"),
    area("compare", "Two traces or runs side by side"),
    brief("rules", "Rules that look for bottlenecks; findings has the results of all"),
    brief("compat/hta", "The numbers of Holistic Trace Analysis"),
    brief("compat/tensorboard", "The numbers of torch-tb-profiler"),
    brief("compat/tracelens", "The numbers of TraceLens"),
    area("snapshots", "Memory snapshots: live memory, fragmentation, why memory ran out"),
    area("beside", "Files beside a trace: hangs (flight recorder), execution traces, jobs"),
    brief("mllm", "Traces of MLLM"),
];

const fn area(name: &'static str, purpose: &'static str) -> Area {
    Area { name, purpose, brief: false }
}

const fn brief(name: &'static str, purpose: &'static str) -> Area {
    Area { name, purpose, brief: true }
}
