//! Sessions in which a replica executes its primary's statements: DDL, and transactions in statement format.
//!
//! Such a session is like any other, except that it has no client (its replies are discarded), and that it does not
//! wait for row locks of sessions that have not begun to commit. Each statement is executed with the settings of its
//! session on the primary, so that it has the same result here. Its changes are logged as rows, with the primary's
//! GTID.
//!
//! The temporary tables of the primary's sessions are kept between their statements ([`crate::replicated_tables`]). A
//! transaction that changes nothing else is logged here as an empty group with its GTID. Data read from the tables is
//! logged as rows, so our replicas do not need them. A transaction that fails here is received again: temporary tables
//! that it created are dropped, and those that it dropped are restored with their rows.
//!
//! LOAD DATA is received together with its file. As in MariaDB, its text is changed to name another file and to contain
//! the treatment of duplicates from the event, because LOCAL implied IGNORE. It reads the logged file, whatever its
//! name is. The annotation in our log is the primary's text.

mod firing_rows;
mod idempotent_ddl;
mod omitted_definition;
mod settings;

use crate::accounts::authentication::stored_hash;
use omitted_definition::OmittedDefinition;

use super::Session;
use super::execution::Execution;
use super::internal::internal_session;
use super::state::SessionState;
use super::statements::load_logged;
use crate::errors::of_transaction;
use crate::replicated_tables::{PrimarySession, TransactionEnd};
use crate::server::Server;
use idempotent_ddl::tolerate_other_state;
use paceline_apply::replicated::{Failure, FiringRows};
use paceline_expression::session::SqlMode;
use paceline_replication::apply::{ReplicatedStatement, StatementRunner, StatementRunners};
use paceline_storage::Direction;
use paceline_syntax::definition::CreateTable;
use paceline_syntax::{DdlStatement, Error, ParseOptions, ProgramBodies, Result, SetItem, Statement};
use paceline_txn::{GtidChoice, Interrupt, Replication, Transaction};
use paceline_types::error_code::ErrorCode;
use std::borrow::Cow;
use std::sync::Arc;
use tokio::net::UnixStream;
use tokio::runtime::Handle;

/// User in the process list.
const USER: &str = "system user";

/// Creates such sessions, one for each domain of a connection.
pub struct ReplicatedSessions {
    server: Arc<Server>,
    connection: Arc<str>,
    runtime: Handle,
}

impl ReplicatedSessions {
    /// Creates the factory for a connection's applier. Must be called in the runtime of this server's sessions.
    pub fn new(server: Arc<Server>, connection: Arc<str>) -> Self {
        ReplicatedSessions {
            server,
            connection,
            runtime: Handle::current(),
        }
    }
}

impl StatementRunners for ReplicatedSessions {
    fn runner(&self, interrupt: Interrupt) -> Box<dyn StatementRunner> {
        Box::new(ReplicatedSession {
            interrupt,
            server: self.server.clone(),
            connection: self.connection.clone(),
            runtime: self.runtime.clone(),
            open: None,
            gtid: None,
            replication: Replication::Replicated,
            timestamp_seconds: 0,
            defining: Vec::new(),
        })
    }

    fn primary_restarted(&self) {
        self.server.replicated_tables.forget(&self.connection);
    }
}

/// A session and the other end of its socket, which is not read.
struct Open {
    session: Session,
    _other_end: UnixStream,
}

/// Session of one domain; see the module comment.
struct ReplicatedSession {
    server: Arc<Server>,
    connection: Arc<str>,
    runtime: Handle,
    /// Raised by STOP SLAVE.
    interrupt: Interrupt,
    /// Created with the first statement.
    open: Option<Open>,
    /// GTID for the commit of the running transaction.
    gtid: Option<GtidChoice>,
    /// Whether the running transaction is replicated further.
    replication: Replication,
    timestamp_seconds: u32,
    /// Primary sessions whose temporary tables the running transaction uses and may have changed.
    defining: Vec<PrimarySession>,
}

impl ReplicatedSession {
    fn session(&mut self) -> std::io::Result<&mut Session> {
        if self.open.is_none() {
            let _runtime = self.runtime.enter();
            self.open = Some(open(&self.server, self.interrupt.clone())?);
        }
        let open = self.open.as_mut();
        Ok(&mut open.expect("made above").session)
    }

    fn end_definitions(&mut self, end: TransactionEnd) {
        for session in self.defining.drain(..) {
            self.server.replicated_tables.end(&self.connection, session, end);
        }
    }

    fn ready(&mut self) -> std::result::Result<&mut Session, Failure> {
        let gtid = self.gtid.clone();
        let session = self.session().map_err(Failure::fatal)?;
        session.state.services.transaction.lock().replicated = gtid;
        Ok(session)
    }
}

fn open(server: &Arc<Server>, interrupt: Interrupt) -> std::io::Result<Open> {
    // Committed transactions of the primary have precedence over uncommitted local ones.
    let locks = server.transactions.applier_session(interrupt);
    let (session, other_end) = internal_session(server, USER, locks)?;
    Ok(Open {
        session,
        _other_end: other_end,
    })
}

impl SessionState {
    /// Returns whether the table that the statement defines exists but still needs its rows, because of a crash between
    /// the two.
    fn was_made(&mut self, statement: &ReplicatedStatement<'_>) -> Result<bool> {
        self.take_settings(statement);
        let options = ParseOptions {
            sql_mode: self.context.settings.sql_mode,
            programs: ProgramBodies::Opaque,
            ..ParseOptions::default()
        };
        let parsed = paceline_syntax::parse_first(&statement.query.sql, &options)?;
        match &parsed.statement {
            // A statement that replaces a table can be repeated.
            Statement::Ddl(DdlStatement::CreateTable(create)) if !create.or_replace => {
                self.is_there_and_empty(create)
            }
            _ => Ok(false),
        }
    }

    fn is_there_and_empty(&self, create: &CreateTable) -> Result<bool> {
        let (database, name) = self.qualified(&create.name)?;
        let catalog = self.server.catalog.load();
        let Some(table) = catalog.table(&database, &name) else {
            return Ok(false);
        };
        let snapshot = self.server.transactions.snapshot();
        let mut rows = snapshot.scan(table.schema().rows_range(), Direction::Forward);
        let is_empty = rows
            .next()
            .map_err(|error| of_transaction(&error.into()))?
            .is_none();
        Ok(is_empty)
    }
}

impl Session {
    /// Executes a statement of a primary. Its reply is discarded.
    async fn run_replicated(
        &mut self,
        statement: &ReplicatedStatement<'_>,
        replication: Replication,
    ) -> Result<()> {
        self.state.take_settings(statement);
        self.state.take_replication(replication);
        let sql = self.state.text_of_primary(&statement.query.sql);
        let with_file = statement.file.map(|file| {
            self.state.take_database_collation(statement);
            let text = file.event.text_with(b" INFILE 'SQL_LOAD'", file.event.duplicates);
            self.state.text_of_primary(&text).into_owned()
        });
        let options = ParseOptions {
            sql_mode: self.state.context.settings.sql_mode,
            programs: ProgramBodies::Opaque,
            ..ParseOptions::default()
        };
        let parsed_text = with_file.as_deref().unwrap_or(&sql);
        let mut parsed = paceline_syntax::parse_first(parsed_text, &options)?;
        if creates_program(&parsed.statement)
            && !OmittedDefinition::is_omitted(&parsed.statement, &self.state.server.globals)
        {
            let options = ParseOptions {
                programs: ProgramBodies::Parsed,
                ..options
            };
            parsed = paceline_syntax::parse_first(parsed_text, &options)?;
        }
        if let Statement::SetStatement { items, .. } = &mut parsed.statement {
            items.retain(|item| !is_log_format(item));
        }
        if let Some(create) = table_to_fill(&mut parsed.statement)
            && self.state.is_there_and_empty(create)?
        {
            // A crash occurred between the creation of the table and the insertion of its rows. If the table had
            // existed before, the primary would not have logged the statement.
            create.or_replace = true;
            create.if_not_exists = false;
        }
        let tolerant = tolerate_other_state(
            &mut parsed.statement,
            &sql,
            statement.query.error_code,
            &self.state,
        );
        // A primary may have logged a password in plain text. This server does not log it.
        let text = match (with_file, tolerant) {
            (_, Some(text)) => Cow::Owned(text),
            (Some(_), None) => Cow::Borrowed(&*sql),
            (None, None) => parsed.text_to_show(&sql, stored_hash),
        };
        let text = &*text;
        if !statement.is_transactional && inserts_rows(&parsed.statement) {
            self.state.be_lenient();
        }
        self.state.begin_statement(Some(&parsed.statement));
        self.state.take_values(statement)?;
        let failed = Some(statement.query.error_code).filter(|number| *number != 0);
        self.state.context.statement.failed_on_primary = failed.map(ErrorCode::from_number);
        let execution = Execution::of_text(text);
        let done = match (&parsed.statement, statement.file) {
            // The statement concerns only the primary.
            (Statement::Empty, _) => Ok(()),
            (parsed, _) if OmittedDefinition::is_omitted(parsed, &self.state.server.globals) => {
                tracing::warn!("left out: {}", String::from_utf8_lossy(text));
                Ok(())
            }
            (parsed, _) if omitted_definition::lacks_triggers(parsed, &self.state.server.globals) => {
                Err(omitted_definition::without_triggers())
            }
            (parsed @ Statement::LoadData(load), Some(file)) => {
                let loaded = load_logged(file.blocks, parsed, load, &mut self.state, execution).await;
                loaded.and_then(|reply| self.replies().reply(reply, execution))
            }
            (parsed, _) => self.run_statement(parsed, execution).await,
        };
        if done.is_err() {
            self.state.abort_statement();
        }
        self.state.settle_counts();
        self.connection.writer.clear();
        self.state.changes.clear();
        done
    }
}

/// Returns whether a statement inserts rows.
fn inserts_rows(statement: &Statement) -> bool {
    match statement {
        Statement::SetStatement { statement, .. } => inserts_rows(statement),
        statement => matches!(statement, Statement::Insert(_) | Statement::LoadData(_)),
    }
}

/// Returns the ordinary (not temporary) table that a CREATE TABLE … SELECT creates.
fn table_to_fill(statement: &mut Statement) -> Option<&mut CreateTable> {
    match statement {
        Statement::SetStatement { statement, .. } => table_to_fill(statement),
        Statement::Ddl(DdlStatement::CreateTable(create))
            if !create.temporary && create.select().is_some() =>
        {
            Some(create)
        }
        _ => None,
    }
}

/// Returns whether a statement that was parsed without its program creates a trigger or a routine.
fn creates_program(statement: &Statement) -> bool {
    match statement {
        Statement::SetStatement { statement, .. } => creates_program(statement),
        Statement::Unsupported(object) => matches!(
            *object,
            "TRIGGER" | "PROCEDURE" | "FUNCTION" | "AGGREGATE" | "EVENT"
        ),
        _ => false,
    }
}

/// Returns whether an item of SET STATEMENT sets the primary's log format, which has already been applied.
fn is_log_format(item: &SetItem) -> bool {
    matches!(item, SetItem::Variable { name, .. } if name.eq_ignore_ascii_case("binlog_format"))
}

fn failure(error: Error) -> Failure {
    Failure::from(error)
}

impl StatementRunner for ReplicatedSession {
    fn begin(&mut self, gtid: GtidChoice, replication: Replication, timestamp_seconds: u32) {
        self.gtid = Some(gtid);
        self.timestamp_seconds = timestamp_seconds;
        if let Some(open) = &self.open {
            open.session.state.services.transaction.lock().last_gtid = None;
        }
        self.replication = replication;
    }

    fn statement(&mut self, statement: &ReplicatedStatement<'_>) -> std::result::Result<(), Failure> {
        let (runtime, replication) = (self.runtime.clone(), self.replication);
        let (server, connection) = (self.server.clone(), self.connection.clone());
        let session = self.ready()?;
        let of = (statement.server_id, statement.query.connection_id);
        if let Some(tables) = server.replicated_tables.take(&connection, of) {
            session.state.temporary.tables = tables;
        }
        session.state.temporary.tables.begin_undoable();
        let done = runtime.block_on(session.run_replicated(statement, replication));
        let tables = std::mem::replace(&mut session.state.temporary.tables, server.temporary_tables());
        if !tables.is_nothing() {
            server.replicated_tables.keep(&connection, of, tables);
            if !self.defining.contains(&of) {
                self.defining.push(of);
            }
        }
        done.map_err(failure)
    }

    fn make_table(&mut self, statement: &ReplicatedStatement<'_>) -> std::result::Result<(), Failure> {
        let runtime = self.runtime.clone();
        let session = self.ready()?;
        let made = runtime.block_on(async {
            if session.state.was_made(statement)? {
                return Ok(());
            }
            // The definition has a GTID of its own, because the primary's belongs to the rows.
            session.state.services.transaction.lock().replicated = None;
            session.run_replicated(statement, Replication::LocalOnly).await
        });
        made.map_err(failure)?;
        let transaction = self.transaction()?;
        transaction.log_definition(
            statement.query,
            statement.event_flags,
            statement.timestamp_seconds,
        )?;
        Ok(())
    }

    fn change_rows(&mut self, rows: &FiringRows) -> std::result::Result<(), Failure> {
        self.change_firing_rows(rows)
    }

    fn transaction(&mut self) -> std::result::Result<&mut Transaction, Failure> {
        let replication = self.replication;
        let session = self.ready()?;
        session.state.context.settings.autocommit = false;
        session.state.take_replication(replication);
        session.state.context.settings.sql_mode = SqlMode::DEFAULT;
        session.state.enter_transaction();
        session.state.transaction.running().map_err(failure)
    }

    fn commit(&mut self) -> std::result::Result<(), Failure> {
        let (runtime, timestamp) = (self.runtime.clone(), self.timestamp_seconds);
        let Some(choice) = self.gtid.clone() else {
            return Ok(());
        };
        let domain_id = choice.given().map(|gtid| gtid.domain_id);
        let session = self.ready()?;
        let done = runtime.block_on(async {
            session.state.commit().await?;
            let logged = session.state.services.transaction.lock().last_gtid;
            if logged.is_some_and(|logged| Some(logged.domain_id) == domain_id) {
                return Ok(());
            }
            // The position moves even without any change.
            let committing = session.state.server.transactions.commit_empty(
                &session.state.services.locks,
                choice,
                timestamp,
            );
            let outcome = committing.await.map_err(|error| of_transaction(&error))?;
            session.state.committed(outcome);
            Ok(())
        });
        self.gtid = None;
        if done.is_ok() {
            self.end_definitions(TransactionEnd::Committed);
        }
        done.map_err(failure)
    }

    fn rollback(&mut self) {
        if let Some(open) = &mut self.open {
            open.session.state.roll_back();
        }
    }

    fn give_up(&mut self) {
        self.rollback();
        self.end_definitions(TransactionEnd::GivenUp);
    }
}
