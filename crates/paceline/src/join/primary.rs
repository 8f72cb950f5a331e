//! The primary: checks whether it can be copied, and provides what a replica needs to follow it.

use super::arguments::{CopyMethod, Kind, Options};
use super::error::{Error, Result, is_error};
use super::schema::{CopySelection, SYSTEM, Schema};
use super::snapshot::Snapshot;
use crate::connection::{Address, Connection, ServerError, master_tls, quoted};
use paceline_binlog::GtidState;
use paceline_log_stream::source::definition::{Definition, UseGtid};
use paceline_server::options::StartOptions;
use paceline_server::variables::Variable;
use paceline_types::error_code::{ER_LOCK_WAIT_TIMEOUT, ER_PARSE_ERROR, ER_SPECIFIC_ACCESS_DENIED_ERROR};
use paceline_wire::TcpAddress;
use std::time::Instant;
use tokio::task::JoinSet;

/// Returns the privileges without which objects would be missing unnoticed, or no snapshot could be taken.
fn privileges_for(method: CopyMethod) -> [&'static str; 3] {
    match method {
        CopyMethod::Rows => ["SELECT", "RELOAD", "TRIGGER"],
        CopyMethod::Files => ["SELECT", "RELOAD", "REPLICATION SLAVE"],
    }
}

/// Settings of a session that reads: exact texts, and no time limits.
const SESSION: &str = "SET SESSION character_set_client=utf8mb4, character_set_connection=utf8mb4, character_set_results=utf8mb4, \
                       time_zone='+00:00', sql_mode='', sql_quote_show_create=1, wait_timeout=86400, net_write_timeout=86400, \
                       net_read_timeout=86400, max_statement_time=0, sql_select_limit=DEFAULT";

/// Logs in to the primary.
async fn connect(options: &Options, user: &str, password: &str) -> Result<Connection> {
    let login = options.login(user, password)?;
    let address = Address::Tcp(address_of(options)?);
    Ok(Connection::open(&address, &login).await?)
}

/// Returns the address, for this command and for the replica that will connect to it.
fn address_of(options: &Options) -> Result<TcpAddress, ServerError> {
    let address: Address = options.primary.parse()?;
    address.for_others().cloned()
}

/// How several sessions get the same snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Snapshots {
    /// MariaDB: they start while no commit is possible.
    UnderLock,
    /// Paceline: they start at the same GTID, and nothing waits.
    AtGtid,
}

pub struct Primary {
    /// Session for queries and locks.
    session: Connection,
    snapshots: Snapshots,
}

/// Limit for the idle time of the session that blocks commits.
const STAGES_IDLE_SECONDS_MAX: u32 = 60;

/// Number of attempts if the schema changes while the snapshot is taken.
const SCHEMA_CHANGES_MAX: u32 = 10;

impl Primary {
    pub async fn connect(options: &Options) -> Result<Primary> {
        let session = connect(options, &options.user, &options.password).await?;
        Ok(Primary {
            session,
            snapshots: Snapshots::UnderLock,
        })
    }

    /// Decides what is copied: files or rows.
    ///
    /// # Errors
    /// Fails if `--copy` requires what this server or the other options do not allow.
    pub fn copy_method(&self, options: &Options, selection: &CopySelection) -> Result<CopyMethod> {
        let is_possible = match (self.snapshots, selection.is_everything()) {
            (Snapshots::UnderLock, _) => Err("it is a MariaDB, whose files have another format"),
            (Snapshots::AtGtid, false) => {
                Err("they contain all tables, but some are to be left out or filtered")
            }
            (Snapshots::AtGtid, true) => Ok(()),
        };
        match (options.copy, is_possible) {
            (Some(CopyMethod::Rows), _) | (None, Err(_)) => Ok(CopyMethod::Rows),
            (_, Ok(())) => Ok(CopyMethod::Files),
            (Some(CopyMethod::Files), Err(why)) => Err(self
                .session
                .problem(format!("its files cannot be copied: {why} (--copy=rows)"))
                .into()),
        }
    }

    /// Fails unless it is possible to replicate from the primary.
    pub async fn check(&mut self, server: &StartOptions, options: &Options) -> Result<()> {
        let session = &mut self.session;
        let version = session.row("SELECT @@version").await?.remove(0);
        if !version.contains("MariaDB") {
            return Err(session.problem(format!(
                "it is {version}; only a MariaDB or a Paceline can be joined. Follow other servers with CHANGE MASTER"
            )).into());
        }
        if version.contains("paceline") {
            self.snapshots = Snapshots::AtGtid;
        }
        session.rows(SESSION).await?;
        let row = session
            .row("SELECT @@log_bin, @@server_id, @@log_slave_updates, @@binlog_format")
            .await?;
        let [log_bin, server_id, log_slave_updates, format] = row.as_slice() else {
            return Err(session.problem("no answer").into());
        };
        if log_bin != "1" {
            return Err(session.problem(
                "it has no binary log (log_bin is OFF), so nothing can replicate from it: start it with --log-bin",
            ).into());
        }
        let own = server.globals.number(Variable::ServerId);
        if server_id.parse() == Ok(own) {
            return Err(session
                .problem(format!(
                    "its server_id is {own} too: give the replica another one with --server-id"
                ))
                .into());
        }
        if log_slave_updates != "1" && is_replica(session, options).await? {
            return Err(session.problem(
                "it is a replica that does not log what it replicates (log_slave_updates is OFF): join its primary instead",
            ).into());
        }
        if format != "ROW" {
            if options.leave_out.contains(&Kind::Triggers) {
                return Err(session.problem(format!(
                    "its binlog_format is {format}: changes made by triggers would be missing here, because triggers are left out. First run SET \
                     GLOBAL binlog_format=ROW there; sessions that are already connected keep the old format"
                )).into());
            }
            eprintln!(
                "note: its binlog_format is {format}: the replica executes its statements; with ROW it would apply rows"
            );
        }
        let own = privileges(session).await?;
        if own.iter().any(|own| own == "BINLOG MONITOR" || own == "SUPER") {
            let status = session.row("SHOW MASTER STATUS").await?;
            if status.iter().skip(2).any(|filter| !filter.is_empty()) {
                eprintln!(
                    "note: it does not log all databases (binlog_do_db, binlog_ignore_db); changes in the others are not replicated"
                );
            }
        }
        let (user, password) = replication_account(options);
        let mut replication = connect(options, user, password).await?;
        if !privileges(&mut replication)
            .await?
            .iter()
            .any(|privilege| privilege == "REPLICATION SLAVE")
        {
            return Err(session
                .problem(format!("user '{user}' lacks the privilege REPLICATION SLAVE"))
                .into());
        }
        Ok(())
    }

    /// Fails unless the user has the privileges for copying.
    pub async fn check_privileges(&mut self, method: CopyMethod, options: &Options) -> Result<()> {
        let session = &mut self.session;
        let own = privileges(session).await?;
        let lacking: Vec<_> = privileges_for(method)
            .iter()
            .filter(|privilege| !own.iter().any(|own| own == *privilege))
            .copied()
            .collect();
        if !lacking.is_empty() {
            return Err(session.problem(format!(
                "user '{}' lacks privileges on *.*: {}. Without them, objects could be missing from the copy unnoticed",
                options.user,
                lacking.join(", ")
            )).into());
        }
        Ok(())
    }

    /// Returns the names of all MEMORY tables.
    pub async fn memory_tables(&mut self) -> Result<Vec<String>> {
        let listed = self
            .session
            .rows(&format!(
                "SELECT CONCAT(table_schema, '.', table_name) FROM information_schema.tables WHERE engine = 'MEMORY' AND table_schema \
                 NOT IN {SYSTEM} ORDER BY 1"
            ))
            .await?;
        Ok(listed.into_iter().flatten().flatten().collect())
    }

    /// Opens sessions with a common snapshot. Returns them with the snapshot's position and schema.
    pub async fn snapshot(&mut self, options: &Options, selection: &CopySelection) -> Result<Snapshot> {
        let mut sessions = vec![];
        for _ in 0..options.parallel {
            let mut session = connect(options, &options.user, &options.password).await?;
            session.rows(SESSION).await?;
            sessions.push(session);
        }
        match self.snapshots {
            Snapshots::UnderLock => self.snapshot_under_lock(sessions, options, selection).await,
            Snapshots::AtGtid => self.snapshot_at_gtid(sessions, selection).await,
        }
    }

    async fn snapshot_under_lock(
        &mut self,
        sessions: Vec<Connection>,
        options: &Options,
        selection: &CopySelection,
    ) -> Result<Snapshot> {
        let session = &mut self.session;
        // If this process hangs while it holds the stages, the primary ends the session, and nothing waits any longer.
        session
            .rows(&format!(
                "SET SESSION lock_wait_timeout={}, wait_timeout={STAGES_IDLE_SECONDS_MAX}",
                options.lock_timeout
            ))
            .await?;
        // Each stage may wait for its lock.
        let waits = options.silence_limit.and(options.lock_timeout.into());
        session.client.set_idle_timeout(waits);
        stage(session, "START", options).await?;
        stage(session, "BLOCK_DDL", options).await?;
        let schema = Schema::read(session, selection).await?;
        if let Some(last) = schema.last_defined() {
            // A later redefinition is detected by its time, which is in whole seconds and comes from a clock that lags
            // by some milliseconds.
            let rest = format!("{last} + 1.1 - UNIX_TIMESTAMP(NOW(6))");
            session
                .rows(&format!("DO SLEEP(GREATEST(0, LEAST(2, {rest})))"))
                .await?;
        }
        let began = Instant::now();
        stage(session, "BLOCK_COMMIT", options).await?;
        let sessions = begin_all(sessions, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY").await?;
        let mut position = session
            .row("SELECT @@GLOBAL.gtid_binlog_pos, @@GLOBAL.gtid_binlog_state")
            .await?;
        stage(session, "END", options).await?;
        session.client.set_idle_timeout(options.silence_limit.limit());
        Ok(Snapshot {
            state: position.pop().unwrap_or_default(),
            position: position.pop().unwrap_or_default(),
            held: Some(began.elapsed()),
            sessions,
            schema,
        })
    }

    /// Reads the schema before and after. If both are the same, it is the schema at the position.
    async fn snapshot_at_gtid(
        &mut self,
        mut sessions: Vec<Connection>,
        selection: &CopySelection,
    ) -> Result<Snapshot> {
        let session = &mut self.session;
        let mut before = Schema::read(session, selection).await?;
        for _ in 0..SCHEMA_CHANGES_MAX {
            let state = session.row("SELECT @@GLOBAL.gtid_binlog_state").await?.remove(0);
            let position = state
                .parse::<GtidState>()
                .map_err(|error| session.problem(error.to_string()))?
                .position()
                .to_string();
            let begin = format!("START TRANSACTION WITH CONSISTENT SNAPSHOT AT GTID '{position}'");
            sessions = begin_all(sessions, &begin).await?;
            let schema = Schema::read(session, selection).await?;
            if schema.definitions() == before.definitions() {
                return Ok(Snapshot {
                    state,
                    position,
                    held: None,
                    sessions,
                    schema,
                });
            }
            before = schema;
        }
        Err(session
            .problem("its tables are created and altered too often to take a snapshot; try again later")
            .into())
    }

    /// Returns the replica's connection settings for this primary.
    pub fn definition(options: &Options) -> Result<Definition> {
        let TcpAddress { host, port } = address_of(options)?;
        let (user, password) = replication_account(options);
        Ok(Definition {
            host,
            port,
            user: user.to_owned(),
            password: password.to_owned().into(),
            use_gtid: UseGtid::SlavePos,
            tls: options.tls.settings(),
            ..Definition::default()
        })
    }

    /// Returns the statements that make the filled server a replica that continues from the position.
    pub fn follow_statements(&self, options: &Options, position: &str, state: &str) -> Result<Vec<String>> {
        let TcpAddress { host, port } = address_of(options)?;
        let (user, password) = replication_account(options);
        Ok(vec![
            // The log of the copying itself is reset: it contains nothing that should replicate.
            format!("SET GLOBAL gtid_binlog_state='{state}'"),
            format!("SET GLOBAL gtid_slave_pos='{position}'"),
            format!(
                "CHANGE MASTER TO MASTER_HOST={}, MASTER_PORT={port}, MASTER_USER={}, MASTER_PASSWORD={}, MASTER_USE_GTID=slave_pos{}",
                quoted(&host),
                quoted(user),
                quoted(password),
                master_tls(&options.tls.settings())
            ),
        ])
    }
}

/// Starts a transaction in each session, in parallel.
async fn begin_all(sessions: Vec<Connection>, begin: &str) -> Result<Vec<Connection>> {
    let mut beginning = JoinSet::new();
    for mut session in sessions {
        let begin = begin.to_owned();
        beginning.spawn(async move {
            session
                .rows("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                .await?;
            session.rows(&begin).await?;
            Ok::<_, Error>(session)
        });
    }
    let mut sessions = vec![];
    while let Some(begun) = beginning.join_next().await {
        sessions.push(begun.map_err(|error| Error::Target(error.to_string()))??);
    }
    Ok(sessions)
}

async fn stage(session: &mut Connection, stage: &str, options: &Options) -> Result<()> {
    let statement = format!("BACKUP STAGE {stage}");
    let Err(error) = session.client.query(&statement).await else {
        return Ok(());
    };
    Err(session.problem(if is_error(&error, ER_LOCK_WAIT_TIMEOUT) {
        format!(
            "{statement} did not get its lock within {} s: another backup is running, or DDL, LOCK TABLES or a statement that changes a table \
             without transactions. SHOW FULL PROCESSLIST there shows it. Run this again later, or wait longer with --lock-timeout",
            options.lock_timeout
        )
    } else if is_error(&error, ER_PARSE_ERROR) {
        "it does not support BACKUP STAGE: MariaDB 10.4.1 or later is required".to_owned()
    } else {
        format!("{statement}: {error}")
    }).into())
}

/// Returns whether the server replicates from another one.
async fn is_replica(session: &mut Connection, options: &Options) -> Result<bool> {
    const CONNECTIONS: &str = "SHOW ALL SLAVES STATUS";
    match session.client.rows(CONNECTIONS).await {
        Ok(connections) => return Ok(!connections.is_empty()),
        Err(error) if is_error(&error, ER_SPECIFIC_ACCESS_DENIED_ERROR) => {}
        Err(error) => return Err(session.problem(format!("{CONNECTIONS}: {error}")).into()),
    }
    // Every user may see whether a replica connection is running.
    let running = session.row("SHOW GLOBAL STATUS LIKE 'Slaves_running'").await?;
    if running.get(1).is_some_and(|running| running != "0") {
        return Ok(true);
    }
    let replicated = session.row("SELECT @@GLOBAL.gtid_slave_pos").await?;
    if replicated.iter().any(|position| !position.is_empty()) {
        eprintln!(
            "note: it was a replica, and user '{}' lacks the privilege SLAVE MONITOR to see whether it still is one. It would not log what it \
             replicates (log_slave_updates is OFF)",
            options.user
        );
    }
    Ok(false)
}

/// Returns the global privileges of a session's user.
async fn privileges(session: &mut Connection) -> Result<Vec<String>> {
    let rows = session
        .rows(
            "SELECT privilege_type FROM information_schema.user_privileges WHERE grantee = \
             CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''') OR grantee = CONCAT('''', CURRENT_ROLE(), '''@''''')",
        )
        .await?;
    Ok(rows
        .into_iter()
        .flatten()
        .map(Option::unwrap_or_default)
        .collect())
}

fn replication_account(options: &Options) -> (&str, &str) {
    match &options.replication_user {
        Some(user) => (user, options.replication_password.as_deref().unwrap_or_default()),
        None => (&options.user, &options.password),
    }
}
