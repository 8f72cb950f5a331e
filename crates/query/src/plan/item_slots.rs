//! Slots of items of the select list that other clauses read; see [`super::stored_items`].

use paceline_expression::Expr;

/// Items that have slots.
#[derive(Default)]
pub(crate) struct StoredItems {
    pub items: Vec<StoredItem>,
    /// Whether HAVING and ORDER BY read the slots of items with another value each time.
    pub is_temporary: bool,
}

/// An item that has a slot.
pub(crate) struct StoredItem {
    /// Place in the select list.
    pub place: usize,
    pub slot: usize,
    /// Whether GROUP BY reads it, so that it is evaluated before grouping.
    pub before_groups: bool,
}

/// Expressions of a block that are evaluated into slots, in this order.
#[derive(Default)]
pub(crate) struct StoredExprs {
    /// Those of each row that is grouped.
    pub per_row: Vec<(Expr, usize)>,
    /// Those of each row that HAVING sees.
    pub once: Vec<(Expr, usize)>,
}
