//! Items of the select list that are evaluated once a row, although other clauses read them too.
//!
//! An item with RAND(), `@a := …` or the like has another value each time. MariaDB stores it in a temporary table
//! before the clauses that read it: `SELECT RAND() r … ORDER BY r` is sorted by the values that it shows. Here the
//! item gets a slot of the row, and the clauses read the slot:
//!
//! ```text
//!   row of the joins ─▶ items that GROUP BY names ─▶ grouping ─▶ items that the other clauses name ─▶ HAVING ─▶ …
//! ```
//!
//! A subquery reads an item that has such a value, or contains a subquery itself, from its slot too.
//! [`super::item_slots`] has the types.
//!
//! An item that no other clause reads is evaluated for the rows that are shown, as late as possible: SLEEP(1) with
//! LIMIT 1 waits once. Without GROUP BY, DISTINCT and ORDER BY there is no temporary table: HAVING evaluates the item
//! again, as in MariaDB.

use paceline_expression::{Clause, Expr};

use super::block::{Block, Output};
use super::item_slots::{StoredExprs, StoredItem};

impl Block<'_, '_> {
    /// Returns whether an item has another value each time. Window functions are computed after HAVING: an item with
    /// one has no slot.
    pub fn is_changing(&self, item: &Expr) -> bool {
        !item.is_stable() && !self.reads_window(item)
    }

    /// Returns the expression by which a clause reads an item that it names, the slot if the item needs one.
    pub fn item(&mut self, clause: Clause, outputs: &[Output], place: usize) -> Expr {
        let expr = &outputs[place].expr;
        match (clause == Clause::GroupBy || self.stored.is_temporary) && self.is_changing(expr) {
            true => self.store(clause, place, expr),
            false => expr.clone(),
        }
    }

    /// Returns the expression by which a subquery within a clause reads an item that it names.
    pub fn item_of_subquery(&mut self, clause: Clause, outputs: &[Output], place: usize) -> Expr {
        let expr = &outputs[place].expr;
        match (!expr.is_stable() || expr.has_subquery()) && !self.reads_window(expr) {
            true => self.store(clause, place, expr),
            false => expr.clone(),
        }
    }

    fn store(&mut self, clause: Clause, place: usize, expr: &Expr) -> Expr {
        let before_groups = clause == Clause::GroupBy;
        let slot = match self.stored.items.iter_mut().find(|item| item.place == place) {
            Some(item) => {
                item.before_groups |= before_groups;
                item.slot
            }
            None => {
                let slot = self.allocate(1);
                self.stored.items.push(StoredItem {
                    place,
                    slot,
                    before_groups,
                });
                slot
            }
        };
        if before_groups {
            self.kept.push(slot);
        }
        Expr::column(slot, expr.ty.clone())
    }

    /// Makes the items with slots read them. Returns their expressions.
    pub fn store_items(&mut self, outputs: &mut [Output]) -> StoredExprs {
        let mut exprs = StoredExprs::default();
        let mut items = std::mem::take(&mut self.stored.items);
        // An item reads only those before it.
        items.sort_by_key(|item| item.place);
        for item in items {
            let expr = &mut outputs[item.place].expr;
            let column = Expr::column(item.slot, expr.ty.clone());
            let stored = (std::mem::replace(expr, column), item.slot);
            match item.before_groups {
                true => exprs.per_row.push(stored),
                false => exprs.once.push(stored),
            }
        }
        exprs
    }
}
