//! The primary's side: what a replica is sent.
