//! Changes of rows: what a column gets, and how a row is written.

pub(crate) mod assignment;
pub(crate) mod auto_increment;
pub(crate) mod row_writer;
