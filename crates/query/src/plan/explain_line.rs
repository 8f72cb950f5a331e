//! A line of EXPLAIN.

/// A line, in MariaDB's columns.
#[derive(Default)]
pub(super) struct Line {
    pub(super) id: Option<u32>,
    pub(super) select_type: &'static str,
    pub(super) table: Option<String>,
    pub(super) access: Option<&'static str>,
    pub(super) possible_keys: Option<String>,
    pub(super) key: Option<String>,
    pub(super) key_len: Option<String>,
    pub(super) reference: Option<String>,
    pub(super) rows: Option<u64>,
    pub(super) extra: String,
}
