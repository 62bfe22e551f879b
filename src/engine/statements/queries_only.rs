//! Refuses every statement that does more than to query, for sessions that several clients share.

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{LogicalPlan, Statement};

/// Fails if a plan, or a part of it, defines, changes or writes something.
///
/// The plan is checked and not the text, so a statement has one meaning here however it is written:
/// `SELECT … INTO` is a table that is created, also inside `EXPLAIN ANALYZE`.
pub fn refuse_all_but_queries(plan: &LogicalPlan) -> Result<(), DataFusionError> {
    let mut refused = None;
    plan.apply_with_subqueries(|part| {
        refused = what(part);
        Ok(match refused {
            Some(_) => TreeNodeRecursion::Stop,
            None => TreeNodeRecursion::Continue,
        })
    })?;
    match refused {
        None => Ok(()),
        Some(what) => Err(DataFusionError::Plan(format!(
            "{what} is not allowed here; only queries, EXPLAIN, SHOW and DESCRIBE are"
        ))),
    }
}

/// The name of a part of a plan that is more than a query.
fn what(part: &LogicalPlan) -> Option<String> {
    match part {
        LogicalPlan::Ddl(ddl) => Some(ddl.name().to_owned()),
        LogicalPlan::Dml(dml) => Some(dml.op.name().to_owned()),
        LogicalPlan::Copy(_) => Some("COPY".to_owned()),
        LogicalPlan::Statement(statement) => Some(
            match statement {
                Statement::TransactionStart(_) => "BEGIN",
                Statement::TransactionEnd(_) => "the end of a transaction",
                Statement::SetVariable(_) => "SET",
                Statement::ResetVariable(_) => "RESET",
                Statement::Prepare(_) => "PREPARE",
                Statement::Execute(_) => "EXECUTE",
                Statement::Deallocate(_) => "DEALLOCATE",
            }
            .to_owned(),
        ),
        _ => None,
    }
}
