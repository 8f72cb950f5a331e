//! Result sets: conversion of rows to packets.

use super::columns::{EncodedColumns, KnownColumns};
use super::connection::{Connection, FLUSH_AT};
use paceline_expression::ExprType;
use paceline_expression::session::MemoryCharge;
use paceline_query::execute::RowSink;
use paceline_query::plan::ResultColumn;
use paceline_syntax::{Error, Result};
use paceline_types::data_type::FieldType;
use paceline_types::error_code::ER_NET_ERROR_ON_WRITE;
use paceline_types::{Charset, Collation, DataType, TimeZone, Value, ValueRef, binary_protocol, text};
use paceline_wire::Capabilities;
use paceline_wire::column::{Metadata, write_column_count};
use paceline_wire::response::{Status, write_end_of_columns};
use std::borrow::Cow;

/// Encoding of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// Text: `COM_QUERY`.
    Text,
    /// Binary protocol: `COM_STMT_EXECUTE`.
    Binary,
}

/// Format of a result.
#[derive(Debug, Clone)]
pub struct ResultStyle {
    /// Text or binary.
    pub format: RowFormat,
    /// Time zone for TIMESTAMP values.
    pub time_zone: TimeZone,
    /// `character_set_results`; `None`: no conversion.
    pub charset: Option<Charset>,
    /// Status flags of EOF packets.
    pub status: Status,
}

/// Whether rows may be sent before the end of the statement.
#[derive(Debug)]
pub enum Streaming {
    /// Yes, whenever [`FLUSH_AT`] bytes have been collected.
    Early,
    /// No: rows may contain unpublished data and wait for it with the reply (invariant 6). They count as memory of the
    /// session.
    AfterSettling(MemoryCharge),
}

/// Sink that writes a result set to a connection.
pub struct ResultWriter<'a> {
    connection: &'a mut Connection,
    style: ResultStyle,
    streaming: Streaming,
    /// Columns that were sent to the client when the statement was prepared.
    known: Option<&'a KnownColumns>,
    field_types: Cow<'a, [FieldType]>,
    columns: Vec<ResultColumn>,
    /// Whether the column definitions are deferred until the first row, which determines the type of a bare parameter.
    deferred: bool,
}

impl<'a> ResultWriter<'a> {
    /// Creates a sink. `known` are the columns that the client has cached since it prepared the statement.
    pub fn new(
        connection: &'a mut Connection,
        style: ResultStyle,
        streaming: Streaming,
        known: Option<&'a KnownColumns>,
    ) -> Self {
        let field_types = Cow::Borrowed(&[][..]);
        ResultWriter {
            connection,
            style,
            streaming,
            known,
            field_types,
            columns: vec![],
            deferred: false,
        }
    }

    /// Creates a sink for rows whose columns the client already knows: those of a cursor.
    pub fn rows_only(
        connection: &'a mut Connection,
        style: ResultStyle,
        streaming: Streaming,
        columns: &[ResultColumn],
    ) -> Self {
        let mut writer = Self::new(connection, style, streaming, None);
        writer.field_types = columns.iter().map(|column| column.field_type).collect();
        writer.columns = columns.to_vec();
        writer
    }

    fn write_row<'v>(&mut self, row: impl Iterator<Item = ValueRef<'v>> + Clone) -> Result<()> {
        if self.deferred {
            self.settle_columns(row.clone());
        }
        let out = self.connection.writer.begin();
        let time_zone = &self.style.time_zone;
        match (self.style.format, needs_encoding(self.style.charset)) {
            (RowFormat::Binary, None) => binary_protocol::append_row(row, &self.field_types, time_zone, out),
            (RowFormat::Binary, Some(charset)) => {
                let row: Vec<Value> = row.map(|value| in_charset(value, charset)).collect();
                let row = row.iter().map(Value::as_ref);
                binary_protocol::append_row(row, &self.field_types, time_zone, out);
            }
            (RowFormat::Text, charset) => {
                for (value, column) in row.zip(&self.columns) {
                    append_text(&value, column, time_zone, charset, out);
                }
            }
        }
        self.end_row()
    }

    fn end_row(&mut self) -> Result<()> {
        self.connection.writer.end();
        let pending = self.connection.writer.pending();
        match &mut self.streaming {
            Streaming::Early if pending > FLUSH_AT => self.connection.flush_blocking().map_err(|error| {
                tracing::debug!("a result could not be sent: {error}");
                Error::new(ER_NET_ERROR_ON_WRITE, &[])
            }),
            Streaming::Early => Ok(()),
            Streaming::AfterSettling(memory) => memory.set(pending),
        }
    }
}

impl ResultWriter<'_> {
    /// Writes the columns if they were deferred and there was no row.
    pub fn finish(mut self) {
        if self.deferred {
            self.write_columns();
        }
    }

    /// Determines the columns by the first row: the type of a bare parameter is that of its value.
    fn settle_columns<'v>(&mut self, row: impl Iterator<Item = ValueRef<'v>>) {
        self.deferred = false;
        for (column, value) in self.columns.iter_mut().zip(row) {
            if is_untyped(column)
                && let Some(data_type) = type_of(&value)
            {
                let typed = ResultColumn::of_expression(
                    column.name.clone(),
                    &ExprType {
                        nullable: true,
                        ..ExprType::new(data_type)
                    },
                );
                *column = typed;
            }
        }
        self.write_columns();
    }

    fn write_columns(&mut self) {
        let columns = &self.columns[..];
        let capabilities = self.connection.capabilities;
        let writer = &mut self.connection.writer;
        let encoded = EncodedColumns::new(columns, self.style.charset, capabilities);
        let remembered = capabilities.has(Capabilities::MARIADB_CACHE_METADATA)
            && self.known.is_some_and(|known| *known.encoded() == encoded);
        let metadata = if remembered {
            Metadata::Unchanged
        } else {
            Metadata::Follows
        };
        write_column_count(writer, columns.len(), metadata, capabilities);
        if metadata == Metadata::Follows {
            encoded.write(writer);
        }
        write_end_of_columns(writer, self.style.status, capabilities);
        self.field_types = columns.iter().map(|column| column.field_type).collect();
    }
}

/// Returns whether a column's type is only known from its values: `SELECT ?`.
fn is_untyped(column: &ResultColumn) -> bool {
    column.data_type == DataType::VarBinary { length: 0 } && column.field_type != FieldType::Null
}

/// Returns the column type for a parameter's value.
fn type_of(value: &ValueRef<'_>) -> Option<DataType> {
    Some(match value {
        ValueRef::Text(text) => DataType::VarChar {
            length: text.chars().count() as u32,
            collation: Collation::Utf8mb4GeneralCi,
        },
        ValueRef::Int(_) => ExprType::bigint(20).data_type,
        ValueRef::UInt(_) => ExprType::bigint_unsigned(20).data_type,
        ValueRef::Float(_) | ValueRef::Double(_) => ExprType::double().data_type,
        ValueRef::Decimal(_) => ExprType::decimal(65, 30).data_type,
        ValueRef::Date(_) => DataType::Date,
        ValueRef::Time(_) => DataType::Time { decimals: 6 },
        ValueRef::DateTime(_) | ValueRef::Timestamp(_) => DataType::DateTime { decimals: 6 },
        _ => return None,
    })
}

impl RowSink for ResultWriter<'_> {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<()> {
        self.deferred = columns.iter().any(is_untyped);
        if let Some(known) = self.known
            && self.style.format == RowFormat::Binary
            && !self.deferred
            && known.are(columns, self.style.charset)
        {
            let capabilities = self.connection.capabilities;
            let writer = &mut self.connection.writer;
            if capabilities.has(Capabilities::MARIADB_CACHE_METADATA) {
                write_column_count(writer, columns.len(), Metadata::Unchanged, capabilities);
            } else {
                write_column_count(writer, columns.len(), Metadata::Follows, capabilities);
                known.encoded().write(writer);
            }
            write_end_of_columns(writer, self.style.status, capabilities);
            self.field_types = Cow::Borrowed(known.field_types());
            return Ok(());
        }
        self.columns = columns.to_vec();
        if !self.deferred {
            self.write_columns();
        }
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.write_row(row.iter().map(Value::as_ref))
    }

    fn row_ref(&mut self, row: &[ValueRef<'_>]) -> Result<()> {
        self.write_row(row.iter().map(ValueRef::reborrow))
    }
}

/// Returns the character set to which text must be converted; `None` if UTF-8 is sent unchanged.
fn needs_encoding(charset: Option<Charset>) -> Option<Charset> {
    match charset {
        None | Some(Charset::Utf8mb4 | Charset::Binary) => None,
        other => other,
    }
}

/// Encodes a text value in another character set.
fn in_charset(value: ValueRef<'_>, charset: Charset) -> Value {
    let text = match &value {
        ValueRef::Text(text) => text.to_string(),
        ValueRef::Enum(label) => label.label().to_owned(),
        ValueRef::Set(labels) => labels.text(),
        _ => return value.into_owned(),
    };
    let mut bytes = vec![];
    charset.encode(&text, &mut bytes);
    Value::Bytes(bytes)
}

fn append_text(
    value: &ValueRef<'_>,
    column: &ResultColumn,
    time_zone: &TimeZone,
    charset: Option<Charset>,
    out: &mut Vec<u8>,
) {
    match charset {
        Some(charset) if matches!(value, ValueRef::Text(_) | ValueRef::Enum(_) | ValueRef::Set(_)) => {
            let encoded = in_charset(value.clone(), charset);
            text::append_protocol_value(&encoded.as_ref(), None, time_zone, out);
        }
        _ => text::append_protocol_value(value, Some(&column.data_type), time_zone, out),
    }
}

/// Sink that keeps the rows, for SHOW statements that a query answers.
#[derive(Debug, Default)]
pub struct RowCollector {
    /// The columns.
    pub columns: Vec<ResultColumn>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
}

impl RowSink for RowCollector {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.rows.push(row.to_vec());
        Ok(())
    }
}
