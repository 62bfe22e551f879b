//! Plans the calls of the graph functions in `FROM`.

use arrow::array::StructArray;
use arrow::datatypes::{DataType, Fields};
use datafusion_common::{NullHandling, Result, ScalarValue, UnnestOptions, plan_err};
use datafusion_expr::{Expr, LogicalPlan, LogicalPlanBuilder, cast, lit};

use super::collect::Collect;
use super::path::Side;
use super::rows::Rows;
use super::{hta, path};
use crate::intervals::relation::arguments::{Arguments, column, has_column, names};
use crate::intervals::relation::groups::{key_columns, keys};
use crate::intervals::relation::single::{LIST, field};
use crate::relation::RelationFunction;

/// A graph function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Graph {
    /// The critical path of HTA.
    Hta,
    /// The path that is walked back from the end of a window.
    Path,
    /// Lengths of windows after changes.
    Forecast,
    /// How much longer work could take before a window does.
    Slack,
    /// The path through several traces that meet in collectives.
    JobPath,
    /// Lengths of windows of several traces after changes.
    JobForecast,
}

/// A column of a query that a graph function reads.
pub struct Input {
    /// Name.
    pub name: &'static str,
    /// Whether it is text; otherwise it is an integer.
    pub text: bool,
    /// Whether the query may lack it.
    pub optional: bool,
}

impl Input {
    /// A column of integers.
    pub const fn int(name: &'static str) -> Self {
        Self { name, text: false, optional: false }
    }

    /// A column of texts.
    pub const fn text(name: &'static str) -> Self {
        Self { name, text: true, optional: false }
    }

    /// A column that the query may lack.
    pub const fn or_null(self) -> Self {
        Self { optional: true, ..self }
    }

    fn data_type(&self) -> DataType {
        if self.text { DataType::Utf8 } else { DataType::Int64 }
    }

    fn null(&self) -> Expr {
        lit(if self.text { ScalarValue::Utf8(None) } else { ScalarValue::Int64(None) })
    }
}

impl Graph {
    /// The columns of each query. The first query has the most; those of the others take the places
    /// of its first columns and have their types.
    fn inputs(self) -> Vec<&'static [Input]> {
        let columns = |side: &Side| match side {
            Side::Activities => path::ACTIVITIES,
            Side::Orders => path::ORDERS,
            Side::Windows => path::WINDOWS,
            Side::Members => path::MEMBERS,
            Side::Targets => path::TARGETS,
        };
        match self {
            Self::Hta => vec![hta::COLUMNS],
            _ => self.sides().iter().map(columns).collect(),
        }
    }

    /// What the rows of each query are.
    fn sides(self) -> &'static [Side] {
        use Side::{Activities, Members, Orders, Targets, Windows};
        match self {
            Self::Hta => &[],
            Self::Path | Self::Slack => &[Activities, Orders, Windows],
            Self::Forecast => &[Activities, Orders, Windows, Targets],
            Self::JobPath => &[Activities, Orders, Windows, Members],
            Self::JobForecast => &[Activities, Orders, Windows, Members, Targets],
        }
    }

    /// The arguments that are expressions over the columns of the first query.
    fn settings(self) -> &'static [Input] {
        match self {
            Self::Hta => hta::SETTINGS,
            Self::Path | Self::Slack | Self::JobPath => &[],
            Self::Forecast | Self::JobForecast => path::FORECAST_SETTINGS,
        }
    }

    /// The columns of the result.
    pub fn result_fields(self) -> Fields {
        match self {
            Self::Hta => hta::result_fields(),
            Self::Path | Self::JobPath => path::result_fields(),
            Self::Slack => path::slack_fields(),
            Self::Forecast | Self::JobForecast => path::forecast_fields(),
        }
    }

    /// Computes the result of a group.
    pub fn run(self, rows: &StructArray) -> Result<StructArray> {
        match self {
            Self::Hta => hta::run(&Rows(rows)),
            Self::Path | Self::JobPath => path::run(&Rows(rows), self.sides()),
            Self::Slack => path::slack(&Rows(rows), self.sides()),
            Self::Forecast | Self::JobForecast => path::forecast(&Rows(rows), self.sides()),
        }
    }

    fn value(self, input: &Input, query: &LogicalPlan) -> Result<Expr> {
        if has_column(query, input.name) {
            return Ok(cast(column(input.name), input.data_type()));
        }
        if input.optional {
            return Ok(input.null());
        }
        plan_err!(
            "{}: its query needs a column {}; it has {}",
            self.name(),
            input.name,
            names(query).join(", ")
        )
    }
}

impl RelationFunction for Graph {
    fn name(self) -> &'static str {
        match self {
            Self::Hta => "hta_graph",
            Self::Path => "event_path",
            Self::Forecast => "event_forecast",
            Self::Slack => "event_slack",
            Self::JobPath => "job_path",
            Self::JobForecast => "job_forecast",
        }
    }

    fn takes(self) -> (usize, Vec<&'static str>) {
        let settings = self.settings().iter().map(|setting| setting.name);
        (self.inputs().len(), std::iter::once("by").chain(settings).collect())
    }

    fn plan(self, arguments: &mut Arguments<'_>) -> Result<LogicalPlan> {
        let inputs = self.inputs();
        let queries: Vec<LogicalPlan> = inputs.iter().map(|_| arguments.input()).collect();
        let by = arguments.by(&queries[0])?;
        let group = |i: usize| format!("__by{i}");
        let mut settings = Vec::new();
        for setting in self.settings() {
            let given = arguments.any_expression(setting.name, &queries[0])?;
            settings.push(given.map_or_else(|| setting.null(), |e| cast(e, setting.data_type())));
        }
        let mut plan: Option<LogicalPlanBuilder> = None;
        let width = inputs[0].len() + settings.len();
        for (at, query) in queries.into_iter().enumerate() {
            if let Some(missing) = by.iter().find(|name| !has_column(&query, name)) {
                return plan_err!(
                    "{}: by names {missing}, but a query has {}",
                    self.name(),
                    names(&query).join(", ")
                );
            }
            let mut columns: Vec<Expr> =
                by.iter().enumerate().map(|(i, name)| column(name).alias(group(i))).collect();
            columns.push(lit(at as i64).alias("__c0"));
            let mut values = Vec::new();
            for (place, slot) in inputs[0].iter().enumerate() {
                values.push(match inputs[at].get(place) {
                    Some(input) => self.value(input, &query)?,
                    None => slot.null(),
                });
            }
            for (setting, given) in self.settings().iter().zip(&settings) {
                values.push(if at == 0 { given.clone() } else { setting.null() });
            }
            columns.extend(
                values.into_iter().enumerate().map(|(i, e)| e.alias(format!("__c{}", i + 1))),
            );
            let side = LogicalPlanBuilder::from(query).project(columns)?.build()?;
            plan = Some(match plan {
                None => LogicalPlanBuilder::from(side),
                Some(plan) => plan.union(side)?,
            });
        }
        let Some(plan) = plan else { return plan_err!("{}: no query", self.name()) };
        let values: Vec<Expr> = (0..=width).map(|i| column(&format!("__c{i}"))).collect();
        let list = Collect::function(self, values.len()).call(values).alias(LIST);
        let groups: Vec<String> = (0..by.len()).map(group).collect();
        let plan = plan.aggregate(keys(&groups, "__c0"), [list])?;
        let mut columns = key_columns(&by);
        columns.extend(self.result_fields().iter().map(|f| field(f.name())));
        let options = UnnestOptions { null_handling: NullHandling::Drop, recursions: vec![] };
        plan.unnest_column_with_options(LIST, options)?.project(columns)?.build()
    }
}
