//! Operators of queries. An operator receives rows as a consumer of those below it, and passes its own to a consumer.
//!
//! ```text
//!   query ─▶ select ─▶ [aggregation] ─▶ [window] ─▶ [sort_key, limit] ─▶ consumer
//!     │         └─▶ join ─▶ table_access ─▶ join_buffer, derived, readers
//!     ├─▶ set_operation, values ─▶ arrangement ─▶ consumer
//!     └─▶ recursive
//! ```
//! For the ANALYZE statement, [`measure`] measures queries and tables on their way.
//!
//! Queries within a query (sides of a set operation, rounds of a recursion, derived tables) run through
//! [`Execution::run_query`](super::context::Execution::run_query).

mod aggregation;
mod arrangement;
mod derived;
pub(crate) mod join;
mod join_buffer;
pub(crate) mod limit;
mod measure;
mod outer_row;
pub(crate) mod query;
mod recursive;
pub(crate) mod select;
mod set_operation;
pub(crate) mod sort_key;
mod table_access;
mod values;
mod window;
