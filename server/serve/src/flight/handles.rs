//! Handles: the names under which a client finds what it started.
//!
//! A handle is 32 random bytes, so it cannot be guessed. It belongs to the user who made it, and
//! other users get the same answer as for a handle that does not exist.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::datatypes::SchemaRef;
use parking_lot::Mutex;
use rand::RngCore;
use tokio_util::sync::CancellationToken;
use tonic::Status;

/// The time after which a result is dropped that no client began to read.
pub const MAX_UNREAD: Duration = Duration::from_secs(60);
/// The time after which a prepared statement is dropped that no client uses.
const MAX_UNUSED: Duration = Duration::from_secs(3_600);
/// The maximum number of prepared statements of one user.
const MAX_PREPARED: usize = 1_000;
/// The maximum size of the prepared statements of one user with their values, in bytes.
const MAX_PREPARED_BYTES: usize = 256 << 20;
/// The maximum number of results of one user that no client began to read.
const MAX_UNREAD_RESULTS: usize = 100;

/// A handle as the protocol carries it.
pub type Handle = Vec<u8>;

/// A new handle.
pub fn new_handle() -> Handle {
    let mut bytes = vec![0; 32];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

/// The state of a result.
enum Progress<R> {
    /// It can be read once.
    Unread { schema: SchemaRef, result: R, since: Instant },
    /// A client reads it.
    Reading(Arc<Taken<R>>),
}

/// A result that a client reads.
pub struct Taken<R> {
    /// The result. Taking it out of here stops it, even while the client does not ask for rows.
    pub result: Mutex<Option<R>>,
    /// Wakes the reader when the result was taken away.
    pub stopped: CancellationToken,
}

struct OfUser<T> {
    user: String,
    value: T,
}

/// Results of started statements.
pub struct Results<R> {
    by_handle: Arc<Mutex<HashMap<Handle, OfUser<Progress<R>>>>>,
}

impl<R> Default for Results<R> {
    fn default() -> Self {
        Self { by_handle: Arc::default() }
    }
}

/// What became of a request to cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelled {
    /// The result was dropped before anyone read it.
    Unread,
    /// The reading of the result ends now.
    Reading,
    /// There is no such result, or it was read to its end.
    Unknown,
}

impl<R: Send + 'static> Results<R> {
    /// Keeps a result until it is read, and returns its handle.
    pub fn add(&self, user: &str, schema: SchemaRef, result: R) -> Result<Handle, Status> {
        let mut results = self.by_handle.lock();
        let unread = results
            .values()
            .filter(|r| r.user == user && matches!(r.value, Progress::Unread { .. }))
            .count();
        if unread >= MAX_UNREAD_RESULTS {
            return Err(Status::resource_exhausted(format!(
                "{unread} results wait to be read; read or cancel them first"
            )));
        }
        let handle = new_handle();
        let value = Progress::Unread { schema, result, since: Instant::now() };
        results.insert(handle.clone(), OfUser { user: user.to_owned(), value });
        Ok(handle)
    }

    /// Takes a result for reading, with its columns. Its handle stays known until the returned guard is dropped, so
    /// that the reading can be cancelled.
    pub fn take(&self, handle: &[u8], user: &str) -> Result<(SchemaRef, Reading<R>), Status> {
        let mut results = self.by_handle.lock();
        let entry = results.get_mut(handle).filter(|entry| entry.user == user);
        let entry = entry.ok_or_else(|| {
            Status::not_found(format!(
                "no result has this handle; a result can be read once, within {} s of its start, \
                 by the user who started it",
                MAX_UNREAD.as_secs()
            ))
        })?;
        let taken = Arc::new(Taken { result: Mutex::new(None), stopped: CancellationToken::new() });
        match std::mem::replace(&mut entry.value, Progress::Reading(taken.clone())) {
            Progress::Unread { schema, result, .. } => {
                *taken.result.lock() = Some(result);
                let (handle, all) = (handle.to_vec(), self.by_handle.clone());
                Ok((schema, Reading { handle, all, taken }))
            }
            Progress::Reading(earlier) => {
                entry.value = Progress::Reading(earlier);
                Err(Status::failed_precondition(
                    "this result is already being read; a result can be read once",
                ))
            }
        }
    }

    /// Drops an unread result, or ends the reading of one.
    pub fn cancel(&self, handle: &[u8], user: &str) -> Cancelled {
        let mut results = self.by_handle.lock();
        match results.get(handle) {
            Some(entry) if entry.user == user => match &entry.value {
                Progress::Reading(taken) => {
                    taken.stopped.cancel();
                    taken.result.lock().take();
                    Cancelled::Reading
                }
                Progress::Unread { .. } => {
                    results.remove(handle);
                    Cancelled::Unread
                }
            },
            _ => Cancelled::Unknown,
        }
    }

    /// Drops results whose reading did not begin in time. Returns their number.
    pub fn drop_unread(&self, max: Duration) -> usize {
        let mut results = self.by_handle.lock();
        let before = results.len();
        results.retain(|_, entry| match &entry.value {
            Progress::Unread { since, .. } => since.elapsed() < max,
            Progress::Reading(_) => true,
        });
        before - results.len()
    }
}

/// A result that is being read.
pub struct Reading<R> {
    handle: Handle,
    all: Arc<Mutex<HashMap<Handle, OfUser<Progress<R>>>>>,
    /// The result.
    pub taken: Arc<Taken<R>>,
}

impl<R> Drop for Reading<R> {
    fn drop(&mut self) {
        self.all.lock().remove(&self.handle);
    }
}

/// Something that takes memory while it is kept.
pub trait Weighed {
    /// Its size in bytes.
    fn bytes(&self) -> usize;
}

/// Prepared statements.
pub struct Prepared<P> {
    by_handle: Mutex<HashMap<Handle, OfUser<(P, Instant)>>>,
}

impl<P> Default for Prepared<P> {
    fn default() -> Self {
        Self { by_handle: Mutex::default() }
    }
}

impl<P: Clone + Weighed> Prepared<P> {
    /// Keeps a prepared statement, and returns its handle.
    pub fn add(&self, user: &str, prepared: P) -> Result<Handle, Status> {
        let mut all = self.by_handle.lock();
        let of_user = all.values().filter(|entry| entry.user == user);
        if of_user.clone().count() >= MAX_PREPARED {
            return Err(Status::resource_exhausted(format!(
                "{MAX_PREPARED} prepared statements are open; close those that are not needed"
            )));
        }
        let bytes: usize = of_user.map(|entry| entry.value.0.bytes()).sum();
        check_bytes(bytes + prepared.bytes())?;
        let handle = new_handle();
        let value = (prepared, Instant::now());
        all.insert(handle.clone(), OfUser { user: user.to_owned(), value });
        Ok(handle)
    }

    /// The prepared statement with this handle.
    pub fn get(&self, handle: &[u8], user: &str) -> Result<P, Status> {
        self.update(handle, user, |_| {})
    }

    /// Changes a prepared statement, and returns it.
    pub fn update(
        &self,
        handle: &[u8],
        user: &str,
        change: impl FnOnce(&mut P),
    ) -> Result<P, Status> {
        let mut all = self.by_handle.lock();
        let entry = all.get(handle).filter(|entry| entry.user == user).ok_or_else(|| {
            Status::not_found("no prepared statement has this handle; prepare the statement again")
        })?;
        let mut changed = entry.value.0.clone();
        change(&mut changed);
        if changed.bytes() > entry.value.0.bytes() {
            let others = all.iter().filter(|(other, entry)| entry.user == user && *other != handle);
            let bytes: usize = others.map(|(_, entry)| entry.value.0.bytes()).sum();
            check_bytes(bytes + changed.bytes())?;
        }
        if let Some(entry) = all.get_mut(handle) {
            entry.value = (changed.clone(), Instant::now());
        }
        Ok(changed)
    }

    /// Forgets a prepared statement. One that does not exist is ignored, because clients close
    /// statements that expired, too.
    pub fn close(&self, handle: &[u8], user: &str) {
        let mut all = self.by_handle.lock();
        if all.get(handle).is_some_and(|entry| entry.user == user) {
            all.remove(handle);
        }
    }

    /// Forgets statements that were not used for an hour.
    pub fn drop_unused(&self) {
        self.by_handle.lock().retain(|_, entry| entry.value.1.elapsed() < MAX_UNUSED);
    }
}

fn check_bytes(bytes: usize) -> Result<(), Status> {
    if bytes <= MAX_PREPARED_BYTES {
        return Ok(());
    }
    Err(Status::resource_exhausted(format!(
        "the prepared statements of this user and their values would take more than {} MiB; close \
         those that are not needed",
        MAX_PREPARED_BYTES >> 20
    )))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use arrow::datatypes::{Schema, SchemaRef};
    use tonic::Code;

    use super::{Cancelled, MAX_PREPARED_BYTES, MAX_UNREAD_RESULTS, Prepared, Results, Weighed};

    impl Weighed for usize {
        fn bytes(&self) -> usize {
            *self
        }
    }

    fn columns() -> SchemaRef {
        Arc::new(Schema::empty())
    }

    #[test]
    fn a_result_is_read_once_by_its_user() {
        let results = Results::default();
        let handle = results.add("ann", columns(), 7).expect("a handle");
        let error = results.take(&handle, "bob").err().expect("refused");
        assert_eq!(error.code(), Code::NotFound);
        let unknown = results.take(b"unknown", "bob").err().expect("refused");
        assert_eq!(unknown.message(), error.message(), "a foreign handle must not be told apart");
        let (_, reading) = results.take(&handle, "ann").expect("the result");
        assert_eq!(*reading.taken.result.lock(), Some(7));
        let again = results.take(&handle, "ann").err().expect("refused");
        assert_eq!(again.code(), Code::FailedPrecondition);
        drop(reading);
        assert_eq!(results.take(&handle, "ann").err().expect("refused").code(), Code::NotFound);
    }

    #[test]
    fn an_unread_result_is_dropped_in_time_and_one_being_read_is_not() {
        let results = Results::default();
        let read = results.add("ann", columns(), 1).expect("a handle");
        let unread = results.add("ann", columns(), 2).expect("a handle");
        let (_, reading) = results.take(&read, "ann").expect("the result");
        assert_eq!(results.drop_unread(Duration::from_secs(60)), 0);
        assert_eq!(results.drop_unread(Duration::ZERO), 1);
        assert_eq!(results.cancel(&unread, "ann"), Cancelled::Unknown);
        assert_eq!(results.cancel(&read, "bob"), Cancelled::Unknown);
        assert_eq!(results.cancel(&read, "ann"), Cancelled::Reading);
        assert_eq!(*reading.taken.result.lock(), None);
    }

    #[test]
    fn a_user_cannot_collect_unread_results_without_limit() {
        let results = Results::default();
        for at in 0..MAX_UNREAD_RESULTS {
            results.add("ann", columns(), at).expect("a handle");
        }
        assert_eq!(
            results.add("ann", columns(), 0).expect_err("refused").code(),
            Code::ResourceExhausted
        );
        results.add("bob", columns(), 0).expect("another user has a limit of its own");
    }

    #[test]
    fn a_prepared_statement_belongs_to_its_user() {
        let all = Prepared::default();
        let handle = all.add("ann", 1).expect("a handle");
        assert!(all.get(&handle, "bob").is_err());
        all.close(&handle, "bob");
        assert_eq!(all.update(&handle, "ann", |value| *value += 1).expect("kept"), 2);
        all.close(&handle, "ann");
        assert!(all.get(&handle, "ann").is_err());
    }

    #[test]
    fn prepared_statements_of_a_user_take_a_limited_amount_of_memory() {
        let all = Prepared::default();
        let half = MAX_PREPARED_BYTES / 2;
        let handle = all.add("ann", half).expect("a handle");
        all.add("ann", half).expect("another handle");
        let full = all.add("ann", 1).expect_err("refused");
        assert_eq!(full.code(), Code::ResourceExhausted);
        assert!(all.update(&handle, "ann", |value| *value += 1).is_err());
        assert_eq!(all.get(&handle, "ann").expect("unchanged"), half);
        all.add("bob", half).expect("another user has a limit of its own");
        all.update(&handle, "ann", |value| *value = 1).expect("less is allowed");
        all.add("ann", 1).expect("there is room again");
    }
}
