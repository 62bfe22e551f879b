//! Functions on values inside JSON texts, such as the column `args` of events. The crate
//! datafusion-functions-json implements them, and this module documents them.

mod docs;
mod operators;

use std::collections::HashSet;
use std::sync::Arc;

use datafusion_common::Result;
use datafusion_expr::expr_rewriter::FunctionRewrite;
use datafusion_expr::planner::ExprPlanner;
use datafusion_expr::registry::FunctionRegistry;
use datafusion_expr::registry::MemoryFunctionRegistry;
use datafusion_expr::{AggregateUDF, HigherOrderUDF, ScalarUDF, WindowUDF};

use crate::doc::{Call, Function};

/// The functions and operators on JSON.
pub fn functions() -> Vec<Function> {
    let parts = Parts::of_the_crate();
    let scalar = |doc: &docs::FunctionDoc| {
        parts
            .functions
            .udf(doc.name)
            .ok()
            .map(|udf| Function { call: Call::Scalar(udf), doc: *doc })
    };
    let planner = parts.planners.first();
    let operator = |doc: &docs::FunctionDoc| {
        planner.map(|planner| Function { call: Call::Operator(planner.clone()), doc: *doc })
    };
    docs::FUNCTIONS
        .iter()
        .filter_map(scalar)
        .chain(docs::OPERATORS.iter().filter_map(operator))
        .collect()
}

/// Returns the rewrites that a session needs in addition to the functions. They convert
/// `(args -> 'x')::BIGINT` to `json_get_int(args, 'x')`.
pub(crate) fn rewrites() -> Vec<Arc<dyn FunctionRewrite + Send + Sync>> {
    Parts::of_the_crate().rewrites
}

/// A registry that collects everything the crate registers. The crate offers no other access to its
/// operators and rewrites.
#[derive(Default)]
struct Parts {
    functions: MemoryFunctionRegistry,
    planners: Vec<Arc<dyn ExprPlanner>>,
    rewrites: Vec<Arc<dyn FunctionRewrite + Send + Sync>>,
}

impl Parts {
    fn of_the_crate() -> Self {
        let mut parts = Self::default();
        // This registry never refuses a registration, and a test counts the registered functions.
        let _ = datafusion_functions_json::register_all(&mut parts);
        parts
    }
}

impl FunctionRegistry for Parts {
    fn register_udf(&mut self, udf: Arc<ScalarUDF>) -> Result<Option<Arc<ScalarUDF>>> {
        self.functions.register_udf(udf)
    }

    fn register_function_rewrite(
        &mut self,
        rewrite: Arc<dyn FunctionRewrite + Send + Sync>,
    ) -> Result<()> {
        self.rewrites.push(rewrite);
        Ok(())
    }

    fn register_expr_planner(&mut self, planner: Arc<dyn ExprPlanner>) -> Result<()> {
        self.planners.push(Arc::new(operators::Tight(planner)));
        Ok(())
    }

    fn expr_planners(&self) -> Vec<Arc<dyn ExprPlanner>> {
        self.planners.clone()
    }

    fn udfs(&self) -> HashSet<String> {
        self.functions.udfs()
    }

    fn higher_order_function_names(&self) -> HashSet<String> {
        self.functions.higher_order_function_names()
    }

    fn udafs(&self) -> HashSet<String> {
        self.functions.udafs()
    }

    fn udwfs(&self) -> HashSet<String> {
        self.functions.udwfs()
    }

    fn udf(&self, name: &str) -> Result<Arc<ScalarUDF>> {
        self.functions.udf(name)
    }

    fn higher_order_function(&self, name: &str) -> Result<Arc<HigherOrderUDF>> {
        self.functions.higher_order_function(name)
    }

    fn udaf(&self, name: &str) -> Result<Arc<AggregateUDF>> {
        self.functions.udaf(name)
    }

    fn udwf(&self, name: &str) -> Result<Arc<WindowUDF>> {
        self.functions.udwf(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_of_the_crate_is_documented() {
        let parts = Parts::of_the_crate();
        let described: HashSet<String> =
            docs::FUNCTIONS.iter().map(|doc| doc.name.to_owned()).collect();
        assert_eq!(parts.functions.udfs(), described);
        assert_eq!((parts.planners.len(), parts.rewrites.len()), (1, 1));
        assert_eq!(functions().len(), docs::FUNCTIONS.len() + docs::OPERATORS.len());
    }
}
