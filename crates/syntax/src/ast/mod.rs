//! The syntax tree of queries and expressions.
//!
//! ```text
//!   Query ─┬─ with: CommonTable …
//!          ├─ body: QueryBody ─┬─ Select ─┬─ items: SelectItem ──▶ Expr
//!          │                   │          └─ from: JoinedTables ──▶ TableFactor ──▶ Query
//!          │                   ├─ SetOperation (UNION, EXCEPT, INTERSECT)
//!          │                   └─ Values
//!          └─ order_by, limit, lock
//! ```
//!
//! The tree can express exactly what MariaDB's grammar can. Each node has one meaning: a user variable, a
//! parameter and a column are different nodes, not spellings of an identifier. Differences that are only
//! spelling disappear: `!=` and `<>`, `SUBSTR` and `SUBSTRING(a FROM b)`, `a SOUNDS LIKE b`, backticks around
//! a name. Differences that MariaDB displays again are kept: parentheses, the side of a join, whether a
//! select item has an alias.
//!
//! * [`visit`] walks the tree, read-only or changing it.
//! * [`print`] writes an expression as error messages and generated column names show it. The text of views,
//!   defaults and checks is written by `paceline_catalog::ddl::normal_form`, which knows the catalog.
//!
//! # Limits
//! The parser bounds the height of a tree ([`super::ParseOptions::depth_max`]) and its memory. Code that
//! recurses over it goes through [`crate::stack`].
//!
//! # Rejected
//! * The tree of the `sqlparser` crate, which was used before: fourteen fields of a SELECT belong to other
//!   dialects, and what it has no node for was hidden in strings (docs/decisions/0029).
//! * Source positions in every node: only the text of a select item is needed later, and it is kept as the
//!   item's name.

// A node is documented by its SQL; a field whose name is the clause needs no comment.
#![allow(missing_docs)]

mod expr;
mod function;
mod json_table;
mod literal;
mod name;
mod print;
mod query;
mod sequence;
mod table;
mod type_spec;
mod variable;
pub mod visit;
mod window;

pub use expr::{
    BinaryOp, CaseBranch, CastType, DynamicColumn, DynamicType, Expr, Interval, IntervalUnit, Quantifier,
    TemporalKind, TrimSide, TruthTest, UnaryOp,
};
pub use function::{ArgumentName, Arguments, FunctionCall};
pub use json_table::{JsonColumn, JsonResponse, JsonTable};
pub use literal::Literal;
pub use name::{ColumnName, ROW_ID, TableName};
pub use query::{
    CommonTable, ItemName, Limit, LockStrength, LockWait, OrderItem, Query, QueryBody, RowLocking, Select,
    SelectItem, SelectModifiers, SetOperator, SortOrder, Ties, With,
};
pub use sequence::{SequenceOperation, SequenceValue};
pub(crate) use table::single_table;
pub use table::{HintKind, HintScope, IndexHint, Join, JoinConstraint, JoinKind, JoinedTables, TableFactor};
pub use type_spec::{CharsetName, TypeKind, TypeSpec};
pub use variable::VariableScope;
pub use window::{FrameBound, FrameUnits, NamedWindow, Over, WindowFrame, WindowSpec};
