//! Reads a server, and kills on it.

use super::reading::{Identity, Part, Problem, ROWS_MAX, ReaderConnection, Reading, Row};
use super::view::View;
use crate::connection::{Connection, Result, ServerError};
use crate::server_options::Server;
use std::collections::HashMap;
use std::time::Instant;

/// Request of the screen to the reader.
#[derive(Debug)]
pub enum Request {
    Read(Vec<View>),
    /// A kill of a session that was read through this connection.
    Kill(Kill, ReaderConnection),
}

/// Answer of the reader.
#[derive(Debug)]
pub enum Answer {
    Reading(Result<Box<Reading>>),
    Killed(Result<Kill>),
}

/// Scope of a KILL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kill {
    /// The connection of this id.
    Connection(u64),
    /// The statement that it executes.
    Statement(u64),
}

impl Kill {
    pub fn statement(self) -> String {
        match self {
            Kill::Connection(id) => format!("KILL CONNECTION {id}"),
            Kill::Statement(id) => format!("KILL QUERY {id}"),
        }
    }
}

/// The only connection to the server, while there is one.
pub struct Reader {
    server: Server,
    connection: Option<Connection>,
    /// The latest connection.
    number: ReaderConnection,
    identity: Identity,
}

impl Reader {
    pub fn new(server: Server, connection: Connection) -> Self {
        Reader {
            server,
            connection: Some(connection),
            number: ReaderConnection::default(),
            identity: Identity::default(),
        }
    }

    /// Reads what these views show.
    ///
    /// # Errors
    /// No connection, or a lost one. The next call connects again.
    pub async fn read(&mut self, views: &[View]) -> Result<Reading> {
        let mut connection = self.connect().await?;
        let reading = self.read_parts(&mut connection, views).await?;
        self.connection = Some(connection);
        Ok(reading)
    }

    async fn read_parts(&mut self, connection: &mut Connection, views: &[View]) -> Result<Reading> {
        self.identity = identity(connection).await?;
        let status = connection.texts("SHOW GLOBAL STATUS").await?;
        let pairs = status.into_iter().filter_map(|row| {
            let mut values = row.into_iter();
            Some((values.next()?, values.next()?))
        });
        let status = Row::new(pairs.collect());
        let at = Instant::now();
        let mut parts = HashMap::new();
        for part in views.iter().flat_map(|view| view.parts()) {
            if parts.contains_key(part) {
                continue;
            }
            let rows = match self.query(*part) {
                None => Err(Problem::Missing),
                Some(query) => match connection.named_rows(&query).await {
                    Ok(rows) => Ok(rows.into_iter().map(Row::new).collect::<Vec<Row>>().into()),
                    Err(error) => Err(Problem::of(error)?),
                },
            };
            parts.insert(*part, rows);
        }
        Ok(Reading {
            at,
            seen_by: self.number,
            identity: self.identity.clone(),
            status,
            parts,
        })
    }

    /// Executes a KILL of a session that was read through the connection `seen_by`. It never connects: a restarted
    /// server gives the same id to another session.
    ///
    /// # Errors
    /// The server's error; that connection is lost.
    pub async fn kill(&mut self, kill: Kill, seen_by: ReaderConnection) -> Result<Kill> {
        let current = self.connection.take_if(|_| self.number == seen_by);
        let Some(mut connection) = current else {
            let problem = "nothing was killed: the connection was lost, and the id may be another session's";
            return Err(ServerError::new(&self.server.address, problem));
        };
        let done = connection.query(&kill.statement()).await;
        if !done.as_ref().is_err_and(ServerError::is_lost) {
            self.connection = Some(connection);
        }
        done.map(|_| kill)
    }

    async fn connect(&mut self) -> Result<Connection> {
        match self.connection.take() {
            Some(connection) => Ok(connection),
            None => {
                let connection = Connection::open(&self.server.address, &self.server.login).await?;
                self.number = self.number.next();
                Ok(connection)
            }
        }
    }

    /// Returns the query of a part; `None` if this kind of server cannot have it.
    fn query(&self, part: Part) -> Option<String> {
        let limit = ROWS_MAX + 1;
        let is_paceline = self.identity.is_paceline();
        Some(match part {
            Part::Sessions => format!(
                "SELECT ID, USER, HOST, DB, COMMAND, TIME_MS, STATE, LEFT(INFO, 1000) AS INFO, STAGE, MAX_STAGE, PROGRESS, \
                 MEMORY_USED, EXAMINED_ROWS FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() \
                 ORDER BY COMMAND = 'Sleep', TIME_MS DESC LIMIT {limit}"
            ),
            Part::Statements if is_paceline => format!(
                "SELECT SCHEMA_NAME, DIGEST, LEFT(DIGEST_TEXT, 1000) AS DIGEST_TEXT, EXECUTIONS, ERRORS, ROWS_SENT, \
                 ROWS_AFFECTED, TOTAL_USEC, MAX_USEC, P50_USEC, P95_USEC, P99_USEC \
                 FROM information_schema.PACELINE_STATEMENTS ORDER BY TOTAL_USEC DESC LIMIT {limit}"
            ),
            Part::Statements => format!(
                "SELECT SCHEMA_NAME, DIGEST, LEFT(DIGEST_TEXT, 1000) AS DIGEST_TEXT, COUNT_STAR AS EXECUTIONS, \
                 SUM_ERRORS AS ERRORS, SUM_ROWS_SENT AS ROWS_SENT, SUM_ROWS_AFFECTED AS ROWS_AFFECTED, \
                 SUM_TIMER_WAIT DIV 1000000 AS TOTAL_USEC, MAX_TIMER_WAIT DIV 1000000 AS MAX_USEC \
                 FROM performance_schema.events_statements_summary_by_digest ORDER BY SUM_TIMER_WAIT DESC LIMIT {limit}"
            ),
            Part::Transactions => format!(
                "SELECT trx_id, trx_state, TIMESTAMPDIFF(SECOND, trx_started, NOW()) AS age, \
                 TIMESTAMPDIFF(SECOND, trx_wait_started, NOW()) AS waited, trx_mysql_thread_id, LEFT(trx_query, 1000) AS trx_query, \
                 trx_rows_locked, trx_rows_modified, trx_lock_memory_bytes, trx_isolation_level \
                 FROM information_schema.INNODB_TRX ORDER BY trx_started LIMIT {limit}"
            ),
            Part::LockWaits => format!(
                "SELECT requesting_trx_id, requested_lock_id, blocking_trx_id \
                 FROM information_schema.INNODB_LOCK_WAITS LIMIT {limit}"
            ),
            Part::Locks => format!(
                "SELECT lock_id, lock_mode, lock_table, lock_index FROM information_schema.INNODB_LOCKS LIMIT {limit}"
            ),
            Part::MetadataLocks => format!(
                "SELECT l.OBJECT_TYPE, l.OBJECT_SCHEMA, l.OBJECT_NAME, l.LOCK_TYPE, l.LOCK_STATUS, t.PROCESSLIST_ID \
                 FROM performance_schema.metadata_locks l \
                 JOIN performance_schema.threads t ON t.THREAD_ID = l.OWNER_THREAD_ID \
                 WHERE t.PROCESSLIST_ID <> CONNECTION_ID() ORDER BY l.LOCK_STATUS = 'GRANTED' LIMIT {limit}"
            ),
            Part::Metrics if is_paceline => {
                "SELECT NAME, VALUE, KIND, UNIT FROM information_schema.PACELINE_METRICS WHERE KIND <> 'text'"
                    .to_owned()
            }
            Part::Metrics => return None,
            Part::Primaries => "SHOW ALL SLAVES STATUS".to_owned(),
        })
    }
}

async fn identity(connection: &mut Connection) -> Result<Identity> {
    let row = connection
        .row("SELECT VERSION(), @@hostname, @@server_id, @@global.read_only")
        .await?;
    let text = |at: usize| row.get(at).cloned().unwrap_or_default();
    Ok(Identity {
        version: text(0),
        host: text(1),
        server_id: text(2),
        is_read_only: text(3) != "0",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::Address;
    use paceline_wire::client::ConnectOptions;

    #[tokio::test]
    async fn a_kill_does_not_connect() {
        let server = Server {
            address: Address::Socket("/nonexistent/s".into()),
            login: ConnectOptions::default(),
        };
        let mut reader = Reader {
            server,
            connection: None,
            number: ReaderConnection::default(),
            identity: Identity::default(),
        };
        let kill = reader.kill(Kill::Connection(5), ReaderConnection::default());
        let refused = kill.await.unwrap_err().to_string();
        assert!(
            refused.starts_with("/nonexistent/s: nothing was killed: the connection was lost"),
            "{refused}"
        );
    }
}
