//! Changes of columns that leave the rows as they are: columns that are added, dropped, moved or widened. Earlier rows
//! are converted when they are read ([`paceline_storage::EarlierFormat`]).
//!
//! | change | what happens to the rows |
//! |---|---|
//! | a new column with a default that is the same for all rows | they get this value when they are read |
//! | a dropped or moved column | nothing |
//! | a type whose values are all values of the new type, NOT NULL that becomes NULL | nothing; indexes whose keys change are built anew |
//! | a column of the key under which rows are stored changes, a table without such a key | they are written anew |
//! | a generated or AUTO_INCREMENT column is added, NULL becomes NOT NULL, any other type | they are written anew |

use paceline_storage::{Direction, RowPlacement};
use paceline_types::row_conversion::{ColumnOrigin, constant_image};
use paceline_types::{DataType, Sign, Value};

use super::compatibility::{is_extended_by, keeps_values, same_form, stored_alike, text_grows};
use crate::ddl::assignment::assign;
use crate::ddl::plan::Planner;
use crate::ddl::row_expression::RowExpressions;
use crate::ddl::table_build::VARYING_DEFAULT;
use crate::earlier_rows::{EARLIER_FORMATS_MAX, after_change};
use crate::error::{Error, Result};
use crate::{
    ColumnDefault, ColumnDefinition, EarlierRows, IndexDefinition, TableDefinition, TableDescription,
    TableEngine,
};
use paceline_syntax::ast::Expr;
use paceline_syntax::ast::visit::for_each_expr;
use paceline_syntax::parse_expression;

/// How a change of the columns treats the rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RowTreatment {
    /// They have the same form before and after it.
    Kept,
    /// They are converted when they are read.
    ConvertedLater,
    /// They are written anew.
    Rewritten,
}

/// Columns before and after a change.
#[derive(Clone, Copy)]
pub(super) struct ColumnChange<'c> {
    pub old: &'c TableDefinition,
    pub new: &'c TableDescription,
    /// For each new column, its index in the old table.
    pub sources: &'c [Option<usize>],
    pub renames: &'c [(String, String)],
}

impl ColumnChange<'_> {
    /// Returns how the rows are treated. `changed_keys` are the [indexes whose keys
    /// change](Self::indexes_with_changed_keys).
    pub fn treatment(&self, changed_keys: &[usize]) -> RowTreatment {
        let (old, new) = (self.old, self.new);
        let is_in_place = self.sources.len() == old.columns().len()
            && self.sources.iter().enumerate().all(|(n, source)| {
                *source == Some(n)
                    && (stored_alike(&old.columns()[n], &new.columns[n], self.renames)
                        || self.becomes_nullable(n))
            });
        let is_convertible = || {
            old.engine == TableEngine::InnoDb
                && !old.is_temporary()
                && matches!(old.schema().clustered(), RowPlacement::Key(_))
                && old.earlier_rows.len() < EARLIER_FORMATS_MAX
                && self
                    .sources
                    .iter()
                    .zip(&new.columns)
                    .all(|(source, column)| match source {
                        Some(place) => widens(&old.columns()[*place], column, self.renames),
                        None => is_the_same_in_all_rows(column),
                    })
        };
        let is_clustered = |place: &usize| new.indexes[*place].id == old.schema().clustered_id().as_u32();
        match (changed_keys.iter().any(is_clustered), is_in_place) {
            (true, _) => RowTreatment::Rewritten,
            (false, true) => RowTreatment::Kept,
            (false, false) if is_convertible() => RowTreatment::ConvertedLater,
            (false, false) => RowTreatment::Rewritten,
        }
    }

    /// Returns whether a column differs only in that it may be NULL now. The image of a row has a bit for each column.
    fn becomes_nullable(&self, place: usize) -> bool {
        let (old, new) = (&self.old.columns()[place], &self.new.columns[place]);
        !old.nullable && new.nullable && keeps_values(old, new, self.renames) && same_form(old, new)
    }

    /// Returns the places of the existing indexes whose keys change.
    pub fn indexes_with_changed_keys(&self) -> Vec<usize> {
        let is_changed = |index: &IndexDefinition| {
            let before = self.old.indexes().iter().find(|old| old.id == index.id);
            before.is_some_and(|before| !self.keys_stay(before, index))
        };
        let places = self.new.indexes.iter().enumerate();
        places
            .filter(|(_, index)| is_changed(index))
            .map(|(place, _)| place)
            .collect()
    }

    fn keys_stay(&self, before: &IndexDefinition, after: &IndexDefinition) -> bool {
        before.parts.len() == after.parts.len()
            && before.hashed == after.hashed
            && before.kind.is_unique() == after.kind.is_unique()
            && before.parts.iter().zip(&after.parts).all(|(before, after)| {
                let (old, new) = (
                    &self.old.columns()[before.column],
                    &self.new.columns[after.column],
                );
                self.sources[after.column] == Some(before.column)
                    && before.prefix_length == after.prefix_length
                    && old.nullable == new.nullable
                    && (same_form(old, new) || string_grows(&old.data_type, &new.data_type))
            })
    }
}

/// Returns whether all values of the old column are values of the new one, and mean the same.
fn widens(old: &ColumnDefinition, new: &ColumnDefinition, renames: &[(String, String)]) -> bool {
    (!old.nullable || new.nullable)
        && keeps_values(old, new, renames)
        && (same_form(old, new) || type_widens(&old.data_type, &new.data_type))
}

fn type_widens(old: &DataType, new: &DataType) -> bool {
    use DataType::{DateTime, Decimal, Enum, Integer, Set, Time, Timestamp};
    match (old, new) {
        (Integer(old), Integer(new)) => match (old.sign, new.sign) {
            (a, b) if a == b => old.width.bytes() <= new.width.bytes(),
            (Sign::Unsigned, _) => old.width.bytes() < new.width.bytes(),
            _ => false,
        },
        (Decimal(old), Decimal(new)) => {
            (old.sign == new.sign || old.sign == Sign::Unsigned)
                && old.scale <= new.scale
                && old.precision - old.scale <= new.precision - new.scale
        }
        (
            Enum {
                labels: old,
                collation: a,
            },
            Enum {
                labels: new,
                collation: b,
            },
        )
        | (
            Set {
                labels: old,
                collation: a,
            },
            Set {
                labels: new,
                collation: b,
            },
        ) => a == b && is_extended_by(old, new),
        (Time { decimals: old }, Time { decimals: new })
        | (DateTime { decimals: old }, DateTime { decimals: new })
        | (Timestamp { decimals: old }, Timestamp { decimals: new }) => old <= new,
        _ => string_grows(old, new),
    }
}

/// Returns whether a string only gets a greater maximal length. Its sort keys do not depend on that.
fn string_grows(old: &DataType, new: &DataType) -> bool {
    match (old, new) {
        (
            DataType::Char {
                length: old,
                collation: a,
            },
            DataType::Char {
                length: new,
                collation: b,
            },
        ) => a == b && old <= new,
        _ => text_grows(old, new),
    }
}

/// Returns whether a column's default has another value in each row. MariaDB evaluates any other one once.
pub(super) fn has_varying_default(column: &ColumnDefinition) -> bool {
    const VARYING: [&str; 6] = ["UUID", "UUID_SHORT", "SYS_GUID", "NEXTVAL", "LASTVAL", "SETVAL"];
    let ColumnDefault::Expression(text) = &column.default else {
        return false;
    };
    let Ok(expr) = parse_expression(text) else {
        return true;
    };
    let mut depends = false;
    for_each_expr(&expr, |node| {
        depends |= match node {
            Expr::Column(_) | Expr::Sequence(_) => true,
            Expr::Call(call) => VARYING.iter().any(|name| call.is_named(name)),
            _ => false,
        };
    });
    depends
}

/// Returns whether a new column has the same value in all existing rows.
fn is_the_same_in_all_rows(column: &ColumnDefinition) -> bool {
    !has_varying_default(column) && column.generated.is_none() && !column.auto_increment
}

impl Planner<'_> {
    /// Returns the formats of earlier rows after a change of the columns. An empty table has none.
    ///
    /// # Errors
    /// Those of a new column's default.
    pub(super) fn earlier_rows(&mut self, change: &ColumnChange<'_>) -> Result<Vec<EarlierRows>> {
        let (old, new) = (change.old, change.new);
        let Some(data) = self.data else {
            return Ok(Vec::new());
        };
        let mut rows = data.snapshot.scan(old.schema().rows_range(), Direction::Forward);
        if !rows.advance()? {
            return Ok(Vec::new());
        }
        let mut expressions = RowExpressions::new(new, self.session)?;
        let no_row = vec![Value::Null; new.columns.len()];
        let mut origins = Vec::with_capacity(new.columns.len());
        for (n, (source, column)) in change.sources.iter().zip(&new.columns).enumerate() {
            origins.push(match source {
                Some(place) => ColumnOrigin::Column(*place),
                None if expressions.varies(n) => return Err(Error::unsupported(VARYING_DEFAULT)),
                None => {
                    self.plan.fills_columns = true;
                    let value = expressions.default(n, column, &no_row, self.session)?;
                    let value = assign(value, new, column, 1, self.session)?;
                    ColumnOrigin::Constant(constant_image(&column.data_type, &value)?)
                }
            });
        }
        after_change(old.description(), &new.columns, &origins, data.marks)
    }
}
