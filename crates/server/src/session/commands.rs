//! Commands of the protocol other than statements.

use super::{More, Phase, Session};
use crate::registry::now_micros;
use crate::server::EMPTY_DATABASES;
use crate::variables::Variable;
use paceline_expression::session::Privilege;
use paceline_syntax::Error;
use paceline_txn::InterruptReason;
use paceline_types::error_code::*;
use paceline_types::{Charset, Collation};
use paceline_wire::command::{Command, SetOption};
use paceline_wire::response::{Status, write_eof};
use paceline_wire::{WireError, WireResult};
use std::fmt::Write;

impl Session {
    /// Executes the command that was read.
    ///
    /// # Errors
    /// Protocol errors, which end the connection. The error of a statement is sent to the client.
    pub async fn command(&mut self) -> WireResult<()> {
        let command = match Command::parse(self.connection.reader.payload()) {
            Ok(command) => command,
            Err(error) => {
                let error = self.malformed(&error);
                self.write_sql_error(&error);
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
        self.context.diagnostics.begin_command();
        self.other_command().await?;
        self.shared.interrupt.clear_query();
        self.rest();
        Ok(())
    }

    async fn other_command(&mut self) -> WireResult<()> {
        let command = Command::parse(self.connection.reader.payload())?;
        let counters = &self.shared.counters;
        match command {
            Command::Query(_) | Command::StatementExecute { .. } => unreachable!("answered before"),
            Command::Quit => {
                self.log_command("Quit", b"");
                self.phase = Phase::Closing;
            }
            Command::Ping => {
                counters.com_admin_commands.add(1);
                self.write_ok(0, 0, "", More::No);
            }
            Command::InitDb(name) => {
                let name = self.text_of_client(name).into_owned();
                counters.com_change_db.add(1);
                self.log_command("Init DB", name.as_bytes());
                match self.use_database(&name) {
                    Ok(()) => self.write_ok(0, 0, "", More::No),
                    Err(error) => self.write_sql_error(&error),
                }
            }
            Command::FieldList { table, wildcard } => {
                let table = self.text_of_client(table).into_owned();
                let wildcard = self.text_of_client(wildcard).into_owned();
                if let Err(error) = self.field_list(&table, &wildcard) {
                    self.write_sql_error(&error);
                }
            }
            Command::Refresh(flags) => {
                self.begin_command("Refresh", b"");
                let done = self.refresh(flags).await;
                self.ok_or_error(done);
            }
            Command::Shutdown => {
                let done = self.shut_down();
                self.ok_or_error(done);
            }
            Command::Statistics => {
                let text = self.statistics_line();
                self.connection.writer.packet(text.as_bytes());
            }
            Command::ProcessInfo => self.query(b"SHOW FULL PROCESSLIST".to_vec()).await?,
            Command::ProcessKill(id) => {
                let done = self.kill(u64::from(id), InterruptReason::Connection);
                self.ok_or_error(done);
            }
            Command::Debug => {
                let allowed = self.services.require_any(&[Privilege::Super]);
                if allowed.is_ok() {
                    tracing::info!("COM_DEBUG: {}", self.statistics_line());
                    let status = self.status();
                    write_eof(&mut self.connection.writer, 0, status);
                } else if let Err(error) = allowed {
                    self.write_sql_error(&error);
                }
            }
            Command::ChangeUser(_) => {
                counters.com_admin_commands.add(1);
                self.change_user().await?;
            }
            Command::ResetConnection => {
                counters.com_admin_commands.add(1);
                self.reset_connection();
                self.write_ok(0, 0, "", More::No);
            }
            Command::BinlogDump(_) => self.binlog_dump().await?,
            Command::RegisterReplica(_) => self.register_replica(),
            Command::StatementPrepare(text) => {
                let text = self.statement_of_client(text);
                self.begin_command("Prepare", &text);
                self.prepare(text);
            }
            Command::StatementSendLongData {
                statement,
                parameter,
                data,
            } => {
                counters.com_stmt_send_long_data.add(1);
                let limit = self.context.settings.max_allowed_packet;
                self.prepared.append_long_data(statement, parameter, data, limit);
            }
            Command::StatementClose(statement) => {
                counters.com_stmt_close.add(1);
                self.prepared.close(statement);
            }
            Command::StatementReset(statement) => {
                counters.com_stmt_reset.add(1);
                match self.prepared.reset(statement) {
                    true => self.write_ok(0, 0, "", More::No),
                    false => self.unknown_statement(statement, "mysqld_stmt_reset"),
                }
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
                        self.write_sql_error(&Error::new(ER_UNKNOWN_COM_ERROR, &[]));
                        return Ok(());
                    }
                }
                let status = self.status();
                write_eof(&mut self.connection.writer, 0, status);
            }
            Command::Unknown(_) => self.write_sql_error(&Error::new(ER_UNKNOWN_COM_ERROR, &[])),
        }
        Ok(())
    }

    /// Returns 1835 for a malformed command, 1047 for an empty one.
    fn malformed(&self, error: &WireError) -> Error {
        tracing::debug!("connection {}: {error}", self.shared.id);
        match self.connection.reader.payload().is_empty() {
            true => Error::new(ER_UNKNOWN_COM_ERROR, &[]),
            false => Error::new(ER_MALFORMED_PACKET, &[]),
        }
    }

    /// Shows the command in the process list, and counts it.
    pub fn begin_command(&self, command: &'static str, text: &[u8]) {
        self.shared.counters.questions.add(1);
        self.shared.begin_command(command, text, now_micros());
        self.log_command(command, text);
    }

    /// Writes a command to the general log, if the log is open and the session has not disabled it.
    pub fn log_command(&self, command: &str, argument: &[u8]) {
        let logs = &self.server.statement_logs;
        if logs.has_general() && !self.statement_log_settings.is_silent {
            logs.command(u64::from(self.shared.id), command, argument);
        }
    }

    /// Sends OK or the error.
    pub fn ok_or_error(&mut self, done: paceline_syntax::Result<()>) {
        match done {
            Ok(()) => self.write_ok(0, 0, "", More::No),
            Err(error) => self.write_sql_error(&error),
        }
    }

    /// Decodes text in `character_set_client`.
    pub fn text_of_client<'a>(&self, bytes: &'a [u8]) -> std::borrow::Cow<'a, str> {
        self.context.settings.character_set_client.decode(bytes)
    }

    /// Converts a statement's text to UTF-8 for the parser.
    fn statement_of_client(&self, text: &[u8]) -> Vec<u8> {
        match self.context.settings.character_set_client {
            Charset::Latin1 => self.text_of_client(text).into_owned().into_bytes(),
            _ => text.to_vec(),
        }
    }

    /// Returns the line of COM_STATISTICS, which `mariadb-admin status` prints.
    fn statistics_line(&self) -> String {
        let totals = self.server.sessions.totals();
        let uptime = self.server.started.elapsed().as_secs().max(1);
        let tables = self.server.catalog.load().tables().count();
        let mut line = String::new();
        let _ = write!(
            line,
            "Uptime: {uptime}  Threads: {}  Questions: {}  Slow queries: {}  Opens: {tables}  Open tables: {tables}  \
             Queries per second avg: {:.3}",
            self.server.sessions.count(),
            totals.questions.get(),
            totals.slow_queries.get(),
            totals.questions.get() as f64 / uptime as f64,
        );
        line
    }

    /// Executes COM_REFRESH with the flags of `mysql_refresh`.
    async fn refresh(&mut self, flags: u8) -> paceline_syntax::Result<()> {
        const GRANT: u8 = 1;
        const LOG: u8 = 2;
        const STATUS: u8 = 16;
        self.services.require_any(&[Privilege::Reload])?;
        if flags & GRANT != 0 {
            tracing::debug!("FLUSH PRIVILEGES: accounts are always up to date");
        }
        if flags & LOG != 0 {
            self.flush_binary_logs()?;
        }
        if flags & STATUS != 0 {
            self.server.sessions.settle(&self.shared);
        }
        Ok(())
    }

    /// Requests the shutdown of the server.
    pub fn shut_down(&mut self) -> paceline_syntax::Result<()> {
        self.services.require_any(&[Privilege::Shutdown])?;
        self.shared.counters.com_shutdown.add(1);
        tracing::info!("shutdown asked for by {}", self.context.user);
        self.server.request_shutdown();
        Ok(())
    }

    /// Changes the current database.
    ///
    /// # Errors
    /// 1049 if it does not exist; 1044 if the account may not see it; 1046 for an empty name.
    pub fn use_database(&mut self, name: &str) -> paceline_syntax::Result<()> {
        use paceline_wire::session_state::StateChange;
        if name.is_empty() {
            return Err(Error::new(ER_NO_DB_ERROR, &[]));
        }
        let virtual_name = crate::server::virtual_database(name);
        let account = self.services.account();
        if virtual_name != Some("information_schema") && !account.can_see(name) {
            let user = &self.context.current_user.user;
            return Err(Error::new(
                ER_DBACCESS_DENIED_ERROR,
                &[user, &self.context.user.host, &name],
            ));
        }
        let Some((name, collation)) = self.find_database(name) else {
            return Err(Error::new(ER_BAD_DB_ERROR, &[&name]));
        };
        if self
            .services
            .values
            .lock()
            .get(Variable::SessionTrackSchema)
            .as_bool()
        {
            StateChange::Schema(name.clone()).encode(&mut self.state_changes);
        }
        self.services.enter_database(&name);
        self.set_database(Some((name, collation)));
        Ok(())
    }

    /// Returns the spelling of a database's name and its collation, if it exists.
    pub fn find_database(&self, name: &str) -> Option<(String, Collation)> {
        if let Some(name) = crate::server::virtual_database(name) {
            return Some((name.to_owned(), Collation::Utf8mb3GeneralCi));
        }
        let catalog = self.server.catalog.load();
        match catalog.database(name) {
            Some(database) => Some((database.name().to_owned(), database.definition().collation)),
            None => {
                let empty = EMPTY_DATABASES.into_iter().find(|known| *known == name)?;
                Some((empty.to_owned(), Collation::Utf8mb3GeneralCi))
            }
        }
    }

    /// Sets or clears the current database.
    pub fn set_database(&mut self, database: Option<(String, Collation)>) {
        let (name, collation) = match database {
            Some((name, collation)) => (Some(name), collation),
            None => (None, self.context.settings.collation_server),
        };
        self.set_database_collation(collation);
        self.shared.update(|activity| activity.database.clone_from(&name));
        self.context.database = name;
    }

    /// Sets `collation_database`, which follows the current database.
    pub fn set_database_collation(&mut self, collation: Collation) {
        use crate::variables::{VariableValue, apply_to_session};
        let setting = VariableValue::Text(collation.name().into());
        let mut values = self.services.values.lock();
        values.set(Variable::CollationDatabase, setting.clone());
        apply_to_session(
            &mut self.context,
            &mut values,
            Variable::CollationDatabase,
            &setting,
        );
    }

    /// Executes COM_FIELD_LIST: returns the columns of a table with their defaults.
    fn field_list(&mut self, table: &str, wildcard: &str) -> paceline_syntax::Result<()> {
        use super::result::definition;
        use paceline_query::execute::RowSink;
        let quoted = crate::accounts::show::identifier(table);
        let plan = self.plan_text(&format!("SELECT * FROM {quoted} LIMIT 0"))?;
        self.check_privileges(&plan)?;
        let mut columns = super::result::RowCollector::default();
        columns.columns(plan.columns())?;
        let charset = self.context.settings.character_set_results;
        let capabilities = self.connection.capabilities;
        for column in &columns.columns {
            if wildcard.is_empty() || crate::accounts::host::like(wildcard, &column.name) {
                definition(column, charset).write_with_default(
                    &mut self.connection.writer,
                    capabilities,
                    None,
                );
            }
        }
        let status: Status = self.status();
        write_eof(&mut self.connection.writer, 0, status);
        Ok(())
    }
}
