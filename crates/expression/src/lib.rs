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
//!   [`NestedRunner`].
//! * NULL, warnings and errors follow MariaDB 10.11. The differences are listed in `tests/expressions/`.
//!
//! The crate knows nothing of tables: columns are slots of a row. [`session`] contains the session state that
//! expressions read.
//!
//! # Layers
//! A module uses only those below it, which `tools/tidy.py` checks:
//!
//! ```text
//!   bind                       names and syntax become nodes
//!   functions    aggregate     the table of functions; accumulators, for windows too (sliding)
//!   typing       scope         conversions that follow from the types of bound operands; what binding asks
//!   eval                       nodes become values: comparison, arithmetic, casts, subqueries
//!   rules                      collations, common types, rules of comparisons
//!   tree                       the nodes: expressions, calls of functions, aggregates and windows
//!   loadable                   calls of functions of libraries
//!   context                    what evaluation reads and writes besides the row
//!   session, subquery, regex, expr_type
//! ```
#![forbid(unsafe_code)]

mod aggregate;
mod bind;
mod context;
mod error;
pub mod errors;
mod eval;
mod expr_type;
mod function_id;
mod functions;
mod loadable;
mod print;
mod regex;
mod rules;
mod scope;
pub mod session;
mod sliding;
mod slot_names;
mod stored_function;
mod subquery;
#[cfg(test)]
mod tests;
mod tree;
mod typing;
mod xpath;

pub use aggregate::{Accumulator, CountedKeys};
pub use bind::{bind_comparison, bind_condition, bind_expr, convert_to_common_type, is_native_function};
pub use context::{EvalContext, EvalMode, EvalState, NestedRunner, SubqueryFrame};
pub use error::{Error, Result};
pub use eval::convert::{
    as_computed, bytes_of, hex_number, text_of, to_decimal, to_double, to_fixed_binary, to_i64, to_i128,
    truth,
};
pub use eval::{as_assigned, compare_values, own_rule};
pub use expr_type::{Class, Coercibility, ExprType, NOT_FIXED_DECIMALS, TypeNote};
pub use function_id::{FunctionId, StoredCall, StoredFunction};
pub use functions::json::{document_error, path_error};
pub use functions::native_function;
pub use loadable::GroupCall;
pub use print::{append_aggregate, append_expression, append_quoted};
pub use rules::{CollationMix, comparison_rule, union_type};
pub use scope::{Clause, Dependence, EmptyScope, Scope};
pub use sliding::{Slide, SlidingAccumulator};
pub use slot_names::SlotNames;
pub use subquery::{Correlation, Subquery, SubqueryId};
pub use tree::window::{Frame, FrameBound, FrameUnits, SortOrder, WindowCall, WindowFunction};
pub use tree::{
    Aggregate, AggregateFunction, ArithmeticOp, BitOp, Call, CastTarget, CompareOp, Comparison, Distinctness,
    Domain, Escape, Expr, ExprKind, Function, InSet, LoadableCall, Quantifier, Stability, Truth,
};
pub use typing::arithmetic::arithmetic;
pub use typing::refusal::refused_assignment;
