//! Result sets that the server builds itself, for SHOW statements that no query can answer.

use paceline_expression::ExprType;
use paceline_query::plan::ResultColumn;
use paceline_types::{BlobSize, Collation, DataType, Value};

/// Columns and rows of a result set.
#[derive(Debug, Default)]
pub struct Output {
    columns: Vec<ResultColumn>,
    rows: Vec<Vec<Value>>,
}

impl Output {
    /// Creates an output without columns.
    pub fn new() -> Self {
        Output::default()
    }

    /// Creates an output from rows with these columns.
    pub fn of_rows(columns: Vec<ResultColumn>, rows: Vec<Vec<Value>>) -> Self {
        Output { columns, rows }
    }

    /// Adds a text column of at most `length` characters.
    pub fn text(&mut self, name: &str, length: u32) -> &mut Self {
        let data_type = match length {
            0..=16_383 => DataType::VarChar {
                length,
                collation: Collation::Utf8mb3GeneralCi,
            },
            16_384..=65_535 => DataType::Text {
                size: BlobSize::Long,
                collation: Collation::Utf8mb3GeneralCi,
            },
            // As in MariaDB; the shorter ones are longer there than here.
            _ => DataType::Text {
                size: BlobSize::Medium,
                collation: Collation::Utf8mb3GeneralCi,
            },
        };
        self.column(
            name,
            ExprType {
                nullable: true,
                ..ExprType::new(data_type)
            },
        )
    }

    /// Adds an integer column.
    pub fn number(&mut self, name: &str) -> &mut Self {
        self.column(
            name,
            ExprType {
                nullable: true,
                ..ExprType::bigint_unsigned(20)
            },
        )
    }

    /// Adds a column.
    pub fn column(&mut self, name: &str, ty: ExprType) -> &mut Self {
        self.columns.push(ResultColumn::of_expression(name, &ty));
        self
    }

    /// Adds the column of a procedure's parameter, which is described like a column of a table.
    pub fn parameter(&mut self, name: &str, ty: ExprType) -> &mut Self {
        self.columns.push(ResultColumn {
            org_name: name.into(),
            ..ResultColumn::of_expression(name, &ty)
        });
        self
    }

    /// Returns the columns.
    pub fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    /// Returns the rows.
    pub fn rows(&self) -> &[Vec<Value>] {
        &self.rows
    }

    /// Adds a row.
    pub fn row(&mut self, row: Vec<Value>) {
        debug_assert_eq!(row.len(), self.columns.len(), "a value for each column");
        self.rows.push(row);
    }

    /// Keeps at most `count` rows from `offset` on.
    pub fn limit(&mut self, offset: u64, count: u64) {
        let skip = usize::try_from(offset).unwrap_or(usize::MAX).min(self.rows.len());
        self.rows.drain(..skip);
        self.rows.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    }
}
