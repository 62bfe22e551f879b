//! SQL functions for traces, usable from any DataFusion program.
//!
//! ```
//! # use datafusion::prelude::SessionContext;
//! let context = SessionContext::new();
//! tracesql_udfs::register(&context);
//! ```

mod format;

use datafusion::logical_expr::ScalarUDF;
use datafusion::prelude::SessionContext;

/// All scalar functions.
pub fn scalar_functions() -> Vec<ScalarUDF> {
    vec![format::format_ns(), format::format_bytes()]
}

/// Registers all functions with a session.
pub fn register(context: &SessionContext) {
    for function in scalar_functions() {
        context.register_udf(function);
    }
}
