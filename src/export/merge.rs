//! Merges several traces into one file with a common clock. Each trace gets separate processes and
//! IDs.

use std::collections::{BTreeMap, HashMap};

use tracesql_formats::chrome::{Merge, TrackIds, id_number, push_string};

use super::select::TraceFacts;
use super::{literal, rows};
use crate::engine::Engine;
use crate::error::Result;

/// A process of the merged file.
pub struct Process {
    pub pid: i64,
    pub name: String,
    pub sort_index: i64,
}

/// The numbers that are already in use. They grow from trace to trace.
#[derive(Default)]
pub struct Merger {
    taken: std::collections::HashSet<i64>,
    next_pid: i64,
    ids: Option<i64>,
    links: i64,
    number: usize,
}

impl Merger {
    /// Starts above every pid in the store, so that new pids cannot collide with existing ones.
    pub async fn new(engine: &Engine) -> Result<Self> {
        let most = rows::query(engine, "SELECT max(pid) AS most FROM tracks")
            .await?
            .iter()
            .next()
            .and_then(|r| r.int("most"));
        Ok(Self {
            next_pid: most.unwrap_or(0).max(0).saturating_add(1),
            ids: Some(0),
            ..Self::default()
        })
    }

    /// Returns a process number that is not in use.
    pub fn new_pid(&mut self) -> i64 {
        while !self.taken.insert(self.next_pid) {
            self.next_pid = self.next_pid.wrapping_add(1);
        }
        self.next_pid
    }

    /// Returns the offsets and processes for the next trace.
    pub async fn next(
        &mut self,
        engine: &Engine,
        trace: &TraceFacts,
        label: &str,
        tracks: &[TrackIds],
    ) -> Result<(Merge, Vec<Process>)> {
        let id = literal(&trace.trace_id);
        let mut merge =
            Merge { trace: self.number, ids: self.ids, links: self.links, pids: HashMap::new() };
        let processes = self.processes(engine, trace, label, tracks, &mut merge).await?;
        let most = rows::query(
            engine,
            &format!(
                "SELECT max(greatest(coalesce(correlation, 0), coalesce(external_id, 0), \
                 coalesce(sequence_number, 0), coalesce(python_id, 0), coalesce(python_parent_id, \
                 0))) AS links FROM events WHERE trace_id = {id}"
            ),
        )
        .await?;
        let links = most.iter().next().and_then(|r| r.int("links")).unwrap_or(0);
        self.links = self.links.saturating_add(links.max(0)).saturating_add(1);
        let mut most = 0;
        let ids = rows::query(
            engine,
            &format!(
                "SELECT DISTINCT id FROM events WHERE trace_id = {id} AND id IS NOT NULL UNION \
                 SELECT extra->>'bind_id' AS id FROM events WHERE trace_id = {id} AND extra LIKE \
                 '%bind_id%' UNION SELECT extra->'id2'->>'global' AS id FROM events WHERE trace_id \
                 = {id} AND extra LIKE '%global%'"
            ),
        )
        .await?;
        for row in ids.iter() {
            most = most.max(row.text("id").and_then(id_number).unwrap_or(0));
        }
        self.ids = self.ids.and_then(|ids| ids.checked_add(most)?.checked_add(1));
        self.number += 1;
        Ok((merge, processes))
    }

    async fn processes(
        &mut self,
        engine: &Engine,
        trace: &TraceFacts,
        label: &str,
        tracks: &[TrackIds],
        merge: &mut Merge,
    ) -> Result<Vec<Process>> {
        let id = literal(&trace.trace_id);
        let named = rows::query(
            engine,
            &format!("SELECT track_id, process_name FROM tracks WHERE trace_id = {id}"),
        )
        .await?;
        let orders = rows::query(
            engine,
            &format!(
                "SELECT track_id, TRY_CAST(args->>'sort_index' AS BIGINT) AS sort_index FROM \
                 events WHERE trace_id = {id} AND ph = 'M' AND name = 'process_sort_index' ORDER \
                 BY event_id"
            ),
        )
        .await?;
        let key = |track: Option<i64>| {
            track
                .and_then(|t| tracks.get(usize::try_from(t).ok()?))
                .map(|t| (t.pid, t.pid_text.clone()))
        };
        type Pid = (Option<i64>, Option<String>);
        type Place = (Option<i64>, Option<String>);
        let mut found: BTreeMap<Pid, Place> = BTreeMap::new();
        for row in named.iter() {
            let Some(key) = key(row.int("track_id")) else { continue };
            let entry = found.entry(key).or_default();
            entry.1 = entry.1.take().or(row.text("process_name").map(str::to_owned));
        }
        for row in orders.iter() {
            if let Some(entry) = key(row.int("track_id")).and_then(|key| found.get_mut(&key)) {
                entry.0 = row.int("sort_index").or(entry.0);
            }
        }
        let mut order: Vec<_> = found.into_iter().collect();
        order.sort_by_key(|((pid, text), (sort, _))| {
            (sort.is_none(), *sort, pid.is_none(), *pid, text.clone())
        });
        let mut processes = Vec::new();
        for (at, ((pid, text), (_, name))) in order.into_iter().enumerate() {
            let new = match pid.filter(|p| *p >= 0 && self.taken.insert(*p)) {
                Some(pid) => pid,
                None => self.new_pid(),
            };
            for json in written(pid, text.as_deref()) {
                merge.pids.insert(json, new);
            }
            let own = name.or(text).unwrap_or_else(|| "(no process)".to_owned());
            processes.push(Process {
                pid: new,
                name: format!("{label}: {own}"),
                sort_index: (self.number * 1000 + at) as i64,
            });
        }
        Ok(processes)
    }
}

/// The ways in which elements write a process ID.
fn written(pid: Option<i64>, text: Option<&str>) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    match (pid, text) {
        (Some(pid), _) => forms.push(pid.to_string().into_bytes()),
        (None, Some(text)) => {
            let mut quoted = Vec::new();
            push_string(text, &mut quoted);
            forms.push(quoted);
            // Counters and async events keep a number such as 1.0 unchanged.
            forms.push(text.as_bytes().to_vec());
        }
        (None, None) => forms.push(Vec::new()),
    }
    forms
}
