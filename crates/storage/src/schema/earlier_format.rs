//! Rows that were stored before the table's columns changed.
//!
//! A statement that adds, drops, moves or widens columns leaves the rows as they are. The table keeps the list of its
//! earlier formats instead, and a row is converted when it is read ([`TableSchema::row_image`]).
//!
//! ```text
//!   log      ……………… ALTER at version 40 ……………… ALTER at version 70 …………
//!   rows     format 0 until 40            format 1 until 70       today's format
//! ```
//!
//! **Which format a row has** follows from its version: it is the position of the transaction that wrote the row, and
//! the change of the columns has a position as well. The change holds the table's metadata lock exclusively, so each
//! transaction that writes to the table is published before it, or begins to use the table after it. A row needs no
//! byte for its format.
//!
//! The rows of a large transaction have a mark instead ([`VersionMark`]), whose number is taken when the transaction
//! becomes large. Marks that are given out later than the change are larger than all before. Of the smaller ones those
//! of transactions that were running at the time of the change can only be on later rows: such a transaction did not
//! have the lock.
//!
//! Keys do not change: an index whose keys would be others is built anew by the statement, and if the rows' own keys
//! change, so is the table. That, too, is why a table without a key is always built anew: its rows are found by a hash
//! of their image.
//!
//! Rejected: a number of the format in each row, because it costs a byte of all rows of all tables, or a bit that the
//! NULL bitmap may not have; new rows under another index number, because each scan would merge two ranges; rewriting
//! the rows in the background, because their versions would change, and a second change would wait for it.

use std::borrow::Cow;

use paceline_types::Version;
use paceline_types::row_conversion::RowConversion;

use super::TableSchema;
use crate::error::Result;
use crate::key::{VERSION_LENGTH, VersionMark, value_version};

/// Marks of large transactions at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MarkState {
    /// The next mark that will be given out.
    pub next: VersionMark,
    /// Smaller marks of transactions that have not begun to commit.
    pub open: Vec<VersionMark>,
}

/// End of the time in which rows were stored in a format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormatEnd {
    /// Version of the statement that changed the columns. [`Version::MAX`] while it is planned.
    pub version: Version,
    /// Marks at that time.
    pub marks: MarkState,
}

impl FormatEnd {
    /// Returns whether a row with this version was stored before the end.
    fn is_after(&self, version: Version) -> bool {
        match VersionMark::of(version) {
            Some(mark) => mark < self.marks.next && !self.marks.open.contains(&mark),
            // The running transaction's own rows have no version yet.
            None => version < self.version && version != Version::ZERO,
        }
    }
}

/// Format of the rows before a change of the columns.
#[derive(Clone, Debug)]
pub struct EarlierFormat {
    /// Its end.
    pub end: FormatEnd,
    /// Conversion of its rows to the table's format.
    pub conversion: RowConversion,
}

impl TableSchema {
    /// Declares the formats of rows before changes of the columns, the oldest first.
    pub fn with_earlier_formats(mut self, formats: Vec<EarlierFormat>) -> Self {
        self.earlier_formats = formats;
        self
    }

    /// Returns the image of a row in the table's format, from the stored value with its version.
    ///
    /// # Errors
    /// If it does not fit the format in which it was stored.
    #[inline]
    pub fn row_image<'v>(&self, value: &'v [u8]) -> Result<Cow<'v, [u8]>> {
        match self.earlier_formats.is_empty() {
            true => Ok(Cow::Borrowed(&value[VERSION_LENGTH..])),
            false => self.converted_image(value),
        }
    }

    fn converted_image<'v>(&self, value: &'v [u8]) -> Result<Cow<'v, [u8]>> {
        let version = value_version(value).expect("every stored value begins with its version");
        let image = &value[VERSION_LENGTH..];
        let format = self
            .earlier_formats
            .iter()
            .find(|format| format.end.is_after(version));
        Ok(match format {
            Some(format) => {
                let mut converted = Vec::with_capacity(image.len() + 32);
                format.conversion.convert(image, &mut converted)?;
                Cow::Owned(converted)
            }
            None => Cow::Borrowed(image),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ColumnSchema, HiddenIndexes, IndexKind, IndexSchema, KeyPart};
    use super::*;
    use crate::IndexId;
    use paceline_types::row_conversion::{ColumnOrigin, constant_image};
    use paceline_types::row_image::RowLayout;
    use paceline_types::sort_key::Nullability;
    use paceline_types::{DataType, IntegerType, IntegerWidth, Sign, Value};

    fn integer() -> DataType {
        DataType::Integer(IntegerType::new(IntegerWidth::Int, Sign::Signed))
    }

    fn layout(columns: usize) -> RowLayout {
        RowLayout::new(vec![integer(); columns])
    }

    /// A table that got its second column, with the value 5, at version 1:40, and its third, 6, at version 1:70.
    fn schema() -> TableSchema {
        let column = ColumnSchema {
            data_type: integer(),
            nullability: Nullability::NotNull,
        };
        let key = IndexSchema {
            id: IndexId::new(2000),
            kind: IndexKind::Primary,
            parts: vec![KeyPart {
                column: 0,
                prefix: None,
            }],
        };
        let hidden = HiddenIndexes {
            rows: IndexId::new(2001),
            hash: IndexId::new(2002),
        };
        let constant =
            |value| ColumnOrigin::Constant(constant_image(&integer(), &Value::Int(value)).unwrap());
        let format =
            |offset, next: u16, open: &[u16], stored: usize, origins: &[ColumnOrigin]| EarlierFormat {
                end: FormatEnd {
                    version: Version::new(1, offset),
                    marks: MarkState {
                        next: VersionMark::new(1, next),
                        open: open.iter().map(|mark| VersionMark::new(1, *mark)).collect(),
                    },
                },
                conversion: RowConversion::new(layout(stored), layout(3), origins).unwrap(),
            };
        let schema = TableSchema::new(vec![column; 3], vec![key], hidden).unwrap();
        schema.with_earlier_formats(vec![
            format(
                40,
                2,
                &[1],
                1,
                &[ColumnOrigin::Column(0), constant(5), constant(6)],
            ),
            format(
                70,
                3,
                &[],
                2,
                &[ColumnOrigin::Column(0), ColumnOrigin::Column(1), constant(6)],
            ),
        ])
    }

    fn read(version: Version, row: &[i64]) -> Result<Vec<i64>> {
        let schema = schema();
        let mut value = version.to_be_bytes().to_vec();
        let row: Vec<Value> = row.iter().copied().map(Value::Int).collect();
        layout(row.len()).encode(&row, &mut value).unwrap();
        let image = schema.row_image(&value)?;
        let number = |value: &Value| match value {
            Value::Int(number) => *number,
            other => panic!("{other:?}"),
        };
        Ok(schema.decode_row(&image)?.iter().map(number).collect())
    }

    #[test]
    fn a_rows_version_tells_its_format() {
        let version = |offset| Version::new(1, offset);
        assert_eq!(read(version(39), &[1]).unwrap(), [1, 5, 6]);
        assert_eq!(read(version(41), &[1, 2]).unwrap(), [1, 2, 6]);
        assert_eq!(read(version(69), &[1, 2]).unwrap(), [1, 2, 6]);
        assert_eq!(read(version(71), &[1, 2, 3]).unwrap(), [1, 2, 3]);
        assert_eq!(read(Version::new(2, 4), &[1, 2, 3]).unwrap(), [1, 2, 3]);
        assert_eq!(
            read(Version::ZERO, &[1, 2, 3]).unwrap(),
            [1, 2, 3],
            "the transaction's own"
        );
    }

    #[test]
    fn a_mark_tells_the_format_of_a_large_transactions_rows() {
        let mark = |number| VersionMark::new(1, number).as_version();
        assert_eq!(read(mark(0), &[1]).unwrap(), [1, 5, 6]);
        // It was open at the first change, and committed before the second.
        assert_eq!(read(mark(1), &[1, 2]).unwrap(), [1, 2, 6]);
        assert_eq!(read(mark(2), &[1, 2]).unwrap(), [1, 2, 6]);
        assert_eq!(read(mark(3), &[1, 2, 3]).unwrap(), [1, 2, 3]);
        assert_eq!(
            read(VersionMark::new(2, 0).as_version(), &[1, 2, 3]).unwrap(),
            [1, 2, 3]
        );
        assert_eq!(
            read(VersionMark::new(0, 9).as_version(), &[1]).unwrap(),
            [1, 5, 6]
        );
    }
}
