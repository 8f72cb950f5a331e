//! Plans of HANDLER.

use std::sync::Arc;

use super::tree::Limit;
use paceline_catalog::TableDefinition;
use paceline_expression::Expr;
use paceline_syntax::HandlerComparison;

/// Plan of HANDLER.
#[derive(Debug)]
pub enum HandlerPlan {
    /// OPEN.
    Open {
        name: String,
        definition: Arc<TableDefinition>,
    },
    /// READ.
    Read(Box<HandlerReadPlan>),
    /// CLOSE.
    Close { name: String },
}

/// Plan of HANDLER … READ.
#[derive(Debug)]
pub struct HandlerReadPlan {
    pub name: String,
    pub definition: Arc<TableDefinition>,
    /// Index; `None` for the table's own order.
    pub index: Option<usize>,
    pub start: HandlerStartPlan,
    pub conditions: Vec<Expr>,
    pub limit: Limit,
    pub projection: Vec<Expr>,
}

/// First row that HANDLER … READ considers.
#[derive(Debug)]
pub enum HandlerStartPlan {
    First,
    Next,
    Previous,
    Last,
    /// The first columns of the index compared with constants.
    Key {
        by: HandlerComparison,
        values: Vec<Expr>,
    },
}
