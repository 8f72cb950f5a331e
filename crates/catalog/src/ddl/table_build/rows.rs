//! Rows of a build: read from the old table, converted and tested.

use paceline_storage::{Cursor, Direction, Storage, StorageSnapshot, TableSchema, VERSION_LENGTH};
use paceline_types::Value;
use paceline_types::convert;
use paceline_types::error_code::*;

use super::description::{BuildKind, ColumnSource, Misfits, TableBuild, TestedRows};
use super::numbers::{NumberingWay, Numbers};
use crate::ddl::assignment::{assign, assign_copied};
use crate::ddl::row_expression::RowExpressions;
use crate::error::{Error, Result};
use crate::table::schema_of;
use paceline_expression::session::SessionContext;
use paceline_expression::{ExprType, refused_assignment};

/// Name of the unsupported feature: each server would fill the existing rows with other values.
pub(in crate::ddl) const VARYING_DEFAULT: &str =
    "a default that is another one on each server, for a new column of a table with rows";

/// A converted row.
pub(super) struct BuiltRow {
    /// Row image in the new table.
    pub image: Vec<u8>,
    /// Row key, if rows stay in place.
    pub key: Vec<u8>,
    pub version: [u8; VERSION_LENGTH],
    /// Number of the row, from 0.
    pub ordinal: u64,
}

/// Reads rows of the old table and converts them to rows of the new one.
pub(super) struct Rows<'a> {
    build: &'a TableBuild,
    cursor: Cursor,
    target: TableSchema,
    expressions: RowExpressions,
    ordinal: u64,
    numbers: Numbers,
    /// Snapshot for looking up parents.
    snapshot: StorageSnapshot,
}

impl<'a> Rows<'a> {
    pub fn new(
        build: &'a TableBuild,
        snapshot: &StorageSnapshot,
        session: &mut SessionContext,
    ) -> Result<Self> {
        check_types(build, session)?;
        let schema = build.source.schema();
        let way = match build.is_copied() {
            true => NumberingWay::Copy,
            false => NumberingWay::InPlace,
        };
        Ok(Self {
            build,
            cursor: snapshot.scan(schema.rows_range(), Direction::Forward),
            target: schema_of(&build.target)?,
            expressions: RowExpressions::new(&build.target, session)?,
            ordinal: 0,
            numbers: Numbers::new(build.target.auto_increment_start, way, &session.settings),
            snapshot: snapshot.clone(),
        })
    }

    /// Returns which part of the rows has been read, from 0 to 1; 0 if that is not known.
    pub fn part_read(&self, storage: &Storage) -> f64 {
        let range = self.build.source.schema().rows_range();
        let key = self.cursor.entry().map(|(key, _)| key);
        key.and_then(|key| storage.approximate_part(&range, key))
            .unwrap_or(0.0)
    }

    /// Returns the next row of the new table; `None` after the last one.
    pub fn next(&mut self, session: &mut SessionContext) -> Result<Option<BuiltRow>> {
        loop {
            match self.next_converted(session) {
                // IGNORE leaves the row out.
                Err(error)
                    if error.code() == ER_CONSTRAINT_FAILED && self.build.misfits == Misfits::Adjusted =>
                {
                    session.diagnostics.warn(error.code(), error.message());
                }
                next => return next,
            }
        }
    }

    fn next_converted(&mut self, session: &mut SessionContext) -> Result<Option<BuiltRow>> {
        if !self.cursor.advance()? {
            return Ok(None);
        }
        let Some((key, value)) = self.cursor.entry() else {
            return Ok(None);
        };
        let version = *value
            .first_chunk()
            .expect("every stored value begins with its version");
        let key = key.to_vec();
        let ordinal = self.ordinal;
        self.ordinal += 1;
        let image = match &self.build.kind {
            BuildKind::Indexes(_) => {
                let image = self.target.row_image(value)?.into_owned();
                if self.build.tested == TestedRows::All && self.expressions.has_checks() {
                    let values = self.target.decode_row(&image)?;
                    self.expressions.check(&self.build.target, &values, session)?;
                }
                image
            }
            BuildKind::Rebuild(columns) => {
                let source = self.build.source.schema();
                let image = source.row_image(value)?;
                let values = source.decode_row(&image)?;
                let mut converted = Vec::with_capacity(columns.len());
                for (n, source) in columns.iter().enumerate() {
                    let column = &self.build.target.columns[n];
                    converted.push(match source {
                        ColumnSource::Copy(place) => values[*place].clone(),
                        ColumnSource::Convert(place) => assign_copied(
                            convert::in_charset(
                                values[*place].clone(),
                                self.build.source.columns()[*place].data_type.charset(),
                                &column.data_type,
                            ),
                            &self.build.target,
                            column,
                            ordinal + 1,
                            session,
                        )?,
                        ColumnSource::Number(place) => {
                            let mut value = values[*place].clone();
                            if !value.is_null() {
                                value = assign(value, &self.build.target, column, ordinal + 1, session)?;
                            }
                            if let Some(number) = self.numbers.instead_of(&value, &session.settings) {
                                let number = Value::UInt(number);
                                value = assign(number, &self.build.target, column, ordinal + 1, session)?;
                            }
                            value
                        }
                        ColumnSource::Default if column.auto_increment && !column.nullable => {
                            Value::UInt(self.numbers.take())
                        }
                        ColumnSource::Default => Value::Null,
                    });
                }
                for (n, source) in columns.iter().enumerate() {
                    let column = &self.build.target.columns[n];
                    if *source == ColumnSource::Default {
                        let value = match column.auto_increment {
                            true => std::mem::take(&mut converted[n]),
                            // The first row decides for all rows.
                            false if ordinal == 0 && self.expressions.varies(n) => {
                                return Err(Error::unsupported(VARYING_DEFAULT));
                            }
                            false => self.expressions.default(n, column, &converted, session)?,
                        };
                        converted[n] = assign(value, &self.build.target, column, ordinal + 1, session)?;
                    }
                }
                for (n, column) in self.build.target.columns.iter().enumerate() {
                    if let Some(value) = self.expressions.generated(n, column, &converted, session)? {
                        converted[n] = assign(value, &self.build.target, column, ordinal + 1, session)?;
                    }
                }
                if self.build.tested == TestedRows::All {
                    self.expressions.check(&self.build.target, &converted, session)?;
                }
                let mut image = Vec::with_capacity(image.len() + 16);
                self.target.encode_row(&converted, &mut image)?;
                image
            }
        };
        if !self.build.tested_keys.is_empty() {
            let values = self.target.decode_row(&image)?;
            for key in &self.build.tested_keys {
                key.test(&self.build.target, &values, &self.snapshot)?;
            }
        }
        Ok(Some(BuiltRow {
            image,
            key,
            version,
            ordinal,
        }))
    }
}

/// Checks that MariaDB converts the columns' old types to the new ones. Outside strict mode a refusal is a warning.
fn check_types(build: &TableBuild, session: &mut SessionContext) -> Result<()> {
    let BuildKind::Rebuild(columns) = &build.kind else {
        return Ok(());
    };
    for (source, column) in columns.iter().zip(&build.target.columns) {
        let ColumnSource::Convert(place) = source else {
            continue;
        };
        let old = ExprType::new(build.source.columns()[*place].data_type.clone());
        let place = format!(
            "`{}`.`{}`.`{}`",
            build.target.database, build.target.name, column.name
        );
        if let Some(error) = refused_assignment(&old, &column.data_type, &place) {
            if session.settings.sql_mode.is_strict() {
                return Err(error);
            }
            session.diagnostics.warn(error.code(), error.message());
        }
    }
    Ok(())
}
