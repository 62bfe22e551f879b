//! HTA's table of events: links between calls and device rows, removal of the last step, the window
//! of an analysis, and queue lengths.

use datafusion_common::{HashMap, HashSet};

/// Names of calls that start device work, as far as HTA knows them.
const LAUNCHES: [&str; 12] = [
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cudaMemcpyAsync",
    "cudaMemsetAsync",
    "runFunction - job_prep_and_submit_for_execution",
    "hipLaunchKernel",
    "hipExtModuleLaunchKernel",
    "hipMemsetAsync",
    "hipMemcpyAsync",
    "hipMemcpyWithStream",
];

/// A row of HTA's table. Missing numbers are -1, times are microseconds.
#[derive(Debug, Clone)]
pub struct Event<'a> {
    /// Position in the event list.
    pub id: i64,
    pub name: &'a str,
    pub cat: &'a str,
    pub ts: i64,
    /// Duration; rounding makes it -1 for some events below 1 µs.
    pub dur: i64,
    pub pid: &'a str,
    pub tid: &'a str,
    pub stream: i64,
    pub correlation: i64,
    pub wait_stream: i64,
    pub wait_correlation: i64,
    /// A queue length that was given instead of being computed.
    pub queue_length: Option<i64>,
    /// Id of the call of a device row or the device row of a call; 0 if it is missing, -1 if the
    /// row has no correlation.
    pub peer: i64,
}

impl Event<'_> {
    pub fn end(&self) -> i64 {
        self.ts.saturating_add(self.dur)
    }

    /// Whether HTA counts the row to the device.
    fn is_device(&self) -> bool {
        (self.stream >= 0 && self.correlation >= 0) || self.is_host_sync()
    }

    /// Whether it is a wait that the device reports without a stream.
    pub fn is_host_sync(&self) -> bool {
        self.name == "Event Sync" || self.name == "Context Sync"
    }

    pub fn is_launch(&self) -> bool {
        self.peer > 0 && LAUNCHES.contains(&self.name)
    }
}

/// The window of an analysis.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// A part of the name of the events that give the window; empty for the whole trace.
    pub annotation: &'a str,
    /// Number of the event among those, from 0.
    pub instance: i64,
}

/// The rows of a trace in HTA's order.
pub struct Events<'a> {
    pub rows: Vec<Event<'a>>,
    by_id: HashMap<i64, u32>,
}

impl<'a> Events<'a> {
    /// Links calls with device rows and removes the last step, as HTA does while loading.
    pub fn new(mut rows: Vec<Event<'a>>) -> Self {
        rows.sort_unstable_by_key(|e| e.id);
        link(&mut rows);
        if trim(&mut rows) {
            // HTA then puts device rows first.
            let (device, host): (Vec<_>, Vec<_>) = rows.into_iter().partition(Event::is_device);
            rows = device;
            rows.extend(host);
        }
        let by_id = rows.iter().zip(0..).map(|(e, i)| (e.id, i)).collect();
        Self { rows, by_id }
    }

    /// The row with an id.
    pub fn row(&self, id: i64) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    /// The row of an event's peer.
    pub fn peer(&self, row: u32) -> Option<u32> {
        self.row(self.rows[row as usize].peer)
    }

    /// The rows in the window, in order. Empty if no event has the annotation.
    pub fn clip(&self, window: Window<'_>) -> Vec<u32> {
        let (lo, hi) = if window.annotation.is_empty() {
            (i64::MIN, i64::MAX)
        } else {
            let mut hits = self.rows.iter().filter(|e| e.name.contains(window.annotation));
            let hit = usize::try_from(window.instance).ok().and_then(|n| hits.nth(n));
            let Some(hit) = hit else { return Vec::new() };
            (hit.ts, hit.end())
        };
        let inside = |e: &Event<'_>| lo <= e.ts && e.ts <= hi && e.dur > 0;
        let host = |e: &&Event<'_>| e.stream == -1 && inside(e);
        let launched: HashSet<i64> = self.rows.iter().filter(host).map(|e| e.peer).collect();
        (0..)
            .zip(&self.rows)
            .filter(|(_, e)| match e.stream {
                -1 => inside(e),
                _ => e.name == "Stream Wait Event" || launched.contains(&e.id),
            })
            .map(|(row, _)| row)
            .collect()
    }

    /// Queue lengths by row: those that were given, or the number of launched activities that have
    /// not started on a stream, at each launch and start. Of equal times the launch comes first.
    pub fn queue_lengths(&self) -> HashMap<u32, i64> {
        if self.rows.iter().any(|e| e.queue_length.is_some()) {
            let given = (0..).zip(&self.rows);
            return given.filter_map(|(i, e)| Some((i, e.queue_length?))).collect();
        }
        let mut on_device: HashMap<i64, Vec<u32>> = HashMap::new();
        for (row, event) in (0..).zip(&self.rows).filter(|(_, e)| e.stream != -1) {
            on_device.entry(event.correlation).or_default().push(row);
        }
        let mut points: Vec<(i64, i64, bool, i64, u32)> = Vec::new();
        let mut started = HashSet::new();
        for (row, launch) in (0..).zip(&self.rows).filter(|(_, e)| e.is_launch()) {
            let Some(activities) = on_device.get(&launch.correlation) else { continue };
            for activity in activities {
                let activity = &self.rows[*activity as usize];
                points.push((activity.stream, launch.ts, false, launch.id, row));
            }
            if started.insert(launch.correlation) {
                points.extend(activities.iter().map(|row| {
                    let activity = &self.rows[*row as usize];
                    (activity.stream, activity.ts, true, activity.id, *row)
                }));
            }
        }
        points.sort_unstable();
        let (mut lengths, mut length, mut stream) = (HashMap::new(), 0, None);
        for (of, _, is_start, _, row) in points {
            if stream != Some(of) {
                (stream, length) = (Some(of), 0);
            }
            length += if is_start { -1 } else { 1 };
            lengths.insert(row, length);
        }
        lengths
    }
}

/// Sets the peers. If several rows share a correlation, the last one counts.
fn link(rows: &mut [Event<'_>]) {
    let (mut host, mut device) = (HashMap::new(), HashMap::new());
    for event in rows.iter().filter(|e| e.correlation != -1) {
        let side = if event.is_device() { &mut device } else { &mut host };
        side.insert(event.correlation, event.id);
    }
    for event in rows {
        let other = if event.is_device() { &host } else { &device };
        event.peer = other.get(&event.correlation).copied().unwrap_or(event.correlation.min(0));
    }
}

/// Removes host rows from the start of the last step on, and the device rows of removed calls, if
/// the trace has several steps. Returns whether it has.
fn trim(rows: &mut Vec<Event<'_>>) -> bool {
    let is_step = |name: &str| {
        let number = name.strip_prefix("ProfilerStep#");
        number.is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut names: Vec<&str> = rows.iter().map(|e| e.name).filter(|n| is_step(n)).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() < 2 {
        return false;
    }
    let steps = rows.iter().filter(|e| e.name.starts_with("ProfilerStep") && !e.is_device());
    let last = steps.map(|e| e.ts).max();
    let first = || rows.iter().filter(|e| !e.is_device()).map(|e| e.ts).min();
    let Some(limit) = last.or_else(first) else { return true };
    let kept: HashSet<i64> =
        rows.iter().filter(|e| !e.is_device() && e.ts < limit).map(|e| e.correlation).collect();
    rows.retain(|e| if e.is_device() { kept.contains(&e.correlation) } else { e.ts < limit });
    true
}
