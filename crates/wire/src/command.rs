//! What a client asks for: the first byte of a payload and what follows it.

use crate::bytes::Cursor;
use crate::error::WireResult;

/// `COM_CHANGE_USER`.
pub const COM_CHANGE_USER: u8 = 17;

/// One command. What belongs to a prepared statement's parameters is taken apart by [`crate::prepared`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command<'a> {
    /// Close the connection.
    Quit,
    /// Make this the current database.
    InitDb(&'a [u8]),
    /// Execute the text, one statement or several.
    Query(&'a [u8]),
    /// Tell the columns of `table` whose names are `LIKE` `wildcard`.
    FieldList {
        /// The table's name.
        table: &'a [u8],
        /// The pattern; empty means all.
        wildcard: &'a [u8],
    },
    /// Flush something: the `REFRESH_*` flags.
    Refresh(u8),
    /// Stop the server.
    Shutdown,
    /// One line for people.
    Statistics,
    /// What `SHOW PROCESSLIST` tells.
    ProcessInfo,
    /// End another connection.
    ProcessKill(u32),
    /// Write the server's state to its log.
    Debug,
    /// Answer.
    Ping,
    /// Become another user; see [`Login::decode_change_user`](crate::handshake::Login::decode_change_user).
    ChangeUser(&'a [u8]),
    /// Start anew as the same user.
    ResetConnection,
    /// Send the binary log.
    BinlogDump(BinlogDump<'a>),
    /// A replica introduces itself.
    RegisterReplica(&'a [u8]),
    /// Prepare the statement.
    StatementPrepare(&'a [u8]),
    /// Execute a prepared statement.
    StatementExecute {
        /// Its id; [`LAST_PREPARED`] means the last one.
        statement: u32,
        /// `CURSOR_TYPE_*`.
        cursor: u8,
        /// The parameters.
        parameters: &'a [u8],
    },
    /// One piece of a long parameter. Is not answered.
    StatementSendLongData {
        /// The statement's id.
        statement: u32,
        /// The parameter's index.
        parameter: u16,
        /// What to append.
        data: &'a [u8],
    },
    /// Forget the statement. Is not answered.
    StatementClose(u32),
    /// Forget the statement's long data and close its cursor.
    StatementReset(u32),
    /// Give the cursor's next rows.
    StatementFetch {
        /// The statement's id.
        statement: u32,
        /// Rows at most.
        rows: u32,
    },
    /// Switch multi-statements on or off.
    SetOption(SetOption),
    /// Not a command that this server knows (1047).
    Unknown(u8),
}

/// The statement id that stands for the statement prepared last (MariaDB).
pub const LAST_PREPARED: u32 = u32::MAX;

/// What `COM_SET_OPTION` sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOption {
    /// Several statements in a query are allowed.
    MultiStatementsOn,
    /// They are not.
    MultiStatementsOff,
    /// Something unknown (1047).
    Unknown,
}

/// `COM_BINLOG_DUMP`: where a reader of the binary log starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BinlogDump<'a> {
    /// The offset in the file.
    pub offset: u32,
    /// Bit 0: end at the end of the log instead of waiting for more.
    pub flags: u16,
    /// The replica's server id; 0 from `mariadb-binlog`.
    pub server_id: u32,
    /// The file's name; empty means the first.
    pub file: &'a [u8],
}

impl BinlogDump<'_> {
    /// True if the reader wants to be told the log's end instead of waiting there.
    pub fn is_non_blocking(&self) -> bool {
        self.flags & 1 != 0
    }
}

impl<'a> Command<'a> {
    /// Takes a payload apart.
    ///
    /// # Errors
    /// [`Malformed`](crate::WireError::Malformed) if it is shorter than its command needs.
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
                file: cursor.remaining(),
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
            other => Command::Unknown(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    #[test]
    fn commands_are_taken_apart() {
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
        assert_eq!(Command::parse(&[99]).unwrap(), Command::Unknown(99));
        assert!(Command::parse(&[]).is_err());
        assert!(Command::parse(&[23, 1, 0]).is_err());
        assert!(Command::parse(b"\x04table without end").is_err());
    }

    /// Whatever comes in, the answer is a command or an error.
    #[test]
    fn random_payloads() {
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
