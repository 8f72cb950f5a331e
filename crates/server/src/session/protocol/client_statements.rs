//! Prepared statements of a client, by id.

use super::columns::KnownColumns;
use super::cursor::Cursor;
use crate::server::Server;
use paceline_expression::session::MemoryCharge;
use paceline_query::plan::Plan;
use paceline_syntax::{Error, Result, Statement};
use paceline_types::error_code::*;
use paceline_wire::command::LAST_PREPARED;
use paceline_wire::prepared::ParameterType;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A prepared statement.
pub(in crate::session) struct PreparedStatement {
    pub(in crate::session) text: Vec<u8>,
    /// Digest of the text.
    pub(in crate::session) digest: u64,
    pub(in crate::session) statement: Arc<Statement>,
    pub(in crate::session) parameters: usize,
    /// Current database when it was prepared.
    pub(in crate::session) database: Option<String>,
    /// The plan; `None` for statements that are not planned.
    pub(in crate::session) plan: Option<Arc<Plan>>,
    /// Number of rows read by the last execution.
    pub(in crate::session) rows_read: u64,
    /// Columns that were sent to the client.
    pub(in crate::session) columns: Option<KnownColumns>,
    /// Parameter types of the last execution.
    pub(in crate::session) types: Vec<ParameterType>,
    /// Data of COM_STMT_SEND_LONG_DATA, by parameter. Too much data is reported as an error by the execution.
    pub(in crate::session) long_data: Vec<Option<Vec<u8>>>,
    /// Error that stopped the collection of long data.
    pub(in crate::session) long_data_error: Option<Error>,
    /// Rows of an open cursor that have not been fetched.
    pub(in crate::session) cursor: Option<Cursor>,
    /// Memory of the statement and its long data.
    pub(in crate::session) memory: MemoryCharge,
    pub(in crate::session) _counted: CountedStatement,
}

/// Counts a statement for `max_prepared_stmt_count`. It is dropped with the statement, even if a running statement
/// panics.
pub(in crate::session) struct CountedStatement(Arc<Server>);

impl CountedStatement {
    pub(in crate::session) fn new(server: &Arc<Server>) -> Result<Self> {
        server.prepared_statement_opened()?;
        Ok(CountedStatement(server.clone()))
    }
}

impl Drop for CountedStatement {
    fn drop(&mut self) {
        self.0.prepared_statement_closed();
    }
}

/// Prepared statements of a client.
#[derive(Default)]
pub struct ClientStatements {
    /// Boxed, because a running statement is removed from the map.
    pub(in crate::session) by_id: BTreeMap<u32, Box<PreparedStatement>>,
    last_id: u32,
}

impl ClientStatements {
    /// Removes all statements.
    pub fn clear(&mut self) {
        self.by_id.clear();
    }

    pub(in crate::session) fn id(&self, id: u32) -> u32 {
        if id == LAST_PREPARED { self.last_id } else { id }
    }

    /// Returns the id of a new statement.
    pub(in crate::session) fn next_id(&mut self) -> u32 {
        loop {
            self.last_id = self.last_id.wrapping_add(1);
            let id = self.last_id;
            if id != 0 && id != LAST_PREPARED && !self.by_id.contains_key(&id) {
                return id;
            }
        }
    }

    /// Removes and returns a statement's cursor, to read from it.
    ///
    /// # Errors
    /// 1243 for an unknown statement; 1421 without a cursor.
    pub(in crate::session) fn take_cursor(&mut self, id: u32) -> Result<Cursor> {
        let id = self.id(id);
        match self.by_id.get_mut(&id) {
            Some(prepared) => prepared
                .cursor
                .take()
                .ok_or_else(|| Error::new(ER_STMT_HAS_NO_OPEN_CURSOR, &[&id])),
            None => Err(unknown_statement(id, "mysqld_stmt_fetch")),
        }
    }

    /// Stores a statement's cursor again.
    pub(in crate::session) fn keep_cursor(&mut self, id: u32, cursor: Cursor) {
        let id = self.id(id);
        if let Some(prepared) = self.by_id.get_mut(&id) {
            prepared.cursor = Some(cursor);
        }
    }

    /// Removes a statement, if it exists.
    pub fn close(&mut self, id: u32) {
        self.by_id.remove(&self.id(id));
    }

    /// Clears a statement's long data and cursor. Returns false if it does not exist.
    pub fn reset(&mut self, id: u32) -> bool {
        let id = self.id(id);
        let Some(prepared) = self.by_id.get_mut(&id) else {
            return false;
        };
        prepared.forget_long_data();
        prepared.cursor = None;
        true
    }

    /// Appends data to a long parameter, up to `limit` bytes in total. Unknown statements and parameters are ignored,
    /// because the command has no reply.
    pub fn append_long_data(&mut self, id: u32, parameter: u16, data: &[u8], limit: usize) {
        let id = self.id(id);
        let Some(prepared) = self.by_id.get_mut(&id) else {
            return;
        };
        let Some(slot) = prepared.long_data.get_mut(usize::from(parameter)) else {
            return;
        };
        let value = slot.get_or_insert_default();
        let error = match value.len() + data.len() > limit {
            true => Some(Error::new(ER_NET_PACKET_TOO_LARGE, &[])),
            false => prepared.memory.grow(data.len()).err(),
        };
        match error {
            None => value.extend_from_slice(data),
            Some(error) => {
                prepared.memory.shrink(value.len());
                *slot = None;
                prepared.long_data_error = Some(error);
            }
        }
    }
}

impl PreparedStatement {
    pub(in crate::session) fn forget_long_data(&mut self) {
        for slot in &mut self.long_data {
            let bytes = slot.take().map_or(0, |data| data.len());
            self.memory.shrink(bytes);
        }
        self.long_data_error = None;
    }
}

/// Returns error 1243.
pub(in crate::session) fn unknown_statement(id: u32, command: &str) -> Error {
    Error::new(ER_UNKNOWN_STMT_HANDLER, &[&id, &command])
}
