//! What happens, as it happens: a stream of server-sent events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State as Shared;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::stream::{self, Stream};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::state::described;
use crate::findings::{Known, is_finding};
use crate::open::{Reading, State, Traces};

/// The time after which a connection without news gets a comment, so that it stays open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// GET `/api/events`: `state` at first and when the traces are open, `progress` while they are
/// read, and `finding` for each finding when it is known.
pub async fn events(
    Shared(state): Shared<Arc<State>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let news = News {
        changes: state.changes(),
        progress: state.progress(),
        findings: state.findings.changes(),
        told: 0,
        waiting: VecDeque::from([("state", of_state(&state).await)]),
        state,
    };
    let stream = stream::unfold(news, |mut news| async move {
        let (name, data) = news.next().await?;
        Some((Ok(Event::default().event(name).data(data.to_string())), news))
    });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
}

/// What one page is told.
struct News {
    state: Arc<State>,
    changes: watch::Receiver<Traces>,
    progress: watch::Receiver<Reading>,
    findings: watch::Receiver<Known>,
    /// Rows of findings that were looked at.
    told: usize,
    waiting: VecDeque<(&'static str, Value)>,
}

impl News {
    async fn next(&mut self) -> Option<(&'static str, Value)> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            tokio::select! {
                changed = self.changes.changed() => {
                    changed.ok()?;
                    self.waiting.push_back(("state", of_state(&self.state).await));
                }
                changed = self.progress.changed() => {
                    changed.ok()?;
                    let reading = self.progress.borrow_and_update().clone();
                    self.waiting.push_back(("progress", reading.described()));
                }
                changed = self.findings.changed() => {
                    changed.ok()?;
                    self.look();
                }
            }
        }
    }

    fn look(&mut self) {
        // A search that begins again has fewer rows than before.
        if self.findings.borrow_and_update().rows < self.told {
            self.told = 0;
        }
        let rows = self.state.findings.from(self.told);
        self.told += rows.len();
        self.waiting.extend(rows.into_iter().filter(is_finding).map(|row| ("finding", row)));
    }
}

async fn of_state(state: &State) -> Value {
    described(state).await.unwrap_or_else(|_| json!({"status": "failed"}))
}
