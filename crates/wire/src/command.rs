//! The commands of a client: the first byte of a payload and its arguments.

use crate::bytes::Cursor;
use crate::error::WireResult;

/// Code of `COM_CHANGE_USER`.
pub const COM_CHANGE_USER: u8 = 17;

/// A command. [`crate::prepared`] decodes the parameters of prepared statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command<'a> {
    /// Close the connection.
    Quit,
    /// Change the default database.
    InitDb(&'a [u8]),
    /// Execute a text of one or several statements.
    Query(&'a [u8]),
    /// Return the columns of `table` whose names are `LIKE` `wildcard`.
    FieldList {
        /// The table's name.
        table: &'a [u8],
        /// The pattern; empty means all columns.
        wildcard: &'a [u8],
    },
    /// Flush caches and logs: the `REFRESH_*` flags.
    Refresh(u8),
    /// Stop the server.
    Shutdown,
    /// Return one line of statistics for people.
    Statistics,
    /// Return what `SHOW PROCESSLIST` shows.
    ProcessInfo,
    /// End another connection.
    ProcessKill(u32),
    /// Write the server's state to its log.
    Debug,
    /// Answer, to show that the server is alive.
    Ping,
    /// Continue as another user; see
    /// [`HandshakeResponse::decode_change_user`](crate::handshake::HandshakeResponse::decode_change_user).
    ChangeUser(&'a [u8]),
    /// Reset the session; the user stays the same.
    ResetConnection,
    /// Send the binary log.
    BinlogDump(BinlogDump<'a>),
    /// Register a replica.
    RegisterReplica(&'a [u8]),
    /// Prepare a statement.
    StatementPrepare(&'a [u8]),
    /// Execute a prepared statement.
    StatementExecute {
        /// Id of the statement; [`LAST_PREPARED`] means the one prepared last.
        statement: u32,
        /// `CURSOR_TYPE_*`.
        cursor: u8,
        /// The encoded parameters.
        parameters: &'a [u8],
    },
    /// Execute a prepared statement once for each of several sets of parameters (MariaDB).
    StatementBulkExecute {
        /// Id of the statement; [`LAST_PREPARED`] means the one prepared last.
        statement: u32,
        /// [`bulk_flag`](crate::prepared::bulk_flag)s.
        flags: u16,
        /// The encoded parameters: [`BulkParameters`](crate::prepared::BulkParameters).
        parameters: &'a [u8],
    },
    /// Append a part of a long parameter. Has no answer.
    StatementSendLongData {
        /// Id of the statement.
        statement: u32,
        /// Index of the parameter.
        parameter: u16,
        /// The bytes to append.
        data: &'a [u8],
    },
    /// Close a prepared statement. Has no answer.
    StatementClose(u32),
    /// Discard the long data of a statement and close its cursor.
    StatementReset(u32),
    /// Return the next rows of a cursor.
    StatementFetch {
        /// Id of the statement.
        statement: u32,
        /// Maximum number of rows.
        rows: u32,
    },
    /// Switch multi-statements on or off.
    SetOption(SetOption),
    /// An unknown command (1047).
    Unknown(u8),
}

/// Statement id that means the statement prepared last (MariaDB).
pub const LAST_PREPARED: u32 = u32::MAX;

/// Setting of `COM_SET_OPTION`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOption {
    /// A query may contain several statements.
    MultiStatementsOn,
    /// A query must not contain several statements.
    MultiStatementsOff,
    /// An unknown option (1047).
    Unknown,
}

/// Arguments of `COM_BINLOG_DUMP`: where a reader of the binary log starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BinlogDump<'a> {
    /// Offset in the file.
    pub offset: u32,
    /// Flags. Bit 0: end at the end of the log instead of waiting for more.
    pub flags: u16,
    /// Server id of the replica; 0 from `mariadb-binlog`.
    pub server_id: u32,
    /// Name of the file; empty means the first one.
    pub file: &'a [u8],
}

impl BinlogDump<'_> {
    /// Returns whether the dump ends at the end of the log instead of waiting there.
    pub fn is_non_blocking(&self) -> bool {
        self.flags & 1 != 0
    }
}

impl<'a> Command<'a> {
    /// Decodes a payload.
    ///
    /// # Errors
    /// [`Malformed`](crate::WireError::Malformed) if the payload is shorter than the command requires.
    pub fn parse(payload: &'a [u8]) -> WireResult<Command<'a>> {
        let mut cursor = Cursor::new(payload, "command");
        let code = cursor.u8()?;
        Ok(match code {
            1 => Command::Quit,
            2 => Command::InitDb(cursor.remaining()),
            3 => Command::Query(cursor.remaining()),
            4 => {
                let table = cursor.null_terminated()?;
                Command::FieldList {
                    table,
                    wildcard: cursor.remaining(),
                }
            }
            7 => Command::Refresh(if cursor.is_empty() { 0 } else { cursor.u8()? }),
            8 => Command::Shutdown,
            9 => Command::Statistics,
            10 => Command::ProcessInfo,
            12 => Command::ProcessKill(cursor.u32()?),
            13 => Command::Debug,
            14 => Command::Ping,
            COM_CHANGE_USER => Command::ChangeUser(cursor.remaining()),
            18 => Command::BinlogDump(BinlogDump {
                offset: cursor.u32()?,
                flags: cursor.u16()?,
                server_id: cursor.u32()?,
                // Some readers send a NUL-terminated string.
                file: cursor
                    .remaining()
                    .split(|byte| *byte == 0)
                    .next()
                    .unwrap_or_default(),
            }),
            21 => Command::RegisterReplica(cursor.remaining()),
            22 => Command::StatementPrepare(cursor.remaining()),
            23 => {
                let statement = cursor.u32()?;
                let cursor_type = cursor.u8()?;
                let _iterations = cursor.u32()?;
                Command::StatementExecute {
                    statement,
                    cursor: cursor_type,
                    parameters: cursor.remaining(),
                }
            }
            24 => Command::StatementSendLongData {
                statement: cursor.u32()?,
                parameter: cursor.u16()?,
                data: cursor.remaining(),
            },
            25 => Command::StatementClose(cursor.u32()?),
            26 => Command::StatementReset(cursor.u32()?),
            27 => Command::SetOption(match cursor.u16()? {
                0 => SetOption::MultiStatementsOn,
                1 => SetOption::MultiStatementsOff,
                _ => SetOption::Unknown,
            }),
            28 => Command::StatementFetch {
                statement: cursor.u32()?,
                rows: cursor.u32()?,
            },
            31 => Command::ResetConnection,
            250 => Command::StatementBulkExecute {
                statement: cursor.u32()?,
                flags: cursor.u16()?,
                parameters: cursor.remaining(),
            },
            other => Command::Unknown(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    #[test]
    fn commands_are_decoded() {
        assert_eq!(
            Command::parse(b"\x03SELECT 1").unwrap(),
            Command::Query(b"SELECT 1")
        );
        assert_eq!(
            Command::parse(&[23, 1, 0, 0, 0, 0, 1, 0, 0, 0, 9]).unwrap(),
            Command::StatementExecute {
                statement: 1,
                cursor: 0,
                parameters: &[9]
            }
        );
        assert_eq!(
            Command::parse(&[27, 1, 0]).unwrap(),
            Command::SetOption(SetOption::MultiStatementsOff)
        );
        for end in [&b""[..], b"\0", b"\0rest"] {
            let dump = [&[18, 4, 0, 0, 0, 1, 0, 9, 0, 0, 0], &b"bin.000001"[..], end].concat();
            assert_eq!(
                Command::parse(&dump).unwrap(),
                Command::BinlogDump(BinlogDump {
                    offset: 4,
                    flags: 1,
                    server_id: 9,
                    file: b"bin.000001"
                })
            );
        }
        assert_eq!(
            Command::parse(&[250, 1, 0, 0, 0, 128, 0, 9]).unwrap(),
            Command::StatementBulkExecute {
                statement: 1,
                flags: 128,
                parameters: &[9]
            }
        );
        assert_eq!(Command::parse(&[99]).unwrap(), Command::Unknown(99));
        assert!(Command::parse(&[]).is_err());
        assert!(Command::parse(&[23, 1, 0]).is_err());
        assert!(Command::parse(b"\x04table without end").is_err());
    }

    /// Any payload results in a command or an error.
    #[test]
    fn random_payloads_cause_no_panic() {
        let mut random = rand::rngs::StdRng::seed_from_u64(1);
        for _ in 0..200_000 {
            let mut payload: Vec<u8> = (0..random.random_range(0..24)).map(|_| random.random()).collect();
            if let Some(first) = payload.first_mut() {
                *first %= 33;
            }
            let _ = Command::parse(&payload);
        }
    }
}
