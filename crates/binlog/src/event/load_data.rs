//! LOAD DATA logged as a statement: the file in blocks, then the statement that reads it.
//!
//! ```text
//!   Begin_load_query     file id (4) | first block of the file
//!   Append_block         file id (4) | next block                      (any number of them)
//!   Execute_load_query   Query's fixed part (13) | file id (4) | clause about the file: start (4), end (4) | duplicates (1)
//!                        | status variables | database, NUL | statement
//!   Delete_file          file id (4)                                   (instead of Execute_load_query, if the statement failed)
//! ```
//! This is MariaDB's `Execute_load_query_log_event`. A reader substitutes the name of its own copy of the file: the
//! clause about the file, from `start` to `end` of the statement, is ` [LOCAL] INFILE '…' [REPLACE | IGNORE] INTO`.
//! The file id is the primary's counter of such statements. The blocks of a file and its statement are in one event
//! group. None of these events is ever compressed.

use super::EventType;
use super::body::EventBody;
use super::query::{QueryCompression, QueryEvent, QueryHead};
use crate::codec::{Cursor, PutExt};
use crate::error::Result;

/// Kind of a file block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockKind {
    /// Begin_load_query: the first block.
    First,
    /// Append_block: any later block.
    Next,
}

/// A block of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileBlockEvent<'a> {
    /// Whether this is the first block.
    pub kind: BlockKind,
    /// Id of the file.
    pub file_id: u32,
    /// Content of the block; empty for an empty file.
    pub bytes: &'a [u8],
}

impl<'a> FileBlockEvent<'a> {
    /// Decodes the body of a Begin_load_query or Append_block event.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
    pub fn decode(event_type: EventType, body: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(event_type.name(), body);
        Ok(Self {
            kind: match event_type {
                EventType::BEGIN_LOAD_QUERY => BlockKind::First,
                _ => BlockKind::Next,
            },
            file_id: cursor.u32()?,
            bytes: cursor.rest(),
        })
    }
}

impl EventBody for FileBlockEvent<'_> {
    fn event_type(&self) -> EventType {
        match self.kind {
            BlockKind::First => EventType::BEGIN_LOAD_QUERY,
            BlockKind::Next => EventType::APPEND_BLOCK,
        }
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        out.put_u32(self.file_id);
        out.extend_from_slice(self.bytes);
    }
}

/// Discards the file: the statement has failed on the primary and left no changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeleteFileEvent {
    /// Id of the file.
    pub file_id: u32,
}

impl DeleteFileEvent {
    /// Decodes the body.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
    pub fn decode(body: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(EventType::DELETE_FILE.name(), body);
        Ok(Self {
            file_id: cursor.u32()?,
        })
    }
}

impl EventBody for DeleteFileEvent {
    fn event_type(&self) -> EventType {
        EventType::DELETE_FILE
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        out.put_u32(self.file_id);
    }
}

/// Handling of a row whose key already exists (MariaDB's `enum_load_dup_handling`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoadDuplicates {
    /// The statement fails.
    Error,
    /// IGNORE: the new row is skipped.
    Ignore,
    /// REPLACE: the new row replaces the old one.
    Replace,
}

impl LoadDuplicates {
    fn word(self) -> &'static [u8] {
        match self {
            LoadDuplicates::Error => b"",
            LoadDuplicates::Ignore => b" IGNORE",
            LoadDuplicates::Replace => b" REPLACE",
        }
    }
}

/// The LOAD DATA statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExecuteLoadQueryEvent<'a> {
    /// Text and context of the statement on the primary. Never compressed.
    pub query: QueryEvent<'a>,
    /// Id of the file.
    pub file_id: u32,
    /// Start of the clause about the file in the text. At most `file_end`.
    pub file_start: u32,
    /// End of that clause, after INTO. At most the length of the text.
    pub file_end: u32,
    /// Handling of duplicates that the clause, or LOCAL, specified.
    pub duplicates: LoadDuplicates,
}

impl<'a> ExecuteLoadQueryEvent<'a> {
    /// Decodes the body.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`].
    pub fn decode(body: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(EventType::EXECUTE_LOAD_QUERY.name(), body);
        let head = QueryHead::decode(&mut cursor)?;
        let (file_id, file_start, file_end) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
        let duplicates = match cursor.u8()? {
            0 => LoadDuplicates::Error,
            1 => LoadDuplicates::Ignore,
            2 => LoadDuplicates::Replace,
            _ => return Err(cursor.malformed("what it does with duplicates is not known")),
        };
        let query = head.decode_rest(&mut cursor, QueryCompression::Plain)?;
        if file_start > file_end || query.sql.len() < file_end as usize {
            return Err(cursor.malformed("the file's name is not in its text"));
        }
        Ok(Self {
            query,
            file_id,
            file_start,
            file_end,
            duplicates,
        })
    }

    /// Returns the statement with another clause about the file. `infile` is ` INFILE '…'` or ` LOCAL INFILE '…'`,
    /// including the space before it.
    pub fn text_with(&self, infile: &[u8], duplicates: LoadDuplicates) -> Vec<u8> {
        let (before, behind) = (
            &self.query.sql[..self.file_start as usize],
            &self.query.sql[self.file_end as usize..],
        );
        [before, infile, duplicates.word(), b" INTO", behind].concat()
    }
}

impl EventBody for ExecuteLoadQueryEvent<'_> {
    fn event_type(&self) -> EventType {
        EventType::EXECUTE_LOAD_QUERY
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        let mut file = Vec::with_capacity(13);
        for number in [self.file_id, self.file_start, self.file_end] {
            file.put_u32(number);
        }
        file.put_u8(match self.duplicates {
            LoadDuplicates::Error => 0,
            LoadDuplicates::Ignore => 1,
            LoadDuplicates::Replace => 2,
        });
        self.query.encode_around(&file, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"LOAD DATA CONCURRENT LOCAL INFILE '/a' IGNORE INTO TABLE `t`";

    fn event() -> ExecuteLoadQueryEvent<'static> {
        ExecuteLoadQueryEvent {
            query: QueryEvent::new(b"d", TEXT),
            file_id: 7,
            file_start: 20,
            file_end: 50,
            duplicates: LoadDuplicates::Ignore,
        }
    }

    #[test]
    fn the_clause_about_the_file_can_be_replaced() {
        let event = event();
        assert_eq!(
            event.text_with(b" INFILE 'x'", event.duplicates),
            b"LOAD DATA CONCURRENT INFILE 'x' IGNORE INTO TABLE `t`"
        );
        assert_eq!(
            event.text_with(b" LOCAL INFILE 'y'", LoadDuplicates::Error),
            b"LOAD DATA CONCURRENT LOCAL INFILE 'y' INTO TABLE `t`"
        );
    }

    #[test]
    fn malformed_bodies_are_refused() {
        let encode = |change: fn(&mut ExecuteLoadQueryEvent<'static>)| {
            let mut event = event();
            change(&mut event);
            let mut body = Vec::new();
            event.encode_body(&mut body);
            body
        };
        let whole = encode(|_| ());
        assert_eq!(ExecuteLoadQueryEvent::decode(&whole).unwrap(), event());
        for cut in 0..whole.len() - TEXT.len() + 50 {
            assert!(ExecuteLoadQueryEvent::decode(&whole[..cut]).is_err(), "{cut}");
        }
        for wrong in [
            encode(|event| event.file_start = 51),
            encode(|event| event.file_end = TEXT.len() as u32 + 1),
            encode(|event| (event.file_start, event.file_end) = (u32::MAX, u32::MAX)),
        ] {
            assert!(ExecuteLoadQueryEvent::decode(&wrong).is_err());
        }
        let mut duplicates = whole;
        duplicates[13 + 12] = 3;
        assert!(ExecuteLoadQueryEvent::decode(&duplicates).is_err());
        for event_type in [EventType::BEGIN_LOAD_QUERY, EventType::APPEND_BLOCK] {
            assert!(FileBlockEvent::decode(event_type, b"\x01\0\0").is_err());
        }
        assert!(DeleteFileEvent::decode(b"\x01\0\0").is_err());
    }
}
