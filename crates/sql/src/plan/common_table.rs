//! Common table expressions, while the queries that see them are bound.

use std::rc::Rc;
use std::sync::Arc;

use super::ResultColumn;
use super::tree::QueryPlan;
use crate::expr::ExprType;

/// Which common table expressions a query sees, innermost first.
#[derive(Clone, Default)]
pub(crate) struct CommonTables(Option<Rc<CommonTable>>);

pub(crate) struct CommonTable {
    pub name: String,
    pub kind: CommonTableKind,
    pub columns: Vec<ResultColumn>,
    pub types: Vec<ExprType>,
    next: CommonTables,
}

#[derive(Clone)]
pub(crate) enum CommonTableKind {
    /// Its plan, shared by all references: it is materialised once.
    Planned(Arc<QueryPlan>),
    /// Inside its own definition.
    Recursive(u64),
}

impl CommonTables {
    pub fn with(
        &self,
        name: String,
        kind: CommonTableKind,
        columns: Vec<ResultColumn>,
        types: Vec<ExprType>,
    ) -> Self {
        CommonTables(Some(Rc::new(CommonTable {
            name,
            kind,
            columns,
            types,
            next: self.clone(),
        })))
    }

    pub fn find(&self, name: &str) -> Option<&CommonTable> {
        let mut current = self.0.as_deref();
        while let Some(table) = current {
            if table.name.eq_ignore_ascii_case(name) {
                return Some(table);
            }
            current = table.next.0.as_deref();
        }
        None
    }
}
