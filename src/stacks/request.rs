//! What a command asks for, and the SQL that selects it.

use std::ops::Range;

use tracesql_formats::frames::FrameOptions;

/// The rule that assigns values to stacks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rule {
    /// Host time without children. Device time and memory count at the stack that launched or
    /// allocated.
    #[default]
    Linked,
    /// The time of each event without its children, on its own track. Device tracks are included,
    /// and nothing is linked.
    SelfTime,
    /// The whole duration of each event at its stack, as in torch2pprof. A parent's duration
    /// includes that of its children.
    Inclusive,
    /// The whole duration of each event as a stack with one frame, as in trace2profile.
    Flat,
}

/// A request for samples.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The rule that assigns values to stacks.
    pub rule: Rule,
    /// A query of the user.
    pub sql: Option<String>,
    /// A condition on the rows.
    pub filter: Option<String>,
    /// Selects only this step.
    pub step: Option<i64>,
    /// Selects only this rank.
    pub rank: Option<i64>,
    /// Whether the thread is the first frame.
    pub by_thread: bool,
    /// Whether all steps have the same frame. By default they have, except under the rules of other
    /// tools (`Inclusive` and `Flat`).
    pub merge_steps: Option<bool>,
    /// Whether kernels keep their full names. Under the rules of other tools they always do.
    pub full_names: bool,
    /// Whether the classes of kernels are looked up. Only flame graphs show them.
    pub classes: bool,
}

impl Request {
    /// Whether the samples are those of another tool, which must stay comparable.
    fn is_of_another_tool(&self) -> bool {
        self.sql.is_none() && matches!(self.rule, Rule::Inclusive | Rule::Flat)
    }

    /// Whether all steps get the same frame.
    pub(super) fn merges_steps(&self) -> bool {
        self.merge_steps.unwrap_or(!self.is_of_another_tool())
    }

    /// How frames are named.
    pub(super) fn frame_options(&self) -> FrameOptions {
        FrameOptions {
            full_names: self.full_names || self.is_of_another_tool(),
            by_thread: self.by_thread,
        }
    }

    /// Describes the rule, for a comment in the profile.
    pub(super) fn rule_comment(&self) -> &'static str {
        match (&self.sql, self.rule) {
            (Some(_), _) => "samples from SQL",
            (None, Rule::Linked) => {
                "rule: linked (host time without children; device time and memory at the stack \
                 that launched or allocated)"
            }
            (None, Rule::SelfTime) => {
                "rule: self (time without children of each event on its own track)"
            }
            (None, Rule::Inclusive) => {
                "rule: inclusive (as torch2pprof: whole durations, parents count their children \
                 again)"
            }
            (None, Rule::Flat) => "rule: flat (as trace2profile: whole durations, one frame each)",
        }
    }

    /// The conditions on the rows, joined into one; `None` if there are none.
    pub(super) fn conditions(&self) -> Option<String> {
        let parts: Vec<String> = [
            self.filter.as_ref().map(|f| format!("({f})")),
            self.step.map(|n| format!("step = {n}")),
            self.rank.map(|n| format!("rank = {n}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        (!parts.is_empty()).then(|| parts.join(" AND "))
    }

    /// The statement that selects the samples, and the place of the user's part in it: the query,
    /// else the condition.
    pub fn statement(&self) -> (String, Range<usize>) {
        let sql = match (&self.sql, self.rule) {
            (None, Rule::Inclusive) => self.inclusive_sql(),
            _ => self.sql(),
        };
        let part = self.sql.as_deref().or(self.filter.as_deref()).unwrap_or_default();
        let start = sql.rfind(part).unwrap_or(0);
        let end = (start + part.len()).min(sql.len());
        (sql, start..end)
    }

    /// The query for the samples.
    pub(super) fn sql(&self) -> String {
        let condition = self.conditions().map(|c| format!(" WHERE {c}")).unwrap_or_default();
        let stack = if self.by_thread {
            "stack_concat(coalesce(thread, '(no thread)'), stack) AS stack"
        } else {
            "stack"
        };
        if let Some(sql) = &self.sql {
            return match condition.as_str() {
                "" if !self.by_thread => sql.clone(),
                // The line end closes a comment at the end of the query.
                _ if self.by_thread => format!(
                    "SELECT {stack}, * EXCLUDE (stack) FROM (\n{}\n) AS samples{condition}",
                    without_end(sql)
                ),
                _ => format!("SELECT * FROM (\n{}\n) AS samples{condition}", without_end(sql)),
            };
        }
        match self.rule {
            Rule::Linked => format!(
                "SELECT {stack}, samples, cpu_ns, gpu_ns, kernels, alloc_space_bytes, \
                 alloc_objects, trace_id AS trace, rank, pid, tid, thread, device, stream, step \
                 FROM stack_samples{condition}"
            ),
            Rule::SelfTime => format!(
                "SELECT {stack}, samples, time_ns, trace_id AS trace, rank, pid, tid, thread, \
                 device, stream, step FROM track_stacks{condition}"
            ),
            Rule::Flat | Rule::Inclusive => {
                format!("SELECT {stack}, cpu_ns FROM (\n{FLAT}\n) AS samples{condition}")
            }
        }
    }

    /// A query for the traces in which events meet the conditions, under the rules of other tools.
    pub(super) fn traces_sql(&self) -> Option<String> {
        let condition = self.conditions().filter(|_| self.is_of_another_tool())?;
        let events = if self.rule == Rule::Flat { FLAT } else { INCLUSIVE };
        Some(format!(
            "SELECT DISTINCT trace_id FROM (\n{events}\n) AS samples WHERE {condition} ORDER BY \
             trace_id"
        ))
    }

    /// The query for the events of the rule `Inclusive`.
    pub(super) fn inclusive_sql(&self) -> String {
        let condition = self.conditions().map(|c| format!(" WHERE {c}")).unwrap_or_default();
        format!(
            "SELECT trace_id, thread, name, cat, ts_ns, dur_ns, cpu_ns FROM (\n{INCLUSIVE}\n) AS \
             samples{condition} ORDER BY trace_id, thread, {START_US}, event_id"
        )
    }
}

/// trace2profile converts microseconds as floating point numbers and truncates to whole
/// nanoseconds.
const FLAT: &str = "SELECT e.trace_id, t.rank, e.step, e.pid, e.tid, coalesce(k.thread_name, \
    k.tid_text) AS thread, e.name, e.cat, e.ts_ns, [concat(coalesce(e.name, 'unknown'), chr(31), \
    coalesce(e.cat, 'unknown'))] AS stack, CAST(trunc(e.dur_ns / 1000.0 * 1000.0) AS BIGINT) AS \
    cpu_ns FROM events e JOIN traces t ON t.trace_id = e.trace_id JOIN tracks k ON k.trace_id = \
    e.trace_id AND k.track_id = e.track_id WHERE e.ph NOT IN ('B', 'b') AND e.dur_ns IS NOT NULL";

/// torch2pprof identifies threads by `tid` alone, and takes 0 for a missing one.
const INCLUSIVE: &str = "SELECT e.trace_id, t.rank, e.step, e.pid, e.tid, e.event_id, \
    coalesce(k.tid_text, '0') AS thread, coalesce(e.name, '') AS name, coalesce(e.cat, '') AS cat, \
    e.ts_ns, e.dur_ns, CAST(trunc(e.dur_ns / 1000.0 * 1000.0) AS BIGINT) AS cpu_ns FROM events e \
    JOIN traces t ON t.trace_id = e.trace_id JOIN tracks k ON k.trace_id = e.trace_id AND \
    k.track_id = e.track_id WHERE e.ph = 'X' AND e.dur_ns > 0";

/// The start in floating point microseconds, by which torch2pprof orders events. Starts that are
/// equal in these numbers stay in the order of the file.
const START_US: &str = "CAST(ts_ns / 1000 AS DOUBLE) + CAST(ts_ns % 1000 AS DOUBLE) / 1000.0";

fn without_end(sql: &str) -> &str {
    sql.trim_end().trim_end_matches(';')
}
