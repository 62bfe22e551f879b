#[path = "../../../../udfs/src/names/csv.rs"]
mod csv;
#[path = "../../../../udfs/src/names/demangle.rs"]
pub(crate) mod demangle;
#[path = "../../../../udfs/src/names/rules.rs"]
mod rules;
#[path = "../../../../udfs/src/names/short.rs"]
mod short;

pub use demangle::demangle;
pub use rules::Rules;
pub use short::short_name;
