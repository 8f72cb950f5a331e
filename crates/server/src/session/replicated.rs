//! Sessions in which a replica executes its primary's statements: DDL, and transactions in statement format.
//!
//! Such a session is like any other, except that it has no client (its replies are discarded), and that it does not
//! wait for row locks of sessions that have not begun to commit. Each statement gets the settings of the session that
//! ran it on the primary, so that it has the same result here. Its changes are logged as rows, with the primary's GTID.
//!
//! The temporary tables of the primary's sessions are kept between their statements ([`crate::replicated_tables`]). A
//! transaction that changes nothing else is logged here as an empty group with its GTID. Data read from them is logged
//! as rows, so our replicas do not need them. A transaction that fails here is received again: the temporary tables
//! that it created are dropped, and those that it dropped are restored with their rows.
//!
//! LOAD DATA is received together with its file. As in MariaDB, its text is changed to name another file and to contain
//! the treatment of duplicates from the event, because LOCAL implied IGNORE. It reads the logged file, whatever the
//! name is. The annotation in our log is the primary's text.

use super::connection::Connection;
use super::errors::of_transaction;
use super::query::{Execution, QueryOrigin};
use super::result::RowFormat;
use super::services::SessionServices;
use super::{More, Phase, Session, omitted_definition};
use crate::accounts::show::identifier;
use crate::accounts::{Account, ClientHost, PrivilegeSet};
use crate::registry::SessionShared;
use crate::replicated_tables::{PrimarySession, TransactionEnd};
use crate::server::Server;
use crate::variables::{Variable, VariableValue, apply_all_to_session};
use paceline_apply::replicated::Failure;
use paceline_binlog::event::{IntvarKind, StatusVar, UserVarEvent};
use paceline_catalog::ddl::session_of_event;
use paceline_expression::ExprType;
use paceline_expression::session::{
    RandomGenerator, Services, SessionContext, SessionMemory, SqlMode, UserVariable,
};
use paceline_replication::replica::apply::{ReplicatedStatement, StatementRunner, StatementRunners};
use paceline_storage::Direction;
use paceline_syntax::definition::CreateTable;
use paceline_syntax::{DdlStatement, ParseOptions, SetItem, Statement};
use paceline_syntax::{Error, Result};
use paceline_txn::{GtidChoice, Interrupt, Replication, Transaction};
use paceline_types::error_code::ErrorCode;
use paceline_types::{Charset, Collation, DataType, Decimal, Value};
use paceline_wire::socket::Socket;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
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
        session.services.transaction.lock().replicated = gtid;
        Ok(session)
    }
}

fn open(server: &Arc<Server>, interrupt: Interrupt) -> std::io::Result<Open> {
    // Committed transactions of the primary have precedence over uncommitted local ones.
    let locks = server.transactions.applier_session(interrupt);
    let (session, other_end) = own_session(server, USER, locks)?;
    Ok(Open {
        session,
        _other_end: other_end,
    })
}

/// Creates an internal session with all privileges. Also returns the other end of its socket.
pub fn own_session(
    server: &Arc<Server>,
    user: &str,
    locks: paceline_txn::Session,
) -> std::io::Result<(Session, UnixStream)> {
    let (near, far) = UnixStream::pair()?;
    let socket = Socket::unix(near);
    let number = server.counters.connections.fetch_add(1, Ordering::Relaxed) + 1;
    let shared = Arc::new(SessionShared::new(
        number as u32,
        socket.handle()?,
        String::new(),
        u64::MAX,
        SessionMemory::unlimited(),
    ));
    let services = Arc::new(SessionServices::new(server.clone(), shared.clone(), locks));
    let mut account = Account::new(user, "");
    account.global = PrivilegeSet::everything();
    services.set_account(account);
    let context = SessionContext::charged_to(
        shared.memory.clone(),
        u64::from(shared.id),
        Services {
            variables: services.clone(),
            privileges: services.clone(),
            virtual_tables: services.clone(),
            functions: services.clone(),
        },
    );
    let mut session = Session {
        server: server.clone(),
        connection: Connection::new(socket, usize::MAX, shared.killed.clone()),
        shared,
        services,
        context,
        transaction: Default::default(),
        temporary: server.temporary_tables(),
        other_temporary: Default::default(),
        prepared: Default::default(),
        binlog_format: None,
        table_locks: Default::default(),
        multi_statements: false,
        state_changes: vec![],
        statement_log_settings: Default::default(),
        phase: Phase::Commands,
        login_collation: None,
        client: ClientHost::local(),
        registered: None,
    };
    let mut values = crate::variables::SessionValues::new(&server.globals);
    apply_all_to_session(&mut session.context, &mut values);
    // A statement that the primary could execute is not refused because of memory.
    session.context.memory.set_limit(u64::MAX);
    *session.services.values.lock() = values;
    Ok((session, far))
}

impl Session {
    /// Applies the settings that a statement had on its primary.
    fn take_settings(&mut self, statement: &ReplicatedStatement<'_>) {
        let before = self.context.settings.clone();
        self.context.statement.insert_id = None;
        let there = session_of_event(statement.query, statement.timestamp_seconds);
        self.context.connection_id = there.connection_id;
        self.context.database = there.database;
        if !there.current_user.user.is_empty() {
            self.context.current_user = there.current_user;
        }
        self.context.settings = there.settings;
        let settings = &mut self.context.settings;
        // A transaction lasts until the primary's COMMIT.
        settings.autocommit = false;
        settings.max_allowed_packet = before.max_allowed_packet;
        settings.row_lock_wait_timeout = before.row_lock_wait_timeout;
        settings.metadata_lock_wait_timeout = before.metadata_lock_wait_timeout;
        settings.binlog_row_metadata = before.binlog_row_metadata;
        settings.isolation = paceline_types::IsolationLevel::ReadCommitted;
        if !statement.tells_explicit_defaults {
            settings.explicit_defaults_for_timestamp =
                self.server.globals.is_on(Variable::ExplicitDefaultsForTimestamp);
        }
        let zone_of = |variable: &StatusVar<'_>| match variable {
            StatusVar::TimeZone(name) => Some(String::from_utf8_lossy(name).into_owned()),
            _ => None,
        };
        let told = statement.query.status_vars.iter().find_map(zone_of);
        let time_zone = told.unwrap_or_else(|| "SYSTEM".to_owned());
        self.services
            .values
            .lock()
            .set(Variable::TimeZone, VariableValue::Text(time_zone.into()));
    }

    /// Sets the character set of the current database, which is used for a file if the statement names none, as on the
    /// primary.
    fn take_database_collation(&mut self, statement: &ReplicatedStatement<'_>) {
        let is_told = |variable: &StatusVar<'_>| matches!(variable, StatusVar::CharsetDatabase(_));
        if statement.query.status_vars.iter().any(is_told) {
            return;
        }
        let catalog = self.server.catalog.load();
        let database = self.context.database.as_deref();
        self.context.settings.collation_database = match database.and_then(|name| catalog.database(name)) {
            Some(database) => database.definition().collation,
            None => self.context.settings.collation_server,
        };
    }

    /// Converts a statement's text to the parser's character set.
    fn text_of_primary<'s>(&self, sql: &'s [u8]) -> Cow<'s, [u8]> {
        match self.context.settings.character_set_client {
            Charset::Latin1 => Charset::Latin1.decode(sql).into_owned().into_bytes().into(),
            _ => Cow::Borrowed(sql),
        }
    }

    /// Sets values that the statement reads and that are not in its text.
    fn take_values(&mut self, statement: &ReplicatedStatement<'_>) -> Result<()> {
        for (kind, value) in statement.intvars {
            match kind {
                IntvarKind::LastInsertId => self.context.last_insert_id = *value,
                IntvarKind::InsertId => self.context.statement.insert_id = Some(*value),
            }
        }
        if let Some(seeds) = statement.rand {
            self.context.random = RandomGenerator::new(seeds.seed1, seeds.seed2);
        }
        for variable in statement.user_variables {
            let name = String::from_utf8_lossy(variable.name).to_lowercase();
            self.context.user_variables.set(&name, user_variable(variable))?;
        }
        Ok(())
    }

    /// Returns whether the table that the statement defines was already created and still needs its rows, because of a
    /// crash between the two.
    fn was_made(&mut self, statement: &ReplicatedStatement<'_>) -> Result<bool> {
        self.take_settings(statement);
        let options = ParseOptions {
            sql_mode: self.context.settings.sql_mode,
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

    /// Sets whether the following changes are logged for replicas.
    fn take_replication(&mut self, replication: Replication) {
        self.context.settings.log_bin = replication != Replication::LocalOnly;
        self.services.values.lock().set(
            Variable::SkipReplication,
            VariableValue::Boolean(replication == Replication::Marked),
        );
    }

    /// Adapts a statement for `slave_ddl_exec_mode=IDEMPOTENT`: as in MariaDB, objects that the primary created may
    /// already exist here, and those that it dropped may be missing. CREATE TABLE replaces an existing table; CREATE
    /// DATABASE keeps an existing database. Returns another text for the log, if the original one would fail.
    fn tolerate_other_state(
        &self,
        statement: &mut Statement,
        text: &[u8],
        error_on_primary: u16,
    ) -> Option<Vec<u8>> {
        let Statement::Ddl(definition) = statement else {
            return None;
        };
        if error_on_primary != 0 || self.server.globals.number(Variable::SlaveDdlExecMode) == 0 {
            return None;
        }
        let catalog = self.catalog();
        match definition {
            DdlStatement::DropTables {
                temporary: false,
                if_exists: if_exists @ false,
                tables,
            } => {
                let mut is_any_missing = false;
                let mut names = Vec::with_capacity(tables.len());
                for table in tables.iter() {
                    let (database, name) = self.qualified(table).ok()?;
                    is_any_missing |=
                        catalog.table(&database, &name).is_none() && catalog.view(&database, &name).is_none();
                    names.push(format!("{}.{}", identifier(&database), identifier(&name)));
                }
                if !is_any_missing {
                    return None;
                }
                *if_exists = true;
                // MariaDB logs a DROP TABLE in which some tables are missing as successful.
                let text = format!(
                    "DROP TABLE IF EXISTS {} /* generated by server */",
                    names.join(",")
                );
                Some(text.into_bytes())
            }
            DdlStatement::DropDatabase {
                if_exists: if_exists @ false,
                name,
            } if catalog.database(name).is_none() => {
                *if_exists = true;
                Some(format!("DROP DATABASE IF EXISTS {}", identifier(name)).into_bytes())
            }
            DdlStatement::CreateDatabase {
                or_replace: false,
                if_not_exists: if_not_exists @ false,
                name,
                ..
            } if catalog.database(name).is_some() => {
                *if_not_exists = true;
                Some(format!("CREATE DATABASE IF NOT EXISTS {}", identifier(name)).into_bytes())
            }
            DdlStatement::CreateTable(create)
                if !create.temporary && !create.or_replace && !create.if_not_exists =>
            {
                let (database, name) = self.qualified(&create.name).ok()?;
                catalog.ordinary_table(&database, &name)?;
                let text = with_or_replace(text)?;
                create.or_replace = true;
                Some(text)
            }
            _ => None,
        }
    }

    async fn run_replicated(
        &mut self,
        statement: &ReplicatedStatement<'_>,
        replication: Replication,
    ) -> Result<()> {
        self.take_settings(statement);
        self.take_replication(replication);
        let sql = self.text_of_primary(&statement.query.sql);
        let with_file = statement.file.map(|file| {
            self.take_database_collation(statement);
            let text = file.event.text_with(b" INFILE 'SQL_LOAD'", file.event.duplicates);
            self.text_of_primary(&text).into_owned()
        });
        let options = ParseOptions {
            sql_mode: self.context.settings.sql_mode,
            ..ParseOptions::default()
        };
        let mut parsed = paceline_syntax::parse_first(with_file.as_deref().unwrap_or(&sql), &options)?;
        if let Statement::SetStatement { items, .. } = &mut parsed.statement {
            items.retain(|item| !is_log_format(item));
        }
        if let Some(create) = table_to_fill(&mut parsed.statement)
            && self.is_there_and_empty(create)?
        {
            // A crash occurred between the table and its rows. If the table had existed before, the primary would not
            // have logged the statement.
            create.or_replace = true;
            create.if_not_exists = false;
        }
        let tolerant = self.tolerate_other_state(&mut parsed.statement, &sql, statement.query.error_code);
        // A primary may have logged a password in plain text; this server does not.
        let text = match (with_file, tolerant) {
            (_, Some(text)) => Cow::Owned(text),
            (Some(_), None) => Cow::Borrowed(&*sql),
            (None, None) => parsed.text_to_show(&sql, super::query::stored_hash),
        };
        let text = &*text;
        self.begin_statement(Some(&parsed.statement));
        self.take_values(statement)?;
        let failed = Some(statement.query.error_code).filter(|number| *number != 0);
        self.context.statement.failed_on_primary = failed.map(ErrorCode::from_number);
        let execution = Execution {
            text,
            parameters: &[],
            format: RowFormat::Text,
            more: More::No,
            asked_by: QueryOrigin::Client,
        };
        let done = match (&parsed.statement, statement.file) {
            // A statement that only concerns the primary.
            (Statement::Empty, _) => Ok(()),
            (parsed, _) if omitted_definition::Kind::is_left_out(parsed, &self.server.globals) => {
                tracing::warn!("left out: {}", String::from_utf8_lossy(text));
                Ok(())
            }
            (parsed, _) if omitted_definition::lacks_triggers(parsed, &self.server.globals) => {
                Err(omitted_definition::without_triggers())
            }
            (parsed @ Statement::LoadData(load), Some(file)) => {
                self.load_logged(file.blocks, parsed, load, execution).await
            }
            (parsed, _) => self.statement(parsed, execution).await,
        };
        if done.is_err() {
            self.abort_statement();
        }
        self.connection.writer.clear();
        self.state_changes.clear();
        done
    }
}

/// Returns the text of a CREATE TABLE as CREATE OR REPLACE TABLE, or `None` if it does not begin with CREATE.
fn with_or_replace(text: &[u8]) -> Option<Vec<u8>> {
    const CREATE: &[u8] = b"create";
    let start = text.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let end = start + CREATE.len();
    let word = text.get(start..end)?;
    word.eq_ignore_ascii_case(CREATE)
        .then(|| [&text[..end], b" OR REPLACE", &text[end..]].concat())
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

/// Returns whether an item of SET STATEMENT sets the primary's log format, which has already been applied.
fn is_log_format(item: &SetItem) -> bool {
    matches!(item, SetItem::Variable { name, .. } if name.eq_ignore_ascii_case("binlog_format"))
}

/// Returns a user variable's value and type.
fn user_variable(event: &UserVarEvent<'_>) -> UserVariable {
    let number = |bytes: &[u8]| {
        bytes
            .first_chunk::<8>()
            .map_or(0, |bytes| u64::from_le_bytes(*bytes))
    };
    let text_type = |length: usize| DataType::VarChar {
        length: length as u32,
        collation: Collation::Utf8mb4GeneralCi,
    };
    let (value, data_type) = match &event.value {
        None => (Value::Null, text_type(0)),
        Some(value) => match value.value_type {
            1 => (
                Value::Double(f64::from_bits(number(value.bytes))),
                DataType::Double(Default::default()),
            ),
            2 => {
                let is_unsigned = value.flags.is_some_and(|flags| flags & 1 != 0);
                let number = number(value.bytes);
                let sign = match is_unsigned {
                    true => paceline_types::Sign::Unsigned,
                    false => paceline_types::Sign::Signed,
                };
                let data_type = DataType::Integer(paceline_types::IntegerType::new(
                    paceline_types::IntegerWidth::Big,
                    sign,
                ));
                match is_unsigned {
                    true => (Value::UInt(number), data_type),
                    false => (Value::Int(number as i64), data_type),
                }
            }
            4 => {
                let decimal = match value.bytes {
                    [precision, scale, packed @ ..] => Decimal::from_binary(packed, *precision, *scale)
                        .map(|decimal| (decimal, *precision, *scale)),
                    _ => None,
                };
                match decimal {
                    Some((decimal, precision, scale)) => (
                        Value::Decimal(decimal),
                        DataType::Decimal(paceline_types::DecimalType::new(precision, scale)),
                    ),
                    None => (Value::Null, text_type(0)),
                }
            }
            _ => {
                let collation = u16::try_from(value.collation).ok().and_then(Collation::from_id);
                match collation {
                    Some(collation) if collation.charset() != Charset::Binary => {
                        let text = collation.charset().decode(value.bytes).into_owned();
                        let data_type = DataType::VarChar {
                            length: text.chars().count() as u32,
                            collation,
                        };
                        (Value::Text(text), data_type)
                    }
                    _ => (
                        Value::Bytes(value.bytes.to_vec()),
                        DataType::VarBinary {
                            length: value.bytes.len() as u32,
                        },
                    ),
                }
            }
        },
    };
    UserVariable {
        value,
        ty: ExprType::new(data_type),
    }
}

fn failure(error: Error) -> Failure {
    Failure::from(error)
}

impl StatementRunner for ReplicatedSession {
    fn begin(&mut self, gtid: GtidChoice, replication: Replication, timestamp_seconds: u32) {
        self.gtid = Some(gtid);
        self.timestamp_seconds = timestamp_seconds;
        if let Some(open) = &self.open {
            open.session.services.transaction.lock().last_gtid = None;
        }
        self.replication = replication;
    }

    fn statement(&mut self, statement: &ReplicatedStatement<'_>) -> std::result::Result<(), Failure> {
        let (runtime, replication) = (self.runtime.clone(), self.replication);
        let (server, connection) = (self.server.clone(), self.connection.clone());
        let session = self.ready()?;
        let of = (statement.server_id, statement.query.connection_id);
        if let Some(tables) = server.replicated_tables.take(&connection, of) {
            session.temporary = tables;
        }
        session.temporary.begin_undoable();
        let done = runtime.block_on(session.run_replicated(statement, replication));
        let tables = std::mem::replace(&mut session.temporary, server.temporary_tables());
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
            if session.was_made(statement)? {
                return Ok(());
            }
            // It has its own GTID, because the primary's belongs to the rows.
            session.services.transaction.lock().replicated = None;
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

    fn transaction(&mut self) -> std::result::Result<&mut Transaction, Failure> {
        let replication = self.replication;
        let session = self.ready()?;
        session.context.settings.autocommit = false;
        session.take_replication(replication);
        session.context.settings.sql_mode = SqlMode::DEFAULT;
        session.enter_transaction();
        session.transaction.running().map_err(failure)
    }

    fn commit(&mut self) -> std::result::Result<(), Failure> {
        let (runtime, timestamp) = (self.runtime.clone(), self.timestamp_seconds);
        let Some(choice) = self.gtid.clone() else {
            return Ok(());
        };
        let domain_id = choice.given().map(|gtid| gtid.domain_id);
        let session = self.ready()?;
        let done = runtime.block_on(async {
            session.commit().await?;
            let logged = session.services.transaction.lock().last_gtid;
            if logged.is_some_and(|logged| Some(logged.domain_id) == domain_id) {
                return Ok(());
            }
            // Without any change the position moves nevertheless.
            let committing =
                session
                    .server
                    .transactions
                    .commit_empty(&session.services.locks, choice, timestamp);
            let outcome = committing.await.map_err(|error| of_transaction(&error))?;
            session.committed(outcome);
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
            open.session.roll_back();
        }
    }

    fn give_up(&mut self) {
        self.rollback();
        self.end_definitions(TransactionEnd::GivenUp);
    }
}
