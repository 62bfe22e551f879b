//! Rules: views named `rule_NAME` in the area `rules`. All of them have the same columns, so that
//! one view can contain the rows of all rules.
//!
//! A file either has a query with all these columns, or it has header lines (`-- @finding …`) and a
//! SELECT from which the columns are composed.

mod compose;
mod header;
mod limit;
mod select;
mod settings;
mod template;

use super::{Body, File, Library, Problem, Scope, View};
pub(super) use compose::compose;
pub(super) use settings::RuleSettings;

/// The area of rules, and the prefix of the names of their views.
pub const AREA: &str = "rules";
const PREFIX: &str = "rule_";

/// The private view with the rows of all rules; `findings` shows them.
const ALL: &str = "_all_rules";

/// The private view with the rows of all rules that need a single trace and its job. It is a view of
/// its own so that all these rules can be computed together for a trace.
pub const RULES_OF_A_TRACE: &str = "_rules_of_a_trace";

/// The columns of every rule, with their SQL types.
pub const COLUMNS: &[(&str, &str)] = &[
    ("rule", "VARCHAR"),
    ("status", "VARCHAR"),
    ("severity", "VARCHAR"),
    ("trace_id", "VARCHAR"),
    ("rank", "BIGINT"),
    ("device", "BIGINT"),
    ("step", "BIGINT"),
    ("subject", "VARCHAR"),
    ("value", "DOUBLE"),
    ("unit", "VARCHAR"),
    ("threshold", "DOUBLE"),
    ("numerator", "BIGINT"),
    ("denominator", "BIGINT"),
    ("numerator_name", "VARCHAR"),
    ("denominator_name", "VARCHAR"),
    ("message", "VARCHAR"),
    ("advice", "VARCHAR"),
    ("evidence", "VARCHAR"),
    ("reason", "VARCHAR"),
];

/// The columns of rules that hold integers.
const NUMBERS: &[&str] = &["rank", "device", "step", "numerator", "denominator"];

impl View {
    /// The name of the rule; `None` if the view is not a rule.
    pub fn rule_name(&self) -> Option<&str> {
        if self.area == AREA { self.name.strip_prefix(PREFIX) } else { None }
    }
}

impl Library {
    /// The views that are rules, by name.
    pub fn rules(&self) -> impl Iterator<Item = &View> {
        self.views().filter(|v| v.rule_name().is_some())
    }

    /// Makes the views with the rows of all rules, and adds the settings of the rules to the other
    /// settings. Rules that cannot be part of the views are left out.
    pub(super) fn compose_rules(&mut self) {
        let mut wrong: Vec<Problem> = self
            .rules()
            .filter_map(|v| {
                column_mismatch(v).map(|message| Problem { file: v.file.clone(), line: 1, message })
            })
            .collect();
        wrong.extend(self.add_rule_settings());
        self.views.retain(|_, v| !wrong.iter().any(|p| p.file == v.file));
        self.problems.extend(wrong);
        let (of_a_trace, others): (Vec<&View>, Vec<&View>) =
            self.rules().partition(|rule| rule.scope() <= Scope::Job);
        let names = of_a_trace.iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>();
        let all = std::iter::once(RULES_OF_A_TRACE).chain(others.iter().map(|v| v.name.as_str()));
        let all = all.collect::<Vec<_>>();
        let summary = "The rows of all rules that need a single trace and its job.";
        let views = [
            composed(RULES_OF_A_TRACE, summary, Scope::Job, union(&names)),
            composed(ALL, "The rows of all rules.", Scope::Store, union(&all)),
        ];
        self.views.extend(views.map(|view| (view.name.clone(), view)));
    }
}

/// A private view over rules.
fn composed(name: &str, summary: &str, scope: Scope, sql: String) -> View {
    View {
        name: name.to_owned(),
        area: AREA.to_owned(),
        summary: summary.to_owned(),
        detail: String::new(),
        source: String::new(),
        example: String::new(),
        columns: Vec::new(),
        truths: super::Truths::default(),
        scope: Some(scope),
        lookup: Vec::new(),
        is_of_several: false,
        file: format!("({name})"),
        body: Body::Query(sql),
    }
}

/// Whether a file is a rule, or a replacement for the view of all findings.
pub(super) fn is_rule(file: &File) -> bool {
    file.area == AREA
        && file.extension == "sql"
        && (file.stem.starts_with(PREFIX) || file.stem == "findings")
}

/// The error for a file in a folder of rules that looks like a rule, but has the wrong name or is
/// in the wrong place.
pub(super) fn misnamed(file: &File) -> Option<Problem> {
    if file.area != AREA && file.extension == "sql" && file.stem.starts_with(PREFIX) {
        return Some(file.problem(
            1,
            format!(
                "this is no rule, because of its folder: rules lie in the folder of --rules \
                     itself, or in {AREA}/ below it"
            ),
        ));
    }
    let is_fine = file.area != AREA
        || file.extension != "sql"
        || file.stem.starts_with(PREFIX)
        || file.stem.starts_with('_')
        || file.stem == "findings";
    if is_fine {
        None
    } else {
        Some(file.problem(
            1,
            format!(
                "this is no rule: name the file {PREFIX}{0}.sql, or _{0}.sql if rules build on it",
                file.stem
            ),
        ))
    }
}

/// The error for a rule whose columns are not those of every rule.
fn column_mismatch(view: &View) -> Option<String> {
    let is_rule = |(column, (name, data_type)): (&super::Column, &(&str, &str))| {
        column.name == *name && column.data_type == *data_type
    };
    if view.columns.len() == COLUMNS.len() && view.columns.iter().zip(COLUMNS).all(is_rule) {
        return None;
    }
    let at = view.columns.iter().zip(COLUMNS).take_while(|pair| is_rule(*pair)).count();
    let has =
        view.columns.get(at).map_or("none".to_owned(), |c| format!("{} {}", c.name, c.data_type));
    let needs = COLUMNS
        .get(at)
        .map_or("no more".to_owned(), |(name, data_type)| format!("{name} {data_type}"));
    Some(format!(
        "column {} of a rule must be {needs}, here it is {has}; docs/ci.md lists the columns that \
         every rule has",
        at + 1
    ))
}

fn union(rules: &[&str]) -> String {
    if rules.is_empty() {
        let columns: Vec<String> = COLUMNS
            .iter()
            .map(|(name, data_type)| format!("CAST(NULL AS {data_type}) AS {name}"))
            .collect();
        return format!("SELECT {} WHERE false", columns.join(", "));
    }
    let columns: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let columns = columns.join(", ");
    let parts: Vec<String> =
        rules.iter().map(|rule| format!("SELECT {columns} FROM {rule}")).collect();
    parts.join("\nUNION ALL\n")
}
