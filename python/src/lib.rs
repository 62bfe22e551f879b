//! The native module of the Python package `tracesql`: the library, callable from Python.
//!
//! This module contains only code that must be Rust. The interface for users (names, defaults,
//! displays) is written in Python, in `python/tracesql`. Rows are passed on through Arrow's C
//! interface, which hands over buffers and copies nothing.

mod errors;
mod open;
mod result;
mod session;
mod stream;
mod threads;
mod values;
mod wait;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", tracesql_ingest::VERSION)?;
    module.add("SCHEMA_VERSION", tracesql_ingest::schema::SCHEMA_VERSION)?;
    errors::add(module)?;
    module.add_class::<session::Session>()?;
    module.add_class::<result::Rows>()?;
    module.add_class::<stream::Stream>()?;
    module.add_function(wrap_pyfunction!(open::open, module)?)?;
    module.add_function(wrap_pyfunction!(open::ingest, module)?)?;
    Ok(())
}
