//! Answer to a statement: OK, or rows of text and numbers.

use paceline_wire::Capabilities;
use paceline_wire::PacketWriter;
use paceline_wire::bytes::put_lenenc_bytes;
use paceline_wire::column::{ColumnDefinition, Metadata, field_type, write_column_count};
use paceline_wire::response::{OkKind, OkPacket, Status, write_end_of_columns, write_end_of_rows};

/// Collations of text (utf8mb4_general_ci) and of other values.
const TEXT: u16 = 45;
const BINARY: u16 = 63;
/// First byte of a NULL value.
const NULL: u8 = 0xFB;

/// A value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cell {
    /// NULL.
    Null,
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
}

impl Cell {
    /// Creates a text.
    pub fn text(text: impl Into<String>) -> Self {
        Cell::Text(text.into())
    }

    /// Creates a number. Values above `i64::MAX` are capped.
    pub fn count(number: u64) -> Self {
        Cell::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

/// Type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnKind {
    /// Numbers.
    Number,
    /// Text.
    Text,
}

/// Rows and the names of their columns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    columns: Vec<(String, ColumnKind)>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Creates an empty table with these columns.
    pub fn new(columns: &[(&str, ColumnKind)]) -> Self {
        Table {
            columns: columns
                .iter()
                .map(|(name, kind)| ((*name).to_owned(), *kind))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// Creates a table with one row from pairs of name and value.
    pub fn of_row(named: Vec<(String, Cell)>) -> Self {
        let kind = |cell: &Cell| match cell {
            Cell::Number(_) => ColumnKind::Number,
            Cell::Text(_) | Cell::Null => ColumnKind::Text,
        };
        Table {
            columns: named
                .iter()
                .map(|(name, cell)| (name.clone(), kind(cell)))
                .collect(),
            rows: vec![named.into_iter().map(|(_, cell)| cell).collect()],
        }
    }

    /// Adds a row.
    pub fn row(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len(), "a value for each column");
        self.rows.push(row);
    }
}

/// Answer to a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The statement succeeded.
    Ok {
        /// Number of changes.
        affected_rows: u64,
    },
    /// Rows.
    Rows(Table),
}

impl Answer {
    /// OK, without changes.
    pub const DONE: Answer = Answer::Ok { affected_rows: 0 };

    /// Writes the packets of the answer.
    pub fn write(&self, writer: &mut PacketWriter, capabilities: Capabilities) {
        let ok = OkPacket {
            status: Status::AUTOCOMMIT,
            ..OkPacket::default()
        };
        match self {
            Answer::Ok { affected_rows } => OkPacket {
                affected_rows: *affected_rows,
                ..ok
            }
            .write(writer, OkKind::Command, capabilities),
            Answer::Rows(table) => {
                write_column_count(writer, table.columns.len(), Metadata::Follows, capabilities);
                for (name, kind) in &table.columns {
                    column(name, *kind).write(writer, capabilities);
                }
                write_end_of_columns(writer, Status::AUTOCOMMIT, capabilities);
                for row in &table.rows {
                    let out = writer.begin();
                    for cell in row {
                        match cell {
                            Cell::Null => out.push(NULL),
                            Cell::Number(number) => put_lenenc_bytes(out, number.to_string().as_bytes()),
                            Cell::Text(text) => put_lenenc_bytes(out, text.as_bytes()),
                        }
                    }
                    writer.end();
                }
                write_end_of_rows(writer, &ok, capabilities);
            }
        }
    }
}

fn column(name: &str, kind: ColumnKind) -> ColumnDefinition<'_> {
    let (collation, length, field_type) = match kind {
        ColumnKind::Number => (BINARY, 21, field_type::LONGLONG),
        ColumnKind::Text => (TEXT, 65_535, field_type::VAR_STRING),
    };
    ColumnDefinition {
        schema: "",
        table: "",
        original_table: "",
        name,
        original_name: "",
        collation,
        length,
        field_type,
        flags: 0,
        decimals: 0,
        format: "",
        type_name: "",
    }
}
