//! Databases and tables: what there is, and what it looks like.

mod definition;

pub use definition::*;
