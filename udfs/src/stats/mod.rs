//! Statistics that DataFusion lacks: weighted averages, linear regression, exact quantiles, and
//! comparisons of samples.
//!
//! DataFusion itself has avg, stddev, var, corr, covar, regr_*, median, approx_distinct and
//! approx_percentile_cont.

mod aggregates;
mod bootstrap;
mod docs;
mod mann_whitney;
mod moments;
mod quantile;
mod samples;

use std::sync::Arc;

use datafusion_expr::{AggregateUDF, ScalarUDF};

use crate::doc::{Call, Function};

/// The functions of this area.
pub fn functions() -> Vec<Function> {
    use {aggregates::What as Of, samples::What as Between};
    let aggregate = |what, doc| {
        let udaf = AggregateUDF::new_from_impl(aggregates::Aggregate::new(what));
        Function { call: Call::Aggregate(Arc::new(udaf)), doc }
    };
    let samples = |what, doc| {
        let udf = ScalarUDF::new_from_impl(samples::OfSamples::new(what));
        Function { call: Call::Scalar(Arc::new(udf)), doc }
    };
    vec![
        aggregate(Of::WeightedAvg, docs::WEIGHTED_AVG),
        aggregate(Of::LinearRegression, docs::LINEAR_REGRESSION),
        aggregate(Of::Quantile, docs::QUANTILE),
        aggregate(Of::Mad, docs::MAD),
        samples(Between::MannWhitney, docs::MANN_WHITNEY),
        samples(Between::BootstrapDiff, docs::BOOTSTRAP_DIFF),
        samples(Between::HodgesLehmann, docs::HODGES_LEHMANN),
    ]
}

#[cfg(test)]
mod tests;
