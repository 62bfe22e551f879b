//! Opens stores by their URLs for the commands of the program.

use std::sync::Arc;

use parking_lot::Mutex;
use tracesql::Result;
use tracesql::store::{Kind, Opener, RemoteStore};

use crate::io;
use crate::marker;
use crate::place::Place;
use crate::store::ObjectTraces;

/// Opens URLs of object storage.
#[derive(Debug, Default)]
pub struct Urls {
    /// The store that [`Opener::kind`] found last. A command looks at a name before it opens it.
    found: Mutex<Option<ObjectTraces>>,
}

impl Opener for Urls {
    fn takes(&self, name: &str) -> bool {
        Place::takes(name)
    }

    fn kind(&self, name: &str) -> Result<Kind> {
        if self.found.lock().as_ref().is_some_and(|store| is_named(store, name)) {
            return Ok(Kind::Store);
        }
        let place = Place::open(name, false)?;
        let there = place.clone();
        if !io::wait(async move { marker::is_there(&there).await })? {
            return Ok(Kind::Other);
        }
        *self.found.lock() = Some(ObjectTraces::at(place)?);
        Ok(Kind::Store)
    }

    fn open(&self, name: &str, create: bool) -> Result<Arc<dyn RemoteStore>> {
        let found = self.found.lock().take();
        if let Some(store) = found.filter(|store| is_named(store, name)) {
            return Ok(Arc::new(store));
        }
        Ok(Arc::new(ObjectTraces::open(name, create)?))
    }
}

fn is_named(store: &ObjectTraces, name: &str) -> bool {
    RemoteStore::name(store) == name.trim_end_matches('/')
}
