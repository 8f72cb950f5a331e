//! A log between servers: served to replicas, and read from a primary.
//!
//! ```text
//!   Log ──▶ primary::(reader per file, stream per replica) ──▶ socket ──▶ source::Source ──▶ Assembler ──▶ event groups
//!     ▲                                                                        │
//!     └────────── semi-sync acknowledgements ◀─────────────────────────────────┘
//! ```
//!
//! [`primary`] is the side that has the log, [`source`] the side that follows it. The crate knows events and groups,
//! but neither tables nor what happens to a group: a replica applies it, an archive stores it.
#![forbid(unsafe_code)]

pub mod primary;
pub mod source;
