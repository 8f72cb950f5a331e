//! The replica's side: what a primary sends becomes our log.
//!
//! ```text
//!   Replicas ──▶ Connection ──┬── Receiver: Source ▸ Assembler ▸ filters ──▶ Received
//!      ▲             │        └── Applier ◀───────────────────────────────────┘
//!      │             └── Definition, places: in the log (`paceline_binlog::replica_state`)
//!   CHANGE MASTER, START SLAVE …
//! ```
//!
//! - [`replicas`]: all connections; what the statements do.
//! - [`connection`]: one connection; [`definition`], [`options`], [`until`], [`status`]: what is said of it; [`environment`]: the server around it.
//! - [`receiver`], [`source`], [`assemble`]: from the primary's packets to whole event groups.
//! - `mysql`: MySQL's events become MariaDB's.
//! - [`filter`], [`group_filter`], [`duplicates`]: what of them is for us.
//! - [`received`]: what the receiver hands to the applier.

pub mod apply;
pub mod assemble;
pub mod connection;
pub mod definition;
mod duplicates;
pub mod environment;
pub mod error;
pub mod filter;
mod group_filter;
mod mysql;
pub mod options;
pub mod received;
mod receiver;
pub mod replicas;
mod shared;
pub mod source;
pub mod status;
pub mod until;
