//! Subqueries inside expressions: scalar, EXISTS, IN, ANY and ALL, over the rows that a [`super::SubqueryRunner`] gives.

use paceline_types::Value;

/// All rows of an uncorrelated subquery, kept for the rest of the statement.
#[derive(Debug, Default)]
pub struct CachedRows {
    pub(crate) rows: Vec<Vec<Value>>,
}
