//! The section about dumps of PyTorch's flight recorder.

use super::{Scope, Section, rows};

pub const FLIGHT_HANGS: Section = Section {
    key: "flight_hangs",
    title: "Hangs",
    about: "What the job of each dump hangs on: the first collective of each process group that \
        ranks wait in, and the ranks that keep the others waiting. Groups whose culprits wait in \
        another group themselves have is_root false.",
    scope: Scope::Flight,
    needs: &[],
    if_empty: "no rank waits in a collective",
    is_detail: false,
    shape: rows(400, &[]),
    sql: "SELECT d.trace_id, h.group_name, h.generation, h.seq, h.name, h.verdict, h.culprits, \
               h.waiting_ranks, h.reason, h.is_root, h.is_cycle, h.waited_ns, h.timeout_ns, h.site
FROM flight_hangs h JOIN flight_dumps d ON d.job = h.job
ORDER BY d.trace_id, h.is_root DESC, h.created_ns, h.group_name, h.generation",
};
