//! The replica's side of replication: a primary's stream becomes part of this server's log.
//!
//! ```text
//!   ConnectionSet ──▶ Connection ──┬── Receiver: Source ▸ Assembler ▸ filters ──▶ ReceivedItem
//!      ▲             │        └── Applier ◀───────────────────────────────────┘
//!      │             └── Definition, places: in the log (`paceline_binlog::replica_state`)
//!   CHANGE MASTER, START SLAVE …
//! ```
//!
//! - [`connection_set`]: all connections, and the statements on them.
//! - [`connection`]: one connection; [`definition`], [`password`], [`options`], [`until`], [`status`]: its settings and
//!   state; [`environment`]: the interface to the server.
//! - [`receiver`], [`source`], [`assemble`]: from the primary's packets to whole event groups.
//! - `mysql`: translation of MySQL's events to MariaDB's.
//! - [`filter`], [`group_filter`], [`duplicates`]: selection of the groups to apply.
//! - [`received`]: items that the receiver passes to the applier.

pub mod apply;
pub mod assemble;
pub mod connection;
pub mod connection_set;
pub mod definition;
mod duplicates;
pub mod environment;
pub mod error;
pub mod filter;
mod group_filter;
mod mysql;
pub mod options;
pub mod password;
pub mod received;
mod receiver;
mod shared;
pub mod source;
pub mod status;
pub mod until;
