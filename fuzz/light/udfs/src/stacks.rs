#[path = "../../../../udfs/src/stacks/column.rs"]
mod column;
#[path = "../../../../udfs/src/stacks/frame.rs"]
mod frame;
#[path = "../../../../udfs/src/stacks/sums.rs"]
mod sums;

pub use column::{NO_NAME, Stacks, StacksBuilder, Texts};
pub use frame::fold_frame;
pub use sums::{StackSum, StackSums};
