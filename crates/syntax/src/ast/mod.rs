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
//! The tree says what MariaDB's grammar can say and nothing else. Each node has one meaning: a user variable, a
//! parameter and a column are different nodes, not spellings of an identifier. What only spells the same thing
//! differently is gone: `!=` and `<>`, `SUBSTR` and `SUBSTRING(a FROM b)`, `a SOUNDS LIKE b`, the `RIGHT` of a name in
//! backticks. What MariaDB shows again is kept: parentheses, the side of a join, whether a select item was named.
//!
//! * [`visit`] walks the tree without and with changing it.
//! * [`print`] is the text of an expression in error messages and generated column names. The text of views, defaults
//!   and checks is [`crate::ddl`]'s normal form, which knows the catalog.
//!
//! # Limits
//! The parser bounds the height of a tree ([`super::ParseOptions::depth_max`]) and its memory. Code that recurses over
//! it goes through [`crate::stack`].
//!
//! # Rejected
//! * The tree of the `sqlparser` crate, which stood here before: fourteen fields of a SELECT belong to other dialects,
//!   and what it has no node for was hidden in strings (docs/decisions/0029).
//! * Source positions in every node: only a select item's text is needed later, and it is kept as the item's name.

mod expr;
mod function;
mod literal;
mod name;
mod print;
mod query;
mod table;
mod variable;
pub mod visit;
mod window;

pub use expr::{
    BinaryOp, CaseBranch, CastType, Expr, Interval, IntervalUnit, Quantifier, TemporalKind, TrimSide,
    TruthTest, UnaryOp,
};
pub use function::{Arguments, FunctionCall};
pub use literal::Literal;
pub use name::{ColumnName, TableName};
pub use query::{
    CommonTable, ItemName, Limit, LockStrength, LockWait, OrderItem, Query, QueryBody, RowLocking, Select,
    SelectItem, SelectModifiers, SetOperator, SortOrder, Ties, With,
};
pub use table::{
    HintKind, HintScope, IndexHint, Join, JoinConstraint, JoinKind, JoinedTables, TableFactor, single_table,
};
pub use variable::VariableScope;
pub use window::{FrameBound, FrameUnits, NamedWindow, Over, WindowFrame, WindowSpec};
