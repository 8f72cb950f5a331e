//! A session of a load.

use crate::connection::{Address, Cause, Connection, ServerError, quoted_identifier};
use paceline_types::error_code::{
    ER_CHECKREAD, ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT, ER_OPTION_PREVENTS_STATEMENT, ER_UNKNOWN_COM_ERROR,
    ErrorCode,
};
use paceline_wire::client::{ConnectOptions, QueryResult};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A server, or the servers of a cluster, and a database there.
#[derive(Debug)]
pub struct Target {
    /// One, or those of a cluster.
    pub addresses: Vec<Address>,
    pub login: ConnectOptions,
    pub database: String,
}

/// Error numbers of MariaDB's client library, for errors that no server reports.
const CR_CONNECTION_ERROR: u16 = 2002;
const CR_SERVER_LOST: u16 = 2013;
/// Number by which wrong answers are counted. No error has it.
const WRONG_ANSWER: u16 = 0;

/// Kind of an error: how an application proceeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// Roll back, and execute the transaction again.
    Retry,
    /// The connection is lost: connect again.
    Away,
    /// Anything else.
    Unexpected,
}

pub type SessionResult<T> = Result<T, ServerError>;

/// Errors after which a transaction is executed again.
const RETRIED: [ErrorCode; 3] = [ER_LOCK_DEADLOCK, ER_LOCK_WAIT_TIMEOUT, ER_CHECKREAD];

impl ErrorKind {
    pub fn of(error: &ServerError) -> Self {
        match () {
            () if error.is(&RETRIED) => ErrorKind::Retry,
            // A server of a cluster answers 1047 until its tables are open, as a node of Galera does.
            () if error.is_lost() || error.is(&[ER_UNKNOWN_COM_ERROR]) => ErrorKind::Away,
            () => ErrorKind::Unexpected,
        }
    }
}

/// Returns the number by which an error is counted.
pub fn error_number(error: &ServerError) -> u16 {
    match error.cause {
        Cause::Server(number) => number,
        Cause::NotConnected => CR_CONNECTION_ERROR,
        Cause::ConnectionLost => CR_SERVER_LOST,
        Cause::Command => WRONG_ANSWER,
    }
}

/// Numbers of errors, by number.
pub type ErrorCounts = BTreeMap<u16, u64>;

/// Settings of every session: literals are read as they are written here, transactions are the server's default ones.
const SETTINGS: [&str; 2] = [
    "SET SESSION sql_mode='STRICT_TRANS_TABLES', autocommit=1",
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
];

/// A connection, which works in the load's database once that exists.
#[derive(Debug)]
pub struct Session {
    target: Arc<Target>,
    connection: Connection,
}

impl Session {
    /// Connects and logs in.
    ///
    /// # Errors
    /// Fails if the connection fails or the server refuses it.
    pub async fn open(target: &Arc<Target>) -> SessionResult<Self> {
        let connection = match &target.addresses[..] {
            [address] => Connection::open(address, &target.login).await?,
            addresses => Self::find_primary(addresses, &target.login).await?,
        };
        let mut session = Session {
            target: target.clone(),
            connection,
        };
        for statement in SETTINGS {
            session.execute(statement).await?;
        }
        Ok(session)
    }

    /// Connects to the server that accepts writes.
    async fn find_primary(addresses: &[Address], login: &ConnectOptions) -> SessionResult<Connection> {
        let mut problem = None;
        for address in addresses {
            let found = async {
                let mut connection = Connection::open(address, login).await?;
                let is_read_only = connection.texts("SELECT @@GLOBAL.read_only").await?;
                Ok((connection, is_read_only == [["0"]]))
            };
            match found.await {
                Ok((connection, true)) => return Ok(connection),
                Ok((_, false)) => {}
                Err(error) => problem = Some(error),
            }
        }
        Err(match problem {
            // A password that is wrong everywhere, for example.
            Some(error) if ErrorKind::of(&error) != ErrorKind::Away => error,
            _ => ServerError {
                cause: Cause::NotConnected,
                ..ServerError::new("--hosts", "none of the servers accepts writes")
            },
        })
    }

    /// Returns how an application proceeds after an error of this session.
    pub fn kind_of(&self, error: &ServerError) -> ErrorKind {
        match self.target.addresses.len() > 1 && error.is(&[ER_OPTION_PREVENTS_STATEMENT]) {
            // It is no primary any more: another one is.
            true => ErrorKind::Away,
            false => ErrorKind::of(error),
        }
    }

    /// Makes the load's database the session's default database.
    pub async fn use_database(&mut self) -> SessionResult<()> {
        let statement = format!("USE {}", quoted_identifier(&self.target.database));
        self.execute(&statement).await.map(drop)
    }

    /// Starts a read-only transaction whose statements all see the same state.
    pub async fn begin_snapshot(&mut self) -> SessionResult<()> {
        self.use_database().await?;
        self.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
            .await
            .map(drop)
    }

    /// Executes a statement without rows.
    pub async fn execute(&mut self, statement: &str) -> SessionResult<Changes> {
        match self.connection.query(statement).await? {
            Some(QueryResult::Ok(ok)) => Ok(Changes {
                rows: ok.affected_rows,
                id: ok.last_insert_id,
            }),
            _ => Ok(Changes::default()),
        }
    }

    /// Executes a query. NULL becomes the empty string.
    pub async fn rows(&mut self, statement: &str) -> SessionResult<Vec<Vec<String>>> {
        self.connection.texts(statement).await
    }

    /// Returns the first column of a query's first row; the empty string if there is none.
    pub async fn value(&mut self, statement: &str) -> SessionResult<String> {
        let row = self.rows(statement).await?.into_iter().next();
        Ok(row.and_then(|row| row.into_iter().next()).unwrap_or_default())
    }

    /// Executes `insert` with numbered rows as VALUES, several rows per statement, until `count` are inserted.
    pub async fn insert_many(
        &mut self,
        insert: &str,
        count: u64,
        row: impl Fn(u64) -> String,
    ) -> SessionResult<()> {
        let mut from = 1;
        while from <= count {
            let to = count.min(from + ROWS_PER_STATEMENT - 1);
            let rows: Vec<String> = (from..=to).map(&row).collect();
            self.execute(&format!("{insert} VALUES {}", rows.join(",")))
                .await?;
            from = to + 1;
        }
        Ok(())
    }

    /// Returns an error for a statement whose answer cannot be right.
    pub fn wrong_answer(&self, statement: &str) -> ServerError {
        self.connection.wrong_answer(statement, "wrong answer")
    }
}

/// Rows of one INSERT when tables are filled.
const ROWS_PER_STATEMENT: u64 = 1000;

/// Effects of a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Changes {
    /// Number of changed rows.
    pub rows: u64,
    /// Generated AUTO_INCREMENT value.
    pub id: u64,
}
