//! SQL: from a statement to rows.
//!
//! ```text
//! Statement (`syntax`) ──plan──▶ Plan ──execute──▶ rows, or a write set in the transaction
//!     │         ▲                ▲
//!     │      catalog           expr
//!     └──ddl──▶ DdlPlan: records, builds, the next catalog
//! ```
//!
//! * [`catalog`] knows databases and tables: an immutable snapshot behind one atomic pointer.
//! * [`ddl`] turns a definition statement into what has to change, at run time and when the log is replayed.
//! * [`expr`] binds and evaluates expressions; [`session`] is what they read of a session.
//! * [`foreign_key`] is what a changed row asks of other tables.
//! * [`plan`] picks access paths; [`execute`] runs them against a transaction.
//!
//! The crate knows nothing of sockets and packets: results leave through a trait of [`execute`].
#![forbid(unsafe_code)]

pub mod catalog;
pub mod ddl;
mod error;
pub mod execute;
pub mod expr;
pub mod foreign_key;
pub mod plan;
pub mod session;

pub use error::{Error, Result};
