//! Makes the traces of a job from its collectives on one true clock.

use std::fmt::Write;
use std::path::Path;

use tempfile::TempDir;

use crate::support::TestStore;

/// The clock of a rank: true time to its own, ns.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock {
    pub offset: i64,
    pub drift_ppm: f64,
    /// The true time of a step, and its size.
    pub step: Option<(i64, i64)>,
}

impl Clock {
    fn local(&self, at: i64) -> i64 {
        let drift = (self.drift_ppm * 1e-6 * at as f64).round() as i64;
        let step = self.step.map_or(0, |(from, size)| if at >= from { size } else { 0 });
        at + self.offset + drift + step
    }
}

/// A job under construction.
pub struct Job {
    clocks: Vec<Clock>,
    events: Vec<Vec<String>>,
    correlation: i64,
}

/// A collective of some ranks.
#[derive(Clone)]
pub struct Call<'a> {
    pub kind: &'a str,
    pub group: &'a str,
    pub ranks: &'a [usize],
    /// Members with their starts, ns.
    pub starts: &'a [(usize, i64)],
    /// The end of all members.
    pub end: i64,
    /// More arguments of each member.
    pub args: &'a dyn Fn(usize) -> String,
}

/// Arguments of nothing more.
pub fn plain(_: usize) -> String {
    String::new()
}

impl Job {
    pub fn new(clocks: &[Clock]) -> Self {
        Self { clocks: clocks.to_vec(), events: vec![Vec::new(); clocks.len()], correlation: 0 }
    }

    /// Adds a collective of 1,048,576 floats with the mark around its launch.
    pub fn call(&mut self, call: &Call<'_>) {
        let Call { kind, group, ranks, starts, end, args } = call;
        for &(rank, start) in *starts {
            self.correlation += 1;
            let id = self.correlation;
            // Launches keep the order of the calls.
            let launch = start.min(*end) - 20_000;
            let group = if group.is_empty() {
                String::new()
            } else {
                format!(
                    r#","Process Group Name":"{group}","Group size":{},"Process Group Ranks":"{ranks:?}""#,
                    ranks.len()
                )
            };
            let rows = [
                format!(
                    r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,{},"args":{{"correlation":{id}}}}}"#,
                    self.span(rank, launch, launch + 2_000)
                ),
                format!(
                    r#"{{"ph":"X","cat":"kernel","name":"ncclDevKernel_X(a)","pid":0,"tid":7,{},"args":{{"device":0,"stream":7,"correlation":{id},
                    "Collective name":"{kind}","dtype":"Float","In msg nelems":1048576,"Out msg nelems":1048576{group}{}}}}}"#,
                    self.span(rank, start, *end),
                    args(rank)
                ),
            ];
            self.events[rank].extend(rows);
        }
    }

    /// Adds a kernel with the call that launched it.
    pub fn kernel(&mut self, rank: usize, name: &str, start: i64, end: i64, launch: i64) {
        self.correlation += 1;
        let id = self.correlation;
        let launched = self.span(rank, launch, launch + 2_000);
        let ran = self.span(rank, start, end);
        self.events[rank].push(format!(
            r#"{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,{launched},"args":{{"correlation":{id}}}}}"#
        ));
        self.events[rank].push(format!(
            r#"{{"ph":"X","cat":"kernel","name":"{name}","pid":0,"tid":3,{ran},"args":{{"device":0,"stream":3,"correlation":{id}}}}}"#
        ));
    }

    /// Adds an event on the host.
    pub fn event(&mut self, rank: usize, cat: &str, name: &str, start: i64, end: i64) {
        let span = self.span(rank, start, end);
        self.events[rank].push(format!(
            r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":1,"tid":1,{span},"args":{{}}}}"#
        ));
    }

    /// The start and duration on the clock of a rank, as JSON.
    fn span(&self, rank: usize, start: i64, end: i64) -> String {
        let is_negative = end < start;
        let (start, end) = (self.clocks[rank].local(start), self.clocks[rank].local(end));
        let us = |at: i64| {
            let sign = if at < 0 { "-" } else { "" };
            format!("{sign}{}.{:03}", at.unsigned_abs() / 1000, at.unsigned_abs() % 1000)
        };
        // The profiler writes no negative lengths where a clock steps back.
        let length = if is_negative { end - start } else { (end - start).max(0) };
        format!(r#""ts":{},"dur":{}"#, us(start), us(length))
    }

    /// Reads the traces of all ranks but `missing` into a store.
    pub fn store(&self, missing: &[usize]) -> TestStore {
        let (folder, store) = (TempDir::new().expect("a folder"), TestStore::new());
        self.write(&store, folder.path(), "", missing);
        store
    }

    /// Reads the traces into a store that may hold other jobs, from files with a name after the
    /// rank.
    pub fn write(&self, store: &TestStore, folder: &Path, name: &str, missing: &[usize]) {
        for (rank, events) in self.events.iter().enumerate() {
            if missing.contains(&rank) {
                continue;
            }
            let mut text = format!(
                r#"{{"distributedInfo":{{"backend":"nccl","rank":{rank},"world_size":{}}},"baseTimeNanoseconds":1760000000000000000,"traceEvents":[{}"#,
                self.events.len(),
                events.join(",\n")
            );
            write!(text, "]}}").expect("text grows");
            let path = folder.join(format!("rank{rank}{name}.json"));
            std::fs::write(&path, text).expect("the trace is written");
            store.ingest(&path).expect("the trace is read");
        }
    }
}

/// Times between calls, irregular as those of a step are, and always the same.
pub fn gap(at: usize) -> i64 {
    100_000 + (at as i64 * 7_919 + 31) % 263_521
}
