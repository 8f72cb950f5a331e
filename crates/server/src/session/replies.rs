//! The writer of replies: OK, ERR, and the end of rows, with the session's status, the number of warnings and state
//! changes.

use super::assigned_variables::heed_programs;
use super::execution::Execution;
use super::protocol::{
    Connection, More, Output, Reply, ResultStyle, ResultWriter, Streaming, message_in_results,
};
use super::state::SessionState;
use paceline_query::execute::RowSink;
use paceline_syntax::{Error, Result};
use paceline_wire::response::{self, OkKind, OkPacket};

/// Returns the format of a statement's result.
pub fn result_style(state: &SessionState, execution: Execution<'_>) -> ResultStyle {
    let settings = &state.context.settings;
    ResultStyle {
        format: execution.format,
        time_zone: settings.time_zone.clone(),
        charset: settings.character_set_results,
        status: execution.more.mark(state.status()),
    }
}

/// Writes replies to a session's client.
pub struct ReplyWriter<'a> {
    state: &'a mut SessionState,
    connection: &'a mut Connection,
}

impl<'a> ReplyWriter<'a> {
    /// Creates the writer.
    pub fn new(state: &'a mut SessionState, connection: &'a mut Connection) -> Self {
        ReplyWriter { state, connection }
    }

    /// Writes the reply of a statement.
    ///
    /// # Errors
    /// 1160 if the client does not accept the rows.
    pub fn reply(&mut self, reply: Reply, execution: Execution<'_>) -> Result<()> {
        match reply {
            Reply::Ok {
                affected_rows,
                last_insert_id,
                info,
            } => self.ok(affected_rows, last_insert_id, &info, execution.more),
            Reply::Rows(output) => self.rows(&output, execution)?,
            Reply::EndOfRows => self.end_of_rows(execution.more),
        }
        Ok(())
    }

    /// Writes an OK packet.
    pub fn ok(&mut self, affected_rows: u64, last_insert_id: u64, info: &str, more: More) {
        self.state.context.row_count = i64::try_from(affected_rows).unwrap_or(i64::MAX);
        if more == More::InProgram {
            return;
        }
        self.report_tracked();
        let ok = OkPacket {
            affected_rows,
            last_insert_id,
            status: more.mark(self.state.status()),
            warnings: self.state.context.diagnostics.warning_count_u16(),
            info,
            state: self.state.changes.encoded(),
        };
        ok.write(
            &mut self.connection.writer,
            OkKind::Command,
            self.connection.capabilities,
        );
        self.state.changes.clear();
    }

    /// Adds tracked changes to those that the next OK packet reports, among them those of programs.
    fn report_tracked(&mut self) {
        if std::mem::take(&mut self.state.has_run_programs) {
            heed_programs(self.state, self.connection);
        }
        let state = &mut *self.state;
        (state.tracking).report(&state.transaction, &state.table_locks, &mut state.changes);
    }

    /// Writes an OK packet without any information, as the last reply.
    pub fn plain_ok(&mut self) {
        self.ok(0, 0, "", More::No);
    }

    /// Writes an OK packet or the error.
    pub fn ok_or_error(&mut self, done: Result<()>) {
        match done {
            Ok(()) => self.plain_ok(),
            Err(error) => self.error(&error),
        }
    }

    /// Writes an ERR packet, and adds the error to the diagnostics.
    pub fn error(&mut self, error: &Error) {
        let context = &mut self.state.context;
        context.diagnostics.push_error(error);
        context.row_count = -1;
        // Many clients end a message at its first NUL, so it is escaped as in MariaDB.
        let message = error.message().replace('\0', "\\0000");
        let charset = self.state.context.settings.character_set_results;
        response::write_error_in(
            &mut self.connection.writer,
            error.code().number(),
            error.sqlstate(),
            &message,
            &|message| message_in_results(message, charset),
        );
    }

    /// Writes an EOF packet, which ends the replies to some commands.
    pub fn eof(&mut self) {
        let status = self.state.status();
        response::write_eof(&mut self.connection.writer, 0, status);
    }

    /// Writes a result set.
    fn rows(&mut self, output: &Output, execution: Execution<'_>) -> Result<()> {
        let style = result_style(self.state, execution);
        let mut writer = ResultWriter::new(self.connection, style, Streaming::Early, None);
        writer.columns(output.columns())?;
        for row in output.rows() {
            writer.row(row)?;
        }
        self.state
            .shared
            .counters
            .rows_sent
            .add(output.rows().len() as u64);
        self.end_of_rows(execution.more);
        Ok(())
    }

    /// Writes the packet that ends the rows of a result set.
    fn end_of_rows(&mut self, more: More) {
        self.state.context.row_count = -1;
        self.report_tracked();
        let ok = OkPacket {
            status: more.mark(self.state.status()),
            warnings: self.state.context.diagnostics.warning_count_u16(),
            state: self.state.changes.encoded(),
            ..OkPacket::default()
        };
        response::write_end_of_rows(&mut self.connection.writer, &ok, self.connection.capabilities);
        self.state.changes.clear();
    }
}
