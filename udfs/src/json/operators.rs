//! The precedence of `->`, `->>`, `#>`, `#>>` and comparisons.
//!
//! In the SQL dialect that DataFusion reads by default, these operators bind less tightly than
//! comparisons: it parses `args->>'k' = 'v'` as `args->>('k' = 'v')`, and `x = args->>'k'` as
//! `(x = args)->>'k'`. A boolean is neither JSON nor a step in it. So a comparison next to such an
//! operator can only mean the other order, which PostgreSQL uses. The expression is rewritten to
//! that order.

use std::sync::Arc;

use datafusion_common::{DFSchema, Result, not_impl_err};
use datafusion_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion_expr::sqlparser::ast::BinaryOperator;
use datafusion_expr::{Expr, Operator};

/// A planner whose operators bind more tightly than comparisons.
#[derive(Debug)]
pub(super) struct Tight(pub Arc<dyn ExprPlanner>);

impl ExprPlanner for Tight {
    fn plan_binary_op(
        &self,
        expr: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        use BinaryOperator::{Arrow, HashArrow, HashLongArrow, LongArrow, Question};
        if !matches!(expr.op, Arrow | LongArrow | HashArrow | HashLongArrow | Question) {
            return Ok(PlannerResult::Original(expr));
        }
        let RawBinaryExpr { op, left, right } = expr;
        let plan = |json, step| match self
            .0
            .plan_binary_op(RawBinaryExpr { op, left: json, right: step }, schema)?
        {
            PlannerResult::Planned(planned) => Ok(planned),
            PlannerResult::Original(raw) => {
                not_impl_err!("the operator {} on these arguments", raw.op)
            }
        };
        // The operands of the operator are at the inner ends of the comparisons.
        at_end(left, |json| at_begin(right, |step| plan(json, step))).map(PlannerResult::Planned)
    }
}

fn is_comparison(op: Operator) -> bool {
    use Operator::{
        Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq, RegexIMatch, RegexMatch,
        RegexNotIMatch, RegexNotMatch,
    };
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom)
        || matches!(op, RegexMatch | RegexIMatch | RegexNotMatch | RegexNotIMatch)
}

/// Replaces the first operand of a comparison, or any other expression as a whole.
fn at_begin(mut expr: Expr, replace: impl FnOnce(Expr) -> Result<Expr>) -> Result<Expr> {
    let first = match &mut expr {
        Expr::BinaryExpr(binary) if is_comparison(binary.op) => Some(&mut binary.left),
        Expr::Like(like) | Expr::SimilarTo(like) => Some(&mut like.expr),
        Expr::InList(list) => Some(&mut list.expr),
        Expr::Between(between) => Some(&mut between.expr),
        Expr::IsNull(tested) | Expr::IsNotNull(tested) => Some(tested),
        Expr::IsTrue(tested)
        | Expr::IsNotTrue(tested)
        | Expr::IsFalse(tested)
        | Expr::IsNotFalse(tested) => Some(tested),
        Expr::IsUnknown(tested) | Expr::IsNotUnknown(tested) => Some(tested),
        _ => None,
    };
    match first {
        Some(first) => **first = at_begin(std::mem::take(&mut **first), replace)?,
        None => return replace(expr),
    }
    Ok(expr)
}

/// Replaces the last operand of a comparison, or any other expression as a whole.
fn at_end(mut expr: Expr, replace: impl FnOnce(Expr) -> Result<Expr>) -> Result<Expr> {
    let last = match &mut expr {
        Expr::BinaryExpr(binary) if is_comparison(binary.op) => Some(&mut binary.right),
        Expr::Like(like) | Expr::SimilarTo(like) => Some(&mut like.pattern),
        _ => None,
    };
    match last {
        Some(last) => **last = at_end(std::mem::take(&mut **last), replace)?,
        None => return replace(expr),
    }
    Ok(expr)
}

#[cfg(test)]
mod tests {
    use datafusion_expr::{col, lit};

    use super::*;

    /// A planner for tests that writes the operator as a call of `at`.
    #[derive(Debug)]
    struct Shown;

    impl ExprPlanner for Shown {
        fn plan_binary_op(
            &self,
            expr: RawBinaryExpr,
            _schema: &DFSchema,
        ) -> Result<PlannerResult<RawBinaryExpr>> {
            Ok(PlannerResult::Planned(col(format!("at({},{})", expr.left, expr.right))))
        }
    }

    fn plan(left: Expr, right: Expr) -> Expr {
        let raw = RawBinaryExpr { op: BinaryOperator::LongArrow, left, right };
        match Tight(Arc::new(Shown)).plan_binary_op(raw, &DFSchema::empty()).unwrap() {
            PlannerResult::Planned(expr) => expr,
            PlannerResult::Original(raw) => panic!("{raw:?}"),
        }
    }

    #[test]
    fn comparisons_are_outside() {
        let at = |json: &str, step: Expr| col(format!("at({json},{step})"));
        let (args, key) = (|| col("args"), || lit("k"));
        assert_eq!(plan(args(), key()), at("args", key()));
        assert_eq!(plan(args(), key().eq(lit("v"))), at("args", key()).eq(lit("v")));
        assert_eq!(plan(args(), key().like(lit("v%"))), at("args", key()).like(lit("v%")));
        assert_eq!(plan(args(), key().is_null()), at("args", key()).is_null());
        assert_eq!(
            plan(args(), key().in_list(vec![lit("a")], false)),
            at("args", key()).in_list(vec![lit("a")], false)
        );
        assert_eq!(plan(col("x").eq(args()), key()), col("x").eq(at("args", key())));
        assert_eq!(
            plan(col("x").lt(args()), key().is_true()),
            col("x").lt(at("args", key()).is_true())
        );
        // A step can be an arithmetic expression.
        assert_eq!(plan(args(), col("i") + lit(1)), at("args", col("i") + lit(1)));
    }
}
