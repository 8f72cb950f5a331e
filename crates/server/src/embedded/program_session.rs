//! A session of the program around the server, for rows and SQL without packets.
//!
//! It is in the list of sessions, with all privileges, and KILL ends it. Its functions run on the caller's thread.
//! Those that may wait for a commit are futures; they may be polled on any thread and in any runtime, or by
//! [`block_on`](super::block_on).

use super::EmbeddedServer;
use crate::registry::SessionHandle;
use crate::session::Session;
use crate::session::direct::{DirectStatement, server_session};
use crate::session::rows::{CollectedRows, Currency};
use paceline_catalog::TableDefinition;
use paceline_query::execute::Outcome;
use paceline_syntax::Result;
use paceline_table_access::{IndexParts, ReadMode, RowRef, RowScan, TableView};
use paceline_txn::{AccessMode, InterruptReason, IsolationLevel};
use paceline_types::{Gtid, Value};
use std::sync::Arc;
use tokio::task::JoinHandle;

/// Account that such a session shows.
const USER: &str = "root";

/// A session of the program around the server.
pub struct ProgramSession {
    session: Session,
    /// Reads what the session would send to a client, which it has not.
    drained: JoinHandle<()>,
    server: Arc<EmbeddedServer>,
}

impl Drop for ProgramSession {
    fn drop(&mut self) {
        self.drained.abort();
    }
}

/// A handle of a session by which any thread ends its calls, as KILL does.
#[derive(Clone)]
pub struct Interrupter(Arc<SessionHandle>);

impl Interrupter {
    /// Ends the call that runs now: it gets 1317. Without one it does nothing.
    pub fn end_call(&self) {
        self.0.kill(InterruptReason::Query);
    }

    /// Ends the session: the call that runs now, and those that follow, get 1927.
    pub fn end_session(&self) {
        self.0.kill(InterruptReason::Connection);
    }
}

/// A prepared INSERT, REPLACE, UPDATE or DELETE of a session.
pub struct PreparedChange(DirectStatement);

impl ProgramSession {
    /// Begins a session.
    ///
    /// # Errors
    /// The operating system's error if no socket can be created; "not connected" after the close.
    pub fn new(server: &Arc<EmbeddedServer>) -> std::io::Result<ProgramSession> {
        if server.server().is_stopping() {
            return Err(std::io::ErrorKind::NotConnected.into());
        }
        let _entered = server.runtime().enter();
        let (session, mut other_end) = server_session(server.server(), USER)?;
        let drained = tokio::spawn(async move {
            let _ = tokio::io::copy(&mut other_end, &mut tokio::io::sink()).await;
        });
        Ok(ProgramSession {
            session,
            drained,
            server: server.clone(),
        })
    }

    /// Returns the server.
    pub fn server(&self) -> &Arc<EmbeddedServer> {
        &self.server
    }

    /// Returns the handle by which other threads end its calls.
    pub fn interrupter(&self) -> Interrupter {
        Interrupter(self.session.handle().clone())
    }

    /// Returns the database of `USE`.
    pub fn database(&self) -> Option<&str> {
        self.session.database()
    }

    /// Returns the definition of a table.
    ///
    /// # Errors
    /// 1146; 1347 for a view.
    pub fn table_definition(&self, database: &str, name: &str) -> Result<Arc<TableDefinition>> {
        self.session.table_definition(database, name)
    }

    /// Returns whether an explicit transaction is open.
    pub fn is_in_transaction(&self) -> bool {
        self.session.is_in_transaction()
    }

    /// Begins a read of rows of this table. Unless the definition is outdated, [`get`](Self::get) and
    /// [`scan`](Self::scan) may follow, and then [`end_read`](Self::end_read) or [`abandon_read`](Self::abandon_read).
    ///
    /// # Errors
    /// Those of the transaction and of KILL; 1412 for a table that is newer than the transaction's snapshot.
    pub fn begin_read(&mut self, definition: &TableDefinition) -> Result<Currency> {
        self.session.begin_read(definition)
    }

    /// Reads a row by a unique key.
    ///
    /// # Errors
    /// Those of [`TableView::get`].
    pub fn get<'s>(
        &'s mut self,
        view: &Arc<TableView>,
        index: usize,
        key: &[Value],
        mode: ReadMode,
    ) -> Result<Option<RowRef<'s>>> {
        let (transaction, context) = self.session.reading()?;
        view.get(transaction, index, key, mode, &context)
    }

    /// Scans parts of an index.
    ///
    /// # Errors
    /// Those of [`TableView::scan`].
    pub fn scan<'s>(
        &'s mut self,
        view: &Arc<TableView>,
        parts: &IndexParts<'_>,
        mode: ReadMode,
    ) -> Result<RowScan<'s>> {
        let (transaction, context) = self.session.reading()?;
        view.scan(transaction, parts, mode, &context)
    }

    /// Ends a read that has succeeded.
    ///
    /// # Errors
    /// Those of its transaction's end.
    pub async fn end_read(&mut self) -> Result<()> {
        self.session.end_read().await
    }

    /// Ends a read that has failed.
    pub fn abandon_read(&mut self) {
        self.session.abandon_read();
    }

    /// Begins a transaction that lasts until it is committed or rolled back.
    ///
    /// # Errors
    /// Those of the commit of one that is open, and of KILL.
    pub async fn begin(
        &mut self,
        isolation: Option<IsolationLevel>,
        access: Option<AccessMode>,
    ) -> Result<()> {
        self.session.begin_explicit(isolation, access).await
    }

    /// Commits it. Returns its GTID; `None` if it has changed nothing.
    ///
    /// # Errors
    /// 1213 if an error has rolled it back, or SQL has ended it; those of the commit.
    pub async fn commit(&mut self) -> Result<Option<Gtid>> {
        self.session.commit_explicit().await
    }

    /// Rolls it back.
    pub fn roll_back(&mut self) {
        self.session.roll_back_explicit();
    }

    /// Executes a text that is one statement.
    ///
    /// # Errors
    /// Those of the statement; 1295 for one whose rows cannot be collected.
    pub async fn execute(&mut self, text: &str, parameters: &[Value]) -> Result<(CollectedRows, Outcome)> {
        self.session.execute_collected(text, parameters).await
    }

    /// Prepares a change of rows.
    ///
    /// # Errors
    /// Those of COM_STMT_PREPARE.
    pub fn prepare_change(&mut self, text: &str) -> Result<PreparedChange> {
        self.session.prepare_change(text).map(PreparedChange)
    }

    /// Executes a prepared change of rows.
    ///
    /// # Errors
    /// Those of COM_STMT_EXECUTE.
    pub async fn change(&mut self, prepared: &mut PreparedChange, parameters: &[Value]) -> Result<Outcome> {
        let done = self
            .session
            .run_direct::<CollectedRows>(&mut prepared.0, parameters);
        done.await.map(|(_, outcome)| outcome)
    }
}
