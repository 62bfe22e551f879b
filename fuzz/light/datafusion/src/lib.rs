//! As much of DataFusion as stacks and names need: a query engine takes too long to build with a sanitizer.

pub use arrow;

pub mod common {
    pub use crate::{exec_datafusion_err, exec_err, plan_err};
    pub use hashbrown::HashMap;

    #[derive(Debug)]
    pub enum DataFusionError {
        Configuration(String),
        Execution(String),
        Plan(String),
    }

    impl std::fmt::Display for DataFusionError {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            let (Self::Configuration(text) | Self::Execution(text) | Self::Plan(text)) = self;
            f.write_str(text)
        }
    }

    impl std::error::Error for DataFusionError {}

    impl From<arrow::error::ArrowError> for DataFusionError {
        fn from(e: arrow::error::ArrowError) -> Self {
            Self::Execution(e.to_string())
        }
    }

    pub type Result<T, E = DataFusionError> = std::result::Result<T, E>;
}

#[macro_export]
macro_rules! exec_datafusion_err {
    ($($text:tt)*) => { $crate::common::DataFusionError::Execution(format!($($text)*)) };
}

#[macro_export]
macro_rules! exec_err {
    ($($text:tt)*) => { Err($crate::common::DataFusionError::Execution(format!($($text)*))) };
}

#[macro_export]
macro_rules! plan_err {
    ($($text:tt)*) => { Err($crate::common::DataFusionError::Plan(format!($($text)*))) };
}
