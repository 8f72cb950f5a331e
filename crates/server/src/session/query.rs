//! Statements as text: COM_QUERY, and the dispatch by the kind of statement.

use super::result::RowFormat;
use super::time_slice::on_text;
use super::{More, Session};
use crate::statement_logs::SlowStatement;
use crate::variables::Variable;
use paceline_expression::session::{KeepDiagnostics, MemoryCharge};
use paceline_syntax::ast::QueryBody;
use paceline_syntax::{Error, Result};
use paceline_syntax::{IntoPlace, ParseOptions, ParsedStatement, SelectInto, Show, Statement};
use paceline_types::Value;
use paceline_types::error_code::*;
use paceline_wire::WireResult;
use paceline_wire::authentication::NativePassword;
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// Execution of a statement: its origin, and the form of its reply.
#[derive(Clone, Copy)]
pub struct Execution<'a> {
    /// Text of the statement.
    pub text: &'a [u8],
    /// Values of the `?` parameters.
    pub parameters: &'a [Value],
    /// Encoding of rows.
    pub format: RowFormat,
    /// Whether another result follows.
    pub more: More,
    /// Origin of the query.
    pub asked_by: QueryOrigin,
}

/// Origin of a query: `sql_select_limit` applies only to a client's own SELECTs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryOrigin {
    /// The client.
    Client,
    /// The server, for a SHOW or SET.
    Server,
}

/// A parsed statement with its memory account.
pub struct ClientStatement {
    /// The statement.
    pub parsed: ParsedStatement,
    /// Memory of its syntax tree, if it is large.
    pub memory: MemoryCharge,
}

/// Size in bytes below which a tree is not counted: a session has only one at a time.
const LARGE_TREE_BYTES: usize = 256 << 10;

impl Session {
    /// Executes COM_QUERY: one statement, or several if the client has enabled that. The text is UTF-8.
    ///
    /// # Errors
    /// Protocol errors. The error of a statement is sent to the client and ends the execution of the text.
    pub async fn query(&mut self, mut text: Vec<u8>) -> WireResult<()> {
        // As in MariaDB, what ends the last statement is no part of it: errors do not show it.
        let is_part = |byte: &u8| *byte != b';' && !byte.is_ascii_whitespace();
        let length = text.iter().rposition(is_part).map_or(0, |last| last + 1);
        text.truncate(length);
        let mut offset = 0;
        loop {
            let parsed = self.parse(&text[offset..]);
            // From here on the text contains no passwords.
            let (statement_text, next) = match &parsed {
                Ok(parsed) => {
                    let parsed = &parsed.parsed;
                    (parsed.text_to_show(&text[offset..], stored_hash), parsed.next)
                }
                Err(_) => (Cow::Borrowed(&text[offset..]), None),
            };
            let statement_text = &*statement_text;
            self.begin_command("Query", statement_text);
            self.begin_statement(parsed.as_ref().ok().map(|parsed| &parsed.parsed.statement));
            let more = if next.is_some() { More::Yes } else { More::No };
            let done = match &parsed {
                Err(error) => Err(error.clone()),
                Ok(parsed) if parsed.parsed.parameters > 0 => Err(syntax_error_near("?")),
                Ok(_) if next.is_some() && !self.multi_statements => Err(syntax_error_near(
                    &String::from_utf8_lossy(&text[offset + next.unwrap_or(0)..]),
                )),
                Ok(parsed) => {
                    let execution = Execution {
                        text: statement_text,
                        parameters: &[],
                        format: RowFormat::Text,
                        more,
                        asked_by: QueryOrigin::Client,
                    };
                    self.statement(&parsed.parsed.statement, execution).await
                }
            };
            on_text(statement_text.len(), || drop(parsed));
            self.end_statement(&done);
            match (done, next) {
                (Ok(()), Some(next)) => offset += next,
                _ => return Ok(()),
            }
            if self.connection.writer.pending() > super::connection::FLUSH_AT {
                self.connection.flush().await?;
            }
        }
    }

    /// Parses the first statement of a client's text.
    ///
    /// # Errors
    /// The errors of [`paceline_syntax::parse_first`].
    pub fn parse(&self, text: &[u8]) -> Result<ClientStatement> {
        let options = ParseOptions {
            sql_mode: self.context.settings.sql_mode,
            memory: Some(self.context.memory.clone()),
            ..ParseOptions::default()
        };
        let parsed = on_text(text.len(), || paceline_syntax::parse_first(text, &options))?;
        let mut memory = MemoryCharge::new(&self.context.memory);
        if parsed.memory_bytes >= LARGE_TREE_BYTES {
            memory.grow(parsed.memory_bytes)?;
        }
        Ok(ClientStatement { parsed, memory })
    }

    /// Begins a statement: sets its time, diagnostics and time limit.
    pub fn begin_statement(&mut self, statement: Option<&Statement>) {
        let keep = match statement {
            Some(Statement::Show(
                Show::Warnings(_) | Show::Errors(_) | Show::CountWarnings | Show::CountErrors,
            )) => KeepDiagnostics::Yes,
            _ => KeepDiagnostics::No,
        };
        let insert_id = self.context.statement.insert_id;
        self.context.begin_statement(keep);
        self.context.statement.insert_id = insert_id;
        let limit = self.context.settings.max_statement_time;
        self.services.set_deadline(limit);
        self.services.turn.begin();
        self.statement_log_settings.started = Instant::now();
    }

    /// Ends a statement: sends its error, if any, and completes its transaction.
    pub fn end_statement(&mut self, done: &Result<()>) {
        if let Err(error) = done {
            self.abort_statement();
            if error.code() == ER_LOCK_WAIT_TIMEOUT
                && self.server.globals.is_on(Variable::InnodbRollbackOnTimeout)
            {
                self.undo_transaction();
            }
            if error.code() == ER_STATEMENT_TIMEOUT {
                self.shared.counters.max_statement_time_exceeded.add(1);
            }
            self.write_sql_error(error);
        }
        self.shared.interrupt.clear_query();
        let duration = self.statement_log_settings.started.elapsed();
        if duration >= self.statement_log_settings.slow_after {
            self.log_slow_statement(duration);
        }
    }

    /// Counts a statement that took longer than `long_query_time`, and writes it to the slow query log.
    #[cold]
    fn log_slow_statement(&self, duration: Duration) {
        self.shared.counters.slow_queries.add(1);
        let logs = &self.server.statement_logs;
        if !logs.has_slow() || !self.statement_log_settings.logs_slow {
            return;
        }
        let activity = self.shared.activity();
        let user = &self.context.user;
        let account = format!(
            "{}[{}] @ {} []",
            self.context.current_user.user, user.user, user.host
        );
        let duration_micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        logs.slow(&SlowStatement {
            account: &account,
            connection_id: u64::from(self.shared.id),
            database: self.context.database.as_deref().unwrap_or_default(),
            duration_micros,
            rows_sent: self.context.found_rows,
            rows_affected: u64::try_from(self.context.row_count).unwrap_or(0),
            start_micros: activity.since_micros,
            text: &activity.text,
        });
    }

    /// Executes a statement of any kind and sends its reply.
    ///
    /// # Errors
    /// The error to send to the client.
    pub async fn statement(&mut self, statement: &Statement, execution: Execution<'_>) -> Result<()> {
        let more = execution.more;
        if uses_table(statement) {
            self.context.diagnostics.forget_earlier();
        }
        if let Statement::Query(query) = statement
            && query.into_place == IntoPlace::AtEnd
        {
            let message = ER_WARN_DEPRECATED_SYNTAX.message(&[
                &"<select expression> INTO <destination>;",
                &"'SELECT <select list> INTO <destination> FROM...'",
            ]);
            self.context.diagnostics.warn(ER_WARN_DEPRECATED_SYNTAX, message);
        }
        match statement {
            Statement::Query(query)
                if let Some(into @ (SelectInto::Outfile { .. } | SelectInto::Dumpfile(_))) = &query.into =>
            {
                self.select_into_file(statement, into, execution).await
            }
            Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Do(_)
            | Statement::Explain(_) => self.plan_and_run(statement, execution).await,
            // As in MariaDB a comment is a statement without effect; an empty text is an error.
            Statement::Empty
                if execution
                    .text
                    .iter()
                    .all(|byte| byte.is_ascii_whitespace() || *byte == b';') =>
            {
                Err(Error::new(ER_EMPTY_QUERY, &[]))
            }
            Statement::Empty => {
                self.write_ok(0, 0, "", more);
                Ok(())
            }
            Statement::Transaction(statement) => self.transaction_statement(statement, more).await,
            Statement::Set(items) => {
                self.shared.counters.com_set_option.add(1);
                self.set(items, execution.parameters).await?;
                self.write_ok(0, 0, "", more);
                Ok(())
            }
            Statement::SetStatement { items, statement } => {
                self.check_set_statement(items)?;
                let connection_id = self.context.connection_id;
                let before = (self.context.settings.clone(), self.services.values.lock().clone());
                self.set(items, execution.parameters).await?;
                self.services
                    .set_deadline(self.context.settings.max_statement_time);
                let done = Box::pin(self.statement(statement, execution)).await;
                self.context.settings = before.0;
                let owner = self.temporary_owner();
                self.context.connection_id = connection_id;
                *self.services.values.lock() = before.1;
                self.choose_temporary_tables(owner);
                self.connection.heed(&self.services.values.lock());
                self.statement_log_settings.heed(&self.services.values.lock());
                done
            }
            Statement::Use(name) => {
                self.shared.counters.com_change_db.add(1);
                self.use_database(name)?;
                self.write_ok(0, 0, "", more);
                Ok(())
            }
            Statement::Show(show) => {
                self.shared.counters.com_show.add(1);
                self.show(show, execution).await
            }
            Statement::Ddl(ddl) => self.ddl(ddl, execution).await,
            Statement::Account(statement) => self.account_statement(statement, execution).await,
            Statement::Prepare { name, source } => self.prepare_text(name, source, more),
            Statement::Execute { name, using } => Box::pin(self.execute_text(name, using, execution)).await,
            Statement::ExecuteImmediate { source, using } => {
                Box::pin(self.execute_immediate(source, using, execution)).await
            }
            Statement::Deallocate(name) => self.deallocate(name, more),
            Statement::TableMaintenance {
                operation,
                tables,
                write_to_binlog,
            } => {
                self.maintain(*operation, tables, *write_to_binlog, execution)
                    .await
            }
            Statement::ChecksumTable { tables, effort } => {
                self.checksum_tables(tables, *effort, execution).await
            }
            Statement::Kill(kill) => self.kill_statement(kill, execution),
            Statement::Flush {
                targets,
                write_to_binlog,
            } => self.flush_statement(targets, *write_to_binlog, execution).await,
            Statement::Purge(purge) => self.purge(purge, more),
            Statement::Backup(backup) => self.backup(backup, execution),
            Statement::Reset(targets) => self.reset_statement(targets, more).await,
            Statement::LockTables(tables) => self.lock_tables_statement(tables, more).await,
            Statement::UnlockTables => self.unlock_tables(more).await,
            Statement::Help(topic) => self.help(topic, execution),
            Statement::Shutdown => {
                self.shut_down()?;
                self.write_ok(0, 0, "", more);
                Ok(())
            }
            Statement::LoadData(load) => self.load_data(statement, load, execution).await,
            Statement::Binlog(events) => self.binlog_statement(events, more).await,
            Statement::Replication(statement) => self.replication_statement(statement, more).await,
            Statement::Unsupported(what) => Err(Error::unsupported(what)),
        }
    }
}

/// Returns whether a statement uses a table according to its syntax, so that earlier diagnostics are cleared. For
/// queries and changes of rows the plan decides too, because it includes the tables of subqueries.
fn uses_table(statement: &Statement) -> bool {
    use paceline_syntax::definition::DdlStatement as Ddl;
    match statement {
        Statement::Query(query) => reads_from(&query.query.body),
        Statement::Insert(_)
        | Statement::Update(_)
        | Statement::Delete(_)
        | Statement::LoadData(_)
        | Statement::TableMaintenance { .. }
        | Statement::ChecksumTable { .. }
        | Statement::LockTables(_) => true,
        Statement::Flush { targets, .. } => targets
            .iter()
            .any(|target| matches!(target, paceline_syntax::FlushTarget::Tables { tables, .. } if !tables.is_empty())),
        Statement::Ddl(ddl) => !matches!(
            ddl,
            Ddl::CreateDatabase { .. } | Ddl::AlterDatabase { .. } | Ddl::DropDatabase { .. }
        ),
        // Statements that MariaDB answers from a table of information_schema, or that name a table.
        Statement::Show(show) => !matches!(
            show,
            Show::Warnings(_)
                | Show::Errors(_)
                | Show::CountWarnings
                | Show::CountErrors
                | Show::EngineStatus { .. }
                | Show::ProcessList { .. }
                | Show::Grants(_)
                | Show::Privileges
                | Show::MasterStatus
                | Show::BinaryLogs
                | Show::BinlogEvents { .. }
                | Show::SlaveStatus { .. }
                | Show::SlaveHosts
                | Show::CreateDatabase { .. }
                | Show::CreateUser(_)
                | Show::Profiles
                | Show::Credits
                | Show::ExplainFor(_)
        ),
        _ => false,
    }
}

fn reads_from(body: &QueryBody) -> bool {
    match body {
        QueryBody::Select(select) => !select.from.is_empty(),
        QueryBody::Query(query) => reads_from(&query.body),
        // Recurse along the left side, because a chain of set operations is as deep as it is long.
        QueryBody::SetOperation { left, right, .. } => reads_from(right) || reads_from(left),
        QueryBody::Values(_) => false,
    }
}

/// Returns the hash of a password, which is stored and shown instead of it.
pub fn stored_hash(password: &str) -> String {
    NativePassword::of(password).to_string()
}

/// Returns error 1064 near a text.
pub fn syntax_error_near(text: &str) -> Error {
    let near: String = text.chars().take(80).collect();
    Error::with_message(
        ER_PARSE_ERROR,
        format!(
            "You have an error in your SQL syntax; check the manual that corresponds to your MariaDB server version for the right \
             syntax to use near '{near}' at line 1"
        ),
    )
}
