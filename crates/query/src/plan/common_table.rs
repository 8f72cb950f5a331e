//! Common table expressions while the queries that can name them are bound.
//!
//! Within its own definition a recursive table has the rows of the last round. As in MariaDB, a SELECT there may name
//! it only once, not in a subquery of an expression, not on the inner side of an outer join, and without aggregates; in
//! a derived table it may.

use std::rc::Rc;
use std::sync::Arc;

use paceline_types::error_code::ER_NOT_STANDARD_COMPLIANT_RECURSIVE;

use super::ResultColumn;
use super::table_ref::TableRef;
use super::tree::{QueryBody, QueryPlan, TableSource};
use crate::error::{Error, Result};
use paceline_expression::ExprType;

/// Common table expressions that a query can name, innermost first.
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
    /// A planned query. All references share it, so it is computed once.
    Planned(Arc<QueryPlan>),
    /// A recursive table within its own definition.
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
        self.iter().find(|table| table.name.eq_ignore_ascii_case(name))
    }

    fn iter(&self) -> impl Iterator<Item = &CommonTable> {
        std::iter::successors(self.0.as_deref(), |table| table.next.0.as_deref())
    }

    /// Returns names and numbers of the recursive tables whose definition contains the query.
    fn recursive(&self) -> impl Iterator<Item = (&str, u64)> {
        self.iter().filter_map(|table| match table.kind {
            CommonTableKind::Recursive(number) => Some((table.name.as_str(), number)),
            CommonTableKind::Planned(_) => None,
        })
    }

    /// Checks a subquery of an expression.
    ///
    /// # Errors
    /// 4008 if it reads a recursive table.
    pub fn check_subquery(&self, plan: &QueryPlan) -> Result<()> {
        match self.recursive().find(|(_, number)| reads(plan, *number) > 0) {
            Some((name, _)) => Err(not_compliant(name)),
            None => Ok(()),
        }
    }

    /// Checks the FROM of a SELECT.
    ///
    /// # Errors
    /// 4008 if it reads a recursive table twice, or on the inner side of an outer join.
    pub fn check_from(&self, tables: &[TableRef]) -> Result<()> {
        for (name, number) in self.recursive() {
            let is_optional = |table: &TableRef| {
                table.nullable && matches!(table.source, TableSource::Recursive(read) if read == number)
            };
            let count: usize = tables
                .iter()
                .map(|table| source_reads(&table.source, number))
                .sum();
            if count > 1 || tables.iter().any(is_optional) {
                return Err(not_compliant(name));
            }
        }
        Ok(())
    }
}

pub(crate) fn not_compliant(name: &str) -> Error {
    Error::new(ER_NOT_STANDARD_COMPLIANT_RECURSIVE, &[&name])
}

/// Returns how often a SELECT reads a recursive table; for set operations the maximum of their SELECTs.
fn reads(plan: &QueryPlan, number: u64) -> usize {
    match &plan.body {
        QueryBody::Select(select) => {
            let tables = select.tables.iter();
            tables.map(|table| source_reads(&table.source, number)).sum()
        }
        QueryBody::Set(set) => {
            let sides = set.sides.iter().map(|side| reads(side, number));
            sides.max().unwrap_or(0)
        }
        QueryBody::Recursive(recursive) => {
            reads(&recursive.anchor, number).max(reads(&recursive.step, number))
        }
        QueryBody::Values(_) => 0,
    }
}

fn source_reads(source: &TableSource, number: u64) -> usize {
    match source {
        TableSource::Recursive(read) => usize::from(*read == number),
        TableSource::Derived(plan) => reads(plan, number),
        TableSource::Base(_) | TableSource::MergedView => 0,
        TableSource::Series(_) | TableSource::Virtual { .. } | TableSource::Json(_) => 0,
    }
}

/// Adds the ids of all derived tables within a query that read a recursive table.
pub(crate) fn add_readers(plan: &QueryPlan, number: u64, readers: &mut Vec<u64>) {
    match &plan.body {
        QueryBody::Select(select) => {
            for table in &select.tables {
                if let TableSource::Derived(plan) = &table.source
                    && reads(plan, number) > 0
                {
                    readers.push(plan.id);
                    add_readers(plan, number, readers);
                }
            }
        }
        QueryBody::Set(set) => set
            .sides
            .iter()
            .for_each(|side| add_readers(side, number, readers)),
        QueryBody::Recursive(recursive) => {
            add_readers(&recursive.anchor, number, readers);
            add_readers(&recursive.step, number, readers);
        }
        QueryBody::Values(_) => {}
    }
}
