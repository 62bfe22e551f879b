//! Units of the columns of a result.

use std::collections::HashMap;

use datafusion::sql::parser::Statement;

use crate::engine::{Engine, documented};

/// Suffixes of names that state the unit, as in all tables and views.
const SUFFIXES: [(&str, &str); 6] = [
    ("_ns", "ns"),
    ("_us", "us"),
    ("_bytes", "bytes"),
    ("_pct", "pct"),
    ("_gb_s", "GB/s"),
    ("_id", "id"),
];

/// Types and units of columns by name. `None` stands for a name that has several.
pub type Documented = HashMap<String, Option<(String, String)>>;

/// The documented columns of the tables and views that a statement names.
pub fn of_relations(engine: &Engine, statement: &Statement) -> Documented {
    let mut columns = Documented::new();
    let state = engine.context().state();
    let Ok(references) = state.resolve_table_references(statement) else { return columns };
    let all = documented(engine.library());
    for reference in references {
        let Some((_, view)) = all.iter().find(|(_, view)| view.name == reference.table()) else {
            continue;
        };
        for column in &view.columns {
            let found = Some((column.data_type.clone(), column.unit.clone()));
            columns
                .entry(column.name.clone())
                .and_modify(|known| {
                    if *known != found {
                        *known = None;
                    }
                })
                .or_insert(found);
        }
    }
    columns
}

/// The unit of a column of a result: that of the documented column with this name and type, else
/// what the name states. A name that is an expression states nothing.
pub fn of_column(name: &str, data_type: &str, documented: &Documented) -> Option<String> {
    if let Some(Some((of_type, unit))) = documented.get(name)
        && of_type == data_type
    {
        return Some(unit.clone());
    }
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let suffix = SUFFIXES.iter().find(|(suffix, _)| is_plain && name.ends_with(suffix));
    suffix.map(|(_, unit)| (*unit).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_decide_before_suffixes() {
        let known = Some(("BIGINT".to_owned(), "count".to_owned()));
        let documented = Documented::from([("calls".to_owned(), known), ("name".to_owned(), None)]);
        let unit = |name, data_type| of_column(name, data_type, &documented);
        assert_eq!(unit("calls", "BIGINT").as_deref(), Some("count"));
        assert_eq!(unit("calls", "VARCHAR"), None);
        assert_eq!(unit("name", "VARCHAR"), None);
        assert_eq!(unit("total_ns", "BIGINT").as_deref(), Some("ns"));
        assert_eq!(unit("sum(total_ns", "BIGINT"), None);
    }
}
