//! The replica's side: what a primary sends becomes our log.
//!
//! - [`received`]: what the receiver hands to the applier.
//! - [`apply`]: the applier.

pub mod apply;
pub mod received;
