//! Query: a statement with its context. Used for DDL, and for BEGIN, COMMIT and SAVEPOINT around changes of
//! non-transactional tables.
//!
//! ```text
//! connection id (4) | execution time (4, seconds) | database length (1) | error (2) | length of variables (2)
//! | status variables | database, NUL | statement
//! ```
//! This is MariaDB's `Query_log_event`. Query_compressed contains the statement in the form of [`super::compression`].

use super::EventType;
use super::body::EventBody;
use super::compression::{compress, decompress};
use super::status_vars::{StatusVar, decode_status_vars, encode_status_vars};
use crate::codec::{Cursor, PutExt};
use crate::error::Result;
use std::borrow::Cow;

/// Whether an event contains the statement in compressed form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum QueryCompression {
    /// Uncompressed.
    Plain,
    /// Compressed (`log_bin_compress`).
    Compressed,
}

/// A statement and its context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueryEvent<'a> {
    /// The connection that ran the statement. Its temporary tables are visible to the statement.
    pub connection_id: u32,
    /// Execution time, in seconds.
    pub execution_seconds: u32,
    /// Error with which the statement ended on the primary; 0 for none.
    pub error_code: u16,
    /// Settings of the session.
    pub status_vars: Vec<StatusVar<'a>>,
    /// Default database; empty for none.
    pub database: &'a [u8],
    /// Text of the statement, in the session's character set. Never compressed.
    pub sql: Cow<'a, [u8]>,
    /// Whether the text is compressed when encoded.
    pub compression: QueryCompression,
}

impl<'a> QueryEvent<'a> {
    /// Creates an event for a statement without any context.
    pub fn new(database: &'a [u8], sql: &'a [u8]) -> Self {
        Self {
            connection_id: 0,
            execution_seconds: 0,
            error_code: 0,
            status_vars: Vec::new(),
            database,
            sql: Cow::Borrowed(sql),
            compression: QueryCompression::Plain,
        }
    }

    /// Decodes the body of a Query or Query_compressed event.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
    pub fn decode(event_type: EventType, body: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(event_type.name(), body);
        let head = QueryHead::decode(&mut cursor)?;
        let compression = match event_type {
            EventType::QUERY_COMPRESSED => QueryCompression::Compressed,
            _ => QueryCompression::Plain,
        };
        head.decode_rest(&mut cursor, compression)
    }

    /// Returns the id that a DDL statement carries (Q_XID).
    pub fn xid(&self) -> Option<u64> {
        self.status_vars.iter().find_map(|var| match var {
            StatusVar::Xid(xid) => Some(*xid),
            _ => None,
        })
    }

    /// Returns whether the statement is COMMIT or ROLLBACK, which end a group.
    pub fn ends_group(&self) -> bool {
        self.sql.eq_ignore_ascii_case(b"COMMIT") || self.sql.eq_ignore_ascii_case(b"ROLLBACK")
    }

    /// Returns whether the statement only frames changes: BEGIN, COMMIT, ROLLBACK or a savepoint.
    pub fn is_frame(&self) -> bool {
        let sql = self.sql.trim_ascii();
        let begins = |word: &[u8]| sql.len() >= word.len() && sql[..word.len()].eq_ignore_ascii_case(word);
        self.ends_group()
            || sql.eq_ignore_ascii_case(b"BEGIN")
            || begins(b"SAVEPOINT ")
            || begins(b"ROLLBACK TO ")
    }
}

/// The fixed part of the body. In Execute_load_query, a fixed part of its own follows.
pub(super) struct QueryHead {
    connection_id: u32,
    execution_seconds: u32,
    database_length: usize,
    error_code: u16,
    vars_length: usize,
}

impl QueryHead {
    pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self {
            connection_id: cursor.u32()?,
            execution_seconds: cursor.u32()?,
            database_length: usize::from(cursor.u8()?),
            error_code: cursor.u16()?,
            vars_length: usize::from(cursor.u16()?),
        })
    }

    /// Decodes the rest of the body.
    pub(super) fn decode_rest<'a>(
        self,
        cursor: &mut Cursor<'a>,
        compression: QueryCompression,
    ) -> Result<QueryEvent<'a>> {
        let status_vars = decode_status_vars(cursor.event(), cursor.bytes(self.vars_length)?)?;
        let database = cursor.bytes(self.database_length)?;
        if cursor.u8()? != 0 {
            return Err(cursor.malformed("the database's name does not end with NUL"));
        }
        let sql = match compression {
            QueryCompression::Compressed => Cow::Owned(decompress(cursor.event(), cursor.rest())?),
            QueryCompression::Plain => Cow::Borrowed(cursor.rest()),
        };
        Ok(QueryEvent {
            connection_id: self.connection_id,
            execution_seconds: self.execution_seconds,
            error_code: self.error_code,
            status_vars,
            database,
            sql,
            compression,
        })
    }
}

impl QueryEvent<'_> {
    /// Encodes the body with `between` inserted between the fixed part and the status variables.
    pub(super) fn encode_around(&self, between: &[u8], out: &mut Vec<u8>) {
        out.put_u32(self.connection_id);
        out.put_u32(self.execution_seconds);
        let database = &self.database[..self.database.len().min(255)];
        out.put_u8(database.len() as u8);
        out.put_u16(self.error_code);
        let length_at = out.len();
        out.put_u16(0);
        out.extend_from_slice(between);
        let vars_at = out.len();
        encode_status_vars(&self.status_vars, out);
        let length = (out.len() - vars_at) as u16;
        out[length_at..length_at + 2].copy_from_slice(&length.to_le_bytes());
        out.extend_from_slice(database);
        out.put_u8(0);
        match self.compression {
            QueryCompression::Plain => out.extend_from_slice(&self.sql),
            QueryCompression::Compressed => compress(out, &self.sql),
        }
    }
}

impl EventBody for QueryEvent<'_> {
    fn event_type(&self) -> EventType {
        match self.compression {
            QueryCompression::Plain => EventType::QUERY,
            QueryCompression::Compressed => EventType::QUERY_COMPRESSED,
        }
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        self.encode_around(&[], out);
    }
}
