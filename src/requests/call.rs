//! A running query, as those see it who wait for it: they can cancel it and ask how far it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use datafusion::physical_plan::ExecutionPlan;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::engine::{Scanned, stop_with};

/// What a query is doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Phase {
    /// It has not been sent to the engine yet.
    #[default]
    New,
    /// It waits for other queries.
    Waiting,
    /// It runs since then.
    Running(Instant),
}

/// A handle of one query. Copies stand for the same query.
#[derive(Debug, Clone)]
pub struct Call(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    is_cancelled: watch::Sender<bool>,
    phase: Mutex<Phase>,
    plans: Mutex<Vec<Arc<dyn ExecutionPlan>>>,
    /// Ends the parts of the query that do not yield.
    stop: Arc<AtomicBool>,
}

impl Default for Call {
    fn default() -> Self {
        let (is_cancelled, _) = watch::channel(false);
        Self(Arc::new(Shared {
            is_cancelled,
            phase: Mutex::default(),
            plans: Mutex::default(),
            stop: Arc::default(),
        }))
    }
}

impl Call {
    /// Stops the query. It ends with [`crate::Error::Cancelled`].
    pub fn cancel(&self) {
        self.0.is_cancelled.send_replace(true);
        self.stop();
    }

    /// Waits until the query is cancelled.
    pub async fn cancelled(&self) {
        let mut changes = self.0.is_cancelled.subscribe();
        // The sender lives as long as this handle, so there is no error.
        let _ = changes.wait_for(|is_cancelled| *is_cancelled).await;
    }

    /// Whether the query was cancelled.
    pub fn is_cancelled(&self) -> bool {
        *self.0.is_cancelled.borrow()
    }

    /// What the query is doing.
    pub fn phase(&self) -> Phase {
        *self.0.phase.lock()
    }

    /// What the query read from the store so far.
    pub fn scanned(&self) -> Scanned {
        Scanned::of_all(&self.0.plans.lock())
    }

    pub(super) fn set_phase(&self, phase: Phase) {
        *self.0.phase.lock() = phase;
    }

    /// Plans that run for the query from now on.
    pub(super) fn set_plans(&self, plans: Vec<Arc<dyn ExecutionPlan>>) {
        plans.iter().for_each(|plan| stop_with(plan, &self.0.stop));
        *self.0.plans.lock() = plans;
    }

    /// Ends the parts of the query that do not yield. The query has ended for its caller.
    pub(super) fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }
}
