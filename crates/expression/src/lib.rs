//! Expressions: from syntax to values.
//!
//! ```text
//!   ast::Expr ──bind_expr, Scope──▶ Expr ──eval, EvalContext──▶ Value
//!          names              (types, rules,           (row, parameters,
//!                              constants folded)         outer rows, subqueries)
//! ```
//!
//! * [`bind`](bind_expr) makes every decision that depends only on types: conversions, comparison rules,
//!   collations, the type of the result. Evaluation does not decide them again for each row.
//! * A [`Scope`] is the statement's side of binding: columns, aliases, subqueries, aggregates, parameters.
//! * [`EvalContext`] is the statement's side of evaluation: session, parameters, outer rows, a
//!   [`SubqueryRunner`].
//! * NULL, warnings and errors follow MariaDB 10.11. The differences are listed in `tests/expressions/`.
//!
//! The crate knows nothing of tables: columns are slots of a row. [`session`] contains the session state that
//! expressions read.
#![forbid(unsafe_code)]

mod aggregate;
mod bind;
mod cast;
mod context;
mod error;
pub mod errors;
mod eval;
mod expr_type;
mod functions;
mod scope;
pub mod session;
mod sliding;
mod subquery;
mod subquery_results;
#[cfg(test)]
mod tests;
mod tree;
mod window;

pub use aggregate::CountedKeys;
pub use aggregate::own_rule;
pub use aggregate::{Accumulator, Aggregate, AggregateFunction, Distinctness};
pub use bind::{CollationMix, arithmetic};
pub use bind::{
    bind_comparison, bind_condition, bind_expr, common_type, comparison_rule, convert_to_common_type,
    union_type,
};
pub use cast::CastTarget;
pub use context::{EvalContext, EvalMode, EvalState, OuterRow, SubqueryFrame, SubqueryRunner};
pub use error::{Error, Result};
pub use eval::convert::{
    as_computed, bytes_of, for_user_variable, text_of, to_decimal, to_double, to_i64, to_i128,
};
pub use eval::in_set::InSet;
pub use eval::{as_assigned, compare_values};
pub use expr_type::{Class, Coercibility, ExprType, NOT_FIXED_DECIMALS, TypeNote};
pub use functions::{Call, Function, Stability};
pub use scope::{Clause, Correlation, EmptyScope, Scope, Subquery, SubqueryId};
pub use sliding::{Slide, SlidingAccumulator};
pub use tree::{ArithmeticOp, BitOp, CompareOp, Comparison, Domain, Expr, ExprKind, Quantifier, Truth};
pub use window::{Frame, FrameBound, FrameUnits, SortOrder, WindowCall, WindowFunction};
