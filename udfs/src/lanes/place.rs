//! The lane of each event of a track.

/// The most lanes of a track. Profilers nest a few hundred calls; a file that was made to break
/// readers may nest millions. Events beyond it share the last lane if they fit, else they have none.
const MAX_LANES: usize = 4_096;

/// Puts the events of a track into lanes. They come in the order of start, longest first.
#[derive(Debug, Default)]
pub struct Places {
    /// Ends of the lanes' last events.
    last_ends: Vec<i64>,
    /// The events that may have children still: id, lane and end.
    open: Vec<(i64, usize, i64)>,
}

impl Places {
    /// The lane of the next event, which has a duration; `None` if all lanes are taken.
    pub fn take(
        &mut self,
        id: i64,
        parent: Option<i64>,
        depth: usize,
        start: i64,
        end: i64,
    ) -> Option<usize> {
        while self.open.last().is_some_and(|(_, _, end)| *end <= start) {
            self.open.pop();
        }
        let of_parent = parent
            .and_then(|parent| self.open.iter().rev().find(|(id, _, _)| *id == parent))
            .map_or(0, |(_, lane, _)| lane + 1);
        let wanted = of_parent.max(depth).min(MAX_LANES - 1);
        let free = (wanted..self.last_ends.len())
            .find(|lane| self.last_ends[*lane] <= start)
            .unwrap_or_else(|| self.last_ends.len().max(wanted));
        if free >= MAX_LANES {
            return None;
        }
        if free >= self.last_ends.len() {
            self.last_ends.resize(free + 1, i64::MIN);
        }
        self.last_ends[free] = end;
        self.open.push((id, free, end));
        Some(free)
    }
}
