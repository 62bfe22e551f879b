//! The scope of a view: the traces that a row depends on.
//!
//! Rows of a view with the scope `trace` depend on a single trace, so the rows over a store are the
//! rows over each of its traces, put together. A view with the scope `job` needs in addition the
//! rows of [`JOB_RANKS`] for that trace. A view with the scope `store` needs several traces at
//! once. A view like `kernel_names` has a row for each name, whichever traces have the name. Its
//! scope is `store`, because traces share rows, but it can be looked up by the name from views of
//! any scope. Its header states that as `@scope store by name`.

use super::{Body, Library, View};

/// The view that gives traces their job and rank. Views with the scope [`Scope::Job`] may read it,
/// although its scope is [`Scope::Store`].
pub const JOB_RANKS: &str = "job_ranks";

/// The traces that a row of a view depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// A single trace.
    Trace,
    /// A single trace and its rows of [`JOB_RANKS`].
    Job,
    /// Several traces of the store.
    Store,
}

impl Scope {
    /// The word in the header of a view.
    pub fn word(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Job => "job",
            Self::Store => "store",
        }
    }

    /// The scope, and the columns by which rows are looked up, from the text after `@scope`.
    pub(super) fn parse(text: &str) -> Result<(Self, Vec<String>), String> {
        let wrong = || {
            format!(
                "{text:?} is not a scope; write @scope trace, @scope job, @scope store or @scope \
                 store by COLUMN, …"
            )
        };
        let (word, keys) = text.trim().split_once(" by ").unwrap_or((text.trim(), ""));
        let keys: Vec<String> = keys
            .split(',')
            .map(|key| key.trim().to_owned())
            .filter(|key| !key.is_empty())
            .collect();
        match word.trim() {
            "trace" if keys.is_empty() => Ok((Self::Trace, keys)),
            "job" if keys.is_empty() => Ok((Self::Job, keys)),
            "store" => Ok((Self::Store, keys)),
            _ => Err(wrong()),
        }
    }
}

impl View {
    /// The traces that a row depends on. [`Scope::Store`] for tables whose rows belong to no trace,
    /// such as the settings, because their rows must not be repeated for each trace.
    pub fn scope(&self) -> Scope {
        self.scope.unwrap_or(Scope::Store)
    }

    /// The least scope of a view that reads this view.
    fn scope_of_readers(&self) -> Scope {
        match self.scope {
            _ if self.name == JOB_RANKS => Scope::Job,
            Some(scope) if self.lookup.is_empty() => scope,
            _ => Scope::Trace,
        }
    }

    /// Whether the query of the view seems to name another view. A name in a text literal counts
    /// too.
    fn mentions(&self, name: &str) -> bool {
        let Body::Query(text) = &self.body else { return false };
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        text.lines()
            .filter(|line| !line.trim_start().starts_with("--"))
            .any(|line| line.split(|c| !is_word(c)).any(|word| word.eq_ignore_ascii_case(name)))
    }
}

impl Library {
    /// The documented views with the scope [`Scope::Store`], by name. Data tables are not among
    /// them.
    pub fn store_views(&self) -> impl Iterator<Item = &View> {
        self.public_views().filter(|view| view.scope == Some(Scope::Store))
    }

    /// The error for a view that claims a smaller scope than that of a view which it reads.
    pub fn scope_error(&self, view: &View, read: &str) -> Option<String> {
        let read = self.view(read)?;
        let least = read.scope_of_readers();
        if view.scope() >= least {
            return None;
        }
        let Body::Query(text) = &view.body else { return None };
        let line = text.lines().position(|line| line.contains("@scope")).map_or(1, |i| i + 1);
        Some(format!(
            "{}:{line}: @scope {}, but the view reads {}, whose rows need more than one trace; \
             write @scope {}",
            view.file,
            view.scope().word(),
            read.name,
            least.word()
        ))
    }

    /// Widens the scopes of all views that build on the named views. A user's file replaced these
    /// by views of a larger scope, so the headers of their readers are no longer right.
    pub(super) fn widen_readers(&mut self, mut widened: Vec<String>) {
        while let Some(name) = widened.pop() {
            let Some(least) = self.views.get(&name).map(View::scope_of_readers) else { continue };
            for reader in self.views.values_mut() {
                let is_narrow = reader.lookup.is_empty() && reader.scope.is_some_and(|s| s < least);
                if is_narrow && reader.name != name && reader.mentions(&name) {
                    reader.scope = Some(least);
                    widened.push(reader.name.clone());
                }
            }
        }
    }

    /// Whether `view` would replace a view of a smaller scope.
    pub(super) fn is_wider(&self, view: &View) -> bool {
        self.view(&view.name)
            .is_some_and(|replaced| replaced.scope_of_readers() < view.scope_of_readers())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_one_of_three_words() {
        assert_eq!(Scope::parse("trace"), Ok((Scope::Trace, vec![])));
        assert_eq!(Scope::parse(" job "), Ok((Scope::Job, vec![])));
        let keys = vec!["name".to_owned(), "kind".to_owned()];
        assert_eq!(Scope::parse("store by name, kind"), Ok((Scope::Store, keys)));
        for text in ["", "Trace", "traces", "trace by name", "store name"] {
            let error = Scope::parse(text).expect_err(text);
            assert!(error.contains("write @scope trace"), "{error}");
        }
    }

    #[test]
    fn scopes_are_ordered_from_narrow_to_wide() {
        assert!(Scope::Trace < Scope::Job && Scope::Job < Scope::Store);
    }
}
