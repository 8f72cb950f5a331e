//! Readers of tables. A reader passes rows to a [`Visit`](super::context::Visit) in the slots of one table.

pub(crate) mod base_table;
pub(crate) mod json_table;
mod loose_scan;
mod row_batch;
pub(crate) mod series;
pub(crate) mod virtual_table;
