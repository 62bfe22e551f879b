//! Writers for the file formats of other profilers. The crate uses Arrow and does not depend on
//! SQL.
//!
//! | format | function | read by |
//! | --- | --- | --- |
//! | pprof | [`pprof::gzipped`], [`pprof::Builder::encode`] | `go tool pprof` |
//! | folded stacks | [`folded()`] | flame graph scripts |
//! | flame graph | [`flamegraph()`] | any browser (SVG) |
//! | speedscope | [`speedscope()`] | speedscope.app |
//! | Chrome JSON | [`chrome`] | Perfetto, `chrome://tracing` |
//!
//! The first four formats are written from a [`pprof::Builder`], which sums values by stack. Equal
//! samples give equal bytes, in whatever order they are added.
//!
//! ```
//! use tracesql_formats::{folded, pprof::{Builder, SampleType}};
//!
//! let mut profile = Builder::new(vec![SampleType::new("cpu", "nanoseconds")])?;
//! let no_labels = profile.group(&Vec::new());
//! profile.add(["main", "forward", "mm"], no_labels, &[700])?;
//! profile.add(["main", "forward"], no_labels, &[50])?;
//! profile.add(["main", "forward", "mm"], no_labels, &[300])?;
//! assert_eq!(folded(&profile, None, false)?, "main;forward 50\nmain;forward;mm 1000\n");
//! # Ok::<(), tracesql_formats::Error>(())
//! ```
//!
//! # Scope
//!
//! [`stacks`] is in this crate and not with the SQL functions, because both sides need the same
//! layout: profiles read stacks from columns, and the SQL functions create such columns. [`names`]
//! holds all code that reads the *text* of a C++ name, because the frames of profiles are
//! demangled. Classifying names by rules belongs to SQL and is part of `tracesql-udfs`.

pub mod chrome;
mod error;
mod flamegraph;
mod folded;
pub mod frames;
mod measure;
pub mod names;
pub mod pprof;
mod speedscope;
pub mod stacks;

pub use error::{Error, Result};
pub use flamegraph::{Direction, flamegraph};
pub use folded::{fold_frame, folded};
pub use speedscope::speedscope;
