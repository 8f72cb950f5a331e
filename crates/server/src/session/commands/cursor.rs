//! Cursors of prepared statements: COM_STMT_EXECUTE with a cursor, and COM_STMT_FETCH.

use crate::session::Session;
use crate::session::protocol::{Cursor, EncodedColumns, ResultStyle, ResultWriter, RowFormat, Streaming};
use paceline_expression::session::MemoryCharge;
use paceline_query::execute::CursorSink;
use paceline_query::execute::RowSink;
use paceline_syntax::Result;
use paceline_wire::column::{Metadata, write_column_count};
use paceline_wire::response::{OkPacket, Status, write_end_of_rows};

impl Session {
    /// Sends the reply of an execution that has opened a cursor: the columns, without rows.
    pub(super) fn open_cursor(&mut self, collected: CursorSink) -> Result<Cursor> {
        let rows = collected.rows.finish()?;
        let mut memory = MemoryCharge::new(&self.state.context.memory);
        memory.grow(rows.memory_bytes())?;
        let capabilities = self.connection.capabilities;
        let status = self.state.status().with(Status::CURSOR_EXISTS);
        let charset = self.state.context.settings.character_set_results;
        let warnings = self.state.context.diagnostics.warning_count_u16();
        let writer = &mut self.connection.writer;
        write_column_count(writer, collected.columns.len(), Metadata::Follows, capabilities);
        EncodedColumns::new(&collected.columns, charset, capabilities).write(writer);
        // An EOF packet with a flag announces the open cursor, even to clients that otherwise do not use EOF packets.
        let ok = OkPacket {
            status,
            warnings,
            ..Default::default()
        };
        write_end_of_rows(writer, &ok, capabilities);
        Ok(Cursor {
            columns: collected.columns,
            rows,
            _memory: memory,
        })
    }

    /// Executes COM_STMT_FETCH.
    pub(super) fn fetch(&mut self, id: u32, count: u32) {
        let mut cursor = match self.statements.take_cursor(id) {
            Ok(cursor) => cursor,
            Err(error) => {
                self.replies().error(&error);
                return;
            }
        };
        let style = ResultStyle {
            format: RowFormat::Binary,
            time_zone: self.state.context.settings.time_zone.clone(),
            charset: self.state.context.settings.character_set_results,
            status: self.state.status(),
        };
        let mut writer =
            ResultWriter::rows_only(&mut self.connection, style, Streaming::Early, &cursor.columns);
        for _ in 0..count {
            let written = match cursor.rows.next_row() {
                Ok(Some(row)) => writer.row(&row),
                Ok(None) => break,
                Err(error) => Err(error),
            };
            if let Err(error) = written {
                self.replies().error(&error);
                return;
            }
        }
        let over = cursor.rows.left() == 0;
        let flag = if over {
            Status::LAST_ROW_SENT
        } else {
            Status::CURSOR_EXISTS
        };
        let ok = OkPacket {
            status: self.state.status().with(flag),
            ..Default::default()
        };
        write_end_of_rows(&mut self.connection.writer, &ok, self.connection.capabilities);
        if !over {
            self.statements.keep_cursor(id, cursor);
        }
    }
}
