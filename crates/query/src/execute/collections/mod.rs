//! Collections of rows, charged to the statement's memory, and the keys by which they find, sort and compare rows.

pub(crate) mod derived_rows;
pub(crate) mod distinct;
pub(crate) mod hash_table;
pub(crate) mod memory;
mod row_codec;
pub(crate) mod row_store;
pub(crate) mod sorter;
pub(crate) mod temporary_key;
