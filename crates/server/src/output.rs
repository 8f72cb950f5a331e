//! Result sets that the server builds itself, for SHOW statements that no query can answer.

use crate::session::Session;
use crate::session::query::Execution;
use crate::session::result::{ResultWriter, Streaming};
use paceline_expression::ExprType;
use paceline_query::execute::RowSink;
use paceline_query::plan::ResultColumn;
use paceline_syntax::Result;
use paceline_types::{Collation, DataType, Value};

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

    /// Adds a text column of at most `length` characters.
    pub fn text(&mut self, name: &str, length: u32) -> &mut Self {
        let data_type = match length {
            0..=16_383 => DataType::VarChar {
                length,
                collation: Collation::Utf8mb3GeneralCi,
            },
            _ => DataType::Text {
                size: paceline_types::BlobSize::Long,
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

    /// Returns the number of columns.
    pub fn column_count(&self) -> usize {
        self.columns.len()
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

impl Session {
    /// Sends a result set.
    pub fn send(&mut self, output: Output, execution: Execution<'_>) -> Result<()> {
        let style = self.result_style(execution);
        let mut writer = ResultWriter::new(&mut self.connection, style, Streaming::Early, None);
        writer.columns(&output.columns)?;
        for row in &output.rows {
            writer.row(row)?;
        }
        self.shared.counters.rows_sent.add(output.rows.len() as u64);
        self.write_end_of_rows(execution.more);
        Ok(())
    }
}
