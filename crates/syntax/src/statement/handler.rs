//! HANDLER: rows of a table read one after the other, in the order of an index.

use crate::ast::{Expr, Limit, TableName};

/// `HANDLER …`.
#[derive(Debug, Clone, PartialEq)]
pub enum HandlerStatement {
    /// `HANDLER table OPEN [AS alias]`.
    Open { table: TableName, alias: Option<String> },
    /// `HANDLER name READ …`.
    Read(HandlerRead),
    /// `HANDLER name CLOSE`.
    Close(String),
}

/// `HANDLER name READ [index] … [WHERE …] [LIMIT …]`.
#[derive(Debug, Clone, PartialEq)]
pub struct HandlerRead {
    pub name: String,
    /// Index; `None` for the table in its own order.
    pub index: Option<String>,
    pub start: HandlerStart,
    pub selection: Option<Expr>,
    pub limit: Option<Limit>,
}

/// First row that HANDLER … READ considers.
#[derive(Debug, Clone, PartialEq)]
pub enum HandlerStart {
    First,
    Next,
    Previous,
    Last,
    /// `= (value, …)` and similar: the first columns of the index compared with values.
    Key {
        by: HandlerComparison,
        values: Vec<Expr>,
    },
}

/// Comparison of an index with values in HANDLER … READ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlerComparison {
    Equal,
    GreaterOrEqual,
    LessOrEqual,
    Greater,
    Less,
}
