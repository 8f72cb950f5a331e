//! Conditions on names of databases and tables in `information_schema`.
//!
//! The columns are compared without case, but databases and tables whose names differ in case are different. For
//! `TABLE_SCHEMA = 'd'` and `TABLE_NAME = 't'` MariaDB searches its directories, and so finds exactly this name. Other
//! conditions use the collation of the columns. Here a further condition is added to such a one. The names of
//! `information_schema` and its tables are matched without case.

use paceline_types::{Collation, Value};

use super::block::Block;
use super::table_ref::TableRef;
use super::tree::TableSource;
use paceline_expression::{CompareOp, Comparison, Expr, ExprKind, ExprType};

const DATABASE: &str = "information_schema";

/// Returns the columns of a table by which MariaDB finds databases and tables.
fn lookup_columns(table: &str) -> Option<(&'static str, Option<&'static str>)> {
    Some(match table.to_ascii_uppercase().as_str() {
        "SCHEMATA" => ("SCHEMA_NAME", None),
        "CHECK_CONSTRAINTS" | "REFERENTIAL_CONSTRAINTS" => ("CONSTRAINT_SCHEMA", Some("TABLE_NAME")),
        "COLUMNS" | "KEY_COLUMN_USAGE" | "PARTITIONS" | "STATISTICS" | "TABLES" | "TABLE_CONSTRAINTS"
        | "VIEWS" => ("TABLE_SCHEMA", Some("TABLE_NAME")),
        _ => return None,
    })
}

impl Block<'_, '_> {
    /// Adds a condition on the exact name to conditions on the name of a database or table.
    pub fn add_exact_names(&self, conditions: &mut Vec<Expr>) {
        let exact: Vec<Expr> = conditions
            .iter()
            .filter_map(|condition| self.exact_name(condition))
            .collect();
        conditions.extend(exact);
    }

    fn exact_name(&self, condition: &Expr) -> Option<Expr> {
        let (by, left, right) = match &condition.kind {
            ExprKind::Compare {
                op: CompareOp::Eq | CompareOp::NullSafeEq,
                by,
                operands,
            } => (by, &operands[0], &operands[1]),
            ExprKind::InList {
                by,
                negated: false,
                needle,
                list,
                ..
            } if list.len() == 1 => (&by[0], &**needle, &list[0]),
            _ => return None,
        };
        let by = match by {
            Comparison::Text(_) => Comparison::Text(Collation::Utf8mb4Bin),
            Comparison::Dynamic { exact, .. } => Comparison::Dynamic {
                collation: Collation::Utf8mb4Bin,
                exact: *exact,
            },
            _ => return None,
        };
        let (slot, name) = match (&left.kind, &right.kind) {
            (ExprKind::Column(slot), _) if is_constant(right) => (*slot, right),
            (_, ExprKind::Column(slot)) if is_constant(left) => (*slot, left),
            _ => return None,
        };
        let table = self.tables.iter().find(|table| table.slots().contains(&slot))?;
        let TableSource::Virtual {
            database,
            table: table_name,
        } = &table.source
        else {
            return None;
        };
        if !database.eq_ignore_ascii_case(DATABASE) {
            return None;
        }
        let (of_database, of_table) = lookup_columns(table_name)?;
        let column = column_name(table, slot);
        if column != of_database && Some(column) != of_table {
            return None;
        }
        let database_slot = table
            .slots()
            .find(|&slot| column_name(table, slot) == of_database)?;
        let column = |slot: usize| Expr::column(slot, table.columns[slot - table.base].ty.clone());
        let own_type = table.columns[database_slot - table.base].ty.clone();
        let own = Expr::literal(Value::Text(DATABASE.to_owned()), own_type);
        let own = equal(
            Comparison::Text(Collation::Utf8mb4GeneralCi),
            column(database_slot),
            own,
        );
        Some(Expr {
            kind: ExprKind::Or(vec![equal(by, column(slot), name.clone()), own]),
            ty: ExprType::boolean().nullable(),
        })
    }
}

fn column_name(table: &TableRef, slot: usize) -> &str {
    table.columns[slot - table.base].name()
}

fn equal(by: Comparison, left: Expr, right: Expr) -> Expr {
    Expr {
        kind: ExprKind::Compare {
            op: CompareOp::Eq,
            by,
            operands: Box::new([left, right]),
        },
        ty: ExprType::boolean().nullable(),
    }
}

fn is_constant(expr: &Expr) -> bool {
    !expr.any(&mut |node| {
        matches!(
            node.kind,
            ExprKind::Column(_)
                | ExprKind::Aggregate(_)
                | ExprKind::AssignUserVariable { .. }
                | ExprKind::ScalarSubquery(_)
                | ExprKind::Exists { .. }
                | ExprKind::Quantified { .. }
        )
    })
}
