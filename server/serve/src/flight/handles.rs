//! Handles: the names under which a client finds what it started.
//!
//! A handle is 32 random bytes, so it cannot be guessed. It belongs to the user who made it, and
//! other users get the same answer as for a handle that does not exist. It ends with the connection
//! that made it, except for a result that is being read.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::datatypes::SchemaRef;
use parking_lot::Mutex;
use rand::RngCore;
use tokio_util::sync::CancellationToken;
use tonic::Status;

use super::connection::Client;

/// The time after which a result is dropped that no client began to read.
pub const MAX_UNREAD: Duration = Duration::from_secs(60);
/// The time after which a prepared statement is dropped that no client uses.
const MAX_UNUSED: Duration = Duration::from_secs(3_600);
/// The maximum number of prepared statements of one user, or of one connection without users.
const MAX_PREPARED: usize = 1_000;
/// The maximum size of these prepared statements with their values, in bytes.
const MAX_PREPARED_BYTES: usize = 256 << 20;
/// The maximum number of results of one user, or of one connection without users, that no client
/// began to read.
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

/// Who made a handle.
#[derive(Debug, Clone)]
pub struct Owner {
    /// Empty if the server has no users.
    user: String,
    connection: u64,
    /// Cancelled when the connection is closed.
    closed: CancellationToken,
}

impl Owner {
    /// A user on a connection.
    pub fn new(user: String, client: &Client) -> Self {
        Self { user, connection: client.id, closed: client.closed.clone() }
    }

    /// The name of the user; empty if the server has no users.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The number of the connection.
    pub fn connection(&self) -> u64 {
        self.connection
    }

    /// Whether what both made counts together: it is the same user. Without users each connection
    /// counts alone, so that no client takes the place of another.
    fn counts_with(&self, other: &Self) -> bool {
        self.user == other.user && (!self.user.is_empty() || self.connection == other.connection)
    }

    fn check_open(&self) -> Result<(), Status> {
        match self.closed.is_cancelled() {
            true => Err(Status::cancelled("the connection was closed")),
            false => Ok(()),
        }
    }
}

struct Owned<T> {
    owner: Owner,
    value: T,
}

impl<T> Owned<T> {
    fn is_of(&self, owner: &Owner) -> bool {
        self.owner.user == owner.user
    }

    fn is_closed(&self) -> bool {
        self.owner.closed.is_cancelled()
    }
}

/// Results of started statements.
pub struct Results<R> {
    by_handle: Arc<Mutex<HashMap<Handle, Owned<Progress<R>>>>>,
}

impl<R> Default for Results<R> {
    fn default() -> Self {
        Self { by_handle: Arc::default() }
    }
}

/// The outcome of a request to cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelled {
    /// The result was dropped before a client read it.
    Unread,
    /// The reading of the result ends now.
    Reading,
    /// There is no such result, or it was read to its end.
    Unknown,
}

impl<R: Send + 'static> Results<R> {
    /// Keeps a result until it is read, and returns its handle.
    pub fn add(&self, owner: &Owner, schema: SchemaRef, result: R) -> Result<Handle, Status> {
        let mut results = self.by_handle.lock();
        owner.check_open()?;
        let is_unread = |r: &&Owned<Progress<R>>| matches!(r.value, Progress::Unread { .. });
        let of_owner = results.values().filter(|r| r.owner.counts_with(owner));
        let unread = of_owner.filter(is_unread).count();
        if unread >= MAX_UNREAD_RESULTS {
            return Err(Status::resource_exhausted(format!(
                "{unread} results wait to be read; read or cancel them first"
            )));
        }
        let handle = new_handle();
        let value = Progress::Unread { schema, result, since: Instant::now() };
        results.insert(handle.clone(), Owned { owner: owner.clone(), value });
        Ok(handle)
    }

    /// Takes a result for reading, with its columns. Its handle stays known until the returned guard
    /// is dropped, so that the reading can be cancelled.
    pub fn take(&self, handle: &[u8], owner: &Owner) -> Result<(SchemaRef, Reading<R>), Status> {
        let mut results = self.by_handle.lock();
        let entry = results.get_mut(handle).filter(|entry| entry.is_of(owner));
        let entry = entry.ok_or_else(|| {
            Status::not_found(format!(
                "no result has this handle; a result can be read once, within {} s of its start, \
                 by the user who started it, while the connection is open that started it",
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
    pub fn cancel(&self, handle: &[u8], owner: &Owner) -> Cancelled {
        let mut results = self.by_handle.lock();
        match results.get(handle) {
            Some(entry) if entry.is_of(owner) => match &entry.value {
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

    /// Drops unread results of connections that were closed.
    pub fn drop_closed(&self) {
        let is_unread = |value: &Progress<R>| matches!(value, Progress::Unread { .. });
        self.by_handle.lock().retain(|_, entry| !(entry.is_closed() && is_unread(&entry.value)));
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
    all: Arc<Mutex<HashMap<Handle, Owned<Progress<R>>>>>,
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
    by_handle: Mutex<HashMap<Handle, Owned<(P, Instant)>>>,
}

impl<P> Default for Prepared<P> {
    fn default() -> Self {
        Self { by_handle: Mutex::default() }
    }
}

impl<P: Clone + Weighed> Prepared<P> {
    /// Keeps a prepared statement, and returns its handle.
    pub fn add(&self, owner: &Owner, prepared: P) -> Result<Handle, Status> {
        let mut all = self.by_handle.lock();
        owner.check_open()?;
        let of_owner = all.values().filter(|entry| entry.owner.counts_with(owner));
        if of_owner.clone().count() >= MAX_PREPARED {
            return Err(Status::resource_exhausted(format!(
                "{MAX_PREPARED} prepared statements are open; close those that are not needed"
            )));
        }
        let bytes: usize = of_owner.map(|entry| entry.value.0.bytes()).sum();
        check_bytes(bytes + prepared.bytes())?;
        let handle = new_handle();
        let value = (prepared, Instant::now());
        all.insert(handle.clone(), Owned { owner: owner.clone(), value });
        Ok(handle)
    }

    /// The prepared statement with this handle.
    pub fn get(&self, handle: &[u8], owner: &Owner) -> Result<P, Status> {
        self.update(handle, owner, |_| {})
    }

    /// Changes a prepared statement, and returns it.
    pub fn update(
        &self,
        handle: &[u8],
        owner: &Owner,
        change: impl FnOnce(&mut P),
    ) -> Result<P, Status> {
        let mut all = self.by_handle.lock();
        let entry = all.get(handle).filter(|entry| entry.is_of(owner)).ok_or_else(|| {
            Status::not_found("no prepared statement has this handle; prepare the statement again")
        })?;
        let mut changed = entry.value.0.clone();
        change(&mut changed);
        if changed.bytes() > entry.value.0.bytes() {
            let others = all.iter().filter(|(other, _)| *other != handle).map(|(_, other)| other);
            let others = others.filter(|other| other.owner.counts_with(&entry.owner));
            let bytes: usize = others.map(|other| other.value.0.bytes()).sum();
            check_bytes(bytes + changed.bytes())?;
        }
        if let Some(entry) = all.get_mut(handle) {
            entry.value = (changed.clone(), Instant::now());
        }
        Ok(changed)
    }

    /// Forgets a prepared statement. One that does not exist is ignored, because clients close
    /// statements that expired, too.
    pub fn close(&self, handle: &[u8], owner: &Owner) {
        let mut all = self.by_handle.lock();
        if all.get(handle).is_some_and(|entry| entry.is_of(owner)) {
            all.remove(handle);
        }
    }

    /// Forgets the statements of connections that were closed.
    pub fn drop_closed(&self) {
        self.by_handle.lock().retain(|_, entry| !entry.is_closed());
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
        "the open prepared statements and their values would take more than {} MiB; close those \
         that are not needed",
        MAX_PREPARED_BYTES >> 20
    )))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use arrow::datatypes::{Schema, SchemaRef};
    use tokio_util::sync::CancellationToken;
    use tonic::Code;

    use super::{
        Cancelled, MAX_PREPARED, MAX_PREPARED_BYTES, MAX_UNREAD_RESULTS, Owner, Prepared, Results,
        Weighed,
    };

    impl Weighed for usize {
        fn bytes(&self) -> usize {
            *self
        }
    }

    fn on(connection: u64, user: &str) -> Owner {
        Owner { user: user.to_owned(), connection, closed: CancellationToken::new() }
    }

    fn columns() -> SchemaRef {
        Arc::new(Schema::empty())
    }

    #[test]
    fn a_result_is_read_once_by_its_user() {
        let results = Results::default();
        let handle = results.add(&on(1, "ann"), columns(), 7).expect("a handle");
        let error = results.take(&handle, &on(1, "bob")).err().expect("refused");
        assert_eq!(error.code(), Code::NotFound);
        let unknown = results.take(b"unknown", &on(1, "bob")).err().expect("refused");
        assert_eq!(unknown.message(), error.message(), "a foreign handle must not be told apart");
        let (_, reading) = results.take(&handle, &on(1, "ann")).expect("the result");
        assert_eq!(*reading.taken.result.lock(), Some(7));
        let again = results.take(&handle, &on(1, "ann")).err().expect("refused");
        assert_eq!(again.code(), Code::FailedPrecondition);
        drop(reading);
        assert_eq!(
            results.take(&handle, &on(1, "ann")).err().expect("refused").code(),
            Code::NotFound
        );
    }

    #[test]
    fn an_unread_result_is_dropped_in_time_and_one_being_read_is_not() {
        let results = Results::default();
        let read = results.add(&on(1, "ann"), columns(), 1).expect("a handle");
        let unread = results.add(&on(1, "ann"), columns(), 2).expect("a handle");
        let (_, reading) = results.take(&read, &on(1, "ann")).expect("the result");
        assert_eq!(results.drop_unread(Duration::from_secs(60)), 0);
        assert_eq!(results.drop_unread(Duration::ZERO), 1);
        assert_eq!(results.cancel(&unread, &on(1, "ann")), Cancelled::Unknown);
        assert_eq!(results.cancel(&read, &on(1, "bob")), Cancelled::Unknown);
        assert_eq!(results.cancel(&read, &on(1, "ann")), Cancelled::Reading);
        assert_eq!(*reading.taken.result.lock(), None);
    }

    #[test]
    fn a_user_cannot_collect_unread_results_without_limit() {
        let results = Results::default();
        for at in 0..MAX_UNREAD_RESULTS {
            results.add(&on(1, "ann"), columns(), at).expect("a handle");
        }
        assert_eq!(
            results.add(&on(1, "ann"), columns(), 0).expect_err("refused").code(),
            Code::ResourceExhausted
        );
        results.add(&on(1, "bob"), columns(), 0).expect("another user has a limit of its own");
    }

    #[test]
    fn a_prepared_statement_belongs_to_its_user() {
        let all = Prepared::default();
        let handle = all.add(&on(1, "ann"), 1).expect("a handle");
        assert!(all.get(&handle, &on(1, "bob")).is_err());
        all.close(&handle, &on(1, "bob"));
        assert_eq!(all.update(&handle, &on(1, "ann"), |value| *value += 1).expect("kept"), 2);
        all.close(&handle, &on(1, "ann"));
        assert!(all.get(&handle, &on(1, "ann")).is_err());
    }

    #[test]
    fn prepared_statements_of_a_user_take_a_limited_amount_of_memory() {
        let all = Prepared::default();
        let half = MAX_PREPARED_BYTES / 2;
        let handle = all.add(&on(1, "ann"), half).expect("a handle");
        all.add(&on(1, "ann"), half).expect("another handle");
        let full = all.add(&on(1, "ann"), 1).expect_err("refused");
        assert_eq!(full.code(), Code::ResourceExhausted);
        assert!(all.update(&handle, &on(1, "ann"), |value| *value += 1).is_err());
        assert_eq!(all.get(&handle, &on(1, "ann")).expect("unchanged"), half);
        all.add(&on(1, "bob"), half).expect("another user has a limit of its own");
        all.update(&handle, &on(1, "ann"), |value| *value = 1).expect("less is allowed");
        all.add(&on(1, "ann"), 1).expect("there is room again");
    }

    #[test]
    fn without_users_each_connection_has_limits_of_its_own() {
        let (results, prepared) = (Results::default(), Prepared::default());
        let (first, second) = (on(1, ""), on(2, ""));
        for at in 0..MAX_UNREAD_RESULTS {
            results.add(&first, columns(), at).expect("a handle");
        }
        for _ in 0..MAX_PREPARED {
            prepared.add(&first, 0).expect("a handle");
        }
        assert!(results.add(&first, columns(), 0).is_err());
        assert!(prepared.add(&first, 0).is_err());
        let handle = results.add(&second, columns(), 7).expect("another connection has room");
        prepared.add(&second, 0).expect("another connection has room");
        // Who may read it does not change: without users, any client.
        results.take(&handle, &first).expect("the result");
        // A user has the same limit on all connections.
        for at in 0..MAX_UNREAD_RESULTS {
            results.add(&on(at as u64, "ann"), columns(), at).expect("a handle");
        }
        assert!(results.add(&on(3, "ann"), columns(), 0).is_err());
    }

    #[test]
    fn what_a_closed_connection_left_is_dropped() {
        let (results, prepared) = (Results::default(), Prepared::default());
        let (first, second) = (on(1, "ann"), on(2, "ann"));
        let unread = results.add(&first, columns(), 1).expect("a handle");
        let read = results.add(&first, columns(), 2).expect("a handle");
        let other = results.add(&second, columns(), 3).expect("a handle");
        let statement = prepared.add(&first, 0).expect("a handle");
        let statement_of_other = prepared.add(&second, 0).expect("a handle");
        let (_, reading) = results.take(&read, &second).expect("the result");
        first.closed.cancel();
        results.drop_closed();
        prepared.drop_closed();
        assert!(results.take(&unread, &second).is_err());
        assert!(results.take(&other, &second).is_ok());
        assert_eq!(*reading.taken.result.lock(), Some(2), "another connection still reads it");
        assert!(prepared.get(&statement, &second).is_err());
        assert!(prepared.get(&statement_of_other, &second).is_ok());
        // A request that is still running adds nothing.
        assert!(results.add(&first, columns(), 4).is_err());
        assert!(prepared.add(&first, 0).is_err());
    }
}
