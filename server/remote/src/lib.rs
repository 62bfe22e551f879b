//! See the package's description.
