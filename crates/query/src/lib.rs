//! Queries: from a statement to rows.
//!
//! ```text
//! Statement (`syntax`) ──plan──▶ Plan ──execute──▶ rows, or a write set in the transaction
//!                         ▲              ▲
//!                      `catalog`     `expression`
//! ```
//!
//! * [`plan`] picks access paths; [`execute`] runs them against a transaction.
//! * [`program`] is what stored programs need of a session.
//!
//! The crate knows nothing of sockets and packets: results leave through a trait of [`execute`].
#![forbid(unsafe_code)]

mod address_hasher;
mod error;
pub mod execute;
pub mod plan;
pub mod program;

pub use error::{Error, Result};
