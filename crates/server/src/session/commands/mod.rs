//! The protocol's commands: their dispatch here, COM_STMT_… in [`prepared`], [`bulk`] and [`cursor`], replicas of this
//! server in [`binlog_dump`].

mod binlog_dump;
mod bulk;
mod cursor;
mod prepared;

use crate::accounts::checks::check_plan;
use crate::accounts::host::like;
use crate::registry::now_micros;
use crate::server::Server;
use crate::session::protocol::{definition, unknown_statement};
use crate::session::services::on_text;
use crate::session::statements::{flush_binary_logs, kill_connection, shut_down};
use crate::session::{Phase, Session};
use crate::sql_text::identifier;
use crate::statement_kind::StatementKind;
use crate::statement_logs::LoggedSession;
use paceline_expression::session::Privilege;
use paceline_syntax::{Error, Result};
use paceline_txn::InterruptReason;
use paceline_types::error_code::*;
use paceline_wire::command::{Command, SetOption};
use paceline_wire::{WireError, WireResult};
use std::borrow::Cow;
use std::fmt::Write;
use std::time::Instant;

impl Session {
    /// Executes the command that was read.
    ///
    /// # Errors
    /// Protocol errors, which end the connection. The error of a statement is sent to the client.
    pub(in crate::session) async fn command(&mut self) -> WireResult<()> {
        let command = match Command::parse(self.connection.reader.payload()) {
            Ok(command) => command,
            Err(error) => {
                let error = self.malformed(&error);
                self.replies().error(&error);
                return Ok(());
            }
        };
        match command {
            // The two most frequent commands first.
            Command::StatementExecute {
                statement, cursor, ..
            } => {
                self.execute_prepared(statement, cursor).await;
                self.rest();
                return Ok(());
            }
            Command::Query(text) => {
                let text = self.statement_of_client(text);
                self.query(text).await?;
                self.rest();
                return Ok(());
            }
            _ => {}
        }
        self.state.context.diagnostics.begin_command();
        let kind = StatementKind::of_command(&command);
        let started = Instant::now();
        self.other_command().await?;
        if let Some(kind) = kind {
            self.state.count_other_command(kind, started);
        }
        self.state.shared.interrupt.clear_query();
        self.rest();
        Ok(())
    }

    async fn other_command(&mut self) -> WireResult<()> {
        let command = Command::parse(self.connection.reader.payload())?;
        let is_harmless = matches!(
            command,
            Command::Quit
                | Command::Ping
                | Command::StatementPrepare(_)
                | Command::StatementClose(_)
                | Command::ChangeUser(_)
        );
        if !is_harmless && self.state.must_change_password() {
            self.replies().error(&Error::new(ER_MUST_CHANGE_PASSWORD, &[]));
            return Ok(());
        }
        let counters = &self.state.shared.counters;
        match command {
            Command::Query(_) | Command::StatementExecute { .. } => unreachable!("answered before"),
            Command::Quit => {
                self.log_command("Quit", b"");
                self.phase = Phase::Closing;
            }
            Command::Ping => {
                counters.com_admin_commands.add(1);
                self.replies().plain_ok();
            }
            Command::InitDb(name) => {
                let name = self.text_of_client(name).into_owned();
                counters.com_change_db.add(1);
                self.log_command("Init DB", name.as_bytes());
                match self.state.use_database(&name) {
                    Ok(()) => self.replies().plain_ok(),
                    Err(error) => self.replies().error(&error),
                }
            }
            Command::FieldList { table, wildcard } => {
                let table = self.text_of_client(table).into_owned();
                let wildcard = self.text_of_client(wildcard).into_owned();
                if let Err(error) = self.field_list(&table, &wildcard) {
                    self.replies().error(&error);
                }
            }
            Command::Refresh(flags) => {
                self.begin_command("Refresh", b"");
                let done = self.refresh(flags);
                self.replies().ok_or_error(done);
            }
            Command::Shutdown => {
                let done = shut_down(&self.state.services, &self.state.context);
                self.replies().ok_or_error(done);
            }
            Command::Statistics => {
                let text = statistics_line(&self.state.server);
                self.connection.writer.packet(text.as_bytes());
            }
            Command::ProcessInfo => self.query(b"SHOW FULL PROCESSLIST".to_vec()).await?,
            Command::ProcessKill(id) => {
                let (services, context) = (&self.state.services, &self.state.context);
                let done = kill_connection(u64::from(id), InterruptReason::Connection, services, context);
                self.replies().ok_or_error(done);
            }
            Command::Debug => {
                let allowed = self.state.services.require_any(&[Privilege::Super]);
                match allowed {
                    Ok(()) => {
                        tracing::info!("COM_DEBUG: {}", statistics_line(&self.state.server));
                        self.replies().eof();
                    }
                    Err(error) => self.replies().error(&error),
                }
            }
            Command::ChangeUser(_) => {
                counters.com_admin_commands.add(1);
                self.change_user().await?;
            }
            Command::ResetConnection => {
                counters.com_admin_commands.add(1);
                self.reset_connection();
                self.replies().plain_ok();
            }
            Command::BinlogDump(_) => self.binlog_dump().await?,
            Command::RegisterReplica(_) => self.register_replica(),
            Command::StatementPrepare(text) => {
                let text = self.statement_of_client(text);
                self.begin_command("Prepare", &self.state.shown_before_parsing(&text));
                self.prepare(text);
            }
            Command::StatementSendLongData {
                statement,
                parameter,
                data,
            } => {
                counters.com_stmt_send_long_data.add(1);
                let limit = self.state.context.settings.max_allowed_packet;
                self.statements
                    .append_long_data(statement, parameter, data, limit);
            }
            Command::StatementClose(statement) => {
                counters.com_stmt_close.add(1);
                self.statements.close(statement);
            }
            Command::StatementReset(statement) => {
                counters.com_stmt_reset.add(1);
                match self.statements.reset(statement) {
                    true => self.replies().plain_ok(),
                    false => {
                        let error = unknown_statement(statement, "mysqld_stmt_reset");
                        self.replies().error(&error);
                    }
                }
            }
            Command::StatementBulkExecute {
                statement,
                flags,
                parameters,
            } => {
                let memory = &self.state.context.memory;
                let payload = bulk::ChargedPayload::of(parameters, memory);
                self.execute_bulk(statement, flags, payload).await;
            }
            Command::StatementFetch { statement, rows } => {
                counters.com_stmt_fetch.add(1);
                self.fetch(statement, rows);
            }
            Command::SetOption(option) => {
                counters.com_admin_commands.add(1);
                match option {
                    SetOption::MultiStatementsOn => self.multi_statements = true,
                    SetOption::MultiStatementsOff => self.multi_statements = false,
                    SetOption::Unknown => {
                        self.replies().error(&Error::new(ER_UNKNOWN_COM_ERROR, &[]));
                        return Ok(());
                    }
                }
                self.replies().eof();
            }
            Command::Unknown(_) => self.replies().error(&Error::new(ER_UNKNOWN_COM_ERROR, &[])),
        }
        Ok(())
    }

    /// Returns 1835 for a malformed command, 1047 for an empty one.
    fn malformed(&self, error: &WireError) -> Error {
        tracing::debug!("connection {}: {error}", self.state.shared.id);
        match self.connection.reader.payload().is_empty() {
            true => Error::new(ER_UNKNOWN_COM_ERROR, &[]),
            false => Error::new(ER_MALFORMED_PACKET, &[]),
        }
    }

    /// Shows the command in the process list, and counts it.
    pub(in crate::session) fn begin_command(&self, command: &'static str, text: &[u8]) {
        self.state.shared.counters.questions.add(1);
        self.state.shared.begin_command(command, text, now_micros());
        self.log_command(command, text);
    }

    /// Writes a command to the general log, if the log is open and the session has not disabled it.
    pub(in crate::session) fn log_command(&self, command: &str, argument: &[u8]) {
        let logs = &self.state.server.statement_logs;
        if logs.has_general() && !self.state.log_settings.is_silent {
            let session = LoggedSession {
                account: &self.state.account_in_logs(),
                connection_id: u64::from(self.state.shared.id),
                server_id: self.state.server_id(),
            };
            logs.command(session, command, argument);
        }
    }

    /// Decodes text in `character_set_client`.
    fn text_of_client<'a>(&self, bytes: &'a [u8]) -> Cow<'a, str> {
        self.state.context.settings.character_set_client.decode(bytes)
    }

    /// Converts a statement's text to UTF-8 for the parser.
    fn statement_of_client(&self, text: &[u8]) -> Vec<u8> {
        let settings = &self.state.context.settings;
        let (client, sql_mode) = (settings.character_set_client, settings.sql_mode);
        // It may have to be read whole.
        on_text(text.len(), || {
            paceline_syntax::text_of_client(text, client, sql_mode).into_owned()
        })
    }

    /// Executes COM_REFRESH with the flags of `mysql_refresh`.
    fn refresh(&mut self, flags: u8) -> Result<()> {
        const GRANT: u8 = 1;
        const LOG: u8 = 2;
        const STATUS: u8 = 16;
        self.state.services.require_any(&[Privilege::Reload])?;
        if flags & GRANT != 0 {
            tracing::debug!("FLUSH PRIVILEGES: accounts are always up to date");
        }
        if flags & LOG != 0 {
            flush_binary_logs(&self.state.server)?;
        }
        if flags & STATUS != 0 {
            self.state.server.sessions.settle(&self.state.shared);
        }
        Ok(())
    }

    /// Executes COM_FIELD_LIST: returns the columns of a table with their defaults.
    fn field_list(&mut self, table: &str, wildcard: &str) -> Result<()> {
        let plan = self
            .state
            .plan_text(&format!("SELECT * FROM {} LIMIT 0", identifier(table)))?;
        check_plan(self.state.services.authority(&self.state.context), &plan)?;
        let charset = self.state.context.settings.character_set_results;
        let capabilities = self.connection.capabilities;
        for column in plan.columns() {
            if wildcard.is_empty() || like(wildcard, &column.name) {
                definition(column, charset).write_with_default(
                    &mut self.connection.writer,
                    capabilities,
                    None,
                );
            }
        }
        self.replies().eof();
        Ok(())
    }
}

/// Returns the line of COM_STATISTICS, which `mariadb-admin status` prints.
fn statistics_line(server: &Server) -> String {
    let totals = server.sessions.totals();
    let uptime = server.started.elapsed().as_secs().max(1);
    let tables = server.catalog.load().tables().count();
    let mut line = String::new();
    let _ = write!(
        line,
        "Uptime: {uptime}  Threads: {}  Questions: {}  Slow queries: {}  Opens: {tables}  Open tables: {tables}  \
             Queries per second avg: {:.3}",
        server.sessions.count(),
        totals.questions.get(),
        totals.slow_queries.get(),
        totals.questions.get() as f64 / uptime as f64,
    );
    line
}
