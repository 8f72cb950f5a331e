//! The replica's side: what a primary sends becomes our log.
//!
//! - [`received`]: what the receiver hands to the applier.

pub mod received;
