//! Writes expressions as SQL for the executors. An expression is only written if reading the text
//! gives the same expression; else it is evaluated here.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, DFSchemaRef};
use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::sql::unparser::expr_to_sql;

/// Writes expressions over the columns of a relation.
pub struct Writer {
    state: SessionState,
    schema: DFSchemaRef,
}

impl Writer {
    /// A writer for a relation with these columns.
    pub fn new(state: SessionState, schema: &SchemaRef) -> Result<Self> {
        let schema = Arc::new(DFSchema::try_from(schema.as_ref().clone())?);
        Ok(Self { state, schema })
    }

    /// The text of an expression; `None` if it cannot be written.
    pub fn text(&self, expr: &Expr) -> Option<String> {
        let bound = expr.exists(|e| {
            Ok(matches!(
                e,
                Expr::ScalarSubquery(_)
                    | Expr::InSubquery(_)
                    | Expr::Exists(_)
                    | Expr::OuterReferenceColumn(..)
                    | Expr::Placeholder(_)
            ))
        });
        if expr.is_volatile() || bound.ok()? {
            return None;
        }
        let expr = bare(expr.clone()).ok()?;
        let text = expr_to_sql(&expr).ok()?.to_string();
        let read = self.state.create_logical_expr(&text, &self.schema).ok()?;
        let same = self.normal(read).ok()? == self.normal(expr).ok()?;
        same.then_some(text)
    }

    /// An expression in the form that equal expressions share.
    fn normal(&self, expr: Expr) -> Result<Expr> {
        let context = SimplifyContext::builder()
            .with_schema(self.schema.clone())
            .with_config_options(self.state.config_options().clone())
            .with_current_time()
            .build();
        let simplifier = ExprSimplifier::new(context);
        let expr = simplifier.coerce(bare(expr)?, &self.schema)?;
        bare(simplifier.simplify(expr)?)
    }
}

/// An expression without names of relations, and without names that change nothing.
pub fn bare(expr: Expr) -> Result<Expr> {
    let bare = expr.transform(|e| match e {
        Expr::Column(column) => {
            Ok(Transformed::yes(Expr::Column(Column::new_unqualified(column.name))))
        }
        Expr::Alias(alias) => Ok(Transformed::yes(*alias.expr)),
        other => Ok(Transformed::no(other)),
    })?;
    Ok(bare.data)
}

/// A name as SQL.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
